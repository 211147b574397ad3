/* Happy path: partition under the limits -> region -> places -> every part has a free core of its own. What can fail:
 * the partition stage (stage.h), too few cores, memory, cancel. */
#include "core/solver/driver/make.h"

#include <string.h>

#include "core/chip/classes.h"
#include "core/limits/limits.h"
#include "core/limits/populations.h"
#include "core/solver/driver/leave.h"
#include "core/solver/incremental/assignment.h"
#include "core/solver/mappers/mesh_axons.h"
#include "core/solver/place/place.h"
#include "core/solver/stage/kinds_of_neurons.h"
#include "core/solver/stage/stage.h"

/* Of cores to choose from when going on, beside those that parts have. */
enum { SPARE_SHARE = 16 };

/* Kinds of cores for the caller's parts: of those that they stand on, if they do. */
static cm_status match_kinds(cm_candidate *c, const uint64_t *use, cm_error *error)
{
  const cm_map_input *in = c->input;
  uint32_t cores[CM_KINDS_MAX];
  uint64_t *allowed;
  CM_TRY(CM_NEW(c->run->memory, c->partition->kind, in->part_count, error));
  for (uint32_t p = 0; in->core != NULL && p < in->part_count; p++)
    c->partition->kind[p] = (uint8_t)cm_chip_kind_of(in->chip, in->core[p]);
  if (in->core != NULL)
    return CM_OK;
  CM_TRY(CM_NEW(c->run->memory, allowed, in->demand->network->vertex_count, error));
  cm_status status = cm_count_kinds(in, c->run, cores, error);
  CM_THEN(status, cm_allowed_kinds(in, cores, c->run, allowed, error));
  CM_THEN(status, cm_match_kinds(in, allowed, use, cores, c->run, c->partition->kind, error));
  cm_free(allowed);
  return status;
}

/* Whether the caller's parts keep every limit of a core; and what they cost. */
static cm_status check_limits(cm_candidate *c, const cm_limits *limits, cm_error *error)
{
  const cm_map_input *in = c->input;
  uint64_t *use;
  CM_TRY(CM_NEW(c->run->memory, use, (size_t)in->part_count * CM_RESOURCES, error));
  cm_cuts cuts;
  cm_status status = cm_count_use_and_cuts(in->demand, in->part, in->part_count, c->run, use, &cuts, error);
  cm_violation v = {0};
  if (status == CM_OK) {
    c->quality = cm_quality_of(in->demand->network, &cuts);
    v = cm_find_violation(limits, use, in->part_count);
  }
  CM_THEN_IF(status, v.broken_parts == 0 && cm_cores_differ(in->chip), match_kinds(c, use, error));
  cm_free(use);
  if (status == CM_OK && v.broken_parts == 0)
    status = cm_refuse_populations(in->demand->network, limits, in->part, in->part_count, c->run, error);
  if (status != CM_OK || v.broken_parts == 0)
    return status;
  cm_fail(error, CM_LIMIT_BROKEN, "%llu of %u parts break a limit, worst part %u with %llu %s of at most %llu",
          (unsigned long long)v.broken_parts, in->part_count, v.part, (unsigned long long)v.use,
          cm_resource_name(v.resource), (unsigned long long)v.limit);
  cm_error_figure(error, "part", v.part);
  cm_error_figure(error, "use", v.use);
  cm_error_figure(error, "limit", v.limit);
  return CM_LIMIT_BROKEN;
}

/* Takes the caller's parts as they are. */
static cm_status adopt(cm_candidate *c, cm_error *error)
{
  const cm_map_input *in = c->input;
  const cm_topology *t = in->demand->network;
  c->limits = cm_stated_limits(in, cm_chip_widest_limits(in->chip));
  c->objective = cm_objective_resolve(in->options, t->directed, true);
  CM_TRY(cm_partition_new(t->vertex_count, c->run, &c->partition, error));
  cm_partition *p = c->partition;
  p->part_count = in->part_count;
  memcpy(p->part, in->part, p->vertex_count * sizeof *p->part);
  if (in->core != NULL) {
    CM_TRY(CM_NEW(c->run->memory, c->places.core, p->part_count, error));
    memcpy(c->places.core, in->core, p->part_count * sizeof *in->core);
  }
  cm_run_phase(c->run, "limits");
  CM_TRY(check_limits(c, &c->limits, error));
  CM_TRY(cm_bound_parts(in->demand, &c->limits, c->run, &c->bound, error));
  c->attempts[0] =
    (cm_attempt){.capacity = in->demand->size_total, .parts = p->part_count, .edge_cut = c->quality.edge_cut};
  c->attempt_count = 1;
  return CM_OK;
}

