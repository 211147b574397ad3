/* Happy path: read the old mapping, let every part keep its core and every neuron its part where that is still
 * possible, reassign the neurons that must move, place the parts that lost their core, measure, report. What can fail: a
 * file that is no mapping, too few cores, limits that no mapping meets, memory, a stop. */
#include <math.h>

#include "core/limits/limits.h"
#include "base/json.h"
#include "core/limits/populations.h"
#include "core/mapping/options.h"
#include "core/measure/measure.h"
#include "core/network/identity.h"
#include "core/placement/reassign/hasten.h"
#include "core/solver/incremental/remapping.h"
#include "core/verify/check_read.h"

/* ---- what can stay ---- */

/* Parts of a bare grid may be as large as the old ones were, or as an even share with the allowed imbalance. */
static uint64_t largest_of(const cm_remapping *r)
{
  uint64_t parts = r->old.kept_cores < r->usable ? r->old.kept_cores : r->usable;
  uint64_t total = r->input->demand->size_total, most = parts == 0 ? total : (total + parts - 1) / parts;
  uint64_t largest = (uint64_t)floor((double)most * (1 + r->input->options->imbalance));
  for (uint64_t i = 0; i < r->old.kept_cores; i++)
    largest = r->old.core[i].neurons > largest ? r->old.core[i].neurons : largest;
  return largest;
}

static cm_status keep_what_stays(cm_remapping *r, cm_error *error)
{
  cm_assignment *s = &r->assignment;
  CM_TRY(cm_assignment_open(s, r->input, (uint32_t)r->old.kept_cores, largest_of(r), r->run, error));
  for (uint32_t p = 0; p < s->parts; p++) {
    s->core[p] = r->old_core[p];
    s->kind[p] = s->core[p] == CM_NOWHERE ? 0 : (uint8_t)cm_chip_kind_of(s->chip, s->core[p]);
  }
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++)
    s->part[v] = r->old_of[v] != CM_NOBODY ? r->old.neuron[r->old_of[v]] : CM_NOWHERE;
  return CM_OK;
}

/* ---- the new mapping ---- */

static cm_status make_region(cm_remapping *r, cm_error *error)
{
  const cm_chip *chip = r->input->chip;
  cm_mapping *m = r->mapping;
  CM_TRY(CM_NEW(r->run->memory, m->region, 1, error));
  CM_TRY(CM_NEW(r->run->memory, m->region->cores, m->part_count, error));
  cm_region *region = m->region;
  for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
    if (r->part_at[c] != CM_NOWHERE)
      region->cores[region->core_count++] = c;
  cm_region_enclose(chip, r->occupancy, region);
  return CM_OK;
}

/* Nothing is trusted on its way out. */
static cm_status verify(const cm_remapping *r, cm_error *error)
{
  const cm_assignment *s = &r->assignment;
  uint64_t *use;
  uint32_t *populations = NULL;
  CM_TRY(CM_NEW(r->run->memory, use, (size_t)s->parts * CM_RESOURCES, error));
  cm_status status = CM_NEW(r->run->memory, populations, s->parts, error);
  CM_THEN(status, cm_count_use(s->demand, s->part, s->parts, r->run, use, error));
  if (status == CM_OK && s->demand->network->population_of != NULL)
    status = cm_count_populations(s->demand->network, s->part, s->parts, r->run, populations, error);
  for (uint32_t p = 0; p < s->parts && status == CM_OK; p++) {
    if (!cm_part_keeps(cm_assigned_limits(s, p), use + (size_t)p * CM_RESOURCES, populations[p]))
      status = cm_fail(error, CM_INTERNAL, "a part was assigned more than its limits allow");
    else if (s->core[p] == CM_NOWHERE || r->part_at[s->core[p]] != p || r->occupancy->state[s->core[p]] != CM_CORE_FREE ||
             cm_chip_kind_of(s->chip, s->core[p]) != s->kind[p])
      status = cm_fail(error, CM_INTERNAL, "part %u was placed on a core that is not its own", p);
  }
  for (uint32_t v = 0; v < s->demand->network->vertex_count && status == CM_OK; v++)
    if (!cm_kind_takes(s, v, s->kind[s->part[v]]))
      status = cm_fail(error, CM_INTERNAL, "neuron %u was assigned to a core that does not take it", v);
  CM_FREE(use, populations);
  return status;
}

