/* Happy path: kinds of cores for all neurons -> the stage on the neurons of each kind alone -> all parts side by side -> limits
 * that tie kinds together counted. What can fail: labels that nobody takes, too few cores of a kind, memory, a stop. */
#include "core/solver/stage/by_class.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/chip/classes.h"
#include "core/limits/populations.h"
#include "core/solver/stage/kinds_of_neurons.h"

enum { ROUNDS = 4 };

/* What a round that found no room leaves of a kind for neurons that may run elsewhere. */
static const double less_room = 0.93;

typedef struct work {
  const cm_by_population *job;
  uint32_t kinds, cores[CM_KINDS_MAX], share[CM_KINDS_MAX];
  uint64_t *allowed;  /* [vertices] */
  uint8_t *kind;      /* [vertices] */
  uint32_t *kind_of;  /* [vertices] the same, as populations */
  cm_population_split split;
  uint32_t *part;     /* [vertices] */
  uint32_t parts;
  uint8_t *part_kind; /* [vertices] of each part */
  cm_attempt attempt;
} work;

/* ---- the network of one kind ---- */

/* Populations of its vertices: sources elsewhere are of the population of their first target, where they count as a source
 * elsewhere does. */
static cm_status take_populations(const work *w, cm_population_network *n, cm_error *error)
{
  const cm_topology *t = w->job->input->demand->network;
  cm_topology *made = n->topology;
  if (t->population_of == NULL)
    return CM_OK;
  CM_TRY(CM_NEW(w->job->run->memory, made->population_of, made->vertex_count, error));
  made->population = t->population;
  made->population_count = t->population_count;
  for (uint32_t v = 0; v < made->vertex_count; v++)
    made->population_of[v] = t->population_of[n->origin[v]];
  for (uint32_t e = 0; made->directed && e < made->net_count; e++) {
    uint32_t source = cm_topology_source(made, e);
    if (w->kind_of[n->origin[source]] != w->kind_of[n->origin[made->pin[made->net_first[e]]]])
      made->population_of[source] = t->population_of[n->origin[made->pin[made->net_first[e]]]];
  }
  return CM_OK;
}

static void drop_network(cm_population_network *n)
{
  if (n->topology != NULL)
    cm_free(n->topology->population_of);
  cm_population_network_free(n);
}

static cm_status no_room(const work *w, uint32_t kind, const cm_bound *bound, cm_error *error)
{
  char labels[200], name[96];
  cm_name_labels(w->job->input->demand, w->kind, kind, labels, sizeof labels);
  cm_fail(error, CM_NO_ROOM, "%s need %s%" PRIu32 " %s, %" PRIu32 " free", labels, bound->argument == CM_ARGUMENT_TOTAL ? "" : "at least ",
          bound->parts, cm_name_kind(w->job->input->chip, kind, name, sizeof name), w->cores[kind]);
  error->limit_name = "core_classes";
  cm_error_figure(error, "needed", bound->parts);
  cm_error_figure(error, "free", w->cores[kind]);
  return CM_NO_ROOM;
}

/* Parts of neurons of the kind, without those that only sources elsewhere had. */
static cm_status take_parts(work *w, uint32_t i, const cm_population_network *n, const cm_candidate *made, cm_error *error)
{
  uint32_t kind = w->split.number[i], first = w->parts, parts = made->partition->part_count, *number;
  CM_TRY(CM_NEW(w->job->run->memory, number, parts, error));
  for (uint32_t v = 0; v < n->topology->vertex_count; v++)
    if (w->kind_of[n->origin[v]] == kind)
      number[made->partition->part[v]] = 1;
  for (uint32_t p = 0; p < parts; p++) {
    bool has = number[p] != 0;
    number[p] = w->parts;
    w->parts += has;
  }
  for (uint32_t v = 0; v < n->topology->vertex_count; v++)
    if (w->kind_of[n->origin[v]] == kind)
      w->part[n->origin[v]] = number[made->partition->part[v]];
  memset(w->part_kind + first, (int)kind, w->parts - first);
  cm_free(number);
  cm_attempt_join(&w->attempt, made);
  return CM_OK;
}

