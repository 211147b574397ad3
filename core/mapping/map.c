/* The pipeline: partition under the limits, choose a region, place, refine, measure. Each step is one function
 * below, in that order. What can fail: the partition stage (stage.h), memory, cancel. */
#include "core/mapping/map.h"

#include <string.h>

#include "core/mapping/mappers/engine.h"
#include "core/mapping/metrics.h"
#include "core/mapping/options.h"
#include "core/mapping/place/place.h"
#include "core/mapping/remap/remap.h"
#include "core/mapping/stage/stage.h"
#include "core/partition/limits.h"

/* What one run of the pipeline holds. */
typedef struct job {
  const cm_map_input *input;
  cm_run *run;
  cm_mapping *mapping; /* under construction */
  cm_graph *parts;     /* the parts as a graph; NULL where they came with their cores */
  cm_objective objective;
  cm_placing placing;
} job;

/* Whether the caller's parts keep every limit of a core. */
static cm_status check_limits(const job *j, const cm_limits *limits, cm_error *error)
{
  const cm_map_input *in = j->input;
  uint64_t *use;
  if (CM_NEW(j->run->memory, use, (size_t)in->part_count * CM_RESOURCES, error) != CM_OK)
    return error->status;
  cm_status status = cm_count_use(in->topology, in->part, in->part_count, j->run, use, error);
  cm_violation v = {0};
  if (status == CM_OK)
    v = cm_find_violation(limits, use, in->part_count);
  cm_free(use);
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
static cm_status adopt(job *j, cm_error *error)
{
  const cm_map_input *in = j->input;
  const cm_limits *limits = &in->chip->limits;
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
static cm_status partition(job *j, cm_error *error)
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
  j->placing.region_count = stage.partition->regions;
  j->placing.region_chosen = stage.partition->region_chosen;
  stage.partition->part = NULL;
  stage.partition->core = NULL;
  stage.partition->parts = NULL;
  memcpy(m->attempts, stage.attempts, sizeof m->attempts);
  m->attempt_count = stage.attempt_count;
  m->bound = stage.bound;
  j->objective = stage.objective;
  cm_stage_free(&stage);
  return CM_OK;
}

static cm_status place(job *j, cm_error *error)
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
static cm_status verify(const job *j, cm_error *error)
{
  const cm_mapping *m = j->mapping;
  uint8_t *used;
  uint32_t cores = cm_chip_cores(j->input->chip);
  if (CM_NEW(j->run->memory, used, cores, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  for (uint32_t p = 0; p < m->part_count && status == CM_OK; p++) {
    if (m->core[p] >= cores || used[m->core[p]] || j->input->occupancy->state[m->core[p]] != CM_CORE_FREE)
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

static cm_status report(job *j, cm_error *error)
{
  const cm_topology *topology = j->input->topology;
  cm_mapping *m = j->mapping;
  const cm_attempt *last = &m->attempts[m->attempt_count - 1];
  m->options = cm_map_options_shaping_json(j->input->options);
  m->report = json_pack("{s:I, s:{s:I, s:I, s:I}}", "capacity", (json_int_t)last->capacity, "merged", "duplicates",
                        (json_int_t)topology->duplicate_count, "self_loops", (json_int_t)topology->self_loop_count,
                        "empty_hyperedges", (json_int_t)topology->empty_net_count);
  bool complete = m->options != NULL && m->report != NULL && json_object_update(m->report, j->placing.report) == 0 &&
                  json_object_set_new(m->options, "objective", json_string(cm_objective_name(j->objective))) == 0 &&
                  json_object_set_new(m->report, "region",
                                      json_pack("{s:i, s:i, s:f}", "candidates", (int)j->placing.region_count, "chosen",
                                                (int)j->placing.region_chosen, "cost_pj", m->region->cost)) == 0;
  if (complete && last->capacity < m->attempts[0].capacity)
    complete =
        json_object_set_new(
            m->report, "note",
            json_sprintf("the method does not keep every core limit by itself: the effective capacity was lowered "
                         "from %llu to %llu because %s",
                         (unsigned long long)m->attempts[0].capacity, (unsigned long long)last->capacity,
                         m->attempts[0].broken)) == 0;
  return complete ? CM_OK : cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
}

static cm_status map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  job j = {.input = input, .run = run};
  if (CM_NEW(run->memory, j.mapping, 1, error) != CM_OK)
    return error->status;
  cm_status status = input->part != NULL ? adopt(&j, error) : partition(&j, error);
  if (status == CM_OK)
    status = place(&j, error);
  if (status == CM_OK)
    status = verify(&j, error);
  if (status == CM_OK) {
    cm_run_phase(run, "metrics");
    status = cm_metrics_compute(input->topology, input->chip, j.mapping->part, j.mapping->part_count, j.mapping->core,
                                run, &j.mapping->metrics, &j.mapping->detail, error);
  }
  if (status == CM_OK)
    status = report(&j, error);
  cm_run_finish(run);
  cm_graph_free(j.parts);
  cm_placing_free(&j.placing);
  if (status != CM_OK) {
    cm_mapping_free(j.mapping);
    return status;
  }
  *mapping = j.mapping;
  return CM_OK;
}

cm_status cm_map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  if (input->from != NULL && input->options->communication == CM_MULTICAST) {
    cm_fail(error, CM_BAD_OPTION,
            "what moves when a network is mapped again is placed for unicast: for \"multicast\" map it afresh");
    return cm_fail_at(error, "/options/communication");
  }
  if (input->from != NULL)
    return cm_remap(input, run, mapping, error);
  cm_map_input whole = *input;
  cm_occupancy *occupancy = NULL;
  whole.places = true;
  if (input->occupancy == NULL && cm_occupancy_new(input->chip, &occupancy, error) != CM_OK)
    return error->status;
  if (input->occupancy == NULL)
    whole.occupancy = occupancy;
  cm_status status = map(&whole, run, mapping, error);
  cm_occupancy_free(occupancy);
  return status;
}
