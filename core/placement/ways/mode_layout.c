/* Happy path: modes of the graph -> slots in columns and rows, a torus cut where no slot is -> for a pose as many slots as parts,
 * nearest to the middle -> halves of both, again and again. What can fail: memory, a stop. */
#include "core/placement/ways/mode_layout.h"

#include <math.h>

#include "core/partition/options.h"

/* Width over height of the slots that are taken. */
static const double stretch[CM_POSE_SHAPES] = {1, 1.33, 0.75, 1.78, 0.56};
static const double half_turn = 3.14159265358979323846;

/* How parts and slots are brought together. */
typedef struct pose {
  uint32_t turn; /* 0 .. turns - 1: of a half turn */
  bool mirrored;
  uint32_t shape; /* 0 .. CM_POSE_SHAPES - 1: of the slots that are taken; 0 as wide as high */
} pose;

/* A part or a slot, along and across. */
struct cm_lying {
  double along, across;
  uint32_t number;
};
typedef struct cm_lying lying;

bool cm_has_layout(const cm_interconnect *net)
{
  return net->kind == CM_GRID || net->kind == CM_HEXAGONAL;
}

/* ---- columns and rows ---- */

/* Where an axis that may be a ring begins: behind its longest run of places where no slot is. */
static uint32_t beginning(const uint8_t *used, uint32_t length, bool ring)
{
  uint32_t begin = 0, longest = 0, empty = 0;
  for (uint32_t i = 0; ring && i < 2 * length; i++) {
    empty = used[i % length] ? 0 : empty + 1;
    if (empty > longest && empty < length) {
      longest = empty;
      begin = (i + 1) % length;
    }
  }
  return begin;
}

static double from_beginning(uint32_t place, uint32_t begin, uint32_t length)
{
  return (double)((place + length - begin) % length);
}

static void centre(double *value, uint32_t count)
{
  double sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += value[i];
  for (uint32_t i = 0; i < count; i++)
    value[i] -= sum / count;
}

static cm_status survey(cm_layout *l, const cm_interconnect *net, const uint32_t *router, cm_run *run, cm_error *error)
{
  uint8_t *used;
  uint32_t columns = net->columns, rows = net->rows;
  CM_TRY(CM_NEW(run->memory, used, (size_t)columns + rows, error));
  for (uint32_t i = 0; i < l->slots; i++)
    used[router[i] % columns] = used[columns + router[i] / columns] = 1;
  uint32_t west = beginning(used, columns, net->ring_x), north = beginning(used + columns, rows, net->ring_y);
  for (uint32_t i = 0; i < l->slots; i++) {
    l->column[i] = from_beginning(router[i] % columns, west, columns);
    l->row[i] = from_beginning(router[i] / columns, north, rows);
  }
  centre(l->column, l->slots);
  centre(l->row, l->slots);
  cm_free(used);
  return CM_OK;
}

cm_status cm_layout_new(const cm_hierarchy *parts, const cm_layout_slots *slots, const cm_place_task *task, cm_layout *layout,
                        cm_error *error)
{
  cm_run *run = task->run;
  cm_layout made = {.parts = parts->vertices[0], .slots = slots->count};
  cm_random random;
  cm_random_init(&random, task->seed, CM_STREAM_BLOCKS, 2000);
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(made.part, slots->count), CM_ARRAY(made.slot, slots->count),
                                CM_ARRAY(made.column, slots->count), CM_ARRAY(made.row, slots->count));
  CM_THEN(status, survey(&made, slots->net, slots->router, run, error));
  CM_THEN(status, cm_modes_find(parts, 0, 1, &random, run, &made.modes, error));
  CM_END(status, *layout = made, cm_layout_free(&made));
}

void cm_layout_free(cm_layout *layout)
{
  cm_modes_free(&layout->modes);
  CM_FREE(layout->part, layout->slot, layout->column, layout->row);
  *layout = (cm_layout){0};
}

/* ---- halves ---- */

static int by_along(const void *a, const void *b)
{
  const lying *p = a, *q = b;
  if (p->along < q->along || p->along > q->along)
    return p->along < q->along ? -1 : 1;
  return p->number < q->number ? -1 : p->number > q->number;
}

static void lay_across(lying *list, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    double along = list[i].along;
    list[i].along = list[i].across;
    list[i].across = along;
  }
}