/* Where the time of steps counts, those that had to leave, or are new, look for parts in which it is short. */
static cm_status hasten(cm_remapping *r, cm_error *error)
{
  const struct cm_map_options *o = r->input->options;
  cm_assignment *s = &r->assignment;
  bool energy = o->objective == CM_OBJECTIVE_ENERGY;
  uint32_t *movable, count = 0;
  if (cm_cores_differ(s->chip) || /* the search takes all cores for alike */
      !s->demand->network->directed || !cm_objective_is_of_steps((cm_objective)o->objective) || (energy && o->step_budget_ns <= 0))
    return CM_OK;
  CM_TRY(CM_NEW(r->run->memory, movable, s->demand->network->vertex_count, error));
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++)
    if (r->old_of[v] == CM_NOBODY || r->old.neuron[r->old_of[v]] != s->part[v])
      movable[count++] = v;
  cm_run_phase(r->run, "refine");
  const cm_hasten_task task = {movable, count, energy ? o->step_budget_ns : 0, o->seed};
  cm_status status = cm_hasten(s, &task, r->run, error);
  cm_free(movable);
  return status;
}

/* Parts with neurons that were not there before. */
static cm_status count_new_parts(cm_remapping *r, uint32_t before, cm_error *error)
{
  const cm_assignment *s = &r->assignment;
  uint8_t *seen;
  CM_TRY(CM_NEW(r->run->memory, seen, s->parts, error));
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++) {
    r->new_parts += s->part[v] >= before && !seen[s->part[v]];
    seen[s->part[v]] = 1;
  }
  cm_free(seen);
  return CM_OK;
}

/* Whether there are as many parts as the options ask for. */
static bool as_many_as_asked(const cm_remapping *r)
{
  const struct cm_map_options *o = r->input->options;
  const uint32_t parts = r->assignment.parts;
  const cm_objective objective = cm_objective_resolve(o, r->input->demand->network->directed, true);
  return o->parts == 0 || (cm_objective_is_of_steps(objective) ? parts <= o->parts : parts == o->parts);
}

static cm_status reassign_and_place(cm_remapping *r, bool *legal, cm_error *error)
{
  cm_run_phase(r->run, "reassign");
  const double budget_ns = r->input->options->step_budget_ns;
  const cm_limits stated = cm_stated_limits(r->input, cm_chip_widest_limits(r->input->chip));
  cm_status status = cm_check_neurons(r->input->demand, &r->assignment.limits, r->run, error);
  CM_THEN(status, cm_bound_parts(r->input->demand, &stated, r->run, &r->mapping->bound, error));
  CM_THEN(status, cm_dissolve(&r->assignment, r->run, &r->dissolved, error));
  uint32_t before = r->assignment.parts;
  CM_THEN(status, cm_reassign(&r->assignment, r->run, legal, error));
  CM_THEN_IF(status, *legal, hasten(r, error));
  CM_THEN_IF(status, *legal, count_new_parts(r, before, error));
  if (status != CM_OK || !*legal)
    return status;
  cm_run_phase(r->run, "place");
  CM_TRY(cm_place_new_parts(&r->assignment, r->occupancy, r->part_at, r->run, &r->placed, error));
  CM_TRY(verify(r, error));
  *legal = as_many_as_asked(r); /* there are no empty ones any more */
  if (!*legal)
    return CM_OK;
  cm_mapping *m = r->mapping;
  m->vertex_count = r->assignment.demand->network->vertex_count;
  m->part_count = r->assignment.parts;
  m->part = r->assignment.part;
  m->core = r->assignment.core;
  r->assignment.part = r->assignment.core = NULL;
  CM_TRY(make_region(r, error));
  m->attempts[0] = (cm_attempt){.capacity = r->assignment.limits.neurons, .parts = m->part_count};
  m->attempt_count = 1;
  m->options = cm_map_options_shaping_json(r->input->options);
  m->report = json_object();
  CM_TRY(cm_whole(m->options != NULL && m->report != NULL, "the report", error));
  cm_run_phase(r->run, "metrics");
  const cm_mapped mapped = cm_mapped_by(m, r->input->demand, r->input->chip);
  status = cm_metrics_compute(&mapped, r->run, &m->metrics, &m->detail, error);
  m->attempts[0].edge_cut = m->metrics.edge_cut;
  *legal = status != CM_OK || budget_ns <= 0 || m->metrics.core_ns_max <= budget_ns * (1 + 1e-9);
  return status;
}

