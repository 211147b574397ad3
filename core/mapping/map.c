/* The pipeline: partition under the limits, choose a region, place, refine, measure. Each step is one function
 * below, in that order. What can fail: the partition stage (stage.h), memory, cancel. */
#include "core/mapping/map.h"

#include <string.h>

#include "core/mapping/metrics.h"
#include "core/mapping/options.h"
#include "core/mapping/remap.h"
#include "core/mapping/stage.h"
#include "core/placement/placement.h"

enum { REGIONS_MAX = 64 };

/* What a placement of the parts came to. */
typedef struct placed {
  uint64_t bisected, refined; /* traffic */
  double energy;
  cm_force_result force;
} placed;

/* What one run of the pipeline holds. */
typedef struct job {
  const cm_map_input *input;
  const struct cm_map_options *options;
  const cm_occupancy *occupancy;
  cm_run *run;
  cm_mapping *mapping; /* under construction */
  cm_graph *parts;     /* the parts as a graph */
  cm_objective objective;
  uint32_t region_count, region_chosen; /* candidates, and the one that stays */
  placed placed;
} job;

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
  stage.partition->part = NULL;
  stage.partition->parts = NULL;
  memcpy(m->attempts, stage.attempts, sizeof m->attempts);
  m->attempt_count = stage.attempt_count;
  m->bound = stage.bound;
  j->objective = stage.objective;
  cm_stage_free(&stage);
  return CM_OK;
}

/* Places the parts on one region; *core is new. */
static cm_status place_on(job *j, const cm_region *region, uint32_t **core, placed *result, cm_error *error)
{
  const cm_chip *chip = j->input->chip;
  uint32_t *made;
  if (CM_NEW(j->run->memory, made, j->mapping->part_count, error) != CM_OK)
    return error->status;
  cm_force_options options = {.share = j->options->force_share, .rounds_max = j->options->force_rounds};
  cm_status status = cm_place_by_bisection(j->parts, chip, region, j->options->bisection_tries,
                                           j->options->placement_seed, j->run, made, error);
  if (status == CM_OK) {
    result->bisected = cm_placement_traffic(j->parts, chip, made);
    status = cm_place_by_force(j->parts, chip, region, &options, j->run, made, &result->force, error);
  }
  if (status != CM_OK) {
    cm_free(made);
    return status;
  }
  result->refined = cm_placement_traffic(j->parts, chip, made);
  result->energy = cm_placement_energy(j->parts, chip, made);
  *core = made;
  return CM_OK;
}

/* The regions to compare; preset reference and others on request take the seed's box alone. */
static cm_status choose_regions(job *j, cm_region **regions, uint32_t *found, cm_error *error)
{
  uint32_t most = (uint32_t)j->options->regions, count = j->mapping->part_count;
  cm_run_phase(j->run, "region");
  *found = most == 0;
  return most == 0 ? cm_region_choose(j->input->chip, j->occupancy, count, j->run, &regions[0], error)
                   : cm_region_candidates(j->input->chip, j->occupancy, count, most, j->run, regions, found, error);
}

/* On every candidate region; the one whose placement costs least energy stays, the earlier of equals. */
static cm_status place(job *j, cm_error *error)
{
  cm_mapping *m = j->mapping;
  cm_region *regions[REGIONS_MAX] = {NULL};
  if (choose_regions(j, regions, &j->region_count, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < j->region_count; i++) {
    placed result = {0};
    uint32_t *core = NULL;
    if (status == CM_OK)
      status = place_on(j, regions[i], &core, &result, error);
    if (status == CM_OK && (m->core == NULL || result.energy < j->placed.energy)) {
      cm_free(m->core);
      cm_region_free(m->region);
      m->core = core;
      m->region = regions[i];
      j->placed = result;
      j->region_chosen = i;
    } else {
      cm_free(core);
      cm_region_free(regions[i]);
    }
  }
  return status;
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
    if (m->core[p] >= cores || used[m->core[p]] || j->occupancy->state[m->core[p]] != CM_CORE_FREE)
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
  double scale = (double)topology->weight_scale;
  const cm_attempt *last = &m->attempts[m->attempt_count - 1];
  m->options = cm_map_options_shaping_json(j->options);
  m->report = json_pack("{s:I, s:{s:I, s:I, s:I}, s:{s:f, s:f}, s:{s:i, s:I, s:f, s:f}}", "capacity",
                        (json_int_t)last->capacity, "merged", "duplicates", (json_int_t)topology->duplicate_count,
                        "self_loops", (json_int_t)topology->self_loop_count, "empty_hyperedges",
                        (json_int_t)topology->empty_net_count, "part_traffic", "bisection",
                        (double)j->placed.bisected / scale, "force_directed", (double)j->placed.refined / scale,
                        "force", "rounds", (int)j->placed.force.rounds, "swaps", (json_int_t)j->placed.force.swaps, "before",
                        j->placed.force.force_before / scale, "after", j->placed.force.force_after / scale);
  bool complete = m->options != NULL && m->report != NULL &&
                  json_object_set_new(m->options, "objective", json_string(cm_objective_name(j->objective))) == 0 &&
                  json_object_set_new(m->report, "region", json_pack("{s:i, s:i, s:f}", "candidates", (int)j->region_count, "chosen",
                                                                     (int)j->region_chosen, "cost_pj", m->region->cost)) == 0;
  if (complete && last->capacity < m->attempts[0].capacity)
    complete = json_object_set_new(m->report, "note",
                                   json_sprintf("the method does not keep every core limit by itself: the effective capacity was lowered "
                                                "from %llu to %llu because %s",
                                                (unsigned long long)m->attempts[0].capacity,
                                                (unsigned long long)last->capacity, m->attempts[0].broken)) == 0;
  return complete ? CM_OK : cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
}

static cm_status map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  job j = {.input = input, .options = input->options, .occupancy = input->occupancy, .run = run};
  if (CM_NEW(run->memory, j.mapping, 1, error) != CM_OK)
    return error->status;
  cm_status status = partition(&j, error);
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
  if (status != CM_OK) {
    cm_mapping_free(j.mapping);
    return status;
  }
  *mapping = j.mapping;
  return CM_OK;
}

cm_status cm_map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  if (input->from != NULL)
    return cm_remap(input, run, mapping, error);
  if (input->occupancy != NULL)
    return map(input, run, mapping, error);
  cm_map_input whole = *input;
  cm_occupancy *occupancy;
  if (cm_occupancy_new(input->chip, &occupancy, error) != CM_OK)
    return error->status;
  whole.occupancy = occupancy;
  cm_status status = map(&whole, run, mapping, error);
  cm_occupancy_free(occupancy);
  return status;
}
