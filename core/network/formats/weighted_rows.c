/* Rows whose entries have weights are sorted, and repeats merged: for mapping all between two neurons is one synapse, for running one
 * a delay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/formats/rows.h"
#include "core/network/formats/weighted.h"

/* Rows under way. */
typedef struct closer {
  cm_topology *made;
  cm_weights *weights;
  cm_memory *memory;
  cm_row_sorter sorter;
  double *scratch, *delay_scratch; /* weights and delays of the present row */
  float *exact_scratch;
  uint64_t scratch_room, delay_room, exact_room;
  cm_beside *term;   /* [terms] synapses of the present pin */
  uint64_t terms, term_room;
  cm_weights closed; /* what is beside pins, so far */
  uint64_t ends;   /* entries of all rows before merging */
  uint64_t used;   /* pins that stay so far */
} closer;

/* Repeats make weights needed: two entries of 1 make one of 2. */
static cm_status need_weights(closer *c, cm_error *error)
{
  if (c->weights->value != NULL)
    return CM_OK;
  CM_TRY(CM_NEW(c->memory, c->weights->value, c->ends, error));
  for (uint64_t i = 0; i < c->ends; i++)
    c->weights->value[i] = 1;
  return CM_OK;
}

/* A pin of several delays makes exact weights needed: in [begin, end) lies the present row. */
static cm_status need_exact(closer *c, uint64_t begin, uint64_t end, cm_error *error)
{
  cm_weights *w = c->weights;
  const bool first = w->exact == NULL;
  CM_TRY(CM_ROOM(c->memory, c->exact_scratch, &c->exact_room, end - begin, error));
  CM_TRY_IF(first, CM_NEW(c->memory, w->exact, c->ends, error));
  for (uint64_t i = 0; first && i < c->ends; i++)
    w->exact[i] = (float)w->value[i];
  for (uint64_t i = 0; i < end - begin; i++)
    c->exact_scratch[i] = first ? (float)c->scratch[i] : w->exact[begin + i];
  return CM_OK;
}

static int by_delay(const void *a, const void *b)
{
  const cm_beside *x = a, *y = b;
  if (x->delay_ms != y->delay_ms)
    return x->delay_ms < y->delay_ms ? -1 : 1;
  return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* What entry `entry` of the row from `begin` on is when the network runs becomes terms of the present pin. */
static cm_status add_terms(closer *c, uint64_t begin, uint32_t entry, cm_error *error)
{
  const cm_weights *w = c->weights;
  uint64_t low = 0, high = w->besides;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (w->beside[middle].at < begin + entry)
      low = middle + 1;
    else
      high = middle;
  }
  while (high < w->besides && w->beside[high].at == begin + entry)
    high++;
  CM_TRY(CM_ROOM(c->memory, c->term, &c->term_room, c->terms + 1 + (high - low), error));
  c->term[c->terms++] =
    (cm_beside){.weight = (double)c->exact_scratch[entry], .delay_ms = w->delay_ms != NULL ? c->delay_scratch[entry] : 0};
  for (; low < high; low++)
    c->term[c->terms++] = w->beside[low];
  return CM_OK;
}

