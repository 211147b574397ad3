/* Happy path: limits and number of parts from the options -> neurons and bound checked -> attempts -> legal. Where the
 * method finds nothing, others are asked. What can fail: a neuron no core can hold, too few free cores, limits that no
 * attempt meets (then other terms are tried, for the refusal to say what would fit), memory, disk, cancel. */
#include "core/solver/stage/stage.h"

#include "core/chip/classes.h"
#include "core/chip/reach.h"
#include "core/limits/leaving.h"
#include "core/limits/populations.h"
#include "core/limits/shared.h"
#include "core/mapping/combinations.h"
#include "core/solver/presets.h"
#include "core/solver/stage/attempts.h"
#include "core/solver/stage/by_class.h"
#include "core/solver/stage/kinds_of_neurons.h"
#include "core/solver/stage/by_population.h"

/* What one run of the stage holds. */
typedef struct job {
  const cm_map_input *input;
  const struct cm_map_options *options;
  cm_objective objective;
  const cm_engine *engine;
  cm_run *run;
  cm_terms terms;
  cm_attempts attempts;
  cm_bound bound;
} job;

/* ---- before anything costs time ---- */

static cm_status check_memory(const job *j, cm_error *error)
{
  cm_memory *memory = j->run->memory;
  if (memory == NULL || memory->limit_bytes == 0)
    return CM_OK;
  cm_engine_task task = {
      .input = j->input, .limits = j->terms.limits, .parts = j->terms.parts, .parts_max = j->terms.cores};
  if (task.limits.neurons == 0)
    task.limits.neurons = j->input->demand->size_total;
  uint64_t least = j->engine->least_bytes(&task), hot = j->engine->hot_bytes(&task);
  if (memory->scratch_folder != NULL && hot < least)
    least = hot;
  uint64_t needed = atomic_load(&memory->used_bytes) - j->input->held_bytes + least;
  if (needed <= memory->limit_bytes)
    return CM_OK;
  return cm_fail_memory_limit(memory->limit_bytes, needed, "this network", error);
}

static bool bare_grid(const cm_limits *limits)
{
  for (cm_resource r = 0; r < CM_RESOURCES; r++)
    if (cm_limit(limits, r) != 0)
      return false;
  return limits->memory_bits == 0;
}

/* No more than these. */
static void allow_cores(cm_terms *terms, uint32_t cores_max, bool budget)
{
  if (cores_max == 0 || terms->cores <= cores_max)
    return;
  terms->cores = cores_max;
  terms->budget = budget;
}

/* Cores that are free and can talk to each other, as far as the job may use them. */
static cm_status count_cores(const job *j, cm_terms *terms, cm_error *error)
{
  const cm_chip *chip = j->input->chip;
  uint8_t *usable;
  cm_status status = CM_OK;
  terms->cores = UINT32_MAX;
  if (chip != NULL) {
    CM_TRY(CM_NEW(j->run->memory, usable, cm_chip_cores(chip), error));
    status = cm_usable_cores(chip, j->input->occupancy, j->run->memory, usable, &terms->cores, error);
    cm_free(usable);
  }
  allow_cores(terms, j->input->cores_max, false);
  allow_cores(terms, j->options->cores, true);
  return status;
}

static cm_limits read_limits(const cm_map_input *input)
{
  cm_limits limits = {0};
  uint64_t most = input->options->max_part_size;
  if (input->chip != NULL)
    limits = cm_chip_widest_limits(input->chip);
  if (most != 0 && (limits.neurons == 0 || most < limits.neurons))
    limits.neurons = most;
  return limits;
}

/* Whether populations may not share cores as they like, so that they are partitioned one by one; on cores of several kinds, those
 * of each kind apart. */
static bool populations_are_limited(const cm_map_input *input)
{
  if (cm_cores_differ(input->chip))
    return false;
  return input->chip != NULL && cm_populations_limited(input->demand->network, &input->chip->limits);
}

/* Objectives of time steps use so many cores at most. */
static bool parts_are_a_limit(const job *j)
{
  return cm_objective_is_of_steps(j->objective);
}

