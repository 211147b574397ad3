/* Prices of ways split by axis: cost(a, b) = way along x + way along y. So what a core costs a whole set is the sum
 * of two table entries, one by its column and one by its row, and a core that comes or goes changes a table a
 * column.
 *
 * Happy path: balls around centres that cover the chip -> the best of them walk downhill -> single exchanges of the
 * core that costs most for the one that would cost least, until none pays. What can fail: memory, a stop. */
#include "core/chip/compact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip/reach.h"

enum { RING_MAX = 4096, CENTRES_MIN = 16, CENTRES_MAX = 1024 };
static const double survey_work = 1 << 22, all_balls_work = 1 << 25, exchange_work = 1 << 23; /* in cores looked at */

/* Routers along one axis. */
typedef struct axis {
  uint32_t length;
  bool ring;
  double *at; /* [length + 1] price of the way from router 0; the last of a ring: all the way round */
} axis;

typedef struct site {
  uint32_t core, x, y; /* its router */
  double penalty;      /* of dead links at its router */
} site;

typedef struct ranked {
  double key;
  uint32_t index;
} ranked;

typedef struct search {
  const cm_chip *chip;
  cm_run *run;
  axis x, y;
  site *site; /* [sites] usable cores, ascending */
  uint32_t sites, count;
  uint32_t *row_first;    /* [rows of routers + 1] first site of each */
  ranked *order;          /* [sites] */
  uint8_t *in;            /* [sites] members of the set under way */
  double *by_x, *by_y;    /* [length] what a router's column, row costs the set */
  uint32_t *column, *row; /* [length] members there */
  double work;            /* cores looked at for balls */
} search;

/* ---- prices ---- */

/* Prices are whole multiples of a power of two, the dearest hop about 2^16 of them: sets that are shifts of each
 * other then cost exactly the same, and the first place is taken. */
enum { PRICE_BITS = 16 };

static cm_status axis_new(axis *a, uint32_t length, uint32_t die, bool ring, double inside, double between,
                          cm_memory *memory, cm_error *error)
{
  *a = (axis){.length = length, .ring = ring && length > 2 && length <= RING_MAX};
  if (CM_NEW(memory, a->at, (size_t)length + 1, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < length; i++)
    a->at[i + 1] = a->at[i] + ((i + 1) % die == 0 && length > die ? between : inside);
  return CM_OK;
}

/* *unit: prices of the tables per pJ. */
static cm_status axes_new(const cm_chip *chip, axis *x, axis *y, double *unit, cm_memory *memory, cm_error *error)
{
  const cm_hop_cost *e = &chip->energy_pj;
  bool free_of_charge = e->router + e->east_west + e->north_south + e->die_to_die <= 0;
  double router = free_of_charge ? 1 : e->router;
  double dearest = router + fmax(e->die_to_die, fmax(e->east_west, e->north_south));
  int exponent;
  (void)frexp(dearest, &exponent);
  double scale = ldexp(1, PRICE_BITS - exponent), between = rint((router + e->die_to_die) * scale);
  *unit = scale;
  cm_status status = axis_new(x, cm_chip_routers_x(chip), chip->die_width / chip->router_x, chip->torus_x,
                              rint((router + e->east_west) * scale), between, memory, error);
  if (status == CM_OK)
    status = axis_new(y, cm_chip_routers_y(chip), chip->die_height / chip->router_y, chip->torus_y,
                      rint((router + e->north_south) * scale), between, memory, error);
  return status;
}

/* The price between two routers, the way round a ring that has less hops; of two with as many the cheaper. */
static double way(const axis *a, uint32_t from, uint32_t to)
{
  uint32_t low = from < to ? from : to, high = from < to ? to : from;
  double direct = a->at[high] - a->at[low];
  if (!a->ring || 2 * (high - low) < a->length)
    return direct;
  double round = a->at[a->length] - direct;
  return 2 * (high - low) > a->length ? round : fmin(direct, round);
}

/* Half a mean hop for every dead link that leaves or enters the router. */
static double penalty_of(const cm_chip *chip, uint32_t x, uint32_t y, double mean_hop)
{
  static const cm_direction back[CM_DIRECTIONS] = {
      [CM_EAST] = CM_WEST, [CM_WEST] = CM_EAST, [CM_SOUTH] = CM_NORTH, [CM_NORTH] = CM_SOUTH};
  uint32_t router = y * cm_chip_routers_x(chip) + x, dead = 0;
  for (cm_direction d = CM_EAST; d < CM_DIRECTIONS && chip->dead_link_count > 0; d++) {
    uint32_t beside = cm_chip_next_router(chip, router, d);
    if (beside != CM_NO_ROUTER)
      dead += (uint32_t)cm_chip_link_dead(chip, router, d) + (uint32_t)cm_chip_link_dead(chip, beside, back[d]);
  }
  return rint(dead * mean_hop / 4);
}

static double mean_hop(const axis *x, const axis *y)
{
  return (x->at[x->length] + y->at[y->length]) / ((double)x->length + y->length);
}

/* Sum over all pairs of a line's members, given how many stand at each place. */
static double pairs_along(const axis *a, const uint32_t *members)
{
  double sum = 0, before = 0, moment = 0;
  if (!a->ring) {
    for (uint32_t i = 0; i < a->length; i++) {
      sum += members[i] * (before * a->at[i] - moment);
      before += members[i];
      moment += members[i] * a->at[i];
    }
    return sum;
  }
  for (uint32_t i = 0; i < a->length; i++)
    for (uint32_t j = i + 1; members[i] > 0 && j < a->length; j++)
      sum += (double)members[i] * members[j] * way(a, i, j);
  return sum;
}

cm_status cm_set_cost(const cm_chip *chip, const uint32_t *cores, uint32_t count, cm_memory *memory, double *cost,
                      cm_error *error)
{
  axis x = {0}, y = {0};
  uint32_t *column = NULL, *row = NULL;
  double unit;
  *cost = 0;
  if (count < 2)
    return CM_OK;
  cm_status status = axes_new(chip, &x, &y, &unit, memory, error);
  if (status == CM_OK)
    status = CM_NEW(memory, column, x.length, error);
  if (status == CM_OK)
    status = CM_NEW(memory, row, y.length, error);
  if (status == CM_OK) {
    double hop = mean_hop(&x, &y), sum = 0;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t rx = cores[i] % chip->width / chip->router_x, ry = cores[i] / chip->width / chip->router_y;
      column[rx]++;
      row[ry]++;
      sum += penalty_of(chip, rx, ry, hop) * (count - 1);
    }
    *cost = (sum + pairs_along(&x, column) + pairs_along(&y, row)) / ((double)count * (count - 1) / 2 * unit);
  }
  cm_free(x.at);
  cm_free(y.at);
  cm_free(column);
  cm_free(row);
  return status;
}