static double length_of(const lying *list, uint32_t count, bool across)
{
  double least = INFINITY, most = -INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    double value = across ? list[i].across : list[i].along;
    least = fmin(least, value);
    most = fmax(most, value);
  }
  return most - least;
}

static void swap(lying *a, lying *b)
{
  lying kept = *a;
  *a = *b;
  *b = kept;
}

/* Brings the `wanted` first along to the front (Hoare 1961). */
static void select_first(lying *list, uint32_t count, uint32_t wanted)
{
  while (count > 1 && wanted > 0 && wanted < count) {
    lying pivot = list[(count - 1) / 2];
    uint32_t i = 0, k = count - 1;
    for (;; i++, k--) {
      while (by_along(&list[i], &pivot) < 0)
        i++;
      while (by_along(&pivot, &list[k]) < 0)
        k--;
      if (i >= k)
        break;
      swap(&list[i], &list[k]);
    }
    uint32_t left = k + 1; /* fewer than all: none of them after the pivot, none of the others before it */
    if (wanted <= left) {
      count = left;
    } else {
      list += left;
      count -= left;
      wanted -= left;
    }
  }
}

/* Of both ends of the line of slots amid the list the one nearer to the middle, with the slots before it in front; half of them where
 * all are in one line. */
static uint32_t cut_at_line(lying *slot, uint32_t count)
{
  uint32_t before = 0, upto = 0, half = count / 2;
  select_first(slot, count, half);
  double line = slot[0].along;
  for (uint32_t i = 1; i < half; i++)
    line = fmax(line, slot[i].along);
  for (uint32_t i = 0; i < count; i++) {
    before += slot[i].along < line;
    upto += slot[i].along <= line;
  }
  bool left = before > 0 && (upto == count || half - before < upto - half);
  uint32_t end = left ? before : upto < count ? upto : half;
  select_first(slot, count, end);
  return end;
}

/* As many slots as parts; of those at one router any part takes any. */
static void bring_together(lying *part, lying *slot, uint32_t count, uint32_t *at)
{
  while (count > 1) {
    if (length_of(slot, count, true) > length_of(slot, count, false)) {
      lay_across(part, count);
      lay_across(slot, count);
    }
    uint32_t half = cut_at_line(slot, count);
    select_first(part, count, half);
    bring_together(part, slot, half, at);
    part += half;
    slot += half;
    count -= half;
  }
  if (count == 1)
    at[part->number] = slot->number;
}

static void lay_down(cm_layout *layout, uint32_t turns, const pose *by, uint32_t *at)
{
  const double *value = layout->modes.value;
  double angle = half_turn * by->turn / turns, c = cos(angle), s = sin(angle), wide = sqrt(stretch[by->shape]);
  for (uint32_t i = 0; i < layout->slots; i++)
    layout->slot[i] = (lying){.along = fmax(fabs(layout->column[i]) / wide, fabs(layout->row[i]) * wide), .number = i};
  select_first(layout->slot, layout->slots, layout->parts);
  for (uint32_t i = 0; i < layout->parts; i++) {
    lying *slot = &layout->slot[i];
    *slot = (lying){layout->column[slot->number], layout->row[slot->number], slot->number};
  }
  for (uint32_t b = 0; b < layout->parts; b++) {
    double x = value[(size_t)b * CM_MODES_KEPT], y = value[(size_t)b * CM_MODES_KEPT + 1] * (by->mirrored ? -1 : 1);
    bool known = isfinite(x) && isfinite(y); /* the order must be one */
    layout->part[b] = (lying){known ? c * x - s * y : 0, known ? s * x + c * y : 0, b};
  }
  bring_together(layout->part, layout->slot, layout->parts, at);
}

void cm_layout_choose(cm_layout *layout, uint32_t turns, cm_layout_cost *cost, const void *on, uint32_t *at)
{
  pose best = {0};
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < 2 * turns + CM_POSE_SHAPES - 1; i++) {
    pose tried = best;
    if (i < 2 * turns)
      tried = (pose){i / 2, i % 2 == 1, 0};
    else
      tried.shape = i - 2 * turns + 1;
    lay_down(layout, turns, &tried, at);
    uint64_t costs = cost(on, at);
    if (costs < least) {
      least = costs;
      best = tried;
    }
  }
  lay_down(layout, turns, &best, at);
}
