#include "core/placement/mesh/mesh_anneal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  CHECK_EVERY = 1 << 16,
  AHEAD = 8, /* visits for which memory is asked in advance */
  MANY = 16 /* vertices a cell: with fewer, what is whole in a cell may be in the way there */
};
#define NONE UINT32_MAX
/* A vertex that pays so many times the temperature for every adjacent cell is put aside. */
static const double aside = 5;

void cm_mesh_chances(float *chance)
{
  for (uint32_t i = 0; i < CM_CHANCES; i++)
    chance[i] = (float)-log((i + 0.5) / CM_CHANCES);
}

double cm_mesh_typical(const cm_mesh_state *s)
{
  const cm_csr_graph *g = s->graph;
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

/* Ways to adjacent cells. */
enum { RIGHT, LEFT, DOWN, UP, WAYS, ASLEEP = WAYS };

/* The same as the table's, from the edges: what v pays when its column, or its row, is one more or one less. */
static void lean_on_edges(const cm_mesh_state *s, uint32_t v, int32_t *cost)
{
  const cm_csr_graph *g = s->graph;
  const cm_mesh_grid *grid = s->grid;
  size_t columns = grid->columns, rows = grid->rows, x = grid->x[s->cell[v]], y = grid->y[s->cell[v]];
  const int32_t *dx = grid->dx + x * columns, *right = x + 1 < columns ? dx + columns : dx;
  const int32_t *left = x > 0 ? dx - columns : dx, *dy = grid->dy + y * rows;
  const int32_t *down = y + 1 < rows ? dy + rows : dy, *up = y > 0 ? dy - rows : dy;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t cell = s->cell[g->neighbour[i]], to_x = grid->x[cell], to_y = grid->y[cell];
    int32_t w = s->weight != NULL ? (int32_t)s->weight[i] : 1;
    cost[RIGHT] += w * (right[to_x] - dx[to_x]);
    cost[LEFT] += w * (left[to_x] - dx[to_x]);
    cost[DOWN] += w * (down[to_y] - dy[to_y]);
    cost[UP] += w * (up[to_y] - dy[to_y]);
  }
}

/* The adjacent cell that is cheapest for v, as a way to it; *least gets what it costs, INT32_MAX where there is none.
 * O(1), or O(degree) without a table. */
static uint32_t lean(const cm_mesh_state *s, uint32_t v, int32_t *least)
{
  const cm_mesh_grid *g = s->grid;
  uint32_t x = g->x[s->cell[v]], y = g->y[s->cell[v]], best = RIGHT;
  bool inside[WAYS] = {[RIGHT] = x + 1 < g->columns, [LEFT] = x > 0, [DOWN] = y + 1 < g->rows, [UP] = y > 0};
  int32_t cost[WAYS] = {0};
  if (!cm_mesh_tabled(s)) {
    lean_on_edges(s, v, cost);
  } else {
    size_t column = v * s->stride + x, row = v * s->stride + s->rows_at + y;
    int32_t here_x = cm_mesh_entry(s, column), here_y = cm_mesh_entry(s, row);
    for (int way = RIGHT; way <= LEFT; way++)
      cost[way] = inside[way] ? cm_mesh_entry(s, way == RIGHT ? column + 1 : column - 1) - here_x : 0;
    for (int way = DOWN; way <= UP; way++)
      cost[way] = inside[way] ? cm_mesh_entry(s, way == DOWN ? row + 1 : row - 1) - here_y : 0;
  }
  for (uint32_t way = 0; way < WAYS; way++) {
    cost[way] = inside[way] ? cost[way] : INT32_MAX;
    best = cost[way] < cost[best] ? way : best;
  }
  *least = cost[best];
  return best;
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
    case RIGHT: return x + 1 < g->columns ? from + 1 : NONE;
    case LEFT: return x > 0 ? from - 1 : NONE;
    case DOWN: return y + 1 < g->rows ? from + g->columns : NONE;
    default: return y > 0 ? from - g->columns : NONE;
  }
}

/* The vertices that annealing visits. One that pays much more than the temperature to leave is put aside until
 * something that it talks to moves. The others of each cell are in rings by their cheapest way out. */
typedef struct visited {
  cm_mesh_state *state;
  uint32_t *list, *woken; /* [vertices] those of this sweep, those that join the next */
  uint8_t *way;           /* [vertices] ASLEEP: put aside */
  uint32_t *next, *previous, *head; /* [vertices], [vertices], [cells * WAYS] */
  uint32_t count, woken_count;
} visited;

static void enter_ring(visited *all, uint32_t v, uint32_t way)
{
  uint32_t *head = &all->head[all->state->cell[v] * WAYS + way];
  all->way[v] = (uint8_t)way;
  if (*head == NONE) {
    all->next[v] = all->previous[v] = *head = v;
  } else { /* last in the ring */
    all->previous[v] = all->previous[*head];
    all->next[v] = *head;
    all->next[all->previous[v]] = v;
    all->previous[*head] = v;
  }
}

