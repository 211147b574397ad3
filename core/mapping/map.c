/* The pipeline: check the neurons, partition (again with a smaller capacity where a limit broke), choose a region,
 * place, refine, measure. Each step is one function below, in that order.
 * What can fail: a neuron no core can hold, too few free cores, limits that no attempt meets, memory, disk, cancel. */
#include "core/mapping/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mapping/levels.h"
#include "core/mapping/metrics.h"
#include "core/mapping/options.h"
#include "core/partition/axon.h"
#include "core/partition/flows.h"
#include "core/partition/limits.h"
#include "core/partition/reference.h"
#include "core/placement/placement.h"

/* What one run of the pipeline holds. */
typedef struct job {
  const cm_map_input *input;
  const struct cm_map_options *options;
  cm_run *run;
  cm_occupancy *own_occupancy; /* when the caller gave none */
  const cm_occupancy *occupancy;
  cm_limits limits;            /* the chip's, tightened by max_part_size */
  uint32_t fixed_parts;        /* 0: the limits decide */
  cm_mapping *mapping;         /* under construction */
  cm_graph *parts;             /* the parts as a graph */
  uint64_t traffic_bisected, traffic_refined;
  cm_force_result force;
} job;

/* ---- before anything costs time ---- */

/* The reference method holds the level-0 graph and the transposed pins at once. */
static cm_status check_memory(const job *j, cm_error *error)
{
  const cm_topology *topology = j->input->topology;
  cm_memory *memory = j->run->memory;
  if (memory == NULL || memory->limit_bytes == 0)
    return CM_OK;
  uint64_t pins = topology->pin_count, needed = atomic_load(&memory->used_bytes) + topology->vertex_count * UINT64_C(40);
  uint64_t per_pin = !topology->directed ? 12 : topology->pin_weight != NULL ? 36 : 28;
  needed += pins * per_pin;
  if (needed <= memory->limit_bytes)
    return CM_OK;
  cm_fail(error, CM_MEMORY_LIMIT,
          "the memory limit of %llu bytes is too small for this network: at least %llu bytes are needed",
          (unsigned long long)memory->limit_bytes, (unsigned long long)needed);
  cm_error_figure(error, "memory_limit", memory->limit_bytes);
  cm_error_figure(error, "needed_bytes", needed);
  return CM_MEMORY_LIMIT;
}

static bool bare_grid(const cm_limits *limits)
{
  for (cm_resource r = 0; r < CM_RESOURCES; r++)
    if (cm_limit(limits, r) != 0)
      return false;
  return true;
}

/* The capacity that the first attempt takes: what a fixed number of parts asks for, else the neuron limit. */
static uint64_t first_capacity(const job *j)
{
  uint64_t total = j->input->topology->size_total, capacity = j->limits.neurons != 0 ? j->limits.neurons : total;
  if (j->fixed_parts != 0) {
    uint64_t even = (total + j->fixed_parts - 1) / j->fixed_parts;
    double slack = floor((double)even * (1 + j->options->imbalance));
    uint64_t allowed = slack < (double)total ? (uint64_t)slack : total;
    capacity = allowed < capacity ? allowed : capacity;
  }
  return capacity > 0 ? capacity : 1;
}

/* Refuses at once what can never fit. */
static cm_status check_room(const job *j, uint64_t capacity, cm_error *error)
{
  uint64_t total = j->input->topology->size_total, least = (total + capacity - 1) / capacity;
  if (j->fixed_parts > least)
    least = j->fixed_parts;
  if (least <= cm_occupancy_free_count(j->occupancy))
    return CM_OK;
  cm_region *none = NULL;
  uint32_t count = least > UINT32_MAX ? UINT32_MAX : (uint32_t)least;
  cm_status status = cm_region_choose(j->input->chip, j->occupancy, count, j->run, &none, error);
  cm_region_free(none);
  return status;
}

