/* Rows whose entries have weights, read one entry at a time: what edge lists and matrices have in common. */
#include <math.h>
#include <string.h>

#include "core/network/internal.h"

cm_status cm_weights_keep(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, double weight,
                          cm_error *error)
{
  if (weights->value == NULL && weight == 1)
    return CM_OK;
  bool first = weights->value == NULL;
  if (CM_ROOM(memory, weights->value, &weights->room, room, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; first && i < count; i++)
    weights->value[i] = 1;
  weights->value[count] = weight;
  weights->fractions = weights->fractions || weight != trunc(weight);
  return CM_OK;
}

/* Rows under way. */
typedef struct closer {
  cm_topology *made;
  cm_weights *weights;
  cm_memory *memory;
  cm_row_sorter sorter;
  double *scratch; /* weights of the present row */
  uint64_t scratch_room;
  uint64_t ends;   /* entries of all rows before merging */
  uint64_t used;   /* pins that stay so far */
} closer;

/* Repeats make weights needed: two entries of 1 make one of 2. */
static cm_status need_weights(closer *c, cm_error *error)
{
  if (c->weights->value != NULL)
    return CM_OK;
  if (CM_NEW(c->memory, c->weights->value, c->ends, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < c->ends; i++)
    c->weights->value[i] = 1;
  return CM_OK;
}

/* Sorts the row [begin, end), merges repeats, and moves it to where the rows before it end. */
static cm_status close_row(closer *c, uint32_t vertex, uint64_t begin, uint64_t end, cm_error *error)
{
  cm_topology *made = c->made;
  const uint64_t *key;
  uint64_t count = end - begin, start = c->used;
  if (cm_row_order(&c->sorter, made->pin + begin, count, &key, error) != CM_OK)
    return error->status;
  for (uint64_t i = 1; i < count; i++)
    if (key[i] >> 32 == key[i - 1] >> 32 && need_weights(c, error) != CM_OK)
      return error->status;
  double *weight = c->weights->value;
  if (weight != NULL) {
    if (CM_ROOM(c->memory, c->scratch, &c->scratch_room, count, error) != CM_OK)
      return error->status;
    memcpy(c->scratch, weight + begin, count * sizeof *c->scratch);
  }
  for (uint64_t i = 0; i < count; i++) {
    uint32_t target = (uint32_t)(key[i] >> 32);
    bool repeated = c->used > start && made->pin[c->used - 1] == target;
    made->duplicate_count += repeated;
    made->self_loop_count += !repeated && target == vertex;
    if (repeated) {
      weight[c->used - 1] += c->scratch[(uint32_t)key[i]];
      continue;
    }
    if (weight != NULL)
      weight[c->used] = c->scratch[(uint32_t)key[i]];
    made->pin[c->used++] = target;
  }
  return CM_OK;
}

cm_status cm_weighted_rows_close(cm_topology *made, cm_weights *weights, cm_run *run, cm_error *error)
{
  closer c = {.made = made, .weights = weights, .memory = run->memory, .sorter = {.memory = run->memory},
              .ends = made->net_first[made->vertex_count]};
  uint64_t begin = 0;
  uint32_t nets = 0;
  cm_status status = CM_OK;
  if (made->directed)
    status = CM_NEW(run->memory, made->net_source, made->vertex_count, error);
  for (uint32_t v = 0; v < made->vertex_count && status == CM_OK; v++) {
    uint64_t end = made->net_first[v + 1];
    if (v % CM_CHECK_EVERY == 0 && (status = cm_run_check(run, error)) != CM_OK)
      break;
    status = begin < end ? close_row(&c, v, begin, end, error) : CM_OK;
    if (!made->directed || begin < end) {
      if (made->directed)
        made->net_source[nets] = v;
      made->net_first[++nets] = c.used;
    }
    begin = end;
  }
  cm_row_sorter_free(&c.sorter);
  cm_free(c.scratch);
  made->net_count = nets;
  made->pin_count = c.used;
  if (!made->directed)
    made->duplicate_count /= 2; /* each stood in two rows */
  return status;
}

cm_status cm_weighted_rows_scale(cm_topology *made, const cm_weights *weights, cm_run *run, cm_error *error)
{
  double sum = 0, maximum = 1, ones = (double)made->pin_count;
  bool all_one = true;
  for (uint64_t i = 0; weights->value != NULL && i < made->pin_count; i++) {
    sum += weights->value[i];
    maximum = weights->value[i] > maximum ? weights->value[i] : maximum;
    all_one = all_one && weights->value[i] == 1;
  }
  if (!made->directed) { /* each edge stands in two rows and counts once */
    sum /= 2;
    ones /= 2;
  }
  /* Every axon has rate 1 on the same scale, so the rates must fit too. */
  if (cm_weight_scale(sum > ones ? sum : ones, maximum, UINT32_MAX, !weights->fractions, &made->weight_scale, error) !=
      CM_OK)
    return error->status;
  if (made->directed) {
    if (CM_NEW(run->memory, made->net_weight, made->net_count, error) != CM_OK)
      return error->status;
    for (uint32_t e = 0; e < made->net_count; e++)
      made->net_weight[e] = made->weight_scale;
  }
  if (all_one)
    return CM_OK;
  if (CM_NEW(run->memory, made->pin_weight, made->pin_count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < made->pin_count; i++)
    made->pin_weight[i] = (uint32_t)cm_weight_scaled(weights->value[i], made->weight_scale);
  return CM_OK;
}
