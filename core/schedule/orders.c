/* The search over the orders of a graph: one piece at a time, each on a thread. */
#include "core/schedule/orders.h"

#include <string.h>

#include "base/threads.h"
#include "core/schedule/order_piece.h"
#include "core/schedule/solve.h"

enum { SAMPLE_DRAWS_MAX = 4 };

typedef struct searching {
  const cm_order_task *task;
  const cm_dag *dag;
  const cm_order_options *options;
  cm_run *run;
  uint64_t *height;
  uint32_t *local;         /* number of each node in its subgraph */
  cm_order_result *result; /* order and outcome of each subgraph are filled by its task */
} searching;

/* One subgraph's search. */
typedef struct task {
  cm_hunt hunt;
  searching *searching;
  uint32_t subgraph;
  uint32_t *nodes; /* the order being scored, as nodes of the graph */
  cm_order_outcome *outcome;
} task;

cm_order_options cm_order_defaults(void)
{
  return (cm_order_options){
    .method = CM_ORDER_AUTO, .nodes_min = 4, .enumerate_max = 120, .scores = 400, .scores_total = 4000};
}

void cm_order_result_free(cm_order_result *result)
{
  CM_FREE(result->order, result->outcome);
  cm_subgraphs_free(&result->subgraphs);
  *result = (cm_order_result){0};
}

/* ---- one subgraph ---- */

static cm_status score_order(cm_hunt *hunt, uint64_t *score, bool *stop, cm_error *error)
{
  task *t = hunt->user;
  const cm_piece *p = hunt->piece;
  searching *s = t->searching;
  for (uint32_t k = 0; k < p->count; k++)
    t->nodes[k] = p->node[p->order[k]];
  cm_status status = s->task->score(s->task->context, t->subgraph, t->nodes, p->count, score, error);
  if (status != CM_OK)
    return status;
  t->outcome->scored++;
  if (*score < hunt->best_score) {
    hunt->best_score = *score;
    memcpy(hunt->best, p->order, p->count * sizeof *hunt->best);
  }
  hunt->left--;
  status = cm_run_check(s->run, error);
  *stop = hunt->left == 0 || status == CM_TIME_LIMIT;
  return status == CM_TIME_LIMIT ? CM_OK : status;
}

/* The given order, then the queue by height: what every method begins with. */
static cm_status score_first(task *t, bool *stop, cm_error *error)
{
  cm_hunt *hunt = &t->hunt;
  cm_piece *p = hunt->piece;
  uint64_t score;
  for (uint32_t k = 0; k < p->count; k++)
    p->order[k] = k;
  CM_TRY(score_order(hunt, &t->outcome->given_score, stop, error));
  if (t->searching->options->method == CM_ORDER_GIVEN)
    return CM_OK;
  cm_piece_begin(p);
  while (p->placed < p->count) {
    uint32_t highest = 0;
    for (uint32_t i = 1; i < p->ready_count; i++) {
      uint64_t a = hunt->height[p->ready[i]], b = hunt->height[p->ready[highest]];
      if (a > b || (a == b && p->ready[i] < p->ready[highest]))
        highest = i;
    }
    cm_piece_place(p, highest);
  }
  return score_order(hunt, &score, stop, error);
}

static cm_status score_all(task *t, bool *stop, cm_error *error)
{
  uint64_t score;
  for (bool more = cm_piece_next(t->hunt.piece, true); more && !*stop; more = cm_piece_next(t->hunt.piece, false))
    CM_TRY(score_order(&t->hunt, &score, stop, error));
  return CM_OK;
}

static cm_status score_samples(task *t, bool *stop, cm_error *error)
{
  uint64_t score;
  for (uint32_t k = 0; !*stop; k++) {
    cm_piece_begin(t->hunt.piece);
    cm_hunt_roll_out(&t->hunt, 1 + k % SAMPLE_DRAWS_MAX);
    CM_TRY(score_order(&t->hunt, &score, stop, error));
  }
  return CM_OK;
}

static uint64_t budget(const searching *s, uint32_t nodes)
{
  uint64_t share = s->options->scores_total * nodes / s->result->node_count;
  return share < s->options->scores ? share : s->options->scores;
}

