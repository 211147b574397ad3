/* Happy path: partition under the limits -> region -> places -> every part has a free core of its own. What can fail:
 * the partition stage (stage.h), too few cores, memory, cancel. */
#include "core/mapping/driver/proposal.h"

#include <string.h>

#include "core/chip/classes.h"
#include "core/mapping/mappers/engine.h"
#include "core/mapping/options.h"
#include "core/mapping/stage/classes.h"
#include "core/mapping/stage/kinds.h"
#include "core/mapping/stage/stage.h"
#include "core/partition/limits.h"
#include "core/partition/populations.h"

/* Kinds of cores for the caller's parts. */
static cm_status match_kinds(cm_proposal *j, const uint64_t *use, cm_error *error)
{
  const cm_map_input *in = j->input;
  uint32_t cores[CM_KINDS_MAX];
  uint64_t *allowed;
  if (CM_NEW(j->run->memory, allowed, in->topology->vertex_count, error) != CM_OK)
    return error->status;
  cm_status status = CM_NEW(j->run->memory, j->placing.kind, in->part_count, error);
  if (status == CM_OK)
    status = cm_count_kinds(in, j->run, cores, error);
  if (status == CM_OK)
    status = cm_allowed_kinds(in->topology, in->chip, cores, j->run, allowed, error);
  if (status == CM_OK)
    status = cm_match_kinds(in, allowed, in->part, in->part_count, use, cores, j->run, j->placing.kind, error);
  cm_free(allowed);
  return status;
}

/* Whether the caller's parts keep every limit of a core. */
static cm_status check_limits(cm_proposal *j, const cm_limits *limits, cm_error *error)
{
  const cm_map_input *in = j->input;
  uint64_t *use;
  if (CM_NEW(j->run->memory, use, (size_t)in->part_count * CM_RESOURCES, error) != CM_OK)
    return error->status;
  cm_status status = cm_count_use(in->topology, in->part, in->part_count, j->run, use, error);
  cm_violation v = {0};
  if (status == CM_OK)
    v = cm_find_violation(limits, use, in->part_count);
  if (status == CM_OK && v.broken_parts == 0 && cm_cores_differ(in->chip))
    status = match_kinds(j, use, error);
  cm_free(use);
  if (status == CM_OK && v.broken_parts == 0)
    status = cm_refuse_populations(in->topology, limits, in->part, in->part_count, j->run, error);
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
static cm_status adopt(cm_proposal *j, cm_error *error)
{
  const cm_map_input *in = j->input;
  cm_limits widest = cm_chip_widest_limits(in->chip);
  const cm_limits *limits = &widest;
  cm_mapping *m = j->mapping;
  cm_quality quality;
  j->objective = cm_objective_resolve(j->input->options, in->topology->directed, true);
  const cm_engine *engine = cm_engine_find((cm_preset)j->input->options->preset, j->objective);
  cm_run_phase(j->run, "limits");
  if (check_limits(j, limits, error) != CM_OK ||
      cm_quality_compute(in->topology, in->part, in->part_count, j->run, &quality, error) != CM_OK ||
      cm_bound_parts(in->topology, limits, j->run, &m->bound, error) != CM_OK ||
      engine->flows(in->topology, in->part, in->part_count, j->run, &j->parts, error) != CM_OK ||
      CM_NEW(j->run->memory, m->part, in->topology->vertex_count, error) != CM_OK)
    return error->status;
  m->vertex_count = in->topology->vertex_count;
  m->part_count = in->part_count;
  memcpy(m->part, in->part, m->vertex_count * sizeof *m->part);
  m->attempts[0] =
      (cm_attempt){.capacity = in->topology->size_total, .parts = m->part_count, .edge_cut = quality.edge_cut};
  m->attempt_count = 1;
  return CM_OK;
}

/* Takes over what the partition stage made. */
static cm_status partition(cm_proposal *j, cm_error *error)
{
  cm_stage stage;
  if (cm_stage_run(j->input, j->run, &stage, error) != CM_OK)
    return error->status;
  cm_mapping *m = j->mapping;
  m->vertex_count = stage.partition->vertex_count;
  m->part_count = stage.partition->part_count;
  m->part = stage.partition->part;
  j->parts = stage.partition->parts;
  j->placing.core = stage.partition->core;
  j->placing.kind = stage.partition->kind;
  j->placing.region_count = stage.partition->regions;
  j->placing.region_chosen = stage.partition->region_chosen;
  stage.partition->part = NULL;
  stage.partition->core = NULL;
  stage.partition->kind = NULL;
  stage.partition->parts = NULL;
  memcpy(m->attempts, stage.attempts, sizeof m->attempts);
  m->attempt_count = stage.attempt_count;
  m->bound = stage.bound;
  j->objective = stage.objective;
  cm_stage_free(&stage);
  return CM_OK;
}

/* Parts of nothing but inputs outside the chip: these come in where their first target is instead, and need no core. Where
 * the limits on outbound axons do not let them, they keep it. */
static cm_status join_targets(cm_proposal *j, const uint8_t *holds, uint32_t *part, cm_error *error)
{
  const cm_topology *t = j->input->topology;
  uint32_t any = 0;
  while (!holds[any])
    any++;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    part[v] = holds[j->mapping->part[v]] ? j->mapping->part[v] : UINT32_MAX;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    if (part[source] == UINT32_MAX && t->net_first[e] < t->net_first[e + 1])
      part[source] = j->mapping->part[t->pin[t->net_first[e]]];
  }
  for (uint32_t v = 0; v < t->vertex_count; v++)
    part[v] = part[v] == UINT32_MAX ? any : part[v];
  return cm_run_check(j->run, error);
}

