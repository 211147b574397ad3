/* Happy path: limits and number of parts from the options -> check the neurons -> attempt -> judged legal. An attempt that
 * broke a limit is made again with a smaller capacity. What can fail: a neuron no core can hold, too few free cores, limits
 * that no attempt meets, memory, disk, cancel. */
#include "core/mapping/stage.h"

#include <math.h>

#include "core/chip/region.h"
#include "core/mapping/engine.h"

/* What one run of the stage holds. */
typedef struct job {
  const cm_map_input *input;
  const struct cm_map_options *options;
  const cm_engine *engine;
  cm_run *run;
  uint32_t fixed_parts; /* 0: the limits decide */
  uint32_t cores;       /* that are free */
  cm_stage stage;       /* under construction */
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
  uint64_t total = j->input->topology->size_total, capacity = j->stage.limits.neurons != 0 ? j->stage.limits.neurons : total;
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
  if (least <= j->cores)
    return CM_OK;
  cm_region *none = NULL;
  uint32_t count = least > UINT32_MAX ? UINT32_MAX : (uint32_t)least;
  cm_status status = cm_region_choose(j->input->chip, j->input->occupancy, count, j->run, &none, error);
  cm_region_free(none);
  return status;
}

static cm_status prepare(job *j, cm_error *error)
{
  const cm_topology *topology = j->input->topology;
  cm_run_phase(j->run, "check");
  j->engine = cm_engine_find((cm_preset)j->options->preset, (cm_objective)j->options->objective);
  if (topology->size_total > UINT32_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the sizes of all neurons add up to %llu, more than %u",
                   (unsigned long long)topology->size_total, UINT32_MAX);
  if (j->input->chip != NULL)
    j->stage.limits = j->input->chip->limits;
  uint64_t most = j->options->max_part_size;
  if (most != 0 && (j->stage.limits.neurons == 0 || most < j->stage.limits.neurons))
    j->stage.limits.neurons = most;
  j->cores = j->input->chip != NULL ? cm_occupancy_free_count(j->input->occupancy) : UINT32_MAX;
  j->fixed_parts = j->options->parts;
  if (j->fixed_parts > topology->vertex_count) {
    cm_fail(error, CM_BAD_OPTION, "%u parts are asked for, but the network has only %u neurons", j->fixed_parts,
            topology->vertex_count);
    return cm_fail_at(error, "/options/parts");
  }
  if (j->fixed_parts == 0 && j->input->chip == NULL && most == 0) {
    cm_fail(error, CM_BAD_OPTION, "nothing says how many parts: state parts or max_part_size, or name a chip");
    return cm_fail_at(error, "/options/parts");
  }
  if (j->fixed_parts == 0 && bare_grid(&j->stage.limits)) { /* nothing else asks for a number: one part a core */
    j->fixed_parts = j->cores < topology->vertex_count ? j->cores : topology->vertex_count;
    if (!j->engine->takes_parts) {
      cm_fail(error, CM_BAD_OPTION,
              "presets fast, balanced and best follow the core limits, and this chip has none: state max_part_size, or choose "
              "preset reference");
      return cm_fail_at(error, "/options/preset");
    }
  }
  if (check_memory(j, error) != CM_OK)
    return error->status;
  if (cm_check_neurons(topology, &j->stage.limits, j->run, error) != CM_OK)
    return error->status;
  return cm_bound_parts(topology, &j->stage.limits, j->run, &j->stage.bound, error);
}

/* Takes over an attempt's partition when it breaks no limit; else *violation says which. */
static cm_status judge(job *j, cm_partition **partition, cm_violation *violation, cm_error *error)
{
  uint64_t *use;
  uint32_t parts = (*partition)->part_count;
  cm_run_phase(j->run, "limits");
  if (CM_NEW(j->run->memory, use, (size_t)parts * CM_RESOURCES, error) != CM_OK)
    return error->status;
  cm_status status = cm_quality_compute(j->input->topology, (*partition)->part, parts, j->run, &j->stage.quality, error);
  if (status == CM_OK)
    status = cm_count_use(j->input->topology, (*partition)->part, parts, j->run, use, error);
  if (status == CM_OK)
    *violation = cm_find_violation(&j->stage.limits, use, parts);
  if (status == CM_OK && violation->broken_parts == 0) {
    j->stage.partition = *partition;
    j->stage.use = use;
    *partition = NULL;
  } else
    cm_free(use);
  return status;
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
  const cm_attempt *last = &j->stage.attempts[j->stage.attempt_count - 1];
  cm_fail(error, CM_LIMIT_BROKEN,
          "no partition was found within the core limits in %u attempts (%s): at an effective capacity of "
          "%llu, %s. A chip with at least %llu %s per core would fit that partition of %u parts",
          j->stage.attempt_count, why, (unsigned long long)last->capacity, last->broken,
          (unsigned long long)violation->use, cm_resource_name(violation->resource), last->parts);
  cm_error_figure(error, "part", violation->part);
  cm_error_figure(error, "use", violation->use);
  cm_error_figure(error, "limit", violation->limit);
  cm_error_figure(error, "attempts", j->stage.attempt_count);
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
    cm_attempt *attempt = &j->stage.attempts[j->stage.attempt_count];
    cm_partition *made = NULL;
    attempt->capacity = capacity;
    cm_engine_task task = {.input = j->input, .limits = j->stage.limits, .parts = j->fixed_parts, .parts_max = j->cores};
    task.limits.neurons = capacity;
    if (j->engine->partition(&task, j->run, attempt, &made, error) != CM_OK)
      return error->status;
    attempt->parts = made->part_count;
    cm_status status = judge(j, &made, &violation, error);
    attempt->edge_cut = j->stage.quality.edge_cut;
    cm_partition_free(made);
    j->stage.attempt_count++;
    if (status != CM_OK || violation.broken_parts == 0)
      return status;
    (void)snprintf(attempt->broken, sizeof attempt->broken, "%llu of %u parts break a limit, worst part %u with %llu %s of at most %llu",
                   (unsigned long long)violation.broken_parts, attempt->parts, violation.part,
                   (unsigned long long)violation.use, cm_resource_name(violation.resource),
                   (unsigned long long)violation.limit);
    if (j->fixed_parts != 0)
      return give_up(j, &violation, "the number of parts is fixed", error);
    if (j->stage.attempt_count == j->options->attempts)
      return give_up(j, &violation, "no more attempts are allowed", error);
    if (capacity == largest)
      return give_up(j, &violation, "a part cannot be smaller", error);
    capacity = smaller_capacity(capacity, &violation);
    capacity = capacity < largest ? largest : capacity;
  }
}

cm_status cm_stage_run(const cm_map_input *input, cm_run *run, cm_stage *stage, cm_error *error)
{
  job j = {.input = input, .options = input->options, .run = run};
  cm_status status = prepare(&j, error);
  if (status == CM_OK)
    status = partition(&j, error);
  if (status != CM_OK) {
    cm_stage_free(&j.stage);
    return status;
  }
  *stage = j.stage;
  return CM_OK;
}

void cm_stage_free(cm_stage *stage)
{
  cm_partition_free(stage->partition);
  cm_free(stage->use);
  *stage = (cm_stage){0};
}
