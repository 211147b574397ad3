/* The memetic search: a population of annealed arrangements, of which pairs are crossed. Two parents are first brought
 * into the same position (grids can be turned and mirrored), what they agree on stays, the rest is mixed, and the
 * child is annealed from a low temperature. */
#include "core/placement/qap/qap.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "core/partition/options.h"
#include "core/placement/qap/qap_internal.h"

enum { BATCH = 4, SAMPLES = 2000 };

/* The lightest weight is at least so much when weights are rounded. */
enum { SHORTEST = 16 };

/* Children in vain, per member, that end a population; and children, per member, that a new one needs at least. */
enum { PATIENCE = 3, LIFE = 6 };

/* Temperatures in mean changes of a random swap. */
static const double hot_start = 0.2, hot_child = 0.1, cold_end = 0.025;

typedef struct member {
  uint32_t *occupant; /* [cores] */
  uint64_t cost;
} member;

typedef struct search {
  cm_qap qap;
  const cm_qap_kernel *kernel;
  const cm_qap_options *options;
  cm_run *run;
  cm_thread_pool *pool;
  cm_symmetries symmetries;
  member *member; /* [population] */
  member child[BATCH];
  uint32_t parent[BATCH][2];
  uint32_t bred;  /* children so far */
  uint32_t begun; /* members annealed from scratch in earlier populations */
  member champion; /* the best of those; no occupants before there is one */
  double unit;    /* mean change of a random swap, in shifted weights */
} search;

uint64_t cm_axes_cost(const cm_graph *parts, const cm_axes *axes, const uint32_t *at)
{
  uint64_t sum = 0;
  for (uint32_t u = 0; u < parts->vertex_count; u++)
    for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++)
      sum += parts->weight[i] * cm_axes_distance(axes, at[u], at[parts->neighbour[i]]);
  return sum / 2;
}

static uint64_t cost_of(const search *s, const uint32_t *occupant, uint32_t *at)
{
  for (uint32_t c = 0; c < s->qap.count; c++)
    if (occupant[c] < s->qap.parts)
      at[occupant[c]] = c;
  return cm_axes_cost(s->qap.graph, s->qap.axes, at);
}

/* Cost of part u at its core, as if `other` stood on u's core and u on core `there` when `other` is a part. */
static double part_cost(const search *s, const uint32_t *at, uint32_t u, uint32_t there, uint32_t other)
{
  const cm_graph *g = s->qap.graph;
  double sum = 0;
  for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
    sum += (double)g->weight[i] *
           cm_axes_distance(s->qap.axes, there, g->neighbour[i] == other ? at[u] : at[g->neighbour[i]]);
  return sum;
}

/* The mean size of the change that a swap makes in a random arrangement: the unit of temperature. */
static void measure_unit(search *s, uint32_t *order)
{
  cm_random random;
  cm_random_init(&random, s->options->seed, CM_STREAM_ASSIGNMENT, UINT64_MAX);
  uint32_t parts = s->qap.parts;
  cm_random_permutation(&random, order, s->qap.count);
  double sum = 0;
  for (uint32_t k = 0; k < SAMPLES; k++) {
    uint32_t u = (uint32_t)cm_random_below(&random, parts), v = (uint32_t)cm_random_below(&random, parts);
    if (u != v)
      sum += fabs(part_cost(s, order, u, order[v], v) + part_cost(s, order, v, order[u], u) -
                  part_cost(s, order, u, order[u], parts) - part_cost(s, order, v, order[v], parts));
  }
  s->unit = fmax(ldexp(sum / SAMPLES, -(int)s->qap.shift), 1e-3);
}

/* Fills occupant [cores] from where the parts stand; the cores left go to nobody. */
static void stand(const search *s, const uint32_t *at, uint32_t *occupant)
{
  uint32_t nobody = s->qap.parts;
  for (uint32_t c = 0; c < s->qap.count; c++)
    occupant[c] = UINT32_MAX;
  for (uint32_t p = 0; p < s->qap.parts; p++)
    occupant[at[p]] = p;
  for (uint32_t c = 0; c < s->qap.count; c++)
    if (occupant[c] == UINT32_MAX)
      occupant[c] = nobody++;
}

