/* Happy path: what each population needs at least -> its share of parts or cores -> the stage on its network alone -> all
 * parts side by side -> several put together where a core may hold several -> limits counted. What can fail: a population
 * that finds no parts, limits that tie populations together, memory, a stop. */
#include "core/solver/stage/by_population.h"


#include "core/limits/populations.h"
#include "core/partition/legalise.h"
#include "core/partition/merge_parts.h"

typedef struct work {
  const cm_by_population *job;
  cm_population_split split;
  uint32_t *least; /* [split.count] parts that each needs, by its bound */
  uint32_t *share; /* [split.count] parts, or cores, that each gets; 0: as many as its limits ask for */
  double *weight;  /* [split.count] by which they are shared out */
  uint32_t *part;  /* [vertices] */
  uint32_t parts;
  bool exact;      /* shares are exact numbers of parts */
  cm_attempt attempt;
} work;

static cm_limits limits_alone(const work *w)
{
  cm_limits limits = w->job->terms->limits;
  limits.populations = limits.outbound_axons = limits.target_cores = limits.source_cores = 0;
  return limits;
}

bool cm_wants_sources(const cm_by_population *job, const cm_limits *l)
{
  return job->objective != CM_OBJECTIVE_EDGE || l->synapses != 0 || l->inbound_axons != 0 || l->memory_bits != 0;
}

/* ---- shares ---- */

static double weigh(const work *w, const cm_population_network *n)
{
  const cm_costs *c = &w->job->input->chip->costs;
  double ns = (double)n->topology->pin_count * c->charge[CM_CHARGE_SYNAPSE].ns + (double)n->demand.size_total * c->charge[CM_CHARGE_NEURON].ns;
  return w->exact || ns <= 0 ? (double)n->demand.size_total + 1e-9 : ns;
}

static cm_status find_least(work *w, cm_error *error)
{
  cm_limits limits = limits_alone(w);
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < w->split.count && status == CM_OK; i++) {
    cm_population_network n;
    cm_bound bound;
    status = cm_population_network_make(&w->split, i, true, w->job->run, &n, error);
    if (status != CM_OK)
      break;
    status = cm_bound_parts(&n.demand, &limits, w->job->run, &bound, error);
    if (status == CM_OK) {
      w->least[i] = bound.parts;
      w->weight[i] = weigh(w, &n);
    }
    cm_population_network_free(&n);
  }
  return status;
}

static uint32_t members(const work *w, uint32_t i)
{
  return w->split.member_first[i + 1] - w->split.member_first[i];
}

/* Gives out `total`: to each at least what it needs, one more at a time to whoever has most weight a share. */
static cm_status share_out(work *w, uint32_t total, cm_error *error)
{
  uint64_t given = 0;
  for (uint32_t i = 0; i < w->split.count; i++) {
    w->share[i] = w->least[i];
    given += w->least[i];
  }
  if (given > total) {
    cm_fail(error, CM_LIMIT_BROKEN, "%u parts are asked for, and %u populations that share no core need at least %llu", total,
            w->split.count, (unsigned long long)given);
    cm_error_figure(error, "cores_proved", given);
    return cm_fail_at(error, "/options/parts");
  }
  while (given < total) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < w->split.count; i++)
      if (w->share[i] < members(w, i) &&
          (best == UINT32_MAX || w->weight[i] * w->share[best] > w->weight[best] * w->share[i]))
        best = i;
    if (best == UINT32_MAX)
      break;
    uint64_t left = total - given, step = left / (4 * (uint64_t)w->split.count) + 1;
    uint64_t room = members(w, best) - w->share[best];
    step = step < room ? step : room;
    w->share[best] += (uint32_t)step;
    given += step;
  }
  return CM_OK;
}

/* ---- one population ---- */

/* As many parts as asked for: the largest are halved where parts of sources alone have fallen away. */
static void take_parts(work *w, uint32_t i, const cm_population_network *n, const cm_partition *made)
{
  const cm_topology *t = w->job->input->demand->network;
  for (uint32_t v = 0; v < n->topology->vertex_count; v++)
    if (t->population_of[n->origin[v]] == w->split.number[i])
      w->part[n->origin[v]] = w->parts + made->part[v];
  w->parts += made->part_count;
}

static cm_status fill_up(work *w, uint32_t i, uint32_t first, cm_error *error)
{
  const uint32_t *member = w->split.member + w->split.member_first[i];
  uint32_t count = members(w, i), *of, *size, parts = w->parts - first;
  CM_TRY(CM_NEW(w->job->run->memory, of, count, error));
  cm_status status = CM_NEW(w->job->run->memory, size, (size_t)(w->share[i] > parts ? w->share[i] : parts) + 1, error);
  for (uint32_t j = 0; status == CM_OK && j < count; j++)
    of[j] = w->part[member[j]] - first;
  CM_THEN(status, cm_close_gaps(of, count, &parts, w->job->run, error));
  for (uint32_t j = 0; status == CM_OK && j < count; j++)
    size[of[j]]++;
  while (status == CM_OK && w->exact && parts < w->share[i]) {
    uint32_t largest = 0, half = 0;
    for (uint32_t p = 1; p < parts; p++)
      largest = size[p] > size[largest] ? p : largest;
    for (uint32_t j = 0; j < count && half < size[largest] / 2; j++)
      if (of[j] == largest) {
        of[j] = parts;
        half++;
      }
    if (half == 0)
      break;
    size[largest] -= half;
    size[parts++] = half;
  }
  for (uint32_t j = 0; status == CM_OK && j < count; j++)
    w->part[member[j]] = first + of[j];
  w->parts = first + parts;
  CM_FREE(of, size);
  return status;
}