/* A kind's limits, without those that tie kinds together. */
static cm_limits limits_alone(const cm_chip *chip, uint32_t kind)
{
  cm_limits limits = *cm_chip_kind_limits(chip, kind);
  limits.outbound_axons = limits.target_cores = limits.source_cores = 0;
  return limits;
}

/* Whether a kind has as many cores as its neurons need at least. */
static cm_status check_room(work *w, uint32_t i, cm_population_network *n, cm_error *error)
{
  uint32_t kind = w->split.number[i];
  cm_limits limits = limits_alone(w->job->input->chip, kind);
  cm_bound bound;
  CM_TRY(cm_bound_parts(&n->demand, &limits, w->job->run, &bound, error));
  return bound.parts > w->cores[kind] ? no_room(w, kind, &bound, error) : CM_OK;
}

static cm_status partition_network(work *w, uint32_t i, cm_population_network *n, cm_error *error)
{
  const cm_by_population *job = w->job;
  cm_variant variant;
  cm_map_input *input = cm_vary(job->input, &variant);
  uint32_t kind = w->split.number[i];
  cm_chip chip = *job->input->chip;
  cm_candidate alone;
  chip.limits = limits_alone(job->input->chip, kind);
  chip.class_count = 0;
  chip.class_of = NULL;
  variant.options.objective = job->objective;
  variant.options.mapper = CM_MAPPER_TWO_PHASE;
  variant.options.parts = w->share[kind];
  input->demand = &n->demand;
  input->chip = &chip;
  input->places = false;
  input->cores_max = w->cores[kind];
  input->share = (double)(w->split.pin_first[i + 1] - w->split.pin_first[i] + n->topology->vertex_count) /
                ((double)job->input->demand->network->pin_count + job->input->demand->network->vertex_count);
  cm_status status = job->make(input, job->run, &alone, error);
  if (status == CM_OK) {
    status = take_parts(w, i, n, &alone, error);
    cm_candidate_free(&alone);
  } else if (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN) {
    char labels[200], name[96];
    cm_name_labels(job->input->demand, w->kind, kind, labels, sizeof labels);
    cm_fail_more(error, "; this is about %s on %" PRIu32 " %s", labels, w->cores[kind],
                 cm_name_kind(job->input->chip, kind, name, sizeof name));
  }
  return status;
}

typedef cm_status network_step(work *w, uint32_t i, cm_population_network *network, cm_error *error);

/* A step on the network of one kind. */
static cm_status on_network(work *w, uint32_t i, network_step *step, cm_error *error)
{
  const cm_limits *l = cm_chip_kind_limits(w->job->input->chip, w->split.number[i]);
  cm_population_network n;
  CM_TRY(cm_population_network_make(&w->split, i, cm_wants_sources(w->job, l), w->job->run, &n, error));
  cm_status status = take_populations(w, &n, error);
  CM_THEN(status, step(w, i, &n, error));
  drop_network(&n);
  return status;
}

/* ---- all kinds ---- */

/* A stated number of parts goes to kinds by their neurons, to each one at least and no more than it has cores. */
static cm_status share_parts(work *w, cm_error *error)
{
  uint32_t total = w->job->terms->parts, left = total;
  uint64_t neurons = w->job->input->demand->network->vertex_count;
  memset(w->share, 0, sizeof w->share);
  if (total == 0)
    return CM_OK;
  if (total < w->split.count) {
    cm_fail(error, CM_LIMIT_BROKEN, "%" PRIu32 " parts are asked for, and neurons run on %" PRIu32 " kinds of cores", total, w->split.count);
    return cm_fail_at(error, "/options/parts");
  }
  for (uint32_t i = 0; i < w->split.count; i++) {
    uint32_t kind = w->split.number[i], members = w->split.member_first[i + 1] - w->split.member_first[i];
    uint32_t after = w->split.count - 1 - i, most = w->cores[kind] < members ? w->cores[kind] : members;
    uint64_t mine = neurons > 0 ? (uint64_t)left * members / neurons : 0;
    mine = mine > 0 ? mine : 1;
    mine = mine < most ? mine : most;
    mine = mine < left - after ? mine : left - after;
    w->share[kind] = (uint32_t)mine;
    left -= (uint32_t)mine;
    neurons -= members;
  }
  for (uint32_t i = 0; i < w->split.count && left > 0; i++) {
    uint32_t kind = w->split.number[i], members = w->split.member_first[i + 1] - w->split.member_first[i];
    uint32_t most = w->cores[kind] < members ? w->cores[kind] : members, more = most - w->share[kind];
    more = more < left ? more : left;
    w->share[kind] += more;
    left -= more;
  }
  return CM_OK;
}