static cm_status start_one(void *context, size_t index, cm_error *error)
{
  search *s = context;
  cm_random random;
  member *m = &s->member[index];
  uint32_t *at;
  cm_random_init(&random, s->options->seed, CM_STREAM_ASSIGNMENT, s->begun + index);
  const uint32_t *start = s->options->start;
  if (start != NULL)
    stand(s, start, m->occupant);
  else
    cm_random_permutation(&random, m->occupant, s->qap.count);
  double hot = start != NULL ? hot_child : hot_start;
  cm_qap_schedule schedule = {hot * s->unit, cold_end * s->unit, s->options->sweeps};
  CM_TRY(CM_NEW(s->run->memory, at, s->qap.count, error));
  cm_status status = s->kernel->anneal(&s->qap, &schedule, &random, s->run, m->occupant, error);
  if (status == CM_OK)
    m->cost = cost_of(s, m->occupant, at);
  cm_free(at);
  if (s->begun == 0)
    cm_run_add(s->run, 1.0 / s->options->population);
  return status;
}

static cm_status breed_one(void *context, size_t index, cm_error *error)
{
  search *s = context;
  uint32_t *turned, *order = NULL, *child = s->child[index].occupant;
  const uint32_t *first = s->member[s->parent[index][0]].occupant, *second = s->member[s->parent[index][1]].occupant;
  cm_random random;
  cm_random_init(&random, s->options->seed, CM_STREAM_BREEDING, s->bred + index);
  cm_status status = CM_NEW_ALL(s->run->memory, error, CM_ARRAY(turned, s->qap.count), CM_ARRAY(order, s->qap.count));
  if (status == CM_OK) {
    cm_qap_align(&s->symmetries, s->qap.count, first, second, turned);
    cm_qap_cross(s->qap.count, first, turned, &random, order, child);
    cm_qap_schedule schedule = {hot_child * s->unit, cold_end * s->unit, s->options->child_sweeps};
    status = s->kernel->anneal(&s->qap, &schedule, &random, s->run, child, error);
  }
  if (status == CM_OK)
    s->child[index].cost = cost_of(s, child, order);
  CM_FREE(turned, order);
  return status;
}

/* Notes an arrangement for the caller, in place of the dearest that he has where there is no room. */
static void note(const search *s, const member *m)
{
  cm_qap_pool *pool = s->options->pool;
  uint32_t dearest = 0;
  if (pool == NULL)
    return;
  for (uint32_t i = 0; i < pool->count; i++) {
    if (pool->cost[i] == m->cost)
      return;
    dearest = pool->cost[i] > pool->cost[dearest] ? i : dearest;
  }
  if (pool->count == pool->most && pool->cost[dearest] <= m->cost)
    return;
  uint32_t slot = pool->count < pool->most ? pool->count++ : dearest;
  pool->cost[slot] = m->cost;
  for (uint32_t c = 0; c < s->qap.count; c++)
    if (m->occupant[c] < s->qap.parts)
      pool->at[(size_t)slot * s->qap.parts + m->occupant[c]] = c;
}

static void note_population(const search *s)
{
  for (uint32_t i = 0; i < s->options->population; i++)
    note(s, &s->member[i]);
}

/* A child takes the place of the worst member when it is better, unless one of its cost is there: likely the same.
 * False when it does not. */
static bool admit(search *s, member *child)
{
  uint32_t worst = 0;
  for (uint32_t i = 0; i < s->options->population; i++) {
    if (s->member[i].cost == child->cost)
      return false;
    if (s->member[i].cost > s->member[worst].cost)
      worst = i;
  }
  if (s->member[worst].cost <= child->cost)
    return false;
  member replaced = s->member[worst];
  s->member[worst] = *child;
  *child = replaced;
  return true;
}

static uint32_t best_member(const search *s)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < s->options->population; i++)
    best = s->member[i].cost < s->member[best].cost ? i : best;
  return best;
}

/* Keeps the best member, if it is the best so far. */
static void crown(search *s)
{
  uint32_t best = best_member(s);
  if (s->begun > 0 && s->member[best].cost >= s->champion.cost)
    return;
  s->champion.cost = s->member[best].cost;
  memcpy(s->champion.occupant, s->member[best].occupant, s->qap.count * sizeof *s->champion.occupant);
}