/* ---- report ---- */

static cm_status map_afresh(const cm_remapping *r, cm_mapping **mapping, cm_error *error)
{
  cm_map_input input = *r->input;
  input.from = NULL;
  return r->afresh(&input, r->run, mapping, error);
}

/* Neurons of both mappings, and those whose core is another one than before. */
static void count_moved(const cm_remapping *r, uint64_t *both, uint64_t *moved)
{
  const cm_mapping *m = r->mapping;
  *both = *moved = 0;
  for (uint32_t v = 0; v < m->vertex_count; v++)
    if (r->old_of[v] != CM_NOBODY) {
      ++*both;
      *moved += r->old_core[r->old.neuron[r->old_of[v]]] != m->core[m->part[v]];
    }
}

static cm_status report(cm_remapping *r, bool afresh, cm_error *error)
{
  uint64_t both, moved;
  count_moved(r, &both, &moved);
  double before = json_number_value(json_object_get(json_object_get(r->old.rest, "metrics"), "energy_pj"));
  json_t *told =
      json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "afresh", afresh, "kept_neurons",
                (json_int_t)(both - moved), "moved_neurons", (json_int_t)moved, "new_neurons",
                (json_int_t)(r->mapping->vertex_count - both), "vanished_neurons",
                (json_int_t)(r->old.kept_neurons - both), "lost_cores", (json_int_t)r->lost_cores, "placed_parts",
                (json_int_t)r->placed, "new_parts", (json_int_t)r->new_parts, "dissolved_parts", (json_int_t)r->dissolved,
                "energy_before_pj", before, "energy_pj", r->mapping->metrics.energy_pj);
  cm_status status = cm_whole(told != NULL, "the report", error);
  if (status == CM_OK && r->input->options->baseline && !afresh) {
    cm_mapping *fresh = NULL;
    status = map_afresh(r, &fresh, error);
    CM_THEN(status, cm_json_set(told, "fresh_energy_pj", json_real(fresh->metrics.energy_pj), "the report", error));
    CM_THEN(status, cm_json_set(told, "fresh_parts", json_integer(fresh->part_count), "the report", error));
    cm_mapping_free(fresh);
  }
  if (status == CM_OK)
    return cm_json_set(r->mapping->report, "incremental", told, "the report", error);
  json_decref(told);
  return status;
}

static cm_status run_remap(cm_remapping *r, cm_error *error)
{
  bool legal = false;
  CM_TRY(cm_remap_load_old(r, error));
  CM_TRY(keep_what_stays(r, error));
  CM_TRY(reassign_and_place(r, &legal, error));
  if (!legal) {
    cm_mapping_free(r->mapping);
    r->mapping = NULL;
    r->new_parts = r->dissolved = 0;
    CM_TRY(map_afresh(r, &r->mapping, error));
  }
  return report(r, !legal, error);
}

cm_status cm_remap(const cm_map_input *input, cm_remap_afresh *afresh, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_remapping r = {.input = input, .afresh = afresh, .run = run, .occupancy = input->occupancy};
  cm_status status = CM_NEW(run->memory, r.mapping, 1, error);
  CM_THEN(status, run_remap(&r, error));
  cm_run_finish(run);
  cm_check_file_free(&r.old);
  CM_FREE(r.old_of, r.old_core, r.part_at);
  cm_assignment_clear(&r.assignment);
  CM_END(status, *mapping = r.mapping, cm_mapping_free(r.mapping));
}
