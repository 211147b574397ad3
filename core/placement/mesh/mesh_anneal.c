#include "core/placement/mesh/mesh_anneal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_EVERY = 1 << 16 };
#define NONE UINT32_MAX
/* A move that costs so many times the temperature is hardly ever made (e^-6). */
static const double aside = 6;

void cm_mesh_chances(float *chance)
{
  for (uint32_t i = 0; i < CM_CHANCES; i++)
    chance[i] = (float)-log((i + 0.5) / CM_CHANCES);
}

double cm_mesh_typical(const cm_mesh_state *s)
{
  const cm_compact *g = s->graph;
  double sum = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    double squares = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      double w = s->weight != NULL ? s->weight[i] : 1;
      squares += w * w;
    }
    sum += sqrt(squares);
  }
  return g->vertex_count > 0 ? 2 * sum / g->vertex_count * s->grid->step : 1;
}

/* The cell that v is offered: an adjacent one, or a neighbour's; NONE: outside the grid. */
static uint32_t offer(const cm_mesh_state *s, uint32_t v, uint64_t bits)
{
  const cm_mesh_grid *g = s->grid;
  uint32_t from = s->cell[v], x = g->x[from], y = g->y[from];
  if (bits & 1) {
    uint64_t first = s->graph->first[v], degree = s->graph->first[v + 1] - first;
    if (degree > 0) {
      uint32_t to = s->cell[s->graph->neighbour[first + ((bits >> 32) * degree >> 32)]];
      if (to != from)
        return to;
    }
  }
  switch (bits >> 1 & 3) {
    case 0: return x + 1 < g->columns ? from + 1 : NONE;
    case 1: return x > 0 ? from - 1 : NONE;
    case 2: return y + 1 < g->rows ? from + g->columns : NONE;
    default: return y > 0 ? from - g->columns : NONE;
  }
}

/* The change that an exchange of v with the better of the next two members of `to` makes, when it is below `limit`;
 * *partner gets that member. */
static bool exchange(cm_mesh_state *s, uint32_t v, uint32_t to, bool two, int64_t cost, double limit, uint32_t *partner)
{
  uint32_t u = s->head[to], from = s->cell[v];
  if (u == NONE)
    return false;
  s->head[to] = s->next[u];
  if (two && cm_mesh_cost(s, s->head[to], from) < cm_mesh_cost(s, u, from))
    u = s->head[to];
  const uint32_t *size = s->graph->size;
  if (s->load[to] - size[u] + size[v] > s->most[to] || s->load[from] - size[v] + size[u] > s->most[from])
    return false;
  cost += cm_mesh_cost(s, u, from);
  if (!((double)cost < limit))
    return false;
  cost += 2 * (int64_t)cm_mesh_weight(s, u, v) * cm_mesh_distance(s->grid, from, to);
  *partner = u;
  return (double)cost < limit;
}

/* The vertices that annealing visits. One that is inside its cell and pays much more than the temperature to leave is
 * put aside until something that it talks to moves. */
typedef struct visited {
  uint32_t *list, *woken; /* [vertices] those of this sweep, those that join the next */
  bool *here;             /* [vertices] whether in one of them */
  uint32_t count, woken_count;
} visited;

static cm_status visited_new(const cm_mesh_state *s, visited *all, cm_error *error)
{
  uint32_t n = s->graph->vertex_count;
  *all = (visited){.count = n};
  if (CM_NEW(s->run->memory, all->list, n, error) != CM_OK ||
      CM_NEW(s->run->memory, all->woken, n, error) != CM_OK || CM_NEW(s->run->memory, all->here, n, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < n; v++) {
    all->list[v] = v;
    all->here[v] = true;
  }
  return CM_OK;
}

static void visited_free(visited *all)
{
  cm_free(all->list);
  cm_free(all->woken);
  cm_free(all->here);
}

static void move_and_wake(cm_mesh_state *s, visited *all, uint32_t v, uint32_t to)
{
  const cm_compact *g = s->graph;
  cm_mesh_move(s, v, to);
  if (all->count + all->woken_count == g->vertex_count)
    return;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i];
    if (!all->here[u]) {
      all->here[u] = true;
      all->woken[all->woken_count++] = u;
    }
  }
}