void cm_attempt_join(cm_attempt *all, const cm_candidate *made)
{
  const cm_attempt *last = &made->attempts[made->attempt_count - 1];
  all->coarsening_cached = last->coarsening_cached && (all->capacity == 0 || all->coarsening_cached);
  all->capacity = last->capacity > all->capacity ? last->capacity : all->capacity;
  all->levels = last->levels > all->levels ? last->levels : all->levels;
  all->moved = all->moved || last->moved;
  for (uint32_t i = 0; i < made->attempt_count; i++)
    all->saved_seconds += made->attempts[i].saved_seconds;
}

/* What is counted in visits, not in sweeps, is shared out by synapses and neurons. */
static double share_of_effort(const work *w, uint32_t i)
{
  const cm_topology *t = w->job->input->demand->network;
  double own = (double)(w->split.pin_first[i + 1] - w->split.pin_first[i]) + members(w, i);
  return own / ((double)t->pin_count + t->vertex_count) * (w->job->input->share > 0 ? w->job->input->share : 1);
}

/* The job's own method on the network of one population, on `cores` cores. */
static cm_status partition_one(work *w, uint32_t i, uint32_t cores, cm_error *error)
{
  const cm_by_population *job = w->job;
  cm_variant variant;
  cm_map_input *input = cm_vary(job->input, &variant);
  cm_chip chip = *job->input->chip;
  cm_population_network n;
  cm_candidate alone;
  uint32_t first = w->parts;
  CM_TRY(cm_population_network_make(&w->split, i, cm_wants_sources(job, &job->terms->limits), job->run, &n, error));
  chip.limits = limits_alone(w);
  variant.options.objective = job->objective;
  variant.options.parts = w->share[i];
  input->demand = &n.demand;
  input->chip = &chip;
  input->places = false;
  input->cores_max = cores;
  input->share = share_of_effort(w, i);
  cm_status status = job->make(input, job->run, &alone, error);
  if (status == CM_OK) {
    take_parts(w, i, &n, alone.partition);
    cm_attempt_join(&w->attempt, &alone);
    cm_candidate_free(&alone);
    status = fill_up(w, i, first, error);
  } else if (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN) {
    cm_fail_more(error, "; this is about population \"%.60s\", of %u that share no core",
                 job->input->demand->network->population[w->split.number[i]].name, w->split.count);
  }
  cm_population_network_free(&n);
  return status;
}

static cm_status partition_all(work *w, cm_error *error)
{
  const cm_terms *terms = w->job->terms;
  uint64_t later = 0;
  bool apart = terms->limits.populations == 1;
  for (uint32_t i = 0; i < w->split.count; i++)
    later += w->least[i];
  for (uint32_t i = 0; i < w->split.count; i++) {
    later -= w->least[i];
    uint64_t used = w->parts + later;
    uint32_t left = used < terms->cores ? terms->cores - (uint32_t)used : 0;
    if (left < w->least[i] || !apart)
      left = apart ? w->least[i] : terms->cores;
    CM_TRY(partition_one(w, i, left, error));
  }
  return CM_OK;
}

/* ---- all together ---- */

/* Single moves, where limits that tie populations together break or there are too many parts. */
static cm_status mend(work *w, bool *legal, cm_error *error)
{
  cm_legalise_options options = {.limits = w->job->terms->limits, .parts_max = w->job->terms->cores, .exact = w->exact,
                                 .seed = w->job->input->options->seed};
  cm_run_phase(w->job->run, "legalise");
  w->attempt.moved = true;
  return cm_legalise(w->job->input->demand, &options, w->job->run, w->part, &w->parts, legal, error);
}

static cm_status refuse(const work *w, const cm_violation *v, cm_error *error)
{
  uint32_t asked = w->job->input->options->parts;
  if (v->broken_parts == 0 && asked != 0) {
    cm_fail(error, CM_LIMIT_BROKEN, "%u parts are asked for, and populations were put together in %u parts, not in so many", asked, w->parts);
    return cm_fail_at(error, "/options/parts");
  }
  if (v->broken_parts == 0)
    return cm_refuse_parts(w->parts, w->job->terms->cores, error);
  cm_fail(error, CM_LIMIT_BROKEN,
          "no partition was found within the core limits; the nearest, of %u parts with at most %llu populations each, breaks a "
          "limit in %llu: part %u has %llu %s, %llu more than the %llu of a core; it would fit with %llu",
          w->parts, (unsigned long long)w->job->terms->limits.populations, (unsigned long long)v->broken_parts, v->part,
          (unsigned long long)v->use, cm_resource_name(v->resource), (unsigned long long)(v->use - v->limit),
          (unsigned long long)v->limit, (unsigned long long)v->use);
  error->limit_name = cm_resource_field(v->resource);
  cm_error_figure(error, "part", v->part);
  cm_error_figure(error, "use", v->use);
  cm_error_figure(error, "limit", v->limit);
  return CM_LIMIT_BROKEN;
}