static cm_status prepare(job *j, cm_error *error)
{
  const cm_topology *topology = j->input->topology;
  cm_run_phase(j->run, "check");
  if (topology->size_total > UINT32_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the sizes of all neurons add up to %llu, more than %u",
                   (unsigned long long)topology->size_total, UINT32_MAX);
  j->limits = j->input->chip->limits;
  uint64_t most = j->options->max_part_size;
  if (most != 0 && (j->limits.neurons == 0 || most < j->limits.neurons))
    j->limits.neurons = most;
  j->occupancy = j->input->occupancy;
  if (j->occupancy == NULL) {
    if (cm_occupancy_new(j->input->chip, &j->own_occupancy, error) != CM_OK)
      return error->status;
    j->occupancy = j->own_occupancy;
  }
  j->fixed_parts = j->options->parts;
  if (j->fixed_parts > topology->vertex_count) {
    cm_fail(error, CM_BAD_OPTION, "%u parts are asked for, but the network has only %u neurons", j->fixed_parts,
            topology->vertex_count);
    return cm_fail_at(error, "/options/parts");
  }
  if (j->fixed_parts == 0 && bare_grid(&j->limits)) { /* nothing else asks for a number: one part a core */
    j->fixed_parts = cm_occupancy_free_count(j->occupancy);
    if (j->fixed_parts > topology->vertex_count)
      j->fixed_parts = topology->vertex_count;
    if (j->options->preset != CM_PRESET_REFERENCE) {
      cm_fail(error, CM_BAD_OPTION,
              "presets fast, balanced and best follow the core limits, and this chip has none: state max_part_size, or choose "
              "preset reference");
      return cm_fail_at(error, "/options/preset");
    }
  }
  if (check_memory(j, error) != CM_OK)
    return error->status;
  return cm_check_neurons(topology, &j->limits, j->run, error);
}

/* ---- partition ---- */

/* The seed's method; a damaged cache entry is made anew once. */
static cm_status partition_by_seed(job *j, uint64_t capacity, cm_attempt *attempt, cm_partition **partition,
                                   cm_error *error)
{
  const struct cm_map_options *o = j->options;
  cm_partition_options options = {.capacity = capacity,
                                  .parts = j->fixed_parts,
                                  .coarsening_share = o->coarsening_share,
                                  .coarsening_tries = o->coarsening_tries,
                                  .coarsening_stop = o->coarsening_stop,
                                  .matching = (cm_matching)o->matching,
                                  .bisection_tries = o->bisection_tries,
                                  .refinement_passes = o->refinement_passes,
                                  .coarsening_seed = o->coarsening_seed,
                                  .seed = o->seed};
  for (bool again = false;; again = true) {
    cm_levels levels;
    if (cm_levels_acquire(j->input, &options, j->run, &levels, error) != CM_OK)
      return error->status;
    cm_status status = cm_partition_reference(j->input->topology, &options, levels.folder, levels.count, j->run,
                                              partition, error);
    bool damaged = levels.cached && (status == CM_BAD_NETWORK || status == CM_DAMAGED || status == CM_NOT_FOUND);
    attempt->levels = levels.count;
    attempt->coarsening_cached = levels.cached;
    cm_levels_release(j->input, &levels, damaged);
    if (!damaged || again)
      return status;
  }
}

/* Effort of the presets that know axons and limits. */
static const cm_axon_options efforts[] = {
  [CM_PRESET_FAST] = {.samples = 16, .starts = 2, .coarse_sweeps = 15, .fine_sweeps = 1, .coarse_vertices = 20},
  [CM_PRESET_BALANCED] = {.samples = 32, .starts = 4, .coarse_sweeps = 30, .fine_sweeps = 8, .coarse_vertices = 20},
  [CM_PRESET_BEST] = {.samples = 64, .starts = 16, .coarse_sweeps = 100, .fine_sweeps = 40, .coarse_vertices = 40},
};

static uint64_t edge_cut(const cm_topology *topology, const uint32_t *part)
{
  uint64_t cut = 0;
  for (uint32_t e = 0; e < topology->net_count; e++)
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++)
      if (part[topology->pin[i]] != part[cm_topology_source(topology, e)])
        cut += cm_topology_pin_weight(topology, e, i);
  return topology->directed ? cut : cut / 2;
}

