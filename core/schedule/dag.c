#include "core/schedule/dag.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/order.h"

void cm_dag_free(cm_dag *dag)
{
  if (dag == NULL)
    return;
  CM_FREE(dag->out_first, dag->out, dag->out_weight, dag->in_first, dag->in, dag->in_weight, dag->order, dag);
}

CM_ORDER(by_ends, cm_arc, CM_RISING(from) CM_RISING(to))

/* Sorts arcs, makes one of those with the same ends, and says how many are left. */
static cm_status merge(cm_arc *arcs, uint64_t count, uint64_t *kept, cm_error *error)
{
  uint64_t last = 0;
  qsort(arcs, count, sizeof *arcs, by_ends);
  for (uint64_t i = 1; i < count; i++)
    if (by_ends(&arcs[last], &arcs[i]) != 0)
      arcs[++last] = arcs[i];
    else if (__builtin_add_overflow(arcs[last].weight, arcs[i].weight, &arcs[last].weight))
      return cm_fail(error, CM_BAD_NETWORK, "the arcs from task %u to task %u weigh more than 64 bits hold together",
                     arcs[i].from, arcs[i].to);
  *kept = count == 0 ? 0 : last + 1;
  return CM_OK;
}

static cm_status check_ends(uint32_t nodes, const cm_arc *arcs, uint64_t count, cm_error *error)
{
  for (uint64_t i = 0; i < count; i++) {
    if (arcs[i].from >= nodes || arcs[i].to >= nodes)
      return cm_fail(error, CM_BAD_NETWORK, "an arc goes from task %u to task %u, but the tasks are 0 to %u",
                     arcs[i].from, arcs[i].to, nodes == 0 ? 0 : nodes - 1);
    if (arcs[i].from == arcs[i].to)
      return cm_fail(error, CM_BAD_NETWORK, "task %u waits for itself", arcs[i].from);
  }
  return CM_OK;
}

static void fill_rows(cm_dag *dag, const cm_arc *arcs)
{
  uint32_t n = dag->node_count;
  for (uint64_t i = 0; i < dag->arc_count; i++) {
    dag->out[i] = arcs[i].to;
    dag->out_weight[i] = arcs[i].weight;
    dag->out_first[arcs[i].from + 1]++;
    dag->in_first[arcs[i].to + 1]++;
  }
  for (uint32_t v = 0; v < n; v++) {
    dag->out_first[v + 1] += dag->out_first[v];
    dag->in_first[v + 1] += dag->in_first[v];
  }
  /* Filled from the back, each row's end moves to its beginning: in_first[v + 1] is right again afterwards. */
  for (uint64_t i = dag->arc_count; i-- > 0;) {
    uint64_t place = --dag->in_first[arcs[i].to + 1];
    dag->in[place] = arcs[i].from;
    dag->in_weight[place] = arcs[i].weight;
  }
  memmove(dag->in_first, dag->in_first + 1, n * sizeof *dag->in_first);
  dag->in_first[n] = dag->arc_count;
}

/* Some node on a circle: from any node that never got free, go back n steps along such nodes. */
static uint32_t on_circle(const cm_dag *dag, const uint32_t *queue, uint32_t queued, uint8_t *done)
{
  uint32_t v = 0;
  for (uint32_t i = 0; i < queued; i++)
    done[queue[i]] = 1;
  while (done[v])
    v++;
  for (uint32_t step = 0; step < dag->node_count; step++) {
    uint64_t i = dag->in_first[v];
    while (done[dag->in[i]])
      i++;
    v = dag->in[i];
  }
  return v;
}

/* Queues what can be queued; *queued is less than node_count when there is a circle. */
static cm_status queue_by(const cm_dag *dag, const uint64_t *priority, cm_memory *memory, uint32_t *queue,
                          uint32_t *queued, cm_error *error)
{
  uint32_t n = dag->node_count, *waiting = NULL, done = 0;
  cm_heap heap = {0};
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(waiting, n), CM_ARRAY(heap.item, n));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      if ((waiting[v] = (uint32_t)(dag->in_first[v + 1] - dag->in_first[v])) == 0)
        cm_heap_push(&heap, (cm_heap_item){priority == NULL ? 0 : UINT64_MAX - priority[v], v});
    while (heap.count > 0) {
      uint32_t v = queue[done++] = cm_heap_pop(&heap).number;
      for (uint64_t i = dag->out_first[v]; i < dag->out_first[v + 1]; i++)
        if (--waiting[dag->out[i]] == 0)
          cm_heap_push(&heap, (cm_heap_item){priority == NULL ? 0 : UINT64_MAX - priority[dag->out[i]], dag->out[i]});
    }
    *queued = done;
  }
  CM_FREE(waiting, heap.item);
  return status;
}

