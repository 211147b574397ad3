/* Happy path: orders of cores and of parts -> each kind's parts along its cores -> annealed by trades. What can fail: memory,
 * a stop. */
#include "core/placement/kinds/kinds.h"

#include <string.h>

#include "base/random.h"
#include "core/chip/classes.h"
#include "core/chip/geometry.h"
#include "core/partition/edge/csr_graph.h"
#include "core/partition/options.h"
#include "core/placement/blocks.h"
#include "core/placement/trades.h"
#include "core/placement/ways/ways.h"

enum { KINDS = CM_KINDS_MAX, TABLE_MAX = 2048 };

/* Temperatures, in mean costs of a trade: at first, and what is left at the end. */
static const double hot = 0.5, cold = 0.01, warm = 0.05;

typedef struct work {
  const cm_place_task *task;
  const uint8_t *kind;
  const cm_pulls *pulls;
  double scale; /* of the graph's weights beside those of the parts that it was made of */
  cm_csr_graph *graph;
  cm_hop_units units;
  uint32_t slots;
  uint32_t *far;           /* [slots * slots] both ways together; NULL: too many cores */
  uint32_t first[KINDS + 1]; /* of each kind in `slot` */
  uint32_t *slot;          /* [slots] numbers of cores in the region by kind, in each along the curve */
  uint32_t *rank;          /* [slots] place along the curve of all kinds of slot[i] */
  uint32_t *rank_of;       /* [slots] the same of a core's number */
  uint32_t *occupant;      /* [slots] part on a core's number */
  uint32_t *at;            /* [parts] */
  cm_random random;
} work;

static uint64_t measure(const work *w, uint32_t a, uint32_t b)
{
  return cm_chip_both_ways(w->task->chip, &w->units, w->task->region->cores[a], w->task->region->cores[b]);
}

static int64_t distance(const work *w, uint32_t a, uint32_t b)
{
  return w->far != NULL ? w->far[(size_t)a * w->slots + b] : (int64_t)measure(w, a, b);
}

static double pull(const work *w, uint32_t p, uint32_t slot)
{
  return w->pulls != NULL ? w->scale * cm_pull(w->pulls, p, w->task->region->cores[slot]) : 0;
}

/* ---- trades ---- */

/* What part p pays more on core `there` than on `here`, but for what it says to `other`. */
static double change(const work *w, uint32_t p, uint32_t here, uint32_t there, uint32_t other)
{
  const cm_csr_graph *g = w->graph;
  double sum = pull(w, p, there) - pull(w, p, here);
  for (uint64_t i = g->first[p]; i < g->first[p + 1]; i++) {
    uint32_t v = g->neighbour[i];
    if (v != other)
      sum += (double)cm_csr_graph_weight(g, i) * (double)(distance(w, there, w->at[v]) - distance(w, here, w->at[v]));
  }
  return sum;
}

/* A core of a kind near a place along the curve. */
static uint32_t near(work *w, uint32_t kind, uint32_t rank)
{
  uint32_t low = w->first[kind], high = w->first[kind + 1], count = high - low, begin = low;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (w->rank[middle] < rank)
      low = middle + 1;
    else
      high = middle;
  }
  uint32_t reach = count < 16 ? count : 16, step = (uint32_t)cm_random_below(&w->random, reach);
  uint32_t from = low - begin >= reach / 2 ? low - reach / 2 : begin;
  from = from + reach > begin + count ? begin + count - reach : from;
  return w->slot[from + step];
}