/* What asks for a number of parts: the options, the limits, or the cores of a bare grid. */
static cm_status settle_parts(job *j, cm_error *error)
{
  cm_terms *terms = &j->terms;
  uint32_t vertices = j->input->demand->network->vertex_count;
  if (parts_are_a_limit(j)) {
    terms->parts = terms->parts < vertices ? terms->parts : vertices;
    terms->parts = terms->parts < terms->cores ? terms->parts : terms->cores;
  }
  if (terms->parts > vertices) {
    cm_fail(error, CM_BAD_OPTION, "%u parts are asked for, but the network has only %u neurons", terms->parts,
            vertices);
    return cm_fail_at(error, "/options/parts");
  }
  if (terms->parts != 0 || !bare_grid(&terms->limits))
    return CM_OK;
  if (j->input->chip == NULL) {
    cm_fail(error, CM_BAD_OPTION, "nothing says how many parts: state parts or max_part_size, or name a chip");
    return cm_fail_at(error, "/options/parts");
  }
  if (j->objective == CM_OBJECTIVE_AXON) {
    cm_fail(error, CM_BAD_OPTION,
            "objective \"axon\" follows the core limits, and this chip has none: state max_part_size or parts, or choose "
            "objective \"edge\"");
    return cm_fail_at(error, "/options/objective");
  }
  terms->parts =
      terms->cores < vertices ? terms->cores : vertices; /* nothing else asks for a number: one part a core */
  return CM_OK;
}

static cm_refusal refusal_of(job *j, const cm_terms *terms)
{
  return (cm_refusal){.input = j->input, .run = j->run, .terms = terms, .bound = &j->bound, .context = j};
}

enum { MESH_TRIES = 2 }; /* of the integrated mapper, where another method stands by */

/* Whether the network falls apart in networks of populations, or of kinds of cores, which are partitioned alone. */
static bool stands_apart(const cm_map_input *input)
{
  return populations_are_limited(input) || cm_cores_differ(input->chip);
}

/* The integrated mapper, which nobody asked for. */
static bool by_mesh_unasked(const job *j)
{
  return j->engine->places && j->options->mapper == CM_MAPPER_AUTO;
}

/* The integrated mapper in place of the preset's method, where it is asked for or the better one. */
static void take_mesh_mapper(job *j)
{
  cm_engine_task task = {
    .input = j->input, .limits = j->terms.limits, .parts = j->terms.parts, .parts_max = j->terms.cores};
  if (j->input->places && j->objective == CM_OBJECTIVE_EDGE && !stands_apart(j->input) && cm_engine_mesh_suits(&task, j->objective))
    j->engine = &cm_engine_mesh;
}

bool cm_stage_takes_mesh(const cm_map_input *input)
{
  cm_engine_task task = {.input = input, .limits = read_limits(input),
                         .parts_max = cm_occupancy_free_count(input->occupancy)};
  cm_objective objective =
    cm_objective_resolve(input->options, input->demand->network->directed, !bare_grid(&task.limits));
  return !stands_apart(input) && cm_engine_mesh_suits(&task, objective) &&
         (objective == CM_OBJECTIVE_AXON || input->options->mapper == CM_MAPPER_AUTO);
}

/* The limits that a number of parts can be proved from: those that the chip and the options state. The even share of a stated number
 * of parts is one of them; that of all cores of a bare grid, or of populations and kinds of cores that are partitioned alone, is what
 * is aimed at. */
static const cm_limits *stated_limits(const job *j)
{
  return j->options->parts != 0 && !stands_apart(j->input) ? &j->attempts.made.limits : &j->terms.limits;
}

static cm_status prepare(job *j, cm_error *error)
{
  const cm_topology *topology = j->input->demand->network;
  cm_run_phase(j->run, "check");
  if (j->input->demand->size_total > UINT32_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the sizes of all neurons add up to %llu, more than %u",
                   (unsigned long long)j->input->demand->size_total, UINT32_MAX);
  j->terms = (cm_terms){.limits = read_limits(j->input), .parts = j->options->parts};
  j->objective = cm_objective_resolve(j->options, topology->directed, !bare_grid(&j->terms.limits));
  j->engine = cm_engine_find((cm_preset)j->options->preset, j->objective);
  CM_TRY(cm_combinations_of_partition(j->input, error));
  CM_TRY(count_cores(j, &j->terms, error));
  take_mesh_mapper(j);
  CM_TRY(settle_parts(j, error));
  CM_TRY(check_memory(j, error));
  CM_TRY(cm_check_neurons(j->input->demand, &j->terms.limits, j->run, error));
  CM_TRY(cm_prove_shared(j->input->demand, j->input->chip, j->input->occupancy, j->run->memory, error));
  CM_TRY(cm_prove_leaving(j->input->demand, j->input->chip, &j->terms.limits, j->run, error));
  CM_TRY(cm_attempts_begin(j->input, j->objective, j->engine, &j->terms, j->run, &j->attempts, error));
  if (by_mesh_unasked(j) && j->attempts.tries_max > MESH_TRIES)
    j->attempts.tries_max = MESH_TRIES;
  cm_terms terms = {.limits = *stated_limits(j), .cores = j->terms.cores, .budget = j->terms.budget, .parts = j->terms.parts};
  CM_TRY(cm_bound_parts(j->input->demand, &terms.limits, j->run, &j->bound, error));
  CM_TRY(cm_check_reach(j->input->demand, &j->bound, &terms.limits, error));
  j->attempts.alone = j->bound.parts >= topology->vertex_count || (j->terms.parts == topology->vertex_count && !parts_are_a_limit(j));
  cm_refusal refusal = refusal_of(j, &terms);
  return cm_refuse_by_bound(&refusal, error);
}