/* ---- one set ---- */

/* What each place of an axis costs all members, given how many stand at each. */
static void fill_table(const axis *a, const uint32_t *members, double *table)
{
  double low = 0, low_moment = 0, high = 0, high_moment = 0;
  for (uint32_t i = 0; i < a->length; i++) {
    high += members[i];
    high_moment += members[i] * a->at[i];
  }
  for (uint32_t i = 0; i < a->length; i++) {
    if (a->ring) {
      table[i] = 0;
      for (uint32_t j = 0; j < a->length; j++)
        table[i] += members[j] * way(a, i, j);
      continue;
    }
    table[i] = low * a->at[i] - low_moment + high_moment - high * a->at[i];
    low += members[i];
    low_moment += members[i] * a->at[i];
    high -= members[i];
    high_moment -= members[i] * a->at[i];
  }
}

/* A core comes (1) or goes (-1). */
static void book(search *s, const site *c, double sign)
{
  for (uint32_t i = 0; i < s->x.length; i++)
    s->by_x[i] += sign * way(&s->x, i, c->x);
  for (uint32_t i = 0; i < s->y.length; i++)
    s->by_y[i] += sign * way(&s->y, i, c->y);
}

/* What a core costs the set, itself in it or not. */
static double price(const search *s, const site *c)
{
  return s->by_x[c->x] + s->by_y[c->y] + c->penalty * (s->count - 1);
}

/* Both tables of the set under way. */
static void fill_tables(search *s)
{
  memset(s->column, 0, s->x.length * sizeof *s->column);
  memset(s->row, 0, s->y.length * sizeof *s->row);
  for (uint32_t i = 0; i < s->sites; i++) {
    s->column[s->site[i].x] += s->in[i];
    s->row[s->site[i].y] += s->in[i];
  }
  fill_table(&s->x, s->column, s->by_x);
  fill_table(&s->y, s->row, s->by_y);
}