/* The multilevel method that keeps neurons, synapses and inbound axons within the limits by itself. */
static cm_status partition_by_axons(job *j, uint64_t capacity, cm_partition **partition, cm_error *error)
{
  const cm_topology *topology = j->input->topology;
  cm_axon_options options = efforts[j->options->preset];
  cm_partition *made;
  options.limits = j->limits;
  options.limits.neurons = capacity;
  options.parts_max = cm_occupancy_free_count(j->occupancy);
  options.seed = j->options->seed;
  if (CM_NEW(j->run->memory, made, 1, error) != CM_OK)
    return error->status;
  made->vertex_count = topology->vertex_count;
  cm_status status = CM_NEW(j->run->memory, made->part, topology->vertex_count, error);
  if (status == CM_OK)
    status = cm_partition_axons(topology, &options, j->run, made->part, &made->part_count, error);
  if (status == CM_OK)
    status = cm_graph_of_axons(topology, made->part, made->part_count, j->run, &made->parts, error);
  if (status != CM_OK) {
    cm_partition_free(made);
    return status;
  }
  made->edge_cut = edge_cut(topology, made->part);
  *partition = made;
  return CM_OK;
}

static cm_status partition_once(job *j, uint64_t capacity, cm_attempt *attempt, cm_partition **partition,
                                cm_error *error)
{
  return j->options->preset == CM_PRESET_REFERENCE ? partition_by_seed(j, capacity, attempt, partition, error)
                                                   : partition_by_axons(j, capacity, partition, error);
}

/* Takes over an attempt's partition when it breaks no limit; else *violation says which. */
static cm_status judge(job *j, cm_partition *partition, cm_violation *violation, cm_error *error)
{
  uint64_t *use;
  cm_run_phase(j->run, "limits");
  if (CM_NEW(j->run->memory, use, (size_t)partition->part_count * CM_RESOURCES, error) != CM_OK)
    return error->status;
  cm_status status = cm_count_use(j->input->topology, partition->part, partition->part_count, j->run, use, error);
  if (status == CM_OK)
    *violation = cm_find_violation(&j->limits, use, partition->part_count);
  cm_free(use);
  if (status != CM_OK || violation->broken_parts > 0)
    return status;
  j->mapping->vertex_count = partition->vertex_count;
  j->mapping->part_count = partition->part_count;
  j->mapping->part = partition->part;
  j->parts = partition->parts;
  partition->part = NULL;
  partition->parts = NULL;
  return CM_OK;
}

/* A smaller capacity in proportion to the worst excess, between half and 95 % of the present one. */
static uint64_t smaller_capacity(uint64_t capacity, const cm_violation *violation)
{
  double ratio = (double)violation->limit / (double)violation->use;
  ratio = fmin(fmax(ratio, 0.5), 0.95);
  return (uint64_t)floor((double)capacity * ratio);
}

static cm_status give_up(const job *j, const cm_violation *violation, const char *why, cm_error *error)
{
  const cm_attempt *last = &j->mapping->attempts[j->mapping->attempt_count - 1];
  cm_fail(error, CM_LIMIT_BROKEN,
          "no partition was found within the core limits in %u attempts (%s): at an effective capacity of "
          "%llu, %s. A chip with at least %llu %s per core would fit that partition of %u parts",
          j->mapping->attempt_count, why, (unsigned long long)last->capacity, last->broken,
          (unsigned long long)violation->use, cm_resource_name(violation->resource), last->parts);
  cm_error_figure(error, "part", violation->part);
  cm_error_figure(error, "use", violation->use);
  cm_error_figure(error, "limit", violation->limit);
  cm_error_figure(error, "attempts", j->mapping->attempt_count);
  return CM_LIMIT_BROKEN;
}