/* ---- other methods ---- */

static bool refused(cm_status status)
{
  return status == CM_NO_ROOM || status == CM_LIMIT_BROKEN;
}

/* The preset's own method where the integrated mapper, which nobody asked for, found nothing: cells of the mesh fit neurons of
 * uneven sizes less well than parts do. */
static cm_status attempt_in_stages(job *j, cm_error *error)
{
  j->engine = cm_engine_find((cm_preset)j->options->preset, j->objective);
  cm_attempts_end(&j->attempts);
  CM_TRY(cm_attempts_begin(j->input, j->objective, j->engine, &j->terms, j->run, &j->attempts, error));
  return cm_attempts_run(&j->attempts, error);
}

/* The method of another preset: taken where nothing was found so far, or where it costs less. */
static cm_status attempt_by(job *j, const cm_effort *effort, cm_error *error)
{
  const cm_preset preset = cm_effort_preset(effort);
  cm_variant variant;
  const cm_map_input *input = cm_vary(j->input, &variant);
  cm_attempts other = {0};
  variant.options.preset = preset;
  cm_status status = cm_attempts_begin(input, j->objective, cm_engine_find(preset, j->objective), &j->terms, j->run, &other, error);
  CM_THEN(status, cm_attempts_run(&other, error));
  if (status == CM_OK && (j->attempts.made.partition == NULL || cm_attempts_paid(&other.made) < cm_attempts_paid(&j->attempts.made))) {
    cm_candidate_free(&j->attempts.made);
    j->attempts.made = other.made;
    other.made = (cm_candidate){0};
  }
  cm_attempts_end(&other);
  return status;
}

/* Smaller capacities and single moves towards the limits cost one partition more than another: what presets with less effort find may
 * come out cheaper by them. */
static cm_status attempt_less(job *j, cm_error *error)
{
  const cm_candidate *made = &j->attempts.made;
  cm_error none;
  cm_status status = CM_OK;
  if (made->attempt_count == 1 && !made->attempts[0].moved)
    return CM_OK;
  for (const cm_effort *less = cm_effort_of(j->options)->below; less != NULL && status == CM_OK; less = less->below) {
    status = attempt_by(j, less, &none);
    if (refused(status))
      status = CM_OK;
    else if (status != CM_OK)
      *error = none;
  }
  return status;
}

/* The method of choice, then others that may find a partition where it finds none: what the least effort can map, more does not refuse.
 * A refusal is the preset's. */
static cm_status attempt_all(job *j, cm_error *error)
{
  const cm_effort *own = cm_effort_of(j->options);
  cm_error later;
  cm_status status = cm_attempts_run(&j->attempts, error), least;
  if (j->attempts.alone)
    return status;
  if (refused(status) && by_mesh_unasked(j))
    status = attempt_in_stages(j, error);
  if (j->engine->places || own->below == NULL)
    return status;
  if (status == CM_OK)
    return attempt_less(j, error);
  if (!refused(status))
    return status;
  least = attempt_by(j, cm_effort_least(own), &later);
  if (least != CM_OK && !refused(least))
    *error = later;
  return refused(least) ? status : least;
}

/* ---- why not ---- */

/* The attempts under other terms: the same network, method and seed. A partition that keeps the job's own terms too
 * is the job's result after all. */