static cm_status hunt_orders(task *t, cm_error *error)
{
  const cm_order_options *o = t->searching->options;
  cm_piece *p = t->hunt.piece;
  uint64_t orders = 0, few_orders = o->enumerate_max > 0 ? o->enumerate_max : 1; /* one order is no choice */
  bool stop = false, searches = o->method == CM_ORDER_AUTO || o->method == CM_ORDER_SAMPLE;
  t->hunt.left = UINT64_MAX; /* the first two do not count */
  CM_TRY(score_first(t, &stop, error));
  while (orders <= few_orders && cm_piece_next(p, orders == 0))
    orders++;
  t->outcome->orders = orders;
  if (!searches || stop)
    return CM_OK;
  bool few = orders <= few_orders;
  t->hunt.left = few ? orders : budget(t->searching, p->count);
  stop = t->hunt.left == 0;
  if (few) {
    cm_status status = score_all(t, &stop, error);
    t->outcome->exhausted = t->hunt.left == 0;
    return status;
  }
  if (o->method == CM_ORDER_SAMPLE)
    return score_samples(t, &stop, error);
  CM_TRY(cm_hunt_tree(&t->hunt, t->hunt.left / 2, &stop, error));
  return cm_hunt_descend(&t->hunt, &stop, error);
}

static cm_status search_subgraph(void *context, size_t index, cm_error *error)
{
  searching *s = context;
  cm_memory *memory = s->run->memory;
  uint32_t first = s->result->subgraphs.first[index], count = s->result->subgraphs.first[index + 1] - first;
  const uint32_t *node = s->result->subgraphs.node + first;
  cm_piece piece;
  cm_random random;
  uint64_t *height = NULL;
  task t = {.searching = s, .subgraph = (uint32_t)index, .outcome = &s->result->outcome[index]};
  CM_TRY(cm_piece_new(s->dag, node, count, s->local, memory, &piece, error));
  cm_random_init(&random, s->run->seed, CM_STREAM_ORDERS, index);
  t.hunt = (cm_hunt){
    .piece = &piece, .random = &random, .memory = memory, .best_score = UINT64_MAX, .score = score_order, .user = &t};
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(height, count), CM_ARRAY(t.hunt.best, count), CM_ARRAY(t.nodes, count));
  if (status == CM_OK) {
    for (uint32_t k = 0; k < count; k++)
      height[k] = s->height[node[k]];
    t.hunt.height = height;
    t.outcome->node_count = count;
    status = hunt_orders(&t, error);
    t.outcome->best_score = t.hunt.best_score;
    for (uint32_t k = 0; k < count && status == CM_OK; k++)
      s->result->order[first + k] = node[t.hunt.best[k]];
  }
  CM_FREE(height, t.hunt.best, t.nodes);
  cm_piece_free(&piece);
  return status;
}

/* ---- the whole ---- */

/* Pieces are scored on their own; as a whole what was found must still not be worse than what was given. */
static cm_status settle_whole(searching *s, cm_error *error)
{
  cm_order_result *r = s->result;
  CM_TRY(s->task->score(s->task->context, CM_WHOLE_GRAPH, r->subgraphs.node, r->node_count, &r->given_score, error));
  r->score = r->given_score;
  if (memcmp(r->order, r->subgraphs.node, r->node_count * sizeof *r->order) == 0)
    return CM_OK;
  CM_TRY(s->task->score(s->task->context, CM_WHOLE_GRAPH, r->order, r->node_count, &r->score, error));
  if (r->score <= r->given_score)
    return CM_OK;
  memcpy(r->order, r->subgraphs.node, r->node_count * sizeof *r->order);
  r->score = r->given_score;
  return CM_OK;
}

static cm_status prepare(searching *s, cm_error *error)
{
  cm_order_result *r = s->result;
  cm_memory *memory = s->run->memory;
  uint32_t n = s->dag->node_count;
  r->node_count = n;
  if (cm_subgraphs_find(s->dag, s->task->given, s->options->nodes_min, memory, &r->subgraphs, error) != CM_OK ||
      CM_NEW(memory, r->order, n, error) != CM_OK || CM_NEW(memory, r->outcome, r->subgraphs.count, error) != CM_OK ||
      CM_NEW(memory, s->height, n, error) != CM_OK || CM_NEW(memory, s->local, n, error) != CM_OK)
    return error->status;
  cm_dag_heights(s->dag, s->task->latency, false, s->height);
  for (uint32_t g = 0; g < r->subgraphs.count; g++)
    for (uint32_t k = r->subgraphs.first[g]; k < r->subgraphs.first[g + 1]; k++)
      s->local[r->subgraphs.node[k]] = k - r->subgraphs.first[g];
  return CM_OK;
}

cm_status cm_orders_search(const cm_order_task *search, const cm_order_options *options, cm_run *run, cm_order_result *result,
                           cm_error *error)
{
  cm_order_result made = {0};
  searching s = {.task = search, .dag = search->dag, .options = options, .run = run, .result = &made};
  cm_status status = prepare(&s, error);
  CM_THEN(status, cm_parallel(run, made.subgraphs.count, search_subgraph, &s, error));
  CM_THEN(status, settle_whole(&s, error));
  CM_FREE(s.height, s.local);
  CM_END(status, *result = made, cm_order_result_free(&made));
}