/* One offer to v. False: v is put aside. */
static bool visit(cm_mesh_state *s, visited *all, uint32_t v, uint64_t bits, double temperature, const float *chance)
{
  uint32_t to = offer(s, v, bits), partner, from = s->cell[v];
  if (to == NONE || s->most[to] == 0)
    return true;
  double limit = temperature * chance[bits >> 3 & (CM_CHANCES - 1)];
  int32_t cost = cm_mesh_cost(s, v, to);
  if (cm_mesh_fits(s, v, to)) {
    if (cost < limit) {
      move_and_wake(s, all, v, to);
      return true;
    }
  } else if (exchange(s, v, to, bits >> 16 & 1, cost, limit, &partner)) {
    move_and_wake(s, all, v, to);
    move_and_wake(s, all, partner, from);
    return true;
  }
  return cost < aside * temperature || !cm_mesh_inside(s, v);
}

/* All that are visited once; the temperature falls by `fall` after each eighth. */
static cm_status sweep(cm_mesh_state *s, visited *all, double temperature, double fall, const float *chance,
                       cm_random *random, cm_error *error)
{
  uint32_t kept = 0, every = all->count / 8 + 1, left = every, listed = all->count;
  for (uint32_t i = 0; i < listed; i++) {
    uint32_t v = all->list[i];
    if (visit(s, all, v, cm_random_next(random), temperature, chance)) {
      all->list[kept++] = v;
    } else {
      all->here[v] = false;
      all->count--;
    }
    if (--left == 0) {
      left = every;
      temperature *= fall;
    }
    if (i % CHECK_EVERY == 0 && cm_run_check(s->run, error) != CM_OK)
      return error->status;
  }
  memcpy(all->list + kept, all->woken, all->woken_count * sizeof *all->list);
  all->count = kept + all->woken_count;
  all->woken_count = 0;
  return CM_OK;
}

cm_status cm_mesh_anneal(cm_mesh_state *s, const cm_mesh_schedule *schedule, cm_random *random, cm_error *error)
{
  uint32_t sweeps = (uint32_t)fmax(1, schedule->sweeps + 0.5);
  /* hot is 0 where there are no edges */
  double fall = schedule->cold > 0 && schedule->hot > 0 ? schedule->cold / schedule->hot : 1;
  if (s->grid->columns * s->grid->rows < 2)
    return CM_OK;
  visited all;
  cm_status status = visited_new(s, &all, error);
  for (uint32_t k = 0; status == CM_OK && k < sweeps && all.count > 0; k++)
    status = sweep(s, &all, schedule->hot * pow(fall, (double)k / sweeps), pow(fall, 1 / (8.0 * sweeps)),
                   schedule->chance, random, error);
  visited_free(&all);
  return status;
}

static uint32_t least_at(const int32_t *cost, uint32_t length, uint32_t own)
{
  uint32_t best = own;
  for (uint32_t c = 0; c < length; c++)
    if (cost[c] < cost[best])
      best = c;
  return best;
}

/* The best cell for v that has room; its own when none is better. */
static uint32_t best_cell(cm_mesh_state *s, uint32_t v)
{
  const cm_mesh_grid *g = s->grid;
  uint32_t from = s->cell[v], x = g->x[from], y = g->y[from];
  if (cm_mesh_inside(s, v))
    return from;
  const int32_t *row = cm_mesh_row(s, v);
  uint32_t median_x = least_at(row, g->columns, x), median_y = least_at(row + s->rows_at, g->rows, y);
  uint32_t candidate[] = {median_y * g->columns + median_x, y * g->columns + median_x, median_y * g->columns + x,
                          x > 0 ? from - 1 : from, x + 1 < g->columns ? from + 1 : from,
                          y > 0 ? from - g->columns : from, y + 1 < g->rows ? from + g->columns : from};
  uint32_t best = from;
  int32_t least = 0;
  for (size_t i = 0; i < sizeof candidate / sizeof *candidate; i++) {
    int32_t cost = cm_mesh_cost(s, v, candidate[i]);
    if (cost < least && s->most[candidate[i]] > 0 && cm_mesh_fits(s, v, candidate[i])) {
      least = cost;
      best = candidate[i];
    }
  }
  return best;
}

cm_status cm_mesh_settle(cm_mesh_state *s, uint32_t passes, cm_error *error)
{
  for (uint32_t pass = 0; pass < passes; pass++) {
    uint32_t moves = 0;
    for (uint32_t v = 0; v < s->graph->vertex_count; v++) {
      uint32_t to = best_cell(s, v);
      if (to != s->cell[v]) {
        cm_mesh_move(s, v, to);
        moves++;
      }
      if (v % CHECK_EVERY == 0 && cm_run_check(s->run, error) != CM_OK)
        return error->status;
    }
    if (moves == 0)
      break;
  }
  return CM_OK;
}

