/* Happy path: numbers that suit what is fixed -> fixed vertices to their parts -> passes of single moves of the others. What can fail: memory, a stop. */
#include "core/partition/fixed.h"

#include <string.h>

#include "base/random.h"
#include "core/partition/graph.h"
#include "core/partition/part_usage.h"

enum { STREAM = 0x66697864, PASSES = 12, OFFERED_MAX = 16 };
static const double PRICE = 1e-6; /* of a source in one part more, or of a mean edge: far below any excess over a limit */

/* ---- numbers ---- */

/* Part p becomes number[p]: pairs of part and number with most fixed vertices in common first, the rest in order. */
static cm_status choose_numbers(const cm_fixed_task *task, uint32_t vertices, const uint32_t *part, cm_run *run, uint32_t *number, cm_error *error)
{
  const uint32_t parts = task->parts;
  uint32_t *common;
  bool *taken;
  CM_TRY(CM_NEW(run->memory, common, (size_t)parts * parts, error));
  cm_status status = CM_NEW(run->memory, taken, parts, error);
  for (uint32_t v = 0; v < vertices && status == CM_OK; v++)
    if (task->fixed[v] != CM_NOT_FIXED)
      common[(size_t)part[v] * parts + task->fixed[v]]++;
  memset(number, 0xff, parts * sizeof *number);
  for (uint32_t round = 0; round < parts && status == CM_OK; round++) {
    uint32_t best_part = UINT32_MAX, best = 0;
    for (uint32_t p = 0; p < parts; p++)
      for (uint32_t k = 0; k < parts && number[p] == UINT32_MAX; k++)
        if (!taken[k] && (best_part == UINT32_MAX || common[(size_t)p * parts + k] > common[(size_t)best_part * parts + best])) {
          best_part = p;
          best = k;
        }
    number[best_part] = best;
    taken[best] = true;
    status = cm_run_check(run, error);
  }
  CM_FREE(common, taken);
  return status;
}

/* ---- moves ---- */

typedef struct moving {
  cm_part_usage usage;
  const cm_fixed_task *task;
  cm_random random;
  cm_graph *graph;                   /* where edges count, else NULL */
  double edge_price;
  uint64_t *tie;                     /* [parts] weight of a vertex's edges into those offered, and into its own */
  uint32_t *stamp, now;              /* [parts] */
  uint32_t offered[OFFERED_MAX], count;
} moving;

static void offer(moving *m, uint32_t part, uint32_t own)
{
  if (part == own || m->stamp[part] == m->now || m->count == OFFERED_MAX)
    return;
  m->stamp[part] = m->now;
  m->tie[part] = 0;
  m->offered[m->count++] = part;
}

/* Parts that a vertex talks to; of one that is too full also some by chance. */
static void find_offers(moving *m, uint32_t v)
{
  const cm_part_usage *u = &m->usage;
  const cm_topology *t = u->demand->network;
  const uint32_t own = u->part[v];
  m->now++;
  m->count = 0;
  m->tie[own] = 0;
  if (m->graph != NULL)
    for (uint64_t e = m->graph->first[v]; e < m->graph->first[v + 1]; e++) {
      const uint32_t part = u->part[m->graph->neighbour[e]];
      offer(m, part, own);
      if (part == own || m->stamp[part] == m->now)
        m->tie[part] += m->graph->weight[e];
    }
  for (uint64_t i = u->in_first[v]; i < u->in_first[v + 1] && m->graph == NULL; i++)
    offer(m, u->part[u->in_source[i]], own);
  for (uint64_t i = t->net_first[u->out_net[v]]; i < t->net_first[u->out_net[v + 1]] && m->graph == NULL; i++)
    offer(m, u->part[t->pin[i]], own);
  if (cm_part_usage_excess(u, own) > 0)
    for (int i = 0; i < OFFERED_MAX; i++)
      offer(m, (uint32_t)cm_random_below(&m->random, m->task->parts), own);
}