/* The number of parts that the options ask for; 0: as many as the limits do. */
static uint32_t parts_asked(const work *w)
{
  return cm_objective_is_of_steps(w->job->objective) ? 0 : w->job->input->options->parts;
}

/* Kinds with a core left that take the first half of a part's neurons. */
static uint64_t kinds_for_half(const work *w, uint32_t part, uint32_t half, const uint32_t *used)
{
  uint64_t kinds = 0;
  for (uint32_t k = 0; k < w->kinds; k++)
    kinds |= used[k] < w->cores[k] ? UINT64_C(1) << k : 0;
  for (uint32_t v = 0; v < w->job->input->demand->network->vertex_count && half > 0; v++)
    if (w->part[v] == part) {
      kinds &= w->allowed[v];
      half--;
    }
  return kinds;
}

/* The first half of a part's neurons become a part of their own, on a core of the same kind where one is left. */
static void halve(work *w, uint32_t part, uint64_t kinds, uint32_t *size, uint32_t *used)
{
  uint32_t half = size[part] / 2, kind = w->part_kind[part];
  if ((kinds >> kind & 1) == 0)
    kind = (uint32_t)__builtin_ctzll(kinds);
  for (uint32_t v = 0, left = half; left > 0; v++)
    if (w->part[v] == part) {
      w->part[v] = w->parts;
      left--;
    }
  size[w->parts] = half;
  size[part] -= half;
  w->part_kind[w->parts++] = (uint8_t)kind;
  used[kind]++;
}

/* As many parts as asked for: the largest are halved where a kind has fewer cores than its share, or parts of nothing but sources
 * elsewhere have fallen away. */
static cm_status fill_up(work *w, cm_error *error)
{
  uint32_t asked = parts_asked(w), n = w->job->input->demand->network->vertex_count, used[CM_KINDS_MAX] = {0}, *size;
  if (w->parts >= asked)
    return CM_OK;
  CM_TRY(CM_NEW(w->job->run->memory, size, asked, error));
  for (uint32_t v = 0; v < n; v++)
    size[w->part[v]]++;
  for (uint32_t p = 0; p < w->parts; p++)
    used[w->part_kind[p]]++;
  while (w->parts < asked) {
    uint32_t largest = 0;
    for (uint32_t p = 1; p < w->parts; p++)
      largest = size[p] > size[largest] ? p : largest;
    if (size[largest] < 2)
      break;
    uint64_t kinds = kinds_for_half(w, largest, size[largest] / 2, used);
    if (kinds != 0)
      halve(w, largest, kinds, size, used);
    else
      size[largest] = 0; /* it stays whole */
  }
  cm_free(size);
  if (w->parts == asked)
    return CM_OK;
  cm_fail(error, CM_LIMIT_BROKEN, "%" PRIu32 " parts are asked for, and on the free cores of kinds that take its neurons the network was cut "
          "into %" PRIu32, asked, w->parts);
  return cm_fail_at(error, "/options/parts");
}

/* Whether neurons of a kind might run on another one. */
static bool may_leave(const work *w, uint32_t kind)
{
  for (uint32_t v = 0; v < w->job->input->demand->network->vertex_count; v++)
    if (w->kind[v] == kind && (w->allowed[v] & ~(UINT64_C(1) << kind)) != 0)
      return true;
  return false;
}