/* Of a population from scratch, in children. */
static uint64_t price_of(const cm_qap_options *o)
{
  return o->child_sweeps > 0 ? (uint64_t)o->population * o->sweeps / o->child_sweeps : 1;
}

static cm_status begin(search *s, cm_error *error)
{
  const double price = (double)price_of(s->options);
  const size_t mark = cm_run_within(s->run, price / (price + s->options->children));
  cm_status status = cm_thread_pool_run(s->pool, s->options->population, start_one, s, error);
  cm_run_leave(s->run, mark);
  CM_END(status, note_population(s), );
}

/* A population that no child gets into any more has come to its end: another one, from scratch, where enough work is
 * left for it. */
static cm_status begin_again(search *s, uint32_t *vain, cm_error *error)
{
  const cm_qap_options *o = s->options;
  uint64_t price = price_of(o);
  if (*vain < PATIENCE * o->population || s->bred + price + LIFE * (uint64_t)o->population > o->children)
    return CM_OK;
  crown(s);
  s->begun += o->population;
  s->bred += (uint32_t)price;
  *vain = 0;
  CM_TRY(cm_thread_pool_run(s->pool, o->population, start_one, s, error));
  note_population(s);
  return CM_OK;
}

static cm_status breed(search *s, cm_error *error)
{
  cm_random random;
  uint32_t population = s->options->population, vain = 0; /* children since one was admitted */
  cm_random_init(&random, s->options->seed, CM_STREAM_BREEDING, UINT64_MAX);
  while (population > 1 && s->bred < s->options->children) {
    uint32_t batch = s->options->children - s->bred;
    batch = batch < BATCH ? batch : BATCH;
    for (uint32_t i = 0; i < batch; i++) {
      s->parent[i][0] = (uint32_t)cm_random_below(&random, population);
      s->parent[i][1] = (uint32_t)cm_random_below(&random, population - 1);
      s->parent[i][1] += s->parent[i][1] >= s->parent[i][0];
    }
    CM_TRY(cm_thread_pool_run(s->pool, batch, breed_one, s, error));
    for (uint32_t i = 0; i < batch; i++) {
      note(s, &s->child[i]);
      vain = admit(s, &s->child[i]) ? 0 : vain + 1;
    }
    s->bred += batch;
    CM_TRY(cm_run_progress(s->run, (double)s->bred / s->options->children, -1, s->qap.parts, NAN, error));
    CM_TRY(begin_again(s, &vain, error));
  }
  return CM_OK;
}

/* By how many bits the weights must be shorter for all sums of the narrow kernel to stay within 32 bits: no table entry
 * nor change exceeds the heaviest part's weight times twice the largest distance. */
static unsigned narrow_shift(const cm_graph *graph, const cm_axes *axes)
{
  uint64_t heaviest = 0, farthest_x = 0, farthest_y = 0;
  unsigned shift = 0;
  for (uint32_t u = 0; u < graph->vertex_count; u++) {
    uint64_t sum = 0;
    for (uint64_t i = graph->first[u]; i < graph->first[u + 1]; i++)
      sum += graph->weight[i];
    heaviest = sum > heaviest ? sum : heaviest;
  }
  for (size_t i = 0; i < (size_t)axes->columns * axes->columns; i++)
    farthest_x = axes->dx[i] > farthest_x ? axes->dx[i] : farthest_x;
  for (size_t i = 0; i < (size_t)axes->rows * axes->rows; i++)
    farthest_y = axes->dy[i] > farthest_y ? axes->dy[i] : farthest_y;
  /* rounding adds at most one to each of a part's weights */
  while (shift < 63 && (heaviest >> shift) + (shift > 0 ? graph->vertex_count : 0) >
         (uint64_t)INT32_MAX / 8 / (farthest_x + farthest_y + 1))
    shift++;
  return shift;
}

/* The narrow kernel is several times as fast: it is taken where no weight becomes so short for it that rounding
 * matters. */
static const cm_qap_kernel *choose_kernel(cm_qap *qap)
{
  const cm_graph *g = qap->graph;
  uint64_t lightest = UINT64_MAX;
  for (uint64_t i = 0; i < g->entry_count; i++)
    lightest = g->weight[i] < lightest ? g->weight[i] : lightest;
  qap->shift = narrow_shift(g, qap->axes);
  if (qap->shift == 0 || lightest >> qap->shift >= SHORTEST)
    return &cm_qap_narrow;
  qap->shift = 0;
  return &cm_qap_wide;
}