static bool propose(void *context, cm_trade *p, double *looked)
{
  work *w = context;
  const cm_csr_graph *g = w->graph;
  p->thing = (uint32_t)cm_random_below(&w->random, g->vertex_count);
  uint32_t kind = w->kind[p->thing], count = w->first[kind + 1] - w->first[kind], here = w->at[p->thing];
  uint64_t degree = cm_csr_graph_degree(g, p->thing);
  *looked += 1;
  if (degree == 0 || cm_random_below(&w->random, 4) == 0)
    p->place = w->slot[w->first[kind] + (uint32_t)cm_random_below(&w->random, count)];
  else
    p->place = near(w, kind, w->rank_of[w->at[g->neighbour[g->first[p->thing] + cm_random_below(&w->random, degree)]]]);
  p->other = w->occupant[p->place];
  if (p->place == here)
    return false;
  p->cost = change(w, p->thing, here, p->place, p->other);
  *looked += (double)degree;
  if (p->other != CM_NOBODY) {
    p->cost += change(w, p->other, p->place, here, p->thing);
    *looked += (double)cm_csr_graph_degree(g, p->other);
  }
  return true;
}

static double cost_of(const work *w)
{
  const cm_csr_graph *g = w->graph;
  double sum = 0;
  for (uint32_t p = 0; p < g->vertex_count; p++) {
    sum += 2 * pull(w, p, w->at[p]);
    for (uint64_t i = g->first[p]; i < g->first[p + 1]; i++)
      sum += (double)cm_csr_graph_weight(g, i) * (double)distance(w, w->at[p], w->at[g->neighbour[i]]);
  }
  return sum / 4;
}

/* ---- the start ---- */

/* The cores of each kind along the curve. */
static cm_status order_cores(work *w, cm_error *error)
{
  cm_memory *memory = w->task->run->memory;
  uint32_t *order, fill[KINDS];
  CM_TRY(CM_NEW(memory, order, w->slots, error));
  cm_status status = cm_order_by_ways(w->task->chip, w->task->region, w->task->run, order, error);
  for (uint32_t i = 0; status == CM_OK && i < w->slots; i++)
    w->first[cm_chip_kind_of(w->task->chip, w->task->region->cores[i]) + 1]++;
  for (uint32_t k = 0; k < KINDS; k++)
    w->first[k + 1] += w->first[k];
  memcpy(fill, w->first, sizeof fill);
  for (uint32_t i = 0; status == CM_OK && i < w->slots; i++) {
    uint32_t at = fill[cm_chip_kind_of(w->task->chip, w->task->region->cores[order[i]])]++;
    w->slot[at] = order[i];
    w->rank[at] = i;
    w->rank_of[order[i]] = i;
  }
  cm_free(order);
  return status;
}

/* Each kind's parts, in an order by clusters, spread evenly along its cores. */
static cm_status spread_parts(work *w, cm_error *error)
{
  uint32_t n = w->graph->vertex_count, *order, count[KINDS] = {0}, next[KINDS] = {0};
  cm_status status = CM_NEW(w->task->run->memory, order, n, error);
  for (uint32_t i = 0; status == CM_OK && i < n; i++)
    count[w->kind[i]]++;
  CM_THEN(status, cm_order_by_clusters(w->graph, w->task->seed, w->task->run, order, error));
  for (uint32_t k = 0; status == CM_OK && k < KINDS; k++)
    if (count[k] > w->first[k + 1] - w->first[k])
      status = cm_fail(error, CM_INTERNAL, "%u parts need one of %u cores of kind %u", count[k], w->first[k + 1] - w->first[k], k);
  for (uint32_t i = 0; status == CM_OK && i < n; i++) {
    uint32_t p = order[i], k = w->kind[p];
    uint64_t slots = w->first[k + 1] - w->first[k];
    w->at[p] = w->slot[w->first[k] + (uint32_t)(next[k]++ * slots / count[k])];
  }
  cm_free(order);
  return status;
}