static void leave_ring(visited *all, uint32_t v)
{
  uint32_t *head = &all->head[all->state->cell[v] * WAYS + all->way[v]];
  all->next[all->previous[v]] = all->next[v];
  all->previous[all->next[v]] = all->previous[v];
  if (*head == v)
    *head = all->next[v] == v ? NONE : all->next[v];
}

/* The way from one cell to another, along the longer side; `tie`: along the columns where both are as long. */
static uint32_t way_to(const cm_mesh_grid *g, uint32_t from, uint32_t to, bool tie)
{
  int32_t dx = (int32_t)(g->x[to] - g->x[from]), dy = (int32_t)(g->y[to] - g->y[from]);
  bool along_x = abs(dx) > abs(dy) || (abs(dx) == abs(dy) && tie);
  return along_x ? (dx > 0 ? RIGHT : LEFT) : dy > 0 ? DOWN : UP;
}

/* The ring of `to` that a partner for a vertex of `from` is taken from. */
static uint32_t way_of_exchange(const cm_mesh_state *s, uint32_t from, uint32_t to, uint64_t bits)
{
  return (bits >> 20 & 3) > 0 ? way_to(s->grid, to, from, bits >> 17 & 1) : bits >> 18 & 3;
}

/* A partner for an exchange of v, which alone makes a change of `cost`, that makes less than `limit`: one of the next two
 * members of `to` that lean the way to v's cell, as others would mostly pay much; but every fourth time any way, as where all
 * talk to all leaning says little. NONE: neither does. */
static uint32_t exchange(visited *all, uint32_t v, uint32_t to, uint64_t bits, int64_t cost, double limit)
{
  const cm_mesh_state *s = all->state;
  uint32_t from = s->cell[v], *head = &all->head[to * WAYS + way_of_exchange(s, from, to, bits)], u = *head;
  if (u == NONE)
    return NONE;
  *head = all->next[u];
  if ((bits >> 16 & 1) && cm_mesh_cost(s, *head, from) < cm_mesh_cost(s, u, from))
    u = *head;
  const uint32_t *size = s->graph->size;
  if (s->load[to] - size[u] + size[v] > s->most[to] || s->load[from] - size[v] + size[u] > s->most[from])
    return NONE;
  cost += cm_mesh_cost(s, u, from);
  if (!((double)cost < limit))
    return NONE;
  cost += 2 * (int64_t)cm_mesh_weight(s, u, v) * cm_mesh_distance(s->grid, from, to);
  return (double)cost < limit ? u : NONE;
}

/* Puts aside all vertices of each component that is in one cell: it costs nothing. One vertex alone is no such
 * component: others may change places with it. `list` and `way` are scratch. O(entries). */
static void put_aside_what_is_whole(visited *all)
{
  const cm_mesh_state *s = all->state;
  const cm_csr_graph *g = s->graph;
  uint32_t *queue = all->list;
  memset(all->way, WAYS + 1, g->vertex_count); /* not seen yet */
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    uint32_t tail = 0;
    bool whole = cm_csr_graph_degree(g, v) > 0;
    if (all->way[v] <= WAYS)
      continue;
    queue[tail++] = v;
    all->way[v] = 0;
    for (uint32_t head = 0; head < tail; head++)
      for (uint64_t i = g->first[queue[head]]; i < g->first[queue[head] + 1]; i++) {
        uint32_t u = g->neighbour[i];
        whole = whole && s->cell[u] == s->cell[v];
        if (all->way[u] > WAYS) {
          all->way[u] = 0;
          queue[tail++] = u;
        }
      }
    for (uint32_t i = 0; i < tail && whole; i++)
      all->way[queue[i]] = ASLEEP;
  }
}

static cm_status visited_new(cm_mesh_state *s, visited *all, cm_error *error)
{
  uint32_t n = s->graph->vertex_count, rings = WAYS * s->grid->columns * s->grid->rows;
  cm_memory *memory = s->run->memory;
  int32_t least;
  *all = (visited){.state = s};
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(all->list, n), CM_ARRAY(all->woken, n), CM_ARRAY(all->way, n), CM_ARRAY(all->next, n),
                    CM_ARRAY(all->previous, n), CM_ARRAY(all->head, rings)));
  for (uint32_t r = 0; r < rings; r++)
    all->head[r] = NONE;
  if (!cm_mesh_tabled(s) && n / MANY >= s->grid->columns * s->grid->rows)
    put_aside_what_is_whole(all);
  for (uint32_t v = 0; v < n; v++)
    if (all->way[v] != ASLEEP) {
      enter_ring(all, v, lean(s, v, &least));
      all->list[all->count++] = v;
    }
  return CM_OK;
}

static void visited_free(visited *all)
{
  CM_FREE(all->list, all->woken, all->way, all->next, all->previous, all->head);
}

