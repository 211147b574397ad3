/* Happy path: first capacity -> the method -> all limits counted -> legal. A method that knows the limits is helped
 * by single moves where it misses one; one that does not is asked again with a smaller capacity first. What can
 * fail: the method, memory, disk, a stop; limits that no attempt keeps. */
#include "core/solver/stage/attempts_judge.h"

#include <math.h>
#include <stdio.h>

#include "core/solver/mappers/kept.h"
#include "core/solver/presets.h"

/* Where single moves cost so many times what the method's own partition does, parts that leave them room are tried too. */
static const double loss_most = 1.1;

/* The capacity that the first attempt takes: what a fixed number of parts asks for, else the neuron limit. */
static uint64_t first_capacity(const cm_attempts *a)
{
  const cm_terms *terms = &a->terms;
  uint64_t total = a->input->demand->size_total,
           capacity = terms->limits.neurons != 0 ? terms->limits.neurons : total;
  if (terms->parts != 0) {
    uint64_t even = (total + terms->parts - 1) / terms->parts;
    double slack = floor((double)even * (1 + a->input->options->imbalance));
    uint64_t allowed = slack < (double)total ? (uint64_t)slack : total;
    capacity = allowed < capacity ? allowed : capacity;
  }
  return capacity > 0 ? capacity : 1;
}

cm_status cm_attempts_begin(const cm_map_input *input, cm_objective objective, const cm_engine *engine, const cm_terms *terms,
                            cm_run *run, cm_attempts *attempts, cm_error *error)
{
  const cm_topology *topology = input->demand->network;
  cm_attempts a = {.input = input,
                   .engine = engine,
                   .run = run,
                   .terms = *terms,
                   .largest = 1,
                   .tries_max = (uint32_t)input->options->capacity_tries};
  uint64_t capacity = first_capacity(&a);
  a.made.objective = objective;
  a.made.limits = terms->limits;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    if (cm_demand_size(input->demand, v) > a.largest)
      a.largest = cm_demand_size(input->demand, v);
  if (terms->parts != 0)
    a.made.limits.neurons = capacity;
  if (terms->parts != 0 && capacity < a.largest)
    return cm_fail(
        error, CM_LIMIT_BROKEN,
        "%u parts of at most %llu leave no room for a neuron of size %u; allow fewer parts or more imbalance",
        terms->parts, (unsigned long long)capacity, a.largest);
  *attempts = a;
  return CM_OK;
}

void cm_attempts_end(cm_attempts *attempts)
{
  cm_candidate_free(&attempts->made);
  cm_candidate_free(&attempts->aside);
  cm_partition_free(attempts->nearest);
  cm_levels_release(&attempts->levels);
  *attempts = (cm_attempts){0};
}

/* ---- one attempt ---- */

double cm_attempts_paid(const cm_candidate *made)
{
  return made->objective == CM_OBJECTIVE_EDGE ? made->quality.edge_cut : made->quality.connectivity;
}

/* Neurons of the largest part, without copies: a capacity beyond that has no effect. */
static cm_status find_widest(cm_attempts *a, const cm_partition *p, cm_error *error)
{
  uint64_t *size;
  CM_TRY(CM_NEW(a->run->memory, size, p->part_count, error));
  a->widest = 0;
  for (uint32_t v = 0; v < p->vertex_count; v++) {
    size[p->part[v]] += cm_demand_size(a->input->demand, v);
    a->widest = size[p->part[v]] > a->widest ? size[p->part[v]] : a->widest;
  }
  cm_free(size);
  return CM_OK;
}

enum { PINS_SMALL = 1 << 14 };

/* Of the time that is left, about: another attempt may follow, and places. */
static double share_of_attempt(const cm_attempts *a)
{
  if (a->engine->places)
    return 0.95;
  switch (a->input->options->objective) { /* loads of links are spread after those of time */
  case CM_OBJECTIVE_TIME: return 0.62;
  case CM_OBJECTIVE_EDP: return 0.75;
  case CM_OBJECTIVE_ENERGY: return 0.95;
  default: break;
  }
  if (!cm_effort_of(a->input->options)->place.roams || a->input->demand->network->pin_count >= PINS_SMALL)
    return 0.94;
  return a->engine->keeps_limits ? 0.6 : 0.05; /* placing takes its time however small the network is */
}

/* The method once. *violation says what breaks; nothing where there are only too many parts. *dear: single moves made
 * it legal, and lost much by it. */