/* Parts of nothing but inputs outside the chip: these come in where their first target is instead, and need no core. Where
 * the limits on outbound axons do not let them, they keep it. */
static cm_status join_targets(cm_candidate *c, const uint8_t *holds, uint32_t *part, cm_error *error)
{
  const cm_topology *t = c->input->demand->network;
  uint32_t any = 0;
  while (!holds[any])
    any++;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    part[v] = holds[c->partition->part[v]] ? c->partition->part[v] : UINT32_MAX;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    if (part[source] == UINT32_MAX && t->net_first[e] < t->net_first[e + 1])
      part[source] = c->partition->part[t->pin[t->net_first[e]]];
  }
  for (uint32_t v = 0; v < t->vertex_count; v++)
    part[v] = part[v] == UINT32_MAX ? any : part[v];
  return cm_run_check(c->run, error);
}

static cm_status drop_empty(cm_candidate *c, const uint8_t *holds, uint32_t *part, cm_error *error)
{
  cm_partition *made = c->partition;
  uint32_t kept = 0, *number;
  CM_TRY(CM_NEW(c->run->memory, number, made->part_count, error));
  for (uint32_t p = 0; p < made->part_count; p++) {
    if (holds[p] && c->places.core != NULL)
      c->places.core[kept] = c->places.core[p];
    if (holds[p] && made->kind != NULL)
      made->kind[kept] = made->kind[p];
    number[p] = kept;
    kept += holds[p];
  }
  for (uint32_t v = 0; v < made->vertex_count; v++)
    made->part[v] = number[part[v]];
  made->part_count = kept;
  c->attempts[c->attempt_count - 1].parts = kept;
  CM_FREE(number, c->use);
  c->use = NULL;
  cm_graph_free(made->parts);
  made->parts = NULL;
  return CM_OK;
}

static bool keeps_limits(const cm_candidate *c, const uint64_t *use)
{
  const cm_partition *made = c->partition;
  for (uint32_t p = 0; p < made->part_count; p++) {
    const cm_limits *l = cm_chip_kind_limits(c->input->chip, made->kind != NULL ? made->kind[p] : 0);
    if (cm_find_violation(l, use + (size_t)p * CM_RESOURCES, 1).broken_parts > 0)
      return false;
  }
  return true;
}

static cm_status empty_parts(cm_candidate *c, cm_error *error)
{
  const cm_topology *t = c->input->demand->network;
  const cm_partition *made = c->partition;
  uint8_t *holds = NULL;
  uint32_t *part = NULL, held = 0;
  uint64_t *use = NULL;
  if (c->input->demand->outside_count == 0)
    return CM_OK;
  cm_status status = CM_NEW(c->run->memory, holds, made->part_count, error);
  for (uint32_t v = 0; status == CM_OK && v < t->vertex_count; v++)
    if (cm_demand_size(c->input->demand, v) > 0 || !cm_demand_is_outside(c->input->demand, v))
      holds[made->part[v]] = 1;
  for (uint32_t p = 0; status == CM_OK && p < made->part_count; p++)
    held += holds[p];
  if (status == CM_OK && held < made->part_count) {
    if (CM_NEW(c->run->memory, part, t->vertex_count, error) != CM_OK ||
        CM_NEW(c->run->memory, use, (size_t)made->part_count * CM_RESOURCES, error) != CM_OK ||
        join_targets(c, holds, part, error) != CM_OK || cm_count_use(c->input->demand, part, made->part_count, c->run, use, error) != CM_OK)
      status = error->status;
    else if (keeps_limits(c, use))
      status = drop_empty(c, holds, part, error);
  }
  CM_FREE(use, part, holds);
  return status;
}

