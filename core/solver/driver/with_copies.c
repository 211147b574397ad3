/* Happy path: a mapping without copies. Else the nearest to it -> copies -> the network with them, where they stand. What can fail: copies that do not do it. */
#include "core/solver/driver/with_copies.h"

#include "base/json.h"
#include "core/mapping/options.h"
#include "core/placement/copy_rounds.h"

static bool may_copy(const cm_map_input *in)
{
  return cm_leaving_is_limited(&in->chip->limits) && in->part == NULL && in->from == NULL && in->options->profile == 0 &&
         in->options->objective != CM_OBJECTIVE_PARETO && cm_topology_takes_copies(in->demand->network);
}

/* Adds to a refusal what copies would do. */
static cm_status refuse(const cm_copied_parts *on, cm_error *error)
{
  cm_fail_more(error, "; %u copies of neurons, on %u cores more than are free, leave %llu synapses too many; whether others would do is not known", on->copies.count, on->missing, (unsigned long long)on->left);
  cm_error_figure(error, "copies", on->copies.count);
  cm_error_figure(error, "cores_missing", on->missing);
  return error->status;
}

static cm_status map_copied(const cm_map_input *input, const cm_copies *c, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_map_input in = *input;
  cm_mapping *m = NULL;
  in.demand = &c->demand;
  in.sole_reader = false;
  in.part = c->on.part;
  in.core = c->on.core;
  in.part_count = c->on.parts;
  cm_status status = map(&in, run, &m, error);
  CM_THEN(status, cm_json_set(json_object_get(m->report, "leaving"), "copies", cm_neuron_copies_json(&c->on.copies), "the report", error));
  if (status == CM_OK) /* with names as a reader of the mapping makes them */
    status = cm_topology_copied(input->demand->network, &c->on.copies, run, &m->copied, error);
  CM_END(status, *mapping = m, cm_mapping_free(m));
}

/* `error` has the refusal without copies. */
static cm_status copy(const cm_map_input *input, cm_near_miss *near, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  const cm_map_options *o = input->options;
  const cm_copy_task task = {.demand = input->demand, .chip = input->chip, .occupancy = input->occupancy, .limits = &near->limits, .part = near->part, .core = near->core,
                             .parts = near->parts, .parts_max = o->parts != 0 ? o->parts : o->cores, .run = run};
  cm_copies c;
  cm_error why;
  cm_run_phase(run, "copies");
  if (cm_copies_make(&task, near->left, o->seed, near->part, &c, &why) != CM_OK) {
    *error = why;
    return why.status;
  }
  const cm_status status = c.on.left > 0 || c.on.missing > 0 ? refuse(&c.on, error) : map_copied(input, &c, map, run, mapping, error);
  cm_copies_free(&c);
  return status;
}

cm_status cm_map_with_copies(const cm_map_input *input, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_near_miss near = {.part = NULL};
  cm_map_input known = *input;
  if (!may_copy(input))
    return map(input, run, mapping, error);
  known.near_miss = &near;
  cm_status status = map(&known, run, mapping, error);
  if (status == CM_LIMIT_BROKEN && near.part != NULL)
    status = copy(input, &near, map, run, mapping, error);
  CM_FREE(near.part, near.core);
  return status;
}