static cm_status attempt_once(cm_attempts *a, uint64_t capacity, uint32_t parts, uint32_t cores,
                              cm_violation *violation, bool *dear, cm_error *error)
{
  cm_attempt *attempt = &a->made.attempts[a->made.attempt_count];
  cm_engine_task task = {
    .input = a->input, .limits = a->made.limits, .parts = parts, .parts_max = cores, .first_levels = &a->levels, .digest = a->digest};
  cm_partition *partition = NULL;
  *attempt = (cm_attempt){.capacity = capacity};
  task.limits.neurons = capacity;
  const size_t mark = cm_run_enter(a->run, share_of_attempt(a));
  CM_TRY(cm_partition_or_kept(a->engine, &task, a->run, attempt, &partition, error));
  cm_run_leave(a->run, mark);
  const cm_partition *made = partition;
  attempt->parts = made->part_count;
  cm_status status = find_widest(a, made, error);
  CM_THEN(status, cm_attempt_judge(a, &partition, violation, error));
  double before = cm_attempts_paid(&a->made);
  attempt->edge_cut = a->made.quality.edge_cut;
  a->made.attempt_count++;
  *dear = false;
  if (status == CM_OK && !cm_attempt_done(a)) {
    if (violation->broken_parts == 0)
      (void)snprintf(attempt->broken, sizeof attempt->broken, "%u parts, and %u cores are %s", attempt->parts,
                     a->terms.cores, cm_terms_cores(&a->terms));
    else
      (void)snprintf(attempt->broken, sizeof attempt->broken,
                     "%llu of %u parts break a limit, worst part %u with %llu %s of at most %llu",
                     (unsigned long long)violation->broken_parts, attempt->parts, violation->part,
                     (unsigned long long)violation->use, cm_resource_name(violation->resource),
                     (unsigned long long)violation->limit);
    bool too_much = violation->broken_parts > 0 ? cm_attempts_are_out_of_reach(a) : cm_attempts_ask_far_too_much(a, attempt->parts);
    if (a->engine->mends && !too_much)
      status = cm_attempt_legalise(a, made, made->core != NULL && a->engine->polish != NULL, made->part_count + made->part_count / 8 + 1, error);
    *dear = status == CM_OK && cm_attempt_done(a) && cm_attempts_paid(&a->made) > loss_most * before;
  }
  cm_partition_free(partition);
  return status;
}

/* ---- all attempts ---- */

static cm_status refuse(const cm_attempts *a, const char *why, cm_error *error)
{
  const cm_violation *v = &a->violation;
  const char *lead = "; it would fit with";
  if (a->nearest == NULL) {
    cm_fail(error, CM_NO_ROOM, "no partition within the core limits was found on the %u %s cores", a->terms.cores, cm_terms_cores(&a->terms));
    cm_error_figure(error, "needed", (uint64_t)a->terms.cores + 1);
    cm_error_figure(error, "free", a->terms.cores);
    return CM_NO_ROOM;
  }
  cm_fail(error, CM_LIMIT_BROKEN,
          "no partition was found within the core limits in %u attempts (%s); the nearest, of %u parts, breaks a limit "
          "in %llu: "
          "part %u has %llu %s, %llu more than the %llu of a core",
          a->made.attempt_count, why, a->nearest->part_count, (unsigned long long)v->broken_parts, v->part,
          (unsigned long long)v->use, cm_resource_name(v->resource), (unsigned long long)(v->use - v->limit),
          (unsigned long long)v->limit);
  for (cm_resource r = 0; r < CM_RESOURCES; r++)
    if (cm_limit(&a->made.limits, r) != 0 && a->most[r] > cm_limit(&a->made.limits, r)) {
      cm_fail_more(error, "%s %llu %s", lead, (unsigned long long)a->most[r], cm_resource_name(r));
      lead = " and";
    }
  if (v->resource == CM_MEMORY)
    cm_fail_more(error, "%s %llu %s", lead, (unsigned long long)v->use, cm_resource_name(CM_MEMORY));
  if (!a->engine->keeps_limits && (v->resource == CM_SYNAPSES || v->resource == CM_INBOUND_AXONS || v->resource == CM_MEMORY))
    cm_fail_more(error, "; objective \"axon\" under presets fast, balanced and best keeps this limit by itself");
  error->limit_name = cm_resource_field(v->resource);
  cm_error_figure(error, "part", v->part);
  cm_error_figure(error, "use", v->use);
  cm_error_figure(error, "limit", v->limit);
  cm_error_figure(error, "attempts", a->made.attempt_count);
  return CM_LIMIT_BROKEN;
}

/* Every neuron a part of its own. */
static cm_status make_alone(const cm_attempts *a, cm_partition **alone, cm_error *error)
{
  uint32_t n = a->input->demand->network->vertex_count;
  cm_partition *made;
  CM_TRY(cm_partition_new(n, a->run, &made, error));
  made->part_count = n;
  for (uint32_t v = 0; v < n; v++)
    made->part[v] = v;
  *alone = made;
  return CM_OK;
}