static void move_and_wake(visited *all, uint32_t v, uint32_t to)
{
  cm_mesh_state *s = all->state;
  const cm_csr_graph *g = s->graph;
  int32_t least;
  leave_ring(all, v);
  cm_mesh_move(s, v, to);
  enter_ring(all, v, lean(s, v, &least));
  if (all->count + all->woken_count == g->vertex_count)
    return;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i];
    if (all->way[u] == ASLEEP) {
      all->woken[all->woken_count++] = u;
      enter_ring(all, u, lean(s, u, &least));
    }
  }
}

/* Notes which way v leans. False: it pays `most` or more any way, and is put aside. */
static bool look(visited *all, uint32_t v, double most)
{
  int32_t least;
  uint32_t way = lean(all->state, v, &least);
  bool stays = least >= most;
  if (stays || way != all->way[v])
    leave_ring(all, v);
  if (stays)
    all->way[v] = ASLEEP;
  else if (way != all->way[v])
    enter_ring(all, v, way);
  return !stays;
}

/* One offer to v. False: v is put aside. */
static bool visit(visited *all, uint32_t v, uint64_t bits, double temperature, const float *chance)
{
  const cm_mesh_state *s = all->state;
  uint32_t to = offer(s, v, bits), partner, from = s->cell[v];
  if (to == NONE || s->most[to] == 0)
    return true;
  double limit = temperature * chance[bits >> 3 & (CM_CHANCES - 1)];
  int32_t cost = cm_mesh_cost(s, v, to);
  if (cm_mesh_fits(s, v, to)) {
    if (cost < limit) {
      move_and_wake(all, v, to);
      return true;
    }
  } else if ((partner = exchange(all, v, to, bits, cost, limit)) != NONE) {
    move_and_wake(all, v, to);
    move_and_wake(all, partner, from);
    return true;
  }
  return cost < aside * temperature || look(all, v, aside * temperature);
}

/* Asks for what the first look at v will read, which no cache holds: the neighbour whose cell it may be offered. */
static void fetch_neighbour(const cm_mesh_state *s, uint32_t v, uint64_t bits)
{
  uint64_t first = s->graph->first[v], degree = s->graph->first[v + 1] - first;
  if (bits & 1)
    __builtin_prefetch(s->graph->neighbour + first + ((bits >> 32) * degree >> 32));
}

/* The same for an exchange: the members that it may be offered, as long as nothing moves. */
static void fetch_partner(const visited *all, uint32_t v, uint64_t bits)
{
  const cm_mesh_state *s = all->state;
  uint32_t to = offer(s, v, bits), from = s->cell[v];
  if (to == NONE || !cm_mesh_tabled(s) || cm_mesh_fits(s, v, to))
    return;
  uint32_t u = all->head[to * WAYS + way_of_exchange(s, from, to, bits)];
  if (u == NONE)
    return;
  size_t column = u * s->stride + s->grid->x[from], row = u * s->stride + s->rows_at + s->grid->y[from];
  __builtin_prefetch(all->next + u, 1);
  if (s->narrow != NULL) {
    __builtin_prefetch(s->narrow + column);
    __builtin_prefetch(s->narrow + row);
  } else {
    __builtin_prefetch(s->table + column);
    __builtin_prefetch(s->table + row);
  }
}

/* All that are visited once; the temperature falls by `fall` after each eighth. */
static cm_status sweep(visited *all, double temperature, double fall, const float *chance, cm_random *random, cm_error *error)
{
  uint32_t kept = 0, every = all->count / 8 + 1, left = every, listed = all->count;
  uint64_t bits[AHEAD]; /* of the next visits */
  for (uint32_t i = 0; i < AHEAD && i < listed; i++)
    bits[i] = cm_random_next(random);
  for (uint32_t i = 0; i < listed; i++) {
    uint32_t v = all->list[i];
    uint64_t own = bits[i % AHEAD];
    if (i + AHEAD < listed) {
      bits[i % AHEAD] = cm_random_next(random);
      fetch_neighbour(all->state, all->list[i + AHEAD], bits[i % AHEAD]);
      fetch_partner(all, all->list[i + AHEAD / 2], bits[(i + AHEAD / 2) % AHEAD]);
    }
    if (visit(all, v, own, temperature, chance))
      all->list[kept++] = v;
    else
      all->count--;
    if (--left == 0) {
      left = every;
      temperature *= fall;
    }
    CM_TRY_IF(i % CHECK_EVERY == 0, cm_run_check(all->state->run, error));
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
  for (uint32_t k = 0; status == CM_OK && k < sweeps && all.count > 0; k++) {
    status =
      sweep(&all, schedule->hot * pow(fall, (double)k / sweeps), pow(fall, 1 / (8.0 * sweeps)), schedule->chance, random, error);
    cm_run_add(s->run, schedule->share / sweeps);
  }
  visited_free(&all);
  return status;
}