static cm_status attempt_again(void *context, const cm_terms *terms, uint32_t *left, cm_outcome *outcome, cm_error *error)
{
  job *j = context;
  cm_attempts other = {0};
  CM_TRY(cm_attempts_begin(j->input, j->objective, j->engine, terms, j->run, &other, error));
  other.tries_max = *left < other.tries_max ? *left : other.tries_max;
  cm_status status = cm_attempts_run(&other, error);
  *left -= other.made.attempt_count > *left ? *left : other.made.attempt_count > 0 ? other.made.attempt_count : 1;
  if (status == CM_OK) {
    *outcome = (cm_outcome){.parts = other.made.partition->part_count};
    for (uint32_t p = 0; p < outcome->parts; p++)
      for (cm_resource r = 0; r < CM_RESOURCES; r++)
        if (other.made.use[(size_t)p * CM_RESOURCES + r] > outcome->most[r])
          outcome->most[r] = other.made.use[(size_t)p * CM_RESOURCES + r];
    if (cm_outcome_keeps(outcome, &j->terms)) {
      other.made.limits = j->attempts.made.limits;
      cm_candidate_free(&j->attempts.made);
      j->attempts.made = other.made;
      other.made = (cm_candidate){0};
    }
  }
  cm_attempts_end(&other);
  return status;
}

/* CM_OK when a legal partition turned up after all. */
static cm_status explain(job *j, cm_error *error)
{
  cm_refusal refusal = refusal_of(j, &j->terms);
  refusal.attempt = attempt_again;
  refusal.roomy_parts = j->attempts.roomy_parts;
  refusal.first_parts = j->attempts.first_parts;
  const cm_candidate *made = &j->attempts.made;
  if (j->attempts.nearest != NULL)
    refusal.parts = j->attempts.nearest->part_count;
  else if (made->attempt_count > 0)
    refusal.parts = made->attempts[made->attempt_count - 1].parts;
  return cm_explain_refusal(&refusal, j->attempts.nearest != NULL ? j->attempts.violation.resource : CM_RESOURCES,
                            error);
}

/* Whether what the method made without regard to populations keeps the limit on them. */
static cm_status suits_populations(const job *j, bool *suits, cm_error *error)
{
  const cm_partition *p = j->attempts.made.partition;
  cm_violation v;
  cm_status status = cm_check_populations(j->input->demand->network, &j->terms.limits, p->part, p->part_count, j->run, &v, error);
  if (status == CM_OK)
    *suits = v.broken_parts == 0;
  return status;
}

static cm_status attempt_by_population(job *j, cm_error *error)
{
  cm_by_population by = {.input = j->input, .terms = &j->terms, .objective = j->objective, .run = j->run, .make = cm_make_parts};
  bool suits = false;
  if (j->attempts.alone)
    return cm_attempts_run(&j->attempts, error);
  if (j->terms.limits.populations > 1) { /* parts may hold few populations by themselves */
    cm_status status = attempt_all(j, error);
    CM_THEN(status, suits_populations(j, &suits, error));
    if (suits || (status != CM_OK && !refused(status)))
      return status;
    cm_candidate_free(&j->attempts.made);
  }
  return cm_partition_by_population(&by, &j->attempts.made, error);
}

static cm_status attempt_by_class(job *j, cm_error *error)
{
  cm_by_population by = {.input = j->input, .terms = &j->terms, .objective = j->objective, .run = j->run, .make = cm_make_parts};
  cm_status status = cm_partition_by_class(&by, &j->attempts.made, error);
  uint32_t parts = status == CM_OK ? j->attempts.made.partition->part_count : 0;
  if (parts <= j->terms.cores)
    return status;
  cm_fail(error, CM_LIMIT_BROKEN, "%u cores are allowed, and on the kinds of cores that take its neurons the network was cut in %u parts: allow more",
          j->terms.cores, parts);
  return cm_fail_at(error, "/options/cores");
}

/* The cores of a method that places as it partitions. */
static void take_cores(cm_candidate *candidate)
{
  cm_partition *p = candidate->partition;
  candidate->places.core = p->core;
  candidate->places.number = p->region_chosen;
  candidate->region_count = p->regions;
  p->core = NULL;
}

cm_status cm_make_parts(const cm_map_input *input, cm_run *run, cm_candidate *candidate, cm_error *error)
{
  job j = {.input = input, .options = input->options, .run = run};
  cm_status status = prepare(&j, error);
  if (status == CM_OK && cm_cores_differ(input->chip)) {
    status = attempt_by_class(&j, error);
  } else if (status == CM_OK && populations_are_limited(input)) {
    status = attempt_by_population(&j, error);
  } else if (status == CM_OK) {
    status = attempt_all(&j, error);
    if (refused(status))
      status = explain(&j, error);
  }
  if (status == CM_OK) {
    *candidate = j.attempts.made;
    j.attempts.made = (cm_candidate){0};
    candidate->input = input;
    candidate->run = run;
    candidate->bound = j.bound;
    candidate->objective = j.objective;
    take_cores(candidate);
  }
  cm_attempts_end(&j.attempts);
  return status;
}