/* From the start on, which comes back where nothing better is found. */
static cm_status anneal(work *w, double weight_total, const cm_kinds_options *options, cm_kinds_result *made, cm_error *error)
{
  const uint32_t n = w->graph->vertex_count;
  uint32_t *start;
  w->scale = w->graph->weight_total > 0 ? (double)w->graph->weight_total / weight_total : 1;
  for (uint32_t p = 0; p < n; p++)
    w->occupant[w->at[p]] = p;
  CM_TRY(CM_NEW(w->task->run->memory, start, n, error));
  memcpy(start, w->at, n * sizeof *start);
  cm_random_init(&w->random, w->task->seed, CM_STREAM_BLOCKS, 2000);
  made->before = cost_of(w);
  cm_trades trades = {.context = w, .propose = propose, .at = w->at, .occupant = w->occupant, .random = &w->random, .hot = w->pulls != NULL ? warm : hot, .cold = cold,
                      .cooled = 0.9, .entries = options->entries, .level = -1, .things = n};
  cm_status status = cm_anneal_trades(&trades, w->task->run, &made->moves, error);
  made->after = cost_of(w);
  if (w->pulls != NULL && made->after > made->before) {
    memcpy(w->at, start, n * sizeof *start);
    made->after = made->before;
  }
  cm_free(start);
  return status;
}

static cm_status tabulate(work *w, cm_error *error)
{
  if (w->slots > TABLE_MAX)
    return CM_OK;
  CM_TRY(CM_NEW(w->task->run->memory, w->far, (size_t)w->slots * w->slots, error));
  for (uint32_t a = 0; a < w->slots; a++)
    for (uint32_t b = 0; b < w->slots; b++) {
      uint64_t both = measure(w, a, b);
      w->far[(size_t)a * w->slots + b] = both < INT32_MAX ? (uint32_t)both : INT32_MAX;
    }
  return CM_OK;
}

/* The numbers of cores in the region. */
static cm_status number_cores(const work *w, uint32_t *core, uint32_t parts, cm_error *error)
{
  uint32_t *number;
  CM_TRY(CM_NEW(w->task->run->memory, number, cm_chip_cores(w->task->chip), error));
  for (uint32_t i = 0; i < w->slots; i++)
    number[w->task->region->cores[i]] = i;
  for (uint32_t p = 0; p < parts; p++)
    core[p] = number[core[p]];
  cm_free(number);
  return CM_OK;
}

cm_status cm_place_by_kinds(const cm_graph *parts, const cm_place_task *task, const cm_kinds_options *options, uint32_t *core,
                            cm_kinds_result *result, cm_error *error)
{
  work w = {
    .task = task, .kind = options->kind, .pulls = options->pulls, .units = cm_hop_units_of(task->chip), .slots = task->region->core_count, .at = core};
  cm_kinds_result made = {0};
  cm_run_phase(task->run, "order");
  cm_status status = cm_interconnect_prepare(task->chip->interconnect, error);
  CM_THEN(status, CM_NEW_ALL(task->run->memory, error, CM_ARRAY(w.slot, w.slots), CM_ARRAY(w.rank, w.slots),
                             CM_ARRAY(w.rank_of, w.slots), CM_ARRAY(w.occupant, w.slots)));
  if (status == CM_OK)
    memset(w.occupant, 0xff, w.slots * sizeof *w.occupant);
  CM_THEN(status, tabulate(&w, error));
  CM_THEN_IF(status, parts->vertex_count > 0, order_cores(&w, error));
  CM_THEN_IF(status, parts->vertex_count > 0, cm_graph_renumbered(parts, NULL, task->run, &w.graph, error));
  if (status == CM_OK && parts->vertex_count > 0)
    status = w.pulls == NULL ? spread_parts(&w, error) : number_cores(&w, core, parts->vertex_count, error);
  cm_run_phase(task->run, "place");
  CM_THEN_IF(status, parts->vertex_count > 0, anneal(&w, (double)parts->weight_total, options, &made, error));
  for (uint32_t p = 0; status == CM_OK && p < parts->vertex_count; p++)
    core[p] = task->region->cores[core[p]];
  CM_FREE(w.slot, w.rank, w.rank_of, w.occupant, w.far);
  cm_csr_graph_free(w.graph);
  CM_END(status, *result = made, );
}