static cm_status move(moving *m, uint32_t v, uint32_t to, bool keep, double *price, cm_error *error)
{
  CM_TRY(cm_part_usage_move(&m->usage, v, to, error));
  *price = cm_part_usage_settle(&m->usage, keep);
  return CM_OK;
}

static cm_status improve(moving *m, uint32_t v, uint64_t *moved, cm_error *error)
{
  const uint32_t own = m->usage.part[v];
  uint32_t best = own;
  double least = -PRICE / 1000, price = 0;
  find_offers(m, v);
  for (uint32_t i = 0; i < m->count; i++) {
    if (!cm_population_tally_admits(&m->usage.populations, v, m->offered[i]))
      continue;
    CM_TRY(move(m, v, m->offered[i], false, &price, error));
    price += m->edge_price * ((double)m->tie[own] - (double)m->tie[m->offered[i]]);
    if (price < least) {
      least = price;
      best = m->offered[i];
    }
    CM_TRY(cm_part_usage_move(&m->usage, v, own, error));
    (void)cm_part_usage_settle(&m->usage, true);
  }
  *moved += best != own;
  return best != own ? move(m, v, best, true, &price, error) : CM_OK;
}

static cm_status pass_all(moving *m, uint32_t vertices, uint32_t *order, cm_run *run, cm_error *error)
{
  uint64_t moved = 1;
  for (uint32_t pass = 0; pass < PASSES && moved > 0; pass++) {
    moved = 0;
    for (uint32_t i = vertices; i > 1; i--) {
      const uint32_t k = (uint32_t)cm_random_below(&m->random, i), v = order[k];
      order[k] = order[i - 1];
      order[i - 1] = v;
    }
    for (uint32_t i = 0; i < vertices; i++) {
      if (m->task->fixed[order[i]] == CM_NOT_FIXED && improve(m, order[i], &moved, error) != CM_OK)
        return error->status;
      if (i % 1024 == 0 && cm_run_check(run, error) != CM_OK)
        return error->status;
    }
  }
  return CM_OK;
}

cm_status cm_fix_parts(const cm_demand *demand, const cm_fixed_task *task, cm_run *run, uint32_t *part, bool *legal, cm_error *error)
{
  const uint32_t n = demand->network->vertex_count;
  moving m = {.task = task};
  uint32_t *number, *order = NULL;
  CM_TRY(CM_NEW(run->memory, number, task->parts, error));
  cm_random_init(&m.random, task->seed, STREAM, 0);
  cm_status status = choose_numbers(task, n, part, run, number, error);
  for (uint32_t v = 0; v < n && status == CM_OK; v++)
    part[v] = task->fixed[v] != CM_NOT_FIXED ? task->fixed[v] : number[part[v]];
  cm_free(number);
  CM_THEN(status, CM_NEW(run->memory, order, n, error));
  CM_THEN(status, CM_NEW(run->memory, m.stamp, task->parts, error));
  CM_THEN(status, CM_NEW(run->memory, m.tie, task->parts, error));
  if (status == CM_OK && task->edges && (status = cm_graph_from_topology(demand, run, &m.graph, error)) == CM_OK && m.graph->weight_total > 0)
    m.edge_price = PRICE * (double)m.graph->entry_count / 2 / (double)m.graph->weight_total;
  for (uint32_t v = 0; v < n && status == CM_OK; v++)
    order[v] = v;
  CM_THEN(status, cm_part_usage_open(&m.usage, demand, &task->limits, part, task->parts, run, error));
  m.usage.pair_price = task->edges ? 0 : PRICE;
  CM_THEN(status, pass_all(&m, n, order, run, error));
  *legal = m.usage.over_count == 0;
  cm_part_usage_free(&m.usage);
  cm_graph_free(m.graph);
  CM_FREE(order, m.tie, m.stamp);
  return status;
}