/* One round; *crowded: the kind that found no room. */
static cm_status partition_all(work *w, const double *room, uint32_t *crowded, cm_error *error)
{
  const cm_by_population *job = w->job;
  uint32_t n = job->input->demand->network->vertex_count;
  w->parts = 0;
  cm_population_split_free(&w->split);
  CM_TRY(cm_choose_kinds(job->input, w->allowed, room, job->run, w->kind, error));
  for (uint32_t v = 0; v < n; v++)
    w->kind_of[v] = w->kind[v];
  CM_TRY(cm_population_split_open(job->input->demand, w->kind_of, w->kinds, job->run, &w->split, error));
  CM_TRY(share_parts(w, error));
  for (uint32_t i = 0; i < 2 * w->split.count; i++) { /* all are known to have room before the first is partitioned */
    uint32_t at = i % w->split.count;
    *crowded = w->split.number[at];
    CM_TRY(on_network(w, at, i < w->split.count ? check_room : partition_network, error));
  }
  return CM_OK;
}

static cm_status partition(work *w, cm_error *error)
{
  double room[CM_KINDS_MAX];
  uint32_t crowded = 0;
  for (uint32_t k = 0; k < w->kinds; k++)
    room[k] = w->cores[k];
  for (uint32_t round = 0;; round++) {
    cm_status status = partition_all(w, room, &crowded, error);
    if (status != CM_NO_ROOM || round + 1 == ROUNDS || !may_leave(w, crowded))
      return status;
    room[crowded] *= less_room;
  }
}

/* ---- all together ---- */

/* Limits that tie kinds together. */
static cm_status judge(work *w, cm_candidate *made, cm_error *error)
{
  const cm_by_population *job = w->job;
  CM_TRY(CM_NEW(job->run->memory, made->use, (size_t)w->parts * CM_RESOURCES, error));
  CM_TRY(cm_count_use(job->input->demand, w->part, w->parts, job->run, made->use, error));
  for (uint32_t p = 0; p < w->parts; p++) {
    const cm_limits *l = cm_chip_kind_limits(job->input->chip, w->part_kind[p]);
    cm_violation v = cm_find_violation(l, made->use + (size_t)p * CM_RESOURCES, 1);
    char name[96];
    if (v.broken_parts == 0)
      continue;
    cm_fail(error, CM_LIMIT_BROKEN, "no partition was found within the core limits: part %" PRIu32 " on %s has %" PRIu64 " %s, %" PRIu64
            " more than the %" PRIu64 " of a core; it would fit with %" PRIu64, p, cm_name_kind(job->input->chip, w->part_kind[p], name, sizeof name),
            v.use, cm_resource_name(v.resource), v.use - v.limit, v.limit, v.use);
    error->limit_name = cm_resource_field(v.resource);
    cm_error_figure(error, "part", p);
    cm_error_figure(error, "use", v.use);
    cm_error_figure(error, "limit", v.limit);
    return CM_LIMIT_BROKEN;
  }
  return CM_OK;
}

cm_status cm_partition_by_class(const cm_by_population *job, cm_candidate *result, cm_error *error)
{
  uint32_t n = job->input->demand->network->vertex_count;
  work w = {.job = job, .kinds = cm_chip_kinds(job->input->chip)};
  cm_memory *memory = job->run->memory;
  cm_candidate made = {0};
  cm_status status = cm_count_kinds(job->input, job->run, w.cores, error);
  if (status == CM_OK && (CM_NEW(memory, w.allowed, n, error) != CM_OK || CM_NEW(memory, w.kind, n, error) != CM_OK ||
                          CM_NEW(memory, w.kind_of, n, error) != CM_OK || CM_NEW(memory, w.part, n, error) != CM_OK ||
                          CM_NEW(memory, w.part_kind, n, error) != CM_OK))
    status = error->status;
  CM_THEN(status, cm_allowed_kinds(job->input, w.cores, job->run, w.allowed, error));
  CM_THEN(status, partition(&w, error));
  CM_THEN(status, fill_up(&w, error));
  CM_THEN(status, judge(&w, &made, error));
  CM_THEN(status, cm_deliver_parts(job, w.attempt, &w.part, &w.part_kind, w.parts, &made, error));
  cm_population_split_free(&w.split);
  CM_FREE(w.allowed, w.kind, w.kind_of, w.part, w.part_kind);
  CM_END(status, *result = made, cm_candidate_free(&made));
}
