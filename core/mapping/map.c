/* The pipeline: partition under the limits, choose a region, place, refine, measure. Each step is one function
 * below, in that order. What can fail: the partition stage (stage.h), memory, cancel. */
#include "core/mapping/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip/compact.h"
#include "core/mapping/mappers/engine.h"
#include "core/mapping/mappers/learned.h"
#include "core/mapping/metrics.h"
#include "core/mapping/options.h"
#include "core/mapping/remap/remap.h"
#include "core/mapping/stage/stage.h"
#include "core/partition/limits.h"
#include "core/placement/arrange.h"
#include "core/placement/placement.h"
#include "core/placement/trees/trees.h"

enum { REGIONS_MAX = 64, ROAMING_MAX = 448 };

/* What a placement of the parts came to. */
typedef struct placed {
  json_t *report; /* what the method has to tell */
  double energy;
} placed;

/* What one run of the pipeline holds. */
typedef struct job {
  const cm_map_input *input;
  const struct cm_map_options *options;
  const cm_occupancy *occupancy;
  cm_run *run;
  cm_mapping *mapping; /* under construction */
  cm_graph *parts;     /* the parts as a graph */
  cm_casts *casts;     /* what their axons carry, where trees are to be short; else NULL */
  cm_objective objective;
  uint32_t region_count, region_chosen; /* candidates, and the one that stays */
  placed placed;
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
  j->objective = cm_objective_resolve(j->options, in->topology->directed, true);
  const cm_engine *engine = cm_engine_find((cm_preset)j->options->preset, j->objective);
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
  m->core = stage.partition->core;
  j->region_count = stage.partition->regions;
  j->region_chosen = stage.partition->region_chosen;
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

/* For multicast: what axons carry between parts. Undirected networks have none, and their trees are paths. */
static cm_status gather_casts(job *j, cm_error *error)
{
  const struct cm_map_options *o = j->options;
  bool as_is = o->mapper == CM_MAPPER_LEARNED && !o->policy_refinement;
  if (o->communication == CM_UNICAST || !j->input->topology->directed || as_is)
    return CM_OK;
  return cm_casts_of_axons(j->input->topology, j->mapping->part, j->mapping->part_count, j->run, &j->casts, error);
}

static const cm_arrange_effort efforts[] = {[CM_PRESET_REFERENCE] = CM_ARRANGE_BALANCED,
                                            [CM_PRESET_FAST] = CM_ARRANGE_FAST,
                                            [CM_PRESET_BALANCED] = CM_ARRANGE_BALANCED,
                                            [CM_PRESET_BEST] = CM_ARRANGE_BEST};

/* Swaps parts that have their cores in the region until their trees are short. */
static cm_status shorten_trees(job *j, cm_error *error)
{
  cm_trees_result made;
  double unit = (double)j->input->topology->weight_scale * cm_hop_units_of(j->input->chip).cheapest;
  if (cm_place_by_trees(j->casts, j->input->chip, j->mapping->region, efforts[j->options->preset],
                        j->options->placement_seed, j->run, j->mapping->core, &made, error) != CM_OK)
    return error->status;
  json_t *told = json_pack("{s:f, s:f, s:i, s:i, s:I, s:b}", "before", (double)made.before / unit, "after",
                           (double)made.after / unit, "sweeps", (int)made.sweeps, "starts", (int)made.starts, "swaps",
                           (json_int_t)made.swaps, "sampled", made.sampled);
  return json_object_set_new(j->placed.report, "multicast", told) == 0
           ? CM_OK
           : cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
}

/* The seed's placement. */
static cm_status place_by_seed(job *j, const cm_region *region, uint32_t *core, json_t **report, cm_error *error)
{
  const cm_chip *chip = j->input->chip;
  double scale = (double)j->input->topology->weight_scale;
  cm_force_options options = {.share = j->options->force_share, .rounds_max = j->options->force_rounds};
  cm_force_result force;
  if (cm_place_by_bisection(j->parts, chip, region, j->options->bisection_tries, j->options->placement_seed, j->run,
                            core, error) != CM_OK)
    return error->status;
  double bisected = (double)cm_placement_traffic(j->parts, chip, core) / scale;
  if (cm_place_by_force(j->parts, chip, region, &options, j->run, core, &force, error) != CM_OK)
    return error->status;
  double refined = (double)cm_placement_traffic(j->parts, chip, core) / scale;
  *report = json_pack("{s:{s:f, s:f}, s:{s:i, s:I, s:f, s:f}}", "part_traffic", "bisection", bisected, "force_directed",
                      refined, "force", "rounds", (int)force.rounds, "swaps", (json_int_t)force.swaps, "before",
                      force.force_before / scale, "after", force.force_after / scale);
  return CM_OK;
}

/* The placement engine. */
static cm_status place_by_engine(job *j, const cm_region *region, uint32_t *core, json_t **report, cm_error *error)
{
  cm_arrange_result made;
  if (cm_arrange(j->parts, j->input->chip, region, efforts[j->options->preset], j->options->placement_seed, j->run,
                 core, &made, error) != CM_OK)
    return error->status;
  double before = made.refined > 0 ? (double)made.curve / (double)made.refined : 1;
  double refined = (double)cm_placement_traffic(j->parts, j->input->chip, core);
  *report = json_pack("{s:{s:f, s:s, s:f, s:i, s:I}}", "placement", "part_traffic",
                      refined / (double)j->input->topology->weight_scale, "method", made.method, "curve_ratio", before,
                      "rounds", (int)made.rounds, "swaps", (json_int_t)made.swaps);
  return CM_OK;
}

/* Places the parts on one region; *core is new. */
static cm_status place_on(job *j, const cm_region *region, uint32_t **core, placed *result, cm_error *error)
{
  uint32_t *made;
  placed found = {0};
  if (CM_NEW(j->run->memory, made, j->mapping->part_count, error) != CM_OK)
    return error->status;
  bool seeds = j->options->mapper == CM_MAPPER_BISECTION ||
               (j->options->mapper == CM_MAPPER_AUTO && j->options->preset == CM_PRESET_REFERENCE);
  cm_status status = j->options->mapper == CM_MAPPER_LEARNED
                       ? cm_place_by_policy(j->input, j->mapping->part, j->parts, region, j->run, made, &found.report,
                                            error)
                     : seeds ? place_by_seed(j, region, made, &found.report, error)
                             : place_by_engine(j, region, made, &found.report, error);
  if (status == CM_OK && found.report == NULL)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
  if (status != CM_OK) {
    cm_free(made);
    return status;
  }
  found.energy = cm_placement_energy(j->parts, j->input->chip, made);
  *result = found;
  *core = made;
  return CM_OK;
}

/* Whether parts are few enough to be placed with cores to choose from as the last candidate. */
static bool may_roam(const job *j)
{
  uint64_t preset = j->options->preset;
  return (preset == CM_PRESET_BALANCED || preset == CM_PRESET_BEST) && j->options->mapper != CM_MAPPER_BISECTION &&
         j->options->mapper != CM_MAPPER_LEARNED && j->options->regions > 1 && j->mapping->part_count > 1 &&
         j->mapping->part_count <= ROAMING_MAX;
}

/* The regions to compare; preset reference and others on request take the seed's box alone. */
static cm_status choose_regions(job *j, cm_region **regions, uint32_t *found, cm_error *error)
{
  uint32_t most = (uint32_t)j->options->regions - may_roam(j), count = j->mapping->part_count;
  cm_run_phase(j->run, "region");
  *found = most == 0;
  return most == 0 ? cm_region_choose(j->input->chip, j->occupancy, count, j->run, &regions[0], error)
                   : cm_region_candidates(j->input->chip, j->occupancy, count, most, j->run, regions, found, error);
}

static int by_core(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* The box around parts that are on their cores already. */
static cm_status box_cores(job *j, cm_region *region, cm_error *error)
{
  const cm_mapping *m = j->mapping;
  uint32_t x0 = UINT32_MAX, y0 = UINT32_MAX, x1 = 0, y1 = 0, width = j->input->chip->width;
  if (CM_NEW(j->run->memory, region->cores, m->part_count, error) != CM_OK)
    return error->status;
  memcpy(region->cores, m->core, m->part_count * sizeof *m->core);
  qsort(region->cores, m->part_count, sizeof *region->cores, by_core);
  for (uint32_t p = 0; p < m->part_count; p++) {
    uint32_t x = m->core[p] % width, y = m->core[p] / width;
    x0 = x < x0 ? x : x0;
    y0 = y < y0 ? y : y0;
    x1 = x > x1 ? x : x1;
    y1 = y > y1 ? y : y1;
  }
  region->core_count = m->part_count;
  region->x0 = x0;
  region->y0 = y0;
  region->width = x1 - x0 + 1;
  region->height = y1 - y0 + 1;
  region->rectangle = true;
  for (uint32_t y = y0; y <= y1; y++)
    for (uint32_t x = x0; x <= x1; x++)
      region->rectangle &= j->occupancy->state[(size_t)y * width + x] == CM_CORE_FREE;
  return cm_set_cost(j->input->chip, region->cores, region->core_count, j->run->memory, &region->cost, error);
}

/* The region of parts that are on their cores already. */
static cm_status enclose(job *j, cm_error *error)
{
  cm_mapping *m = j->mapping;
  cm_status status = m->part_count == 0
                       ? cm_region_choose(j->input->chip, j->occupancy, 0, j->run, &m->region, error)
                       : CM_NEW(j->run->memory, m->region, 1, error);
  if (status == CM_OK && m->part_count > 0)
    status = box_cores(j, m->region, error);
  if (status != CM_OK)
    return status;
  j->placed.report = json_pack("{s:{s:s}}", "placement", "method", "multilevel on the mesh");
  return j->placed.report != NULL ? CM_OK : cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
}

/* On a region with some cores more than parts, about half a ring around them: a set of cores that is compact for even
 * traffic is not the best for the job's own. Kept when it costs less energy. */
static cm_status place_with_room(job *j, cm_error *error)
{
  cm_mapping *m = j->mapping;
  cm_region *roomy;
  placed result = {0};
  uint32_t *core = NULL, found, free_cores = cm_occupancy_free_count(j->occupancy);
  uint32_t wanted = m->part_count + (uint32_t)ceil(2 * sqrt((double)m->part_count));
  wanted = wanted < free_cores ? wanted : free_cores;
  if (wanted == m->part_count)
    return CM_OK;
  j->region_count++;
  cm_run_phase(j->run, "region");
  cm_status status = cm_region_candidates(j->input->chip, j->occupancy, wanted, 1, j->run, &roomy, &found, error);
  if (status == CM_NO_ROOM) /* some of the free ones are cut off */
    return CM_OK;
  if (status != CM_OK)
    return status;
  status = place_on(j, roomy, &core, &result, error);
  if (status != CM_OK || result.energy >= j->placed.energy) {
    cm_region_free(roomy);
    json_decref(result.report);
    cm_free(core);
    return status;
  }
  json_decref(j->placed.report);
  cm_free(m->core);
  m->core = core;
  j->placed = result;
  j->region_chosen = j->region_count - 1;
  cm_region_free(m->region);
  m->region = roomy;
  return CM_OK;
}

/* The region becomes that of the cores in use, where it had some to choose from. */
static cm_status leave_room(job *j, cm_error *error)
{
  cm_mapping *m = j->mapping;
  cm_region *used;
  if (m->region->core_count == m->part_count)
    return CM_OK;
  if (CM_NEW(j->run->memory, used, 1, error) != CM_OK)
    return error->status;
  cm_region_free(m->region);
  m->region = used;
  return box_cores(j, used, error);
}

/* Parts without cores on every candidate region; the one whose placement costs least energy stays, the earlier of equals. */
static cm_status place_on_candidates(job *j, cm_error *error)
{
  cm_mapping *m = j->mapping;
  cm_region *regions[REGIONS_MAX] = {NULL};
  if (choose_regions(j, regions, &j->region_count, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < j->region_count; i++) { /* each is kept or freed, failed or not */
    placed result = {0};
    uint32_t *core = NULL;
    if (status == CM_OK)
      status = place_on(j, regions[i], &core, &result, error);
    if (status == CM_OK && (m->core == NULL || result.energy < j->placed.energy)) {
      cm_free(m->core);
      cm_region_free(m->region);
      json_decref(j->placed.report);
      m->core = core;
      m->region = regions[i];
      j->placed = result;
      j->region_chosen = i;
    } else {
      json_decref(result.report);
      cm_free(core);
      cm_region_free(regions[i]);
    }
  }
  return status == CM_OK && may_roam(j) ? place_with_room(j, error) : status;
}

static cm_status place(job *j, cm_error *error)
{
  cm_run_phase(j->run, "region");
  cm_status status = j->mapping->core != NULL ? enclose(j, error) : place_on_candidates(j, error);
  if (status == CM_OK && j->casts != NULL)
    status = shorten_trees(j, error);
  return status == CM_OK ? leave_room(j, error) : status;
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
  const cm_attempt *last = &m->attempts[m->attempt_count - 1];
  m->options = cm_map_options_shaping_json(j->options);
  m->report = json_pack("{s:I, s:{s:I, s:I, s:I}}", "capacity", (json_int_t)last->capacity, "merged", "duplicates",
                        (json_int_t)topology->duplicate_count, "self_loops", (json_int_t)topology->self_loop_count,
                        "empty_hyperedges", (json_int_t)topology->empty_net_count);
  bool complete = m->options != NULL && m->report != NULL && json_object_update(m->report, j->placed.report) == 0 &&
                  json_object_set_new(m->options, "objective", json_string(cm_objective_name(j->objective))) == 0 &&
                  json_object_set_new(m->report, "region",
                                      json_pack("{s:i, s:i, s:f}", "candidates", (int)j->region_count, "chosen",
                                                (int)j->region_chosen, "cost_pj", m->region->cost)) == 0;
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
  job j = {.input = input, .options = input->options, .occupancy = input->occupancy, .run = run};
  if (CM_NEW(run->memory, j.mapping, 1, error) != CM_OK)
    return error->status;
  cm_status status = input->part != NULL ? adopt(&j, error) : partition(&j, error);
  if (status == CM_OK)
    status = gather_casts(&j, error);
  if (status == CM_OK)
    status = place(&j, error);
  cm_casts_free(j.casts);
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
  json_decref(j.placed.report);
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