/* Exchanges while they pay, or so much work is done. */
static cm_status improve(search *s, cm_error *error)
{
  for (double work = 0; work < exchange_work; work += s->sites) {
    uint32_t worst = UINT32_MAX, best = UINT32_MAX;
    double most = -INFINITY, least = INFINITY;
    if (cm_run_check(s->run, error) != CM_OK)
      return error->status;
    for (uint32_t i = 0; i < s->sites; i++)
      if (s->in[i] && price(s, &s->site[i]) > most) {
        most = price(s, &s->site[i]);
        worst = i;
      }
    for (uint32_t i = 0; i < s->sites && worst != UINT32_MAX; i++) {
      if (s->in[i])
        continue;
      double without = price(s, &s->site[i]) - way(&s->x, s->site[i].x, s->site[worst].x) -
                       way(&s->y, s->site[i].y, s->site[worst].y);
      if (without < least) {
        least = without;
        best = i;
      }
    }
    if (best == UINT32_MAX || least >= most * (1 - 1e-12))
      break;
    s->in[worst] = 0;
    s->in[best] = 1;
    book(s, &s->site[worst], -1);
    book(s, &s->site[best], 1);
  }
  return CM_OK;
}

/* ---- balls ---- */

static bool before(ranked a, ranked b)
{
  return a.key < b.key || (a.key == b.key && a.index < b.index);
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

/* Places from..to of a line that are at most `reach` away from `at`, and the price of the next ones beyond. */
static double span(const axis *a, uint32_t at, uint32_t reach, uint32_t *from, uint32_t *to)
{
  *from = at > reach && !a->ring ? at - reach : 0;
  *to = a->length - at > reach && !a->ring ? at + reach : a->length - 1;
  return fmin(*from > 0 ? a->at[at] - a->at[*from - 1] : INFINITY,
              *to + 1 < a->length ? a->at[*to + 1] - a->at[at] : INFINITY);
}

/* Ranks the cores around a router, those at most `reach` columns and rows away, in s->order; *beyond is what others
 * cost at least. */
static uint32_t rank_near(search *s, uint32_t x, uint32_t y, uint32_t reach, double *beyond)
{
  uint32_t x0, x1, y0, y1, found = 0;
  *beyond = fmin(span(&s->x, x, reach, &x0, &x1), span(&s->y, y, reach, &y0, &y1));
  for (uint32_t i = s->row_first[y0]; i < s->row_first[y1 + 1]; i++) {
    const site *c = &s->site[i];
    if (c->x >= x0 && c->x <= x1)
      s->order[found++] = (ranked){way(&s->x, x, c->x) + way(&s->y, y, c->y) + c->penalty, i};
  }
  return found;
}

/* The nearest cores around a router, at the front of s->order; their mean price to the centre. */
static double ball(search *s, uint32_t x, uint32_t y)
{
  double sum = 0, beyond, farthest = INFINITY;
  s->work += s->sites;
  for (uint32_t reach = (uint32_t)sqrt((double)s->count) + 1; farthest == INFINITY; reach *= 2) {
    uint32_t found = rank_near(s, x, y, reach, &beyond);
    if (found < s->count)
      continue;
    select_first(s->order, found, s->count);
    farthest = sum = 0;
    for (uint32_t i = 0; i < s->count; i++) {
      sum += s->order[i].key;
      farthest = fmax(farthest, s->order[i].key);
    }
    if (farthest >= beyond) /* some that were not ranked may be nearer */
      farthest = INFINITY;
  }
  return sum;
}

typedef struct centre {
  double cost;
  uint32_t x, y;
} centre;

static int by_cost(const void *a, const void *b)
{
  const centre *p = a, *q = b;
  if (p->cost != q->cost)
    return p->cost < q->cost ? -1 : 1;
  return p->y != q->y ? (p->y < q->y ? -1 : 1) : p->x < q->x ? -1 : p->x > q->x;
}

/* To a neighbour at this step while it is better, then at half the step. */
static cm_status descend(search *s, centre *c, uint32_t step, cm_error *error)
{
  static const int dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
  for (; step > 0; step /= 2)
    for (bool moved = true; moved && s->work < all_balls_work;) {
      moved = false;
      if (cm_run_check(s->run, error) != CM_OK)
        return error->status;
      for (int i = 0; i < 4; i++) {
        int64_t x = (int64_t)c->x + dx[i] * (int64_t)step, y = (int64_t)c->y + dy[i] * (int64_t)step;
        if (x < 0 || y < 0 || x >= s->x.length || y >= s->y.length)
          continue;
        double cost = ball(s, (uint32_t)x, (uint32_t)y);
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
  if (CM_NEW(s->run->memory, list, room, error) != CM_OK)
    return error->status;
  for (uint32_t y = spacing / 2; y < s->y.length + spacing / 2; y += spacing)
    for (uint32_t x = spacing / 2; x < s->x.length + spacing / 2; x += spacing) {
      uint32_t cx = x < s->x.length ? x : s->x.length - 1, cy = y < s->y.length ? y : s->y.length - 1;
      list[found++] = (centre){ball(s, cx, cy), cx, cy};
      if (cm_run_check(s->run, error) != CM_OK) {
        cm_free(list);
        return error->status;
      }
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
  uint32_t *cores, at = 0;
  if (CM_NEW(s->run->memory, cores, s->count, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < s->sites; i++)
    if (s->in[i])
      cores[at++] = s->site[i].core;
  double cost;
  uint32_t place = kept->count;
  if (cm_set_cost(s->chip, cores, s->count, s->run->memory, &cost, error) != CM_OK) {
    cm_free(cores);
    return error->status;
  }
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
  fill_tables(s);
  cm_status status = improve(s, error);
  return status == CM_OK ? keep(s, kept, error) : status;
}

static cm_status from_start(search *s, const uint32_t *start, shelf *kept, cm_error *error)
{
  uint32_t next = 0;
  memset(s->in, 0, s->sites);
  for (uint32_t i = 0; i < s->sites; i++)
    if (next < s->count && s->site[i].core == start[next]) {
      s->in[i] = 1;
      next++;
    }
  return improve_and_keep(s, kept, error);
}

static cm_status from_centre(search *s, centre c, uint32_t step, shelf *kept, cm_error *error)
{
  if (descend(s, &c, step / 2 + 1, error) != CM_OK)
    return error->status;
  (void)ball(s, c.x, c.y);
  memset(s->in, 0, s->sites);
  for (uint32_t i = 0; i < s->count; i++)
    s->in[s->order[i].index] = 1;
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

static cm_status search_new(search *s, const uint8_t *usable, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  uint32_t cores = cm_chip_cores(s->chip), found = 0;
  double unit;
  if (axes_new(s->chip, &s->x, &s->y, &unit, memory, error) != CM_OK)
    return error->status;
  for (uint32_t c = 0; c < cores; c++)
    s->sites += usable[c];
  if (CM_NEW(memory, s->site, s->sites, error) != CM_OK || CM_NEW(memory, s->order, s->sites, error) != CM_OK ||
      CM_NEW(memory, s->in, s->sites, error) != CM_OK || CM_NEW(memory, s->by_x, s->x.length, error) != CM_OK ||
      CM_NEW(memory, s->by_y, s->y.length, error) != CM_OK || CM_NEW(memory, s->column, s->x.length, error) != CM_OK ||
      CM_NEW(memory, s->row, s->y.length, error) != CM_OK ||
      CM_NEW(memory, s->row_first, (size_t)s->y.length + 1, error) != CM_OK)
    return error->status;
  double hop = mean_hop(&s->x, &s->y);
  for (uint32_t c = 0; c < cores; c++)
    if (usable[c]) {
      uint32_t x = c % s->chip->width / s->chip->router_x, y = c / s->chip->width / s->chip->router_y;
      s->site[found++] = (site){c, x, y, penalty_of(s->chip, x, y, hop)};
      s->row_first[y + 1]++;
    }
  for (uint32_t y = 0; y < s->y.length; y++)
    s->row_first[y + 1] += s->row_first[y];
  return CM_OK;
}

cm_status cm_compact_sets(const cm_chip *chip, const uint8_t *usable, uint32_t count, const uint32_t *start,
                          uint32_t most, cm_run *run, uint32_t **set, uint32_t *found, cm_error *error)
{
  search s = {.chip = chip, .run = run, .count = count};
  shelf kept = {.most = most};
  *found = 0;
  if (count == 0 || most == 0)
    return CM_OK;
  cm_status status = search_new(&s, usable, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, kept.set, most, error);
  if (status == CM_OK)
    status = look_around(&s, start, &kept, error);
  for (uint32_t i = 0; i < kept.count; i++) {
    if (status == CM_OK)
      set[i] = kept.set[i].cores;
    else
      cm_free(kept.set[i].cores);
  }
  if (status == CM_OK)
    *found = kept.count;
  cm_free(kept.set);
  cm_free(s.x.at);
  cm_free(s.y.at);
  cm_free(s.site);
  cm_free(s.order);
  cm_free(s.row_first);
  cm_free(s.in);
  cm_free(s.by_x);
  cm_free(s.by_y);
  cm_free(s.column);
  cm_free(s.row);
  return status;
}