/* For single moves to bring together. */
static cm_status attempt_from_neurons(cm_attempts *a, uint64_t capacity, cm_error *error)
{
  cm_partition *alone;
  CM_TRY(make_alone(a, &alone, error));
  cm_attempt *attempt = &a->made.attempts[a->made.attempt_count++];
  *attempt = (cm_attempt){.capacity = capacity, .parts = alone->part_count, .broken = "the method finds no partition"};
  cm_status status = cm_attempt_legalise(a, alone, false, UINT32_MAX, error);
  cm_partition_free(alone);
  return status;
}

/* A method that gives up for lack of cores is asked what it would do with more: single moves may then need less. */
static cm_status attempt_with_more(cm_attempts *a, uint64_t capacity, cm_violation *violation, cm_error *error)
{
  bool dear;
  cm_status status = attempt_once(a, capacity, a->terms.parts, UINT32_MAX, violation, &dear, error);
  return status == CM_NO_ROOM ? attempt_from_neurons(a, capacity, error) : status;
}

/* The only partition there is. */
static cm_status attempt_alone(cm_attempts *a, cm_error *error)
{
  cm_partition *alone;
  cm_violation violation = {0};
  CM_TRY(make_alone(a, &alone, error));
  cm_attempt *attempt = &a->made.attempts[a->made.attempt_count++];
  *attempt = (cm_attempt){.capacity = first_capacity(a), .parts = alone->part_count, .only = true};
  cm_status status = cm_attempt_judge(a, &alone, &violation, error);
  attempt->edge_cut = a->made.quality.edge_cut;
  cm_partition_free(alone);
  return status != CM_OK || cm_attempt_done(a) ? status : refuse(a, "every neuron needs a core of its own", error);
}

/* Whether what was made costs less than what was set aside, if anything was. */
static bool is_better(const cm_attempts *a)
{
  return a->aside.partition == NULL || cm_attempts_paid(&a->made) < cm_attempts_paid(&a->aside);
}

/* Keeps the legal partition aside, for another attempt. */
static void set_aside(cm_attempts *a)
{
  cm_partition_free(a->aside.partition);
  cm_free(a->aside.use);
  a->aside = a->made;
  a->made.partition = NULL;
  a->made.use = NULL;
}

/* The better one of what was set aside and what was made since, if anything was. */
static void take_better(cm_attempts *a)
{
  cm_candidate *made = &a->made, *aside = &a->aside;
  if (aside->partition == NULL || (made->partition != NULL && is_better(a)))
    return;
  cm_attempt of_aside = aside->attempts[aside->attempt_count - 1];
  for (uint32_t i = aside->attempt_count; i < made->attempt_count; i++) /* the last attempt is the one that made it */
    made->attempts[i - 1] = made->attempts[i];
  made->attempts[made->attempt_count - 1] = of_aside;
  cm_partition_free(made->partition);
  cm_free(made->use);
  made->partition = aside->partition;
  made->use = aside->use;
  made->quality = aside->quality;
  *aside = (cm_candidate){0};
}

static cm_status attempt_all(cm_attempts *a, cm_error *error)
{
  uint64_t capacity = first_capacity(a);
  uint32_t parts = a->terms.parts;
  const char *why = NULL;
  while (why == NULL) {
    cm_violation violation = {0};
    bool dear = false;
    cm_status status = attempt_once(a, capacity, parts, a->terms.cores, &violation, &dear, error);
    a->first_parts = status == CM_NO_ROOM ? a->made.attempts[a->made.attempt_count].parts : 0;
    if (a->first_parts != 0)
      return status;
    if (status == CM_NO_ROOM && a->terms.cores != UINT32_MAX)
      status = attempt_with_more(a, capacity, &violation, error);
    const cm_engine *keeper = status == CM_OK && !cm_attempt_done(a) ? cm_attempt_keeper(a, &violation) : NULL;
    if (keeper != NULL)
      status = cm_attempt_by_axons(a, keeper, capacity, error);
    dear &= is_better(a);
    if (status != CM_OK || (cm_attempt_done(a) && !dear))
      return status;
    why = cm_attempts_next(a, &violation, &capacity, &parts);
    if (dear && why == NULL)
      set_aside(a);
    else if (dear)
      return CM_OK;
  }
  if (a->aside.partition != NULL)
    return CM_OK;
  if (a->nearest != NULL) {
    cm_status status = cm_attempt_legalise(a, a->nearest, false, UINT32_MAX, error);
    if (status != CM_OK || cm_attempt_done(a))
      return status;
  }
  return refuse(a, why, error);
}

cm_status cm_attempts_run(cm_attempts *a, cm_error *error)
{
  if (a->alone)
    return attempt_alone(a, error);
  cm_status status = attempt_all(a, error);
  bool refused = status == CM_NO_ROOM || status == CM_LIMIT_BROKEN;
  if (status == CM_OK || (refused && a->aside.partition != NULL)) {
    take_better(a);
    status = CM_OK;
  }
  return status;
}