cm_status cm_dag_queue(const cm_dag *dag, const uint64_t *priority, cm_memory *memory, uint32_t *queue, cm_error *error)
{
  uint32_t queued;
  return queue_by(dag, priority, memory, queue, &queued, error);
}

static cm_status make_order(cm_dag *dag, cm_memory *memory, cm_error *error)
{
  uint32_t queued;
  uint8_t *done;
  CM_TRY(queue_by(dag, NULL, memory, dag->order, &queued, error));
  if (queued == dag->node_count)
    return CM_OK;
  CM_TRY(CM_NEW(memory, done, dag->node_count, error));
  uint32_t node = on_circle(dag, dag->order, queued, done);
  cm_free(done);
  (void)cm_fail(error, CM_BAD_NETWORK, "tasks wait for each other in a circle; task %u is on it", node);
  return cm_fail_at(error, "task %u", node);
}

cm_status cm_dag_new(cm_memory *memory, uint32_t node_count, const cm_arc *arcs, uint64_t arc_count, cm_dag **made,
                     cm_error *error)
{
  cm_dag *dag = NULL;
  cm_arc *sorted = NULL;
  uint64_t kept = 0;
  size_t rows = (size_t)node_count + 1;
  cm_status status = check_ends(node_count, arcs, arc_count, error);
  if (status == CM_OK && (status = CM_NEW(memory, sorted, arc_count, error)) == CM_OK) {
    if (arc_count > 0)
      memcpy(sorted, arcs, arc_count * sizeof *arcs);
    status = merge(sorted, arc_count, &kept, error);
  }
  if (status == CM_OK && (status = CM_NEW(memory, dag, 1, error)) == CM_OK) {
    dag->node_count = node_count;
    dag->arc_count = kept;
    status = CM_NEW_ALL(memory, error, CM_ARRAY(dag->out_first, rows), CM_ARRAY(dag->in_first, rows), CM_ARRAY(dag->out, kept),
                        CM_ARRAY(dag->in, kept), CM_ARRAY(dag->out_weight, kept), CM_ARRAY(dag->in_weight, kept),
                        CM_ARRAY(dag->order, node_count));
    if (status == CM_OK) {
      fill_rows(dag, sorted);
      status = make_order(dag, memory, error);
    }
  }
  cm_free(sorted);
  CM_END(status, *made = dag, cm_dag_free(dag));
}

static uint64_t add(uint64_t a, uint64_t b)
{
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void cm_dag_heights(const cm_dag *dag, const uint64_t *weight, bool with_arcs, uint64_t *height)
{
  for (uint32_t k = dag->node_count; k-- > 0;) {
    uint32_t v = dag->order[k];
    uint64_t after = 0;
    for (uint64_t i = dag->out_first[v]; i < dag->out_first[v + 1]; i++) {
      uint64_t way = add(height[dag->out[i]], with_arcs ? dag->out_weight[i] : 0);
      after = way > after ? way : after;
    }
    height[v] = add(after, weight[v]);
  }
}

void cm_dag_depths(const cm_dag *dag, const uint64_t *weight, bool with_arcs, uint64_t *depth)
{
  for (uint32_t k = 0; k < dag->node_count; k++) {
    uint32_t v = dag->order[k];
    depth[v] = 0;
    for (uint64_t i = dag->in_first[v]; i < dag->in_first[v + 1]; i++) {
      uint32_t u = dag->in[i];
      uint64_t way = add(add(depth[u], weight[u]), with_arcs ? dag->in_weight[i] : 0);
      depth[v] = way > depth[v] ? way : depth[v];
    }
  }
}

bool cm_dag_has_arc(const cm_dag *dag, uint32_t from, uint32_t to)
{
  uint64_t low = dag->out_first[from], high = dag->out_first[from + 1];
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (dag->out[middle] == to)
      return true;
    if (dag->out[middle] < to)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

cm_status cm_dag_is_order(const cm_dag *dag, const uint32_t *order, cm_memory *memory, bool *is, cm_error *error)
{
  uint32_t n = dag->node_count, *place;
  bool good = true;
  CM_TRY(CM_NEW(memory, place, n, error));
  for (uint32_t k = 0; k < n && good; k++) {
    good = order[k] < n && place[order[k]] == 0;
    if (good)
      place[order[k]] = k + 1;
  }
  for (uint32_t v = 0; v < n && good; v++)
    for (uint64_t i = dag->in_first[v]; i < dag->in_first[v + 1]; i++)
      good = good && place[dag->in[i]] < place[v];
  cm_free(place);
  *is = good;
  return CM_OK;
}
