#include <math.h>
#include <string.h>

#include "core/partition/reference/bisect.h"
#include "core/placement/placement.h"

/* A box of the chip, the region's cores inside it, and as many parts. */
typedef struct box {
  uint32_t x0, y0, x1, y1; /* half open */
  uint32_t begin, end;     /* in work->core and work->part */
  uint64_t node;           /* number in the tree of boxes, for its random stream */
} box;

typedef struct work {
  const cm_graph *parts;
  const cm_place_task *task;
  uint32_t tries;
  uint32_t *core, *part; /* [count] boxes as ranges of both */
  uint32_t *scratch;     /* [count] */
  uint8_t *side;         /* [count] */
  box *stack;            /* [count + 64] */
  uint32_t depth;
} work;

/* Stable split of a range by side[]: ones first. Returns the number of ones. */
static uint32_t split_range(uint32_t *value, uint32_t count, const uint8_t *side, uint32_t *scratch)
{
  uint32_t ones = 0;
  for (uint32_t i = 0; i < count; i++)
    ones += side[i];
  uint32_t a = 0, b = ones;
  for (uint32_t i = 0; i < count; i++)
    scratch[side[i] ? a++ : b++] = value[i];
  memcpy(value, scratch, count * sizeof *value);
  return ones;
}

static void halve(const box *whole, box *near_half, box *far_half)
{
  *near_half = *far_half = *whole;
  if (whole->x1 - whole->x0 >= whole->y1 - whole->y0)
    near_half->x1 = far_half->x0 = whole->x0 + (whole->x1 - whole->x0 + 1) / 2;
  else
    near_half->y1 = far_half->y0 = whole->y0 + (whole->y1 - whole->y0 + 1) / 2;
  near_half->node = 2 * whole->node;
  far_half->node = 2 * whole->node + 1;
}

static cm_status split_parts(work *w, const box *whole, uint32_t near_count, cm_error *error)
{
  uint32_t count = whole->end - whole->begin;
  if (near_count == 0 || near_count == count)
    return CM_OK; /* all cores lie in one half: so do all parts */
  cm_graph *graph;
  uint64_t cut;
  CM_TRY(cm_graph_induce(w->parts, w->part + whole->begin, count, w->scratch, w->task->run, &graph, error));
  cm_bisect_options options = {
    .half = {.target = near_count}, .tries = w->tries, .seed = w->task->seed, .node = whole->node, .stream = CM_STREAM_PLACEMENT};
  cm_status status = cm_bisect(graph, &options, w->task->run, w->side, &cut, error);
  cm_graph_free(graph);
  CM_END(status, (void)split_range(w->part + whole->begin, count, w->side, w->scratch), );
}

static cm_status place_boxes(work *w, uint32_t *core, cm_error *error)
{
  uint32_t count = w->parts->vertex_count, placed = 0;
  while (w->depth > 0) {
    box whole = w->stack[--w->depth], near_half, far_half;
    if (whole.begin == whole.end)
      continue;
    if (whole.end - whole.begin == 1) {
      core[w->part[whole.begin]] = w->core[whole.begin];
      placed++;
      continue;
    }
    halve(&whole, &near_half, &far_half);
    for (uint32_t i = whole.begin; i < whole.end; i++) {
      uint32_t x = w->core[i] % w->task->chip->width, y = w->core[i] / w->task->chip->width;
      w->side[i - whole.begin] = x < near_half.x1 && y < near_half.y1;
    }
    uint32_t near_count = split_range(w->core + whole.begin, whole.end - whole.begin, w->side, w->scratch);
    CM_TRY(split_parts(w, &whole, near_count, error));
    CM_TRY(cm_run_progress(w->task->run, (double)placed / count, -1, count, NAN, error));
    near_half.end = far_half.begin = whole.begin + near_count;
    w->stack[w->depth++] = far_half;
    w->stack[w->depth++] = near_half;
  }
  return CM_OK;
}

cm_status cm_place_by_bisection(const cm_graph *parts, const cm_place_task *task, uint32_t tries, uint32_t *core, cm_error *error)
{
  uint32_t count = parts->vertex_count;
  work w = {.parts = parts, .task = task, .tries = tries};
  const cm_region *region = task->region;
  cm_memory *memory = task->run->memory;
  cm_run_phase(task->run, "place");
  if (region->core_count != count)
    return cm_fail(error, CM_INTERNAL, "a region of %u cores for %u parts", region->core_count, count);
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(w.core, count), CM_ARRAY(w.part, count), CM_ARRAY(w.scratch, count),
                                CM_ARRAY(w.side, count), CM_ARRAY(w.stack, (size_t)count + 64));
  if (status == CM_OK) {
    for (uint32_t i = 0; i < count; i++) {
      w.core[i] = region->cores[i];
      w.part[i] = i;
    }
    w.stack[w.depth++] = (box){region->x0, region->y0, region->x0 + region->width, region->y0 + region->height, 0,
                               count, 1};
    status = place_boxes(&w, core, error);
  }
  CM_FREE(w.core, w.part, w.scratch, w.side, w.stack);
  return status;
}
