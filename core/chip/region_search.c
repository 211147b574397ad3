/* Prices of ways are split by axis (prices.h). So what a core costs a whole set is the sum of two table entries, one by its
 * column and one by its row, and a core that comes or goes changes a table a column. Cores far from a set are passed over by
 * what their column and row cost at least: the work follows the cores wanted, not those of the chip.
 *
 * Happy path: balls around centres that cover the chip -> the best of them walk downhill -> single exchanges of the
 * core that costs most for the one that would cost least, until none pays. What can fail: memory, a stop. */
#include "core/chip/region_search.h"

#include <math.h>

#include "base/order.h"
#include "core/chip/interconnect/sets.h"
#include "core/chip/region_set.h"

enum { CENTRES_MIN = 16, CENTRES_MAX = 1024 };
static const double survey_work = 1 << 22, all_balls_work = 1 << 25; /* in cores looked at */

typedef cm_set_search search;
typedef cm_price_axis axis;
typedef cm_ranked_core ranked;

/* ---- balls ---- */

static bool before(ranked a, ranked b)
{
  return a.key < b.key || (a.key == b.key && a.core < b.core);
}

/* Brings the `count` first in order to the front (Hoare, Algorithm 65: FIND). */
static void select_first(ranked *a, uint32_t length, uint32_t count)
{
  int64_t low = 0, high = (int64_t)length - 1, wanted = (int64_t)count - 1;
  while (low < high) {
    ranked pivot = a[low + (high - low) / 2];
    int64_t i = low, j = high;
    while (i <= j) {
      while (before(a[i], pivot))
        i++;
      while (before(pivot, a[j]))
        j--;
      if (i > j)
        break;
      ranked held = a[i];
      a[i++] = a[j];
      a[j--] = held;
    }
    if (j < wanted)
      low = i;
    if (wanted < i)
      high = j;
  }
}

/* Places of an axis that are at most `reach` away from `at`: *count from *from on, around a ring. Returns the price of the
 * next ones beyond. */
static double span(const axis *a, uint32_t at, uint32_t reach, uint32_t *from, uint32_t *count)
{
  bool all = reach >= a->length || (a->ring && 2 * reach + 1 >= a->length);
  if (all) {
    *from = 0;
    *count = a->length;
    return INFINITY;
  }
  if (a->ring) {
    *from = at >= reach ? at - reach : at + a->length - reach;
    *count = 2 * reach + 1;
    uint32_t low = *from > 0 ? *from - 1 : a->length - 1, high = (*from + *count) % a->length;
    return fmin(cm_price_way(a, at, low), cm_price_way(a, at, high));
  }
  uint32_t to = a->length - at > reach ? at + reach : a->length - 1;
  *from = at > reach ? at - reach : 0;
  *count = to - *from + 1;
  return fmin(*from > 0 ? a->at[at] - a->at[*from - 1] : INFINITY,
              to + 1 < a->length ? a->at[to + 1] - a->at[at] : INFINITY);
}

/* Ranks the cores around a router, those at most `reach` columns and rows away, in s->order; *beyond is what others
 * cost at least. */
static cm_status rank_near(search *s, uint32_t x, uint32_t y, uint32_t reach, double *beyond, cm_error *error)
{
  const cm_chip *chip = s->chip;
  uint32_t x0, y0, columns, rows;
  uint64_t here = 0;
  double beyond_x = span(&s->x, x, reach, &x0, &columns), beyond_y = span(&s->y, y, reach, &y0, &rows);
  *beyond = fmin(beyond_x, beyond_y);
  for (uint32_t j = 0; j < rows * chip->router_y; j++) {
    uint32_t at_y = y0 + j / chip->router_y < s->y.length ? y0 + j / chip->router_y : y0 + j / chip->router_y - s->y.length;
    const uint32_t first = (at_y * chip->router_y + j % chip->router_y) * chip->width;
    double along_y = cm_price_way(&s->y, y, at_y);
    CM_TRY(CM_ROOM(s->run->memory, s->order, &s->order_capacity, here + (uint64_t)columns * chip->router_x, error));
    for (uint32_t i = 0; i < columns; i++) {
      uint32_t at_x = x0 + i < s->x.length ? x0 + i : x0 + i - s->x.length;
      double key = cm_price_way(&s->x, x, at_x) + along_y;
      for (uint32_t c = first + at_x * chip->router_x; c < first + (at_x + 1) * chip->router_x; c++)
        if (s->usable[c])
          s->order[here++] = (ranked){key + cm_set_penalty(s, at_x, at_y), c};
    }
  }
  s->ordered = here;
  return CM_OK;
}