/* -log(chance) for evenly spaced chances in random order: changes below temperature times one are accepted. */
static cm_status fill_thresholds(search *s, cm_error *error)
{
  cm_random random;
  uint32_t *order, more = s->qap.stride;
  float *threshold;
  CM_TRY(CM_NEW(s->run->memory, threshold, CM_QAP_THRESHOLDS + more, error));
  s->qap.threshold = threshold;
  CM_TRY(CM_NEW(s->run->memory, order, CM_QAP_THRESHOLDS, error));
  cm_random_init(&random, s->options->seed, CM_STREAM_ASSIGNMENT, UINT64_MAX - 1);
  cm_random_permutation(&random, order, CM_QAP_THRESHOLDS);
  for (uint32_t i = 0; i < CM_QAP_THRESHOLDS + more; i++)
    threshold[i] = (float)-log((order[i % CM_QAP_THRESHOLDS] + 0.5) / CM_QAP_THRESHOLDS);
  cm_free(order);
  return CM_OK;
}

static cm_status set_up(search *s, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  size_t matrix = (size_t)s->qap.count * s->qap.stride;
  s->qap.distance = cm_allocate(memory, matrix, s->kernel->integer_bytes, error);
  if (s->qap.distance == NULL)
    return error->status;
  s->qap.weight = cm_allocate(memory, matrix, s->kernel->integer_bytes, error);
  if (s->qap.weight == NULL)
    return error->status;
  s->kernel->prepare(&s->qap);
  CM_TRY(fill_thresholds(s, error));
  CM_TRY(cm_symmetries_new(s->qap.axes, s->run, &s->symmetries, error));
  CM_TRY(CM_NEW(memory, s->member, s->options->population, error));
  for (uint32_t i = 0; i < s->options->population; i++)
    CM_TRY(CM_NEW(memory, s->member[i].occupant, s->qap.count, error));
  CM_TRY(CM_NEW(memory, s->champion.occupant, s->qap.count, error));
  for (uint32_t i = 0; i < BATCH; i++)
    CM_TRY(CM_NEW(memory, s->child[i].occupant, s->qap.count, error));
  measure_unit(s, s->child[0].occupant);
  uint32_t population = s->options->population, tasks = population > 1 && population < BATCH ? BATCH : population;
  return cm_thread_pool_new(memory, s->run->threads < tasks ? s->run->threads : tasks, &s->pool, error);
}

static void tear_down(search *s)
{
  cm_thread_pool_free(s->pool);
  CM_FREE(s->qap.distance, s->qap.weight, s->qap.threshold);
  cm_symmetries_free(&s->symmetries);
  for (uint32_t i = 0; s->member != NULL && i < s->options->population; i++)
    cm_free(s->member[i].occupant);
  CM_FREE(s->member, s->champion.occupant);
  for (uint32_t i = 0; i < BATCH; i++)
    cm_free(s->child[i].occupant);
}

cm_status cm_place_by_annealing(const cm_graph *parts, const cm_axes *axes, const cm_qap_options *options, cm_run *run,
                                uint32_t *at, cm_error *error)
{
  if (axes->count < parts->vertex_count || axes->count > CM_QAP_CORES_MAX || options->population == 0)
    return cm_fail(error, CM_INTERNAL, "%u parts cannot be annealed on %u cores", parts->vertex_count, axes->count);
  uint32_t stride = (axes->count + CM_QAP_BLOCK - 1) / CM_QAP_BLOCK * CM_QAP_BLOCK;
  cm_qap qap = {.graph = parts, .axes = axes, .parts = parts->vertex_count, .count = axes->count, .stride = stride};
  search s = {.qap = qap, .options = options, .run = run};
  s.kernel = choose_kernel(&s.qap);
  if (parts->vertex_count == 0)
    return CM_OK;
  cm_status status = set_up(&s, error);
  CM_THEN(status, begin(&s, error));
  CM_THEN(status, breed(&s, error));
  if (status == CM_OK) {
    crown(&s);
    (void)cost_of(&s, s.champion.occupant, at);
  }
  tear_down(&s);
  return status;
}