/* Counts the whole, and mends it once where something breaks. */
static cm_status judge(work *w, cm_candidate *made, cm_error *error)
{
  const cm_by_population *job = w->job;
  const cm_topology *t = job->input->demand->network;
  for (bool mended = false;; mended = true) {
    bool legal;
    cm_free(made->use);
    CM_TRY(CM_NEW(job->run->memory, made->use, (size_t)w->parts * CM_RESOURCES, error));
    CM_TRY(cm_count_use(job->input->demand, w->part, w->parts, job->run, made->use, error));
    cm_violation v = cm_find_violation(&job->terms->limits, made->use, w->parts);
    uint32_t asked = cm_objective_is_of_steps(job->objective) ? 0 : job->input->options->parts;
    if (v.broken_parts == 0 && w->parts <= job->terms->cores && (asked == 0 || asked == w->parts))
      return cm_refuse_populations(t, &job->terms->limits, w->part, w->parts, job->run, error);
    if (mended)
      return refuse(w, &v, error);
    CM_TRY(mend(w, &legal, error));
  }
}

cm_status cm_deliver_parts(const cm_by_population *job, cm_attempt attempt, uint32_t **part, uint8_t **kind, uint32_t parts,
                           cm_candidate *made, cm_error *error)
{
  const cm_topology *t = job->input->demand->network;
  cm_partition *p;
  CM_TRY(CM_NEW(job->run->memory, p, 1, error));
  *p = (cm_partition){.vertex_count = t->vertex_count, .part_count = parts, .part = *part, .kind = kind != NULL ? *kind : NULL};
  *part = NULL;
  if (kind != NULL)
    *kind = NULL;
  made->partition = p;
  CM_TRY(cm_quality_compute(job->input->demand, p->part, p->part_count, job->run, &made->quality, error));
  attempt.parts = p->part_count;
  attempt.edge_cut = made->quality.edge_cut;
  made->attempts[0] = attempt;
  made->attempt_count = 1;
  made->limits = job->terms->limits;
  return CM_OK;
}

static cm_status begin(work *w, cm_error *error)
{
  cm_memory *memory = w->job->run->memory;
  const cm_demand *demand = w->job->input->demand;
  const cm_topology *t = demand->network;
  const cm_terms *terms = w->job->terms;
  bool steps = cm_objective_is_of_steps(w->job->objective);
  w->exact = terms->parts != 0 && !steps;
  if (cm_population_split_open(demand, t->population_of, t->population_count, w->job->run, &w->split, error) != CM_OK ||
      CM_NEW(memory, w->least, w->split.count, error) != CM_OK || CM_NEW(memory, w->share, w->split.count, error) != CM_OK ||
      CM_NEW(memory, w->weight, w->split.count, error) != CM_OK ||
      CM_NEW(memory, w->part, t->vertex_count, error) != CM_OK || find_least(w, error) != CM_OK)
    return error->status;
  uint32_t total = steps && (terms->parts == 0 || terms->cores < terms->parts) ? terms->cores : terms->parts;
  uint64_t least = 0;
  for (uint32_t i = 0; i < w->split.count; i++)
    least += w->least[i];
  if (terms->limits.populations > 1 && least > total) /* what is put together needs fewer */
    return CM_OK;
  return total != 0 ? share_out(w, total, error) : CM_OK;
}

cm_status cm_partition_by_population(const cm_by_population *job, cm_candidate *result, cm_error *error)
{
  work w = {.job = job};
  cm_candidate made = {0};
  cm_status status = begin(&w, error);
  CM_THEN(status, partition_all(&w, error));
  bool join = job->terms->limits.populations > 1 &&
              (!cm_objective_is_of_steps(job->objective) || w.parts > job->terms->cores);
  if (status == CM_OK && join) {
    cm_run_phase(job->run, "merge");
    status = cm_merge_parts(job->input->demand, &(cm_merge_options){.limits = &job->terms->limits, .least = job->terms->parts}, job->run, w.part, &w.parts, error);
  }
  CM_THEN(status, judge(&w, &made, error));
  CM_THEN(status, cm_deliver_parts(job, w.attempt, &w.part, NULL, w.parts, &made, error));
  cm_population_split_free(&w.split);
  CM_FREE(w.least, w.share, w.weight, w.part);
  CM_END(status, *result = made, cm_candidate_free(&made));
}