/* The nearest cores around a router, at the front of s->order; *cost: the sum of their prices to the centre. */
static cm_status ball(search *s, uint32_t x, uint32_t y, double *cost, cm_error *error)
{
  double sum = 0, beyond, farthest = INFINITY;
  s->work += s->sites;
  for (uint32_t reach = (uint32_t)sqrt((double)s->count) + 1; farthest == INFINITY; reach *= 2) {
    CM_TRY(rank_near(s, x, y, reach, &beyond, error));
    if (s->ordered < s->count)
      continue;
    select_first(s->order, (uint32_t)s->ordered, s->count);
    farthest = sum = 0;
    for (uint32_t i = 0; i < s->count; i++) {
      sum += s->order[i].key;
      farthest = fmax(farthest, s->order[i].key);
    }
    if (farthest >= beyond) /* some that were not ranked may be nearer */
      farthest = INFINITY;
  }
  *cost = sum;
  return CM_OK;
}

typedef struct centre {
  double cost;
  uint32_t x, y;
} centre;

CM_ORDER(by_cost, centre, CM_RISING(cost) CM_RISING(y) CM_RISING(x))

/* To a neighbour at this step while it is better, then at half the step. */
static cm_status descend(search *s, centre *c, uint32_t step, cm_error *error)
{
  static const int dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
  for (; step > 0; step /= 2)
    for (bool moved = true; moved && s->work < all_balls_work;) {
      moved = false;
      CM_TRY(cm_run_check(s->run, error));
      for (int i = 0; i < 4; i++) {
        int64_t x = (int64_t)c->x + dx[i] * (int64_t)step, y = (int64_t)c->y + dy[i] * (int64_t)step;
        if (x < 0 || y < 0 || x >= s->x.length || y >= s->y.length)
          continue;
        double cost;
        CM_TRY(ball(s, (uint32_t)x, (uint32_t)y, &cost, error));
        if (cost < c->cost) {
          *c = (centre){cost, (uint32_t)x, (uint32_t)y};
          moved = true;
        }
      }
    }
  return CM_OK;
}

/* Balls around a grid of centres, cheapest first. */
static cm_status survey(search *s, centre **centres, uint32_t *count, uint32_t *step, cm_error *error)
{
  double allowed = survey_work / s->sites;
  allowed = allowed > CENTRES_MAX ? CENTRES_MAX : allowed < CENTRES_MIN ? CENTRES_MIN : allowed;
  uint32_t spacing = 1, found = 0;
  while (ceil((double)s->x.length / spacing) * ceil((double)s->y.length / spacing) > allowed)
    spacing++;
  uint64_t room = (uint64_t)((s->x.length + spacing - 1) / spacing) * ((s->y.length + spacing - 1) / spacing);
  centre *list;
  CM_TRY(CM_NEW(s->run->memory, list, room, error));
  for (uint32_t y = spacing / 2; y < s->y.length + spacing / 2; y += spacing)
    for (uint32_t x = spacing / 2; x < s->x.length + spacing / 2; x += spacing) {
      uint32_t cx = x < s->x.length ? x : s->x.length - 1, cy = y < s->y.length ? y : s->y.length - 1;
      double cost;
      CM_TRY_OR(ball(s, cx, cy, &cost, error), cm_free(list));
      CM_TRY_OR(cm_run_check(s->run, error), cm_free(list));
      list[found++] = (centre){cost, cx, cy};
    }
  qsort(list, found, sizeof *list, by_cost);
  *centres = list;
  *count = found;
  *step = spacing;
  return CM_OK;
}

/* ---- the best sets ---- */

typedef struct chosen {
  uint32_t *cores;
  double cost;
} chosen;

typedef struct shelf {
  chosen *set; /* [most], cheapest first */
  uint32_t most, count;
} shelf;

/* Keeps the set under way when it is new and cheap enough. */
static cm_status keep(search *s, shelf *kept, cm_error *error)
{
  uint32_t *cores;
  CM_TRY(CM_NEW(s->run->memory, cores, s->count, error));
  memcpy(cores, s->member, s->count * sizeof *cores);
  double cost;
  uint32_t place = kept->count;
  CM_TRY_OR(cm_set_cost(s->chip, cores, s->count, s->run->memory, &cost, error), cm_free(cores));
  bool known = false;
  for (uint32_t i = 0; i < kept->count; i++)
    known = known || memcmp(kept->set[i].cores, cores, s->count * sizeof *cores) == 0;
  while (place > 0 && kept->set[place - 1].cost > cost)
    place--;
  if (known || place == kept->most) {
    cm_free(cores);
    return CM_OK;
  }
  if (kept->count == kept->most)
    cm_free(kept->set[--kept->count].cores);
  memmove(kept->set + place + 1, kept->set + place, (kept->count - place) * sizeof *kept->set);
  kept->set[place] = (chosen){cores, cost};
  kept->count++;
  return CM_OK;
}