/* Nothing is trusted on its way out: every core once, free, and inside the chip. */
static cm_status verify(const cm_candidate *c, cm_error *error)
{
  const cm_partition *made = c->partition;
  uint8_t *used;
  uint32_t cores = cm_chip_cores(c->input->chip);
  CM_TRY(CM_NEW(c->run->memory, used, cores, error));
  cm_status status = CM_OK;
  for (uint32_t p = 0; p < made->part_count && status == CM_OK; p++) {
    uint32_t core = c->places.core[p];
    if (core < cores && made->kind != NULL && cm_chip_kind_of(c->input->chip, core) != made->kind[p])
      status = cm_fail(error, CM_INTERNAL, "part %u was placed on core %u, which is of another class than it needs", p, core);
    else if (core >= cores || used[core] || c->input->occupancy->state[core] != CM_CORE_FREE)
      status = cm_fail(error, CM_INTERNAL, "part %u was placed on core %u, which is not its own", p, core);
    else
      used[core] = 1;
  }
  for (uint32_t v = 0; v < made->vertex_count && status == CM_OK; v++)
    if (made->part[v] >= made->part_count)
      status = cm_fail(error, CM_INTERNAL, "neuron %u has part %u of %u", v, made->part[v], made->part_count);
  cm_free(used);
  return status;
}

/* The second half. */
static cm_status finish(cm_candidate *c, cm_error *error)
{
  cm_status status = empty_parts(c, error);
  CM_THEN(status, cm_place_parts(c, error));
  CM_THEN(status, cm_candidate_keep_leaving(c, error));
  CM_THEN(status, cm_candidate_keep_circuits(c, error));
  return status == CM_OK ? verify(c, error) : status;
}

cm_status cm_candidate_make(const cm_map_input *input, cm_run *run, cm_candidate *candidate, cm_error *error)
{
  cm_candidate c = {.input = input, .run = run};
  cm_status status = input->part != NULL ? adopt(&c, error) : cm_make_parts(input, run, &c, error);
  CM_THEN(status, finish(&c, error));
  CM_END(status, *candidate = c, cm_candidate_free(&c));
}

/* The parts that are made of it, judged by all limits of a core. */
static cm_status refine(cm_candidate *c, const cm_candidate *from, const cm_limits *limits, bool *legal, cm_error *error)
{
  const uint32_t allowed = c->input->options->cores, count = from->partition->part_count, spare = allowed != 0 && allowed < count + count / SPARE_SHARE ? allowed - count : count / SPARE_SHARE;
  double saved;
  c->partition = from->partition;
  cm_status status = CM_NEW(c->run->memory, c->places.core, count, error);
  if (status == CM_OK) {
    memcpy(c->places.core, from->places.core, count * sizeof *c->places.core);
    status = cm_place_enclose(c, error);
  }
  CM_THEN(status, cm_place_widen(c, spare, error));
  c->partition = NULL;
  CM_THEN(status, cm_refine_axons_on_mesh(from, limits, c->places.region, c->run, &c->partition, &saved, error));
  if (status != CM_OK)
    return status;
  cm_partition *made = c->partition;
  cm_free(c->places.core);
  c->places.core = made->core;
  made->core = NULL;
  cm_attempt *last = &c->attempts[c->attempt_count - 1];
  last->parts = made->part_count;
  last->saved_seconds += saved;
  last->coarsening_cached |= saved > 0;
  CM_TRY(cm_candidate_count_anew(c, error));
  *legal = cm_find_violation(&c->limits, c->use, made->part_count).broken_parts == 0;
  return CM_OK;
}

cm_status cm_candidate_go_on(const cm_candidate *from, const cm_limits *limits, cm_candidate *candidate, bool *found, cm_error *error)
{
  cm_candidate c = {.input = from->input, .run = from->run, .objective = from->objective, .limits = from->limits, .bound = from->bound,
                    .attempt_count = from->attempt_count, .region_count = from->region_count};
  bool legal = false;
  memcpy(c.attempts, from->attempts, sizeof c.attempts);
  cm_status status = refine(&c, from, limits, &legal, error);
  CM_THEN_IF(status, legal, finish(&c, error));
  *found = status == CM_OK && legal;
  if (*found)
    *candidate = c;
  else
    cm_candidate_free(&c);
  return status == CM_NO_ROOM || status == CM_LIMIT_BROKEN ? CM_OK : status;
}