static cm_status drop_empty(cm_proposal *j, const uint8_t *holds, uint32_t *part, cm_error *error)
{
  cm_mapping *m = j->mapping;
  uint32_t kept = 0, *number;
  if (CM_NEW(j->run->memory, number, m->part_count, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < m->part_count; p++) {
    if (holds[p] && j->placing.core != NULL)
      j->placing.core[kept] = j->placing.core[p];
    if (holds[p] && j->placing.kind != NULL)
      j->placing.kind[kept] = j->placing.kind[p];
    number[p] = kept;
    kept += holds[p];
  }
  for (uint32_t v = 0; v < m->vertex_count; v++)
    m->part[v] = number[part[v]];
  m->part_count = kept;
  m->attempts[m->attempt_count - 1].parts = kept;
  cm_free(number);
  if (j->parts == NULL)
    return CM_OK;
  cm_graph_free(j->parts);
  j->parts = NULL;
  const cm_engine *engine = cm_engine_find((cm_preset)j->input->options->preset, j->objective);
  return engine->flows(j->input->topology, m->part, kept, j->run, &j->parts, error);
}

static bool keeps_limits(const cm_proposal *j, const uint64_t *use)
{
  for (uint32_t p = 0; p < j->mapping->part_count; p++) {
    const cm_limits *l = cm_chip_kind_limits(j->input->chip, j->placing.kind != NULL ? j->placing.kind[p] : 0);
    if (cm_find_violation(l, use + (size_t)p * CM_RESOURCES, 1).broken_parts > 0)
      return false;
  }
  return true;
}

static cm_status empty_parts(cm_proposal *j, cm_error *error)
{
  const cm_topology *t = j->input->topology;
  const cm_mapping *m = j->mapping;
  uint8_t *holds = NULL;
  uint32_t *part = NULL, held = 0;
  uint64_t *use = NULL;
  if (t->outside_count == 0)
    return CM_OK;
  cm_status status = CM_NEW(j->run->memory, holds, m->part_count, error);
  for (uint32_t v = 0; status == CM_OK && v < t->vertex_count; v++)
    if (cm_topology_size(t, v) > 0 || !cm_topology_is_outside(t, v))
      holds[m->part[v]] = 1;
  for (uint32_t p = 0; status == CM_OK && p < m->part_count; p++)
    held += holds[p];
  if (status == CM_OK && held < m->part_count) {
    if (CM_NEW(j->run->memory, part, t->vertex_count, error) != CM_OK ||
        CM_NEW(j->run->memory, use, (size_t)m->part_count * CM_RESOURCES, error) != CM_OK ||
        join_targets(j, holds, part, error) != CM_OK || cm_count_use(t, part, m->part_count, j->run, use, error) != CM_OK)
      status = error->status;
    else if (keeps_limits(j, use))
      status = drop_empty(j, holds, part, error);
  }
  cm_free(use);
  cm_free(part);
  cm_free(holds);
  return status;
}

static cm_status place(cm_proposal *j, cm_error *error)
{
  cm_mapping *m = j->mapping;
  cm_placing *g = &j->placing;
  g->input = j->input;
  g->run = j->run;
  g->part = m->part;
  g->part_count = m->part_count;
  g->parts = j->parts;
  if (cm_place_parts(g, error) != CM_OK)
    return error->status;
  m->core = g->core;
  m->region = g->region;
  g->core = NULL;
  g->region = NULL;
  return CM_OK;
}

/* Nothing is trusted on its way out: every core once, free, and inside the chip. */
static cm_status verify(const cm_proposal *j, cm_error *error)
{
  const cm_mapping *m = j->mapping;
  uint8_t *used;
  uint32_t cores = cm_chip_cores(j->input->chip);
  if (CM_NEW(j->run->memory, used, cores, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  for (uint32_t p = 0; p < m->part_count && status == CM_OK; p++) {
    if (m->core[p] < cores && j->placing.kind != NULL && cm_chip_kind_of(j->input->chip, m->core[p]) != j->placing.kind[p])
      status = cm_fail(error, CM_INTERNAL, "part %u was placed on core %u, which is of another class than it needs", p, m->core[p]);
    else if (m->core[p] >= cores || used[m->core[p]] || j->input->occupancy->state[m->core[p]] != CM_CORE_FREE)
      status = cm_fail(error, CM_INTERNAL, "part %u was placed on core %u, which is not its own", p, m->core[p]);
    else
      used[m->core[p]] = 1;
  }
  for (uint32_t v = 0; v < m->vertex_count && status == CM_OK; v++)
    if (m->part[v] >= m->part_count)
      status = cm_fail(error, CM_INTERNAL, "neuron %u has part %u of %u", v, m->part[v], m->part_count);
  cm_free(used);
  return status;
}

cm_status cm_proposal_make(const cm_map_input *input, cm_run *run, cm_proposal *proposal, cm_error *error)
{
  cm_proposal j = {.input = input, .run = run};
  if (CM_NEW(run->memory, j.mapping, 1, error) != CM_OK)
    return error->status;
  cm_status status = input->part != NULL ? adopt(&j, error) : partition(&j, error);
  if (status == CM_OK)
    status = empty_parts(&j, error);
  if (status == CM_OK)
    status = place(&j, error);
  if (status == CM_OK)
    status = verify(&j, error);
  if (status == CM_OK)
    *proposal = j;
  else
    cm_proposal_free(&j);
  return status;
}

void cm_proposal_free(cm_proposal *j)
{
  cm_graph_free(j->parts);
  cm_placing_free(&j->placing);
  if (j->mapping != NULL)
    cm_mapping_free(j->mapping);
  *j = (cm_proposal){0};
}