static cm_status improve_and_keep(search *s, shelf *kept, cm_error *error)
{
  cm_status status = cm_set_improve(s, error);
  return status == CM_OK ? keep(s, kept, error) : status;
}

static cm_status from_start(search *s, const uint32_t *start, shelf *kept, cm_error *error)
{
  cm_set_empty(s);
  memcpy(s->member, start, s->count * sizeof *start);
  cm_set_take(s);
  return improve_and_keep(s, kept, error);
}

static cm_status from_centre(search *s, centre c, uint32_t step, shelf *kept, cm_error *error)
{
  double cost;
  CM_TRY(descend(s, &c, step / 2 + 1, error));
  CM_TRY(ball(s, c.x, c.y, &cost, error));
  cm_set_empty(s);
  for (uint32_t i = 0; i < s->count; i++)
    s->member[i] = s->order[i].core;
  cm_set_take(s);
  return improve_and_keep(s, kept, error);
}

static cm_status look_around(search *s, const uint32_t *start, shelf *kept, cm_error *error)
{
  centre *centres = NULL;
  uint32_t count = 0, step = 1, tried = 0;
  if ((start != NULL && from_start(s, start, kept, error) != CM_OK) ||
      survey(s, &centres, &count, &step, error) != CM_OK)
    return error->status;
  double apart = sqrt((double)s->count * s->chip->router_x * s->chip->router_y) / (2.0 * s->chip->router_x);
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < count && status == CM_OK && tried < 2 * kept->most + 2; i++) {
    bool near = false; /* to a cheaper centre that was tried: it would end in the same place */
    for (uint32_t j = 0; j < i; j++)
      near = near || (centres[j].cost < 0 &&
                      fabs((double)centres[j].x - centres[i].x) + fabs((double)centres[j].y - centres[i].y) < apart);
    if (near)
      continue;
    status = from_centre(s, centres[i], step, kept, error);
    centres[i].cost = -1; /* tried */
    tried++;
  }
  cm_free(centres);
  return status;
}

static cm_status search_new(search *s, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  uint32_t cores = cm_chip_cores(s->chip);
  double unit;
  CM_TRY(cm_price_axes_new(s->chip, &s->x, &s->y, &unit, memory, error));
  for (uint32_t c = 0; c < cores; c++)
    s->sites += s->usable[c];
  s->hop = cm_price_mean_hop(&s->x, &s->y);
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->in, cores), CM_ARRAY(s->member, s->count), CM_ARRAY(s->by_x, s->x.length),
                    CM_ARRAY(s->by_y, s->y.length), CM_ARRAY(s->less_x, s->x.length), CM_ARRAY(s->less_y, s->y.length),
                    CM_ARRAY(s->column, s->x.length), CM_ARRAY(s->row, s->y.length)));
  return CM_OK;
}

cm_status cm_region_search(const cm_chip *chip, const uint8_t *usable, const uint32_t *start, cm_run *run, cm_core_sets *sets,
                           cm_error *error)
{
  search s = {.chip = chip, .usable = usable, .run = run, .count = sets->cores};
  shelf kept = {.most = sets->capacity};
  sets->count = 0;
  if (sets->cores == 0 || sets->capacity == 0)
    return CM_OK;
  if (chip->interconnect != NULL)
    return cm_interconnect_sets(chip, usable, run, sets, error);
  cm_status status = search_new(&s, error);
  CM_THEN(status, CM_NEW(run->memory, kept.set, sets->capacity, error));
  CM_THEN(status, look_around(&s, start, &kept, error));
  for (uint32_t i = 0; i < kept.count; i++) {
    if (status == CM_OK)
      sets->set[i] = kept.set[i].cores;
    else
      cm_free(kept.set[i].cores);
  }
  if (status == CM_OK)
    sets->count = kept.count;
  CM_FREE(kept.set, s.x.at, s.y.at, s.order, s.in, s.member, s.less_x, s.less_y, s.by_x, s.by_y, s.column, s.row);
  return status;
}