/* ---- rebalancing ---- */

/* The member of `from` whose move to `to` costs least among those that are not larger than `room`; NONE: none. */
static uint32_t cheapest_member(const cm_mesh_state *s, uint32_t from, uint32_t to, uint64_t room)
{
  uint32_t best = NONE, v = s->head[from];
  int32_t least = INT32_MAX;
  if (v == NONE)
    return NONE;
  do {
    int32_t cost = cm_mesh_cost(s, v, to);
    if (s->graph->size[v] <= room && (cost < least || (cost == least && v < best))) {
      least = cost;
      best = v;
    }
    v = s->next[v];
  } while (v != s->head[from]);
  return best;
}

/* The nearest cell with room for `size`, by breadth first from `from`; before[] tells the way. NONE: none. */
static uint32_t find_room(const cm_mesh_state *s, uint32_t from, uint64_t size, uint32_t *before, uint32_t *queue)
{
  const cm_mesh_grid *g = s->grid;
  uint32_t cells = g->columns * g->rows, tail = 0;
  for (uint32_t c = 0; c < cells; c++)
    before[c] = NONE;
  before[from] = from;
  queue[tail++] = from;
  for (uint32_t head = 0; head < tail; head++) {
    uint32_t c = queue[head], x = g->x[c], y = g->y[c];
    if (c != from && s->load[c] + size <= s->most[c])
      return c;
    uint32_t adjacent[] = {x > 0 ? c - 1 : c, x + 1 < g->columns ? c + 1 : c, y > 0 ? c - g->columns : c,
                           y + 1 < g->rows ? c + g->columns : c};
    for (int k = 0; k < 4; k++)
      if (before[adjacent[k]] == NONE) {
        before[adjacent[k]] = c;
        queue[tail++] = adjacent[k];
      }
  }
  return NONE;
}

/* The size of the smallest member. */
static uint64_t smallest_member(const cm_mesh_state *s, uint32_t cell)
{
  uint64_t least = UINT64_MAX;
  uint32_t v = s->head[cell];
  do {
    least = s->graph->size[v] < least ? s->graph->size[v] : least;
    v = s->next[v];
  } while (v != s->head[cell]);
  return least;
}

/* Relieves one overfull cell by one vertex, through cells that are passed on the way where they have members to send
 * on. */
static bool relieve(cm_mesh_state *s, uint32_t cell, uint32_t *before, uint32_t *queue)
{
  uint32_t room = find_room(s, cell, smallest_member(s, cell), before, queue);
  if (room == NONE)
    return false;
  uint32_t to = room; /* from the far end, so that each receiver has room */
  while (to != cell) {
    uint32_t from = before[to];
    while (from != cell && s->head[from] == NONE)
      from = before[from]; /* nobody lives there: step over it */
    uint32_t v = cheapest_member(s, from, to, s->most[to] > s->load[to] ? s->most[to] - s->load[to] : 0);
    if (v == NONE && from != cell) { /* none is small enough: from farther away then */
      before[to] = before[from];
      continue;
    }
    if (v == NONE)
      return false;
    bool overfull = s->load[from] > s->most[from];
    cm_mesh_move(s, v, to);
    if (overfull)
      return true; /* met on the way: it is the one relieved */
    to = from;
  }
  return true;
}

cm_status cm_mesh_rebalance(cm_mesh_state *s, cm_error *error)
{
  uint32_t cells = s->grid->columns * s->grid->rows, *before, *queue = NULL;
  cm_status status = CM_NEW(s->run->memory, before, cells, error);
  if (status == CM_OK)
    status = CM_NEW(s->run->memory, queue, cells, error);
  for (uint32_t c = 0; c < cells && status == CM_OK; c++)
    for (uint64_t moves = 0; s->load[c] > s->most[c] && status == CM_OK; moves++)
      if (moves > s->graph->vertex_count || !relieve(s, c, before, queue))
        status = cm_fail(error, CM_LIMIT_BROKEN,
                         "no way was found to fit all neurons: a core would hold %llu of at most %llu",
                         (unsigned long long)s->load[c], (unsigned long long)s->most[c]);
  cm_free(before);
  cm_free(queue);
  return status;
}