static cm_status partition(job *j, cm_error *error)
{
  uint64_t capacity = first_capacity(j);
  uint32_t largest = 1;
  cm_violation violation = {0};
  for (uint32_t v = 0; v < j->input->topology->vertex_count; v++)
    if (cm_topology_size(j->input->topology, v) > largest)
      largest = cm_topology_size(j->input->topology, v);
  if (capacity < largest)
    return cm_fail(error, CM_LIMIT_BROKEN,
                   "%u parts of at most %llu leave no room for a neuron of size %u; allow fewer parts or more imbalance",
                   j->fixed_parts, (unsigned long long)capacity, largest);
  for (;;) {
    if (check_room(j, capacity, error) != CM_OK)
      return violation.broken_parts > 0 ? give_up(j, &violation, "a smaller capacity needs more cores than are free", error)
                                        : error->status;
    cm_attempt *attempt = &j->mapping->attempts[j->mapping->attempt_count];
    cm_partition *made = NULL;
    attempt->capacity = capacity;
    if (partition_once(j, capacity, attempt, &made, error) != CM_OK)
      return error->status;
    attempt->parts = made->part_count;
    attempt->edge_cut = (double)made->edge_cut / (double)j->input->topology->weight_scale;
    cm_status status = judge(j, made, &violation, error);
    cm_partition_free(made);
    j->mapping->attempt_count++;
    if (status != CM_OK || violation.broken_parts == 0)
      return status;
    (void)snprintf(attempt->broken, sizeof attempt->broken, "%llu of %u parts break a limit, worst part %u with %llu %s of at most %llu",
                   (unsigned long long)violation.broken_parts, attempt->parts, violation.part,
                   (unsigned long long)violation.use, cm_resource_name(violation.resource),
                   (unsigned long long)violation.limit);
    if (j->fixed_parts != 0)
      return give_up(j, &violation, "the number of parts is fixed", error);
    if (j->mapping->attempt_count == j->options->attempts)
      return give_up(j, &violation, "no more attempts are allowed", error);
    if (capacity == largest)
      return give_up(j, &violation, "a part cannot be smaller", error);
    capacity = smaller_capacity(capacity, &violation);
    capacity = capacity < largest ? largest : capacity;
  }
}

/* ---- place ---- */

static cm_status place(job *j, cm_error *error)
{
  cm_mapping *m = j->mapping;
  cm_run_phase(j->run, "region");
  if (cm_region_choose(j->input->chip, j->occupancy, m->part_count, j->run, &m->region, error) != CM_OK ||
      CM_NEW(j->run->memory, m->core, m->part_count, error) != CM_OK)
    return error->status;
  if (cm_place_by_bisection(j->parts, j->input->chip, m->region, j->options->bisection_tries,
                            j->options->placement_seed, j->run, m->core, error) != CM_OK)
    return error->status;
  j->traffic_bisected = cm_placement_traffic(j->parts, j->input->chip, m->core);
  cm_force_options options = {.share = j->options->force_share, .rounds_max = j->options->force_rounds};
  cm_status status = cm_place_by_force(j->parts, j->input->chip, m->region, &options, j->run, m->core, &j->force, error);
  j->traffic_refined = cm_placement_traffic(j->parts, j->input->chip, m->core);
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

/* ---- report ---- */

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
                        (double)j->traffic_bisected / scale, "force_directed", (double)j->traffic_refined / scale,
                        "force", "rounds", (int)j->force.rounds, "swaps", (json_int_t)j->force.swaps, "before",
                        j->force.force_before / scale, "after", j->force.force_after / scale);
  bool complete = m->options != NULL && m->report != NULL;
  if (complete && m->attempt_count > 1)
    complete = json_object_set_new(m->report, "note",
                                   json_sprintf("the method does not keep every core limit by itself: the effective capacity was lowered "
                                                "from %llu to %llu because %s",
                                                (unsigned long long)m->attempts[0].capacity,
                                                (unsigned long long)last->capacity, m->attempts[0].broken)) == 0;
  return complete ? CM_OK : cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
}

cm_status cm_map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  job j = {.input = input, .options = input->options, .run = run};
  if (CM_NEW(run->memory, j.mapping, 1, error) != CM_OK)
    return error->status;
  cm_status status = prepare(&j, error);
  if (status == CM_OK)
    status = partition(&j, error);
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
  cm_occupancy_free(j.own_occupancy);
  if (status != CM_OK) {
    cm_mapping_free(j.mapping);
    return status;
  }
  *mapping = j.mapping;
  return CM_OK;
}
