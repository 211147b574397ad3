#include "core/chip/region_set.h"
#include "base/order.h"

#include <math.h>

static const double exchange_work = 1 << 23; /* in cores of the chip */

typedef cm_set_search search;
typedef cm_price_axis axis;

/* A core and the router that it is behind. */
typedef struct site {
  uint32_t core, x, y;
} site;

static site site_of(const search *s, uint32_t core)
{
  const cm_chip *chip = s->chip;
  return (site){core, core % chip->width / chip->router_x, core / chip->width / chip->router_y};
}

/* What each place of an axis costs all members, given how many stand at each. */
static void fill_table(const axis *a, const uint32_t *members, double *table)
{
  double low = 0, low_moment = 0, high = 0, high_moment = 0;
  if (a->ring) {
    memset(table, 0, a->length * sizeof *table);
    for (uint32_t j = 0; j < a->length; j++)
      for (uint32_t i = 0; members[j] > 0 && i < a->length; i++)
        table[i] += members[j] * cm_price_way(a, i, j);
    return;
  }
  for (uint32_t i = 0; i < a->length; i++) {
    high += members[i];
    high_moment += members[i] * a->at[i];
  }
  for (uint32_t i = 0; i < a->length; i++) {
    table[i] = low * a->at[i] - low_moment + high_moment - high * a->at[i];
    low += members[i];
    low_moment += members[i] * a->at[i];
    high -= members[i];
    high_moment -= members[i] * a->at[i];
  }
}

/* A core comes (1) or goes (-1). */
static void book(search *s, site c, double sign)
{
  for (uint32_t i = 0; i < s->x.length; i++)
    s->by_x[i] += sign * cm_price_way(&s->x, i, c.x);
  for (uint32_t i = 0; i < s->y.length; i++)
    s->by_y[i] += sign * cm_price_way(&s->y, i, c.y);
}

/* What a member costs the set. */
static double price(const search *s, site c)
{
  return s->by_x[c.x] + s->by_y[c.y] + cm_set_penalty(s, c.x, c.y) * (s->count - 1);
}

/* Both tables of the set under way. */
static void fill_tables(search *s)
{
  memset(s->column, 0, s->x.length * sizeof *s->column);
  memset(s->row, 0, s->y.length * sizeof *s->row);
  for (uint32_t i = 0; i < s->count; i++) {
    site c = site_of(s, s->member[i]);
    s->column[c.x]++;
    s->row[c.y]++;
  }
  fill_table(&s->x, s->column, s->by_x);
  fill_table(&s->y, s->row, s->by_y);
}

/* The cheapest core found so far for the one that goes. */
typedef struct entrant {
  double least;
  uint32_t core; /* UINT32_MAX: none */
} entrant;

/* The usable cores of a row of routers that are not in the set, but for those that cannot be cheaper. */
static void look_along(const search *s, uint32_t y, entrant *best)
{
  const cm_chip *chip = s->chip;
  for (uint32_t x = 0; x < s->x.length; x++) {
    double least = s->less_x[x] + s->less_y[y];
    if (least > best->least)
      continue;
    double cost = least + cm_set_penalty(s, x, y) * (s->count - 1);
    for (uint32_t j = 0; j < chip->router_y; j++)
      for (uint32_t i = 0; i < chip->router_x; i++) {
        uint32_t core = (y * chip->router_y + j) * chip->width + x * chip->router_x + i;
        if (s->usable[core] && !s->in[core] && (cost < best->least || (cost == best->least && core < best->core)))
          *best = (entrant){cost, core};
      }
  }
}

/* Who should come where `worst` goes: the first of those that cost least. Rows are looked at from the cheapest on, to
 * both sides, so that most others can be passed over. */
static entrant find_entrant(search *s, site worst)
{
  entrant best = {INFINITY, UINT32_MAX};
  double least_x = INFINITY;
  uint32_t cheapest = 0;
  for (uint32_t i = 0; i < s->x.length; i++) {
    s->less_x[i] = s->by_x[i] - cm_price_way(&s->x, i, worst.x);
    least_x = fmin(least_x, s->less_x[i]);
  }
  for (uint32_t i = 0; i < s->y.length; i++) {
    s->less_y[i] = s->by_y[i] - cm_price_way(&s->y, i, worst.y);
    if (s->less_y[i] < s->less_y[cheapest])
      cheapest = i;
  }
  for (uint32_t far = 0; far < s->y.length; far++) {
    if (far <= cheapest && s->less_y[cheapest - far] + least_x <= best.least)
      look_along(s, cheapest - far, &best);
    if (far > 0 && cheapest + far < s->y.length && s->less_y[cheapest + far] + least_x <= best.least)
      look_along(s, cheapest + far, &best);
  }
  return best;
}

/* Keeps the members in order. */
static void replace(search *s, uint32_t at, uint32_t core)
{
  s->in[s->member[at]] = 0;
  s->in[core] = 1;
  for (; at > 0 && s->member[at - 1] > core; at--)
    s->member[at] = s->member[at - 1];
  for (; at + 1 < s->count && s->member[at + 1] < core; at++)
    s->member[at] = s->member[at + 1];
  s->member[at] = core;
}

cm_status cm_set_improve(search *s, cm_error *error)
{
  fill_tables(s);
  for (double work = 0; work < exchange_work; work += s->sites) {
    uint32_t worst = 0;
    double most = -INFINITY;
    CM_TRY(cm_run_check(s->run, error));
    for (uint32_t i = 0; i < s->count; i++) {
      double cost = price(s, site_of(s, s->member[i]));
      if (cost > most) {
        most = cost;
        worst = i;
      }
    }
    site goes = site_of(s, s->member[worst]);
    entrant comes = find_entrant(s, goes);
    if (comes.core == UINT32_MAX || comes.least >= most * (1 - 1e-12))
      break;
    replace(s, worst, comes.core);
    book(s, goes, -1);
    book(s, site_of(s, comes.core), 1);
  }
  return CM_OK;
}

void cm_set_empty(search *s)
{
  for (uint32_t i = 0; i < s->count; i++)
    s->in[s->member[i]] = 0;
}

void cm_set_take(search *s)
{
  qsort(s->member, s->count, sizeof *s->member, cm_ascending);
  for (uint32_t i = 0; i < s->count; i++)
    s->in[s->member[i]] = 1;
}