/* The terms of the present pin, one a delay: the first is the pin's own. */
static cm_status close_terms(closer *c, cm_error *error)
{
  if (c->terms > 1)
    qsort(c->term, c->terms, sizeof *c->term, by_delay);
  for (uint64_t i = 0; i < c->terms;) {
    cm_beside sum = {.at = c->used, .delay_ms = c->term[i].delay_ms};
    const bool own = i == 0;
    for (; i < c->terms && c->term[i].delay_ms == sum.delay_ms; i++)
      sum.weight += c->term[i].weight;
    if (own)
      c->weights->exact[c->used] = (float)sum.weight;
    else if (cm_weights_keep_beside(&c->closed, c->memory, sum, error) != CM_OK)
      return error->status;
  }
  c->terms = 0;
  return CM_OK;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* A sum that does not depend on the order of its terms, which it sorts: an edge that stands in two rows weighs the same in
 * both. */
static double sum_sorted(double *term, uint64_t count)
{
  double sum = 0;
  if (count > 2)
    qsort(term, count, sizeof *term, by_value);
  for (uint64_t i = 0; i < count; i++)
    sum += term[i];
  return sum;
}

/* Sorts the row [begin, end), merges repeats, and moves it to where the rows before it end. */
static cm_status close_row(closer *c, uint32_t vertex, uint64_t begin, uint64_t end, cm_error *error)
{
  cm_topology *made = c->made;
  const uint64_t *key;
  uint64_t count = end - begin;
  CM_TRY(cm_row_order(&c->sorter, made->pin + begin, count, &key, error));
  for (uint64_t i = 1; i < count; i++)
    CM_TRY_IF(key[i] >> 32 == key[i - 1] >> 32, need_weights(c, error));
  double *weight = c->weights->value, *delay = c->weights->delay_ms;
  if (weight != NULL) {
    CM_TRY(CM_ROOM(c->memory, c->scratch, &c->scratch_room, count, error));
    memcpy(c->scratch, weight + begin, count * sizeof *c->scratch);
  }
  if (delay != NULL) {
    CM_TRY(CM_ROOM(c->memory, c->delay_scratch, &c->delay_room, count, error));
    memcpy(c->delay_scratch, delay + begin, count * sizeof *c->delay_scratch);
  }
  CM_TRY_IF(c->weights->exact != NULL, need_exact(c, begin, end, error));
  for (uint64_t i = 0; i < count;) {
    const uint64_t first = i;
    uint32_t target = (uint32_t)(key[i] >> 32);
    double shortest = INFINITY, longest = 0;
    uint64_t terms = 0;
    for (; i < count && (uint32_t)(key[i] >> 32) == target; i++, terms++, made->duplicate_count++) {
      if (weight != NULL)
        weight[c->used + terms] = c->scratch[(uint32_t)key[i]]; /* what stood there is in the scratch */
      if (delay != NULL) {
        shortest = fmin(shortest, c->delay_scratch[(uint32_t)key[i]]);
        longest = fmax(longest, c->delay_scratch[(uint32_t)key[i]]);
      }
    }
    double sum = weight != NULL ? sum_sorted(weight + c->used, terms) : (double)terms;
    made->duplicate_count--; /* all but one */
    made->zero_count += sum == 0;
    if (sum == 0 && c->weights->drop_zeros)
      continue;
    made->self_loop_count += target == vertex;
    CM_TRY_IF(made->directed && shortest < longest && c->weights->exact == NULL, need_exact(c, begin, end, error));
    for (uint64_t k = first; c->weights->exact != NULL && k < i; k++)
      CM_TRY(add_terms(c, begin, (uint32_t)key[k], error));
    CM_TRY_IF(c->weights->exact != NULL, close_terms(c, error));
    if (weight != NULL)
      weight[c->used] = sum;
    if (delay != NULL)
      delay[c->used] = shortest;
    made->pin[c->used++] = target;
  }
  return CM_OK;
}

cm_status cm_weighted_rows_close(cm_topology *made, cm_weights *weights, cm_run *run, cm_error *error)
{
  closer c = {.made = made, .weights = weights, .memory = run->memory, .sorter = {.memory = run->memory},
              .ends = made->net_first[made->vertex_count]};
  uint64_t begin = 0, steps = CM_RUN_STEPS;
  uint32_t nets = 0;
  cm_status status = CM_OK;
  if (made->directed)
    status = CM_NEW(run->memory, made->net_source, made->vertex_count, error);
  for (uint32_t v = 0; v < made->vertex_count && status == CM_OK; v++) {
    uint64_t end = made->net_first[v + 1];
    if (cm_run_due(&steps, end - begin + 1) &&
        (status = cm_run_progress(run, (double)begin / (double)c.ends, -1, made->vertex_count, NAN, error)) != CM_OK)
      break;
    uint64_t start = c.used;
    status = begin < end ? close_row(&c, v, begin, end, error) : CM_OK;
    if (!made->directed || start < c.used) {
      if (made->directed)
        made->net_source[nets] = v;
      made->net_first[++nets] = c.used;
    }
    begin = end;
  }
  cm_row_sorter_free(&c.sorter);
  CM_FREE(c.scratch, c.delay_scratch, c.exact_scratch, c.term, weights->beside);
  weights->beside = c.closed.beside;
  weights->besides = c.closed.besides;
  weights->beside_room = c.closed.beside_room;
  made->net_count = nets;
  made->pin_count = c.used;
  if (!made->directed)
    made->duplicate_count /= 2, made->zero_count /= 2; /* each stood in two rows */
  return status;
}
