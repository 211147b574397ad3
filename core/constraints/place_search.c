/* The search. What can fail: memory, being cancelled. */
#include "core/constraints/place_search.h"

#include <string.h>

enum { FIRST_DECISIONS = 256, WORK_OF_JUDGING = 1 << 10 };

typedef struct decision {
  uint32_t variable, tile;
  uint64_t trail;
} decision;

typedef struct searching {
  cm_state *s;
  const cm_place_model *m;
  const cm_search *asked;
  cm_run *run;
  uint64_t *cost[2];      /* [columns of routers], [rows] */
  decision *stack;
  uint64_t depth, capacity, decisions, until, steps;
  uint64_t best;          /* places have to cost less */
  uint32_t *place;
  bool found;
} searching;

uint64_t cm_place_model_cost(const cm_place_model *m, const uint32_t *place)
{
  uint64_t cost = 0;
  for (uint32_t n = 0; n < m->net_count; n++) {
    cm_router_box b = cm_router_box_none();
    for (uint32_t i = m->first[n]; i < m->first[n + 1]; i++)
      cm_router_box_take(m->problem, place[m->pin[i]], &b);
    cost += m->weight[n] * cm_router_box_hops(&b);
  }
  return cost;
}

/* What nets cost at least: a pin that lies right of where another can be at most. */
static uint64_t bound(searching *g)
{
  const cm_place_model *m = g->m;
  uint64_t cost = 0;
  cm_state_find_boxes(g->s);
  for (uint32_t n = 0; n < m->net_count; n++) {
    uint32_t low[2] = {0, 0}, high[2] = {UINT32_MAX, UINT32_MAX}; /* the largest low, the smallest high */
    for (uint32_t i = m->first[n]; i < m->first[n + 1]; i++)
      for (int axis = 0; axis < 2; axis++) {
        const cm_router_box *b = &g->s->box[m->pin[i]];
        low[axis] = b->low[axis] > low[axis] ? b->low[axis] : low[axis];
        high[axis] = b->high[axis] < high[axis] ? b->high[axis] : high[axis];
      }
    for (int axis = 0; axis < 2; axis++)
      cost += low[axis] > high[axis] ? m->weight[n] * (low[axis] - high[axis]) : 0;
  }
  g->s->work += (uint64_t)m->variables * m->words + m->net_count;
  return cost;
}

/* The open variable of the smallest domain for its failures; UINT32_MAX: all are settled. */
static uint32_t choose_variable(const searching *g)
{
  uint32_t chosen = UINT32_MAX;
  double least = 0;
  for (uint32_t v = 0; v < g->m->variables; v++) {
    const uint32_t size = cm_tile_count(cm_state_domain(g->s, v), g->m->words);
    const double worth = size / (1.0 + (double)g->s->failures[v]);
    if (size > 1 && (chosen == UINT32_MAX || worth < least)) {
      chosen = v;
      least = worth;
    }
  }
  return chosen;
}

/* Adds what a net costs more where its pins reach from low to high already, for each place along an axis. */
static void add_stretch(uint64_t *cost, uint32_t places, uint32_t low, uint32_t high, uint64_t weight)
{
  for (uint32_t at = 0; at < low; at++)
    cost[at] += weight * (low - at);
  for (uint32_t at = high + 1; at < places; at++)
    cost[at] += weight * (at - high);
}

/* What a variable's nets would cost more in each column and row of routers, against the pins that are settled. */
static void find_costs(const searching *g, uint32_t v)
{
  const cm_place_model *m = g->m;
  const uint32_t across = m->problem->width / m->problem->router_x, down = m->problem->height / m->problem->router_y;
  memset(g->cost[0], 0, across * sizeof *g->cost[0]);
  memset(g->cost[1], 0, down * sizeof *g->cost[1]);
  for (uint32_t i = m->first_net[v]; i < m->first_net[v + 1]; i++) {
    const uint32_t n = m->net_of[i];
    cm_router_box all = cm_router_box_none();
    for (uint32_t k = m->first[n]; k < m->first[n + 1]; k++) {
      const cm_router_box *b = &g->s->box[m->pin[k]];
      if (m->pin[k] == v || b->low[0] != b->high[0] || b->low[1] != b->high[1])
        continue;
      for (int axis = 0; axis < 2; axis++) {
        all.low[axis] = b->low[axis] < all.low[axis] ? b->low[axis] : all.low[axis];
        all.high[axis] = b->high[axis] > all.high[axis] ? b->high[axis] : all.high[axis];
      }
    }
    if (all.low[0] == UINT32_MAX)
      continue;
    add_stretch(g->cost[0], across, all.low[0], all.high[0], m->weight[n]);
    add_stretch(g->cost[1], down, all.low[1], all.high[1], m->weight[n]);
  }
}

static uint32_t choose_tile(const searching *g, uint32_t v)
{
  const cm_problem *p = g->m->problem;
  const uint64_t *domain = cm_state_domain(g->s, v);
  uint32_t chosen = cm_tile_next(domain, g->m->words, 0);
  uint64_t least = UINT64_MAX;
  if (g->m->first_net[v] == g->m->first_net[v + 1])
    return chosen;
  find_costs(g, v);
  for (uint32_t t = chosen; t < g->m->tiles; t = cm_tile_next(domain, g->m->words, t + 1)) {
    const uint64_t cost = g->cost[0][t % p->width / p->router_x] + g->cost[1][t / p->width / p->router_y];
    if (cost < least) {
      least = cost;
      chosen = t;
    }
  }
  return chosen;
}

static cm_status settle(searching *g, uint32_t v, uint32_t tile, bool inside, bool *possible, cm_error *error)
{
  uint64_t *one = &g->s->scratch[g->m->words];
  memset(one, 0, g->m->words * sizeof *one);
  cm_tile_add(one, tile);
  return cm_state_narrow(g->s, v, one, inside, possible, error);
}

/* The last decision was wrong: so it is for all that are like its variable and have the same domain. */
static cm_status refute(searching *g, bool *possible, cm_error *error)
{
  const decision d = g->stack[--g->depth];
  const uint32_t words = g->m->words;
  uint64_t *before = &g->s->scratch[2 * (size_t)words];
  cm_state_undo(g->s, d.trail);
  *possible = true;
  memcpy(before, cm_state_domain(g->s, d.variable), words * sizeof *before);
  for (uint32_t v = 0; v < g->m->variables && *possible; v++) {
    const bool like = v != d.variable && g->m->alike[v] == g->m->alike[d.variable] && g->best == UINT64_MAX && !g->asked->cheapest &&
                      g->asked->judge == NULL && memcmp(before, cm_state_domain(g->s, v), words * sizeof *before) == 0;
    CM_TRY_IF((v == d.variable || like), settle(g, v, d.tile, false, possible, error));
  }
  return CM_OK;
}

static cm_status decide(searching *g, uint32_t v, bool *possible, cm_error *error)
{
  CM_TRY(CM_ROOM(g->s->memory, g->stack, &g->capacity, g->depth + 1, error));
  g->stack[g->depth] = (decision){v, choose_tile(g, v), g->s->trail_count};
  g->decisions++;
  g->s->work += g->m->variables;
  return settle(g, v, g->stack[g->depth++].tile, true, possible, error);
}

/* *good: they are what was asked for. */
static cm_status take_places(searching *g, bool *good, cm_error *error)
{
  *good = true;
  for (uint32_t v = 0; v < g->m->variables; v++)
    g->place[v] = cm_tile_next(cm_state_domain(g->s, v), g->m->words, 0);
  if (g->asked->judge != NULL) {
    g->s->work += WORK_OF_JUDGING;
    CM_TRY(g->asked->judge(g->asked->context, g->place, good, error));
  }
  g->found = g->found || *good;
  if (*good && (g->best != UINT64_MAX || g->asked->cheapest))
    g->best = cm_place_model_cost(g->m, g->place);
  return CM_OK;
}

static bool costs_count(const searching *g)
{
  return g->best != UINT64_MAX || g->asked->cheapest;
}

/* One run until a restart. *ended: nothing is left to search, or enough is found. */
static cm_status descend(searching *g, bool *ended, cm_error *error)
{
  const uint64_t begin = g->s->work;
  bool possible = true;
  *ended = false;
  g->depth = 0;
  cm_state_reset(g->s, g->asked->domain);
  for (uint64_t before = begin;; before = g->s->work) {
    CM_TRY(cm_state_propagate(g->s, &possible, error));
    const uint64_t cost = possible && (costs_count(g) || g->m->net_count > 0) ? bound(g) : 0;
    possible = possible && (!costs_count(g) || cost < g->best);
    const uint32_t v = possible ? choose_variable(g) : 0;
    if (possible && v == UINT32_MAX) {
      CM_TRY(take_places(g, ended, error));
      possible = false;
      *ended = *ended && !g->asked->cheapest;
      if (*ended)
        return CM_OK;
    }
    CM_TRY_IF(cm_run_due(&g->steps, g->s->work - before), cm_run_check(g->run, error));
    if (g->s->work > g->asked->work_max || g->decisions > g->until)
      return CM_OK;
    CM_TRY_IF(possible, decide(g, v, &possible, error));
    while (!possible) {
      *ended = g->depth == 0;
      if (*ended)
        return CM_OK;
      CM_TRY(refute(g, &possible, error));
    }
  }
}

cm_status cm_search_places(cm_state *state, const cm_search *search, cm_run *run, cm_found *found, cm_error *error)
{
  searching g = {.s = state, .m = state->model, .asked = search, .run = run, .best = search->below, .place = found->place};
  const uint64_t work = state->work;
  cm_search whole = *search;
  whole.work_max = search->work_max > UINT64_MAX - work ? UINT64_MAX : search->work_max + work;
  g.asked = &whole;
  bool ended = false;
  cm_status status = CM_NEW_ALL(state->memory, error, CM_ARRAY(g.cost[0], g.m->problem->width), CM_ARRAY(g.cost[1], g.m->problem->height));
  for (g.until = FIRST_DECISIONS; status == CM_OK && !ended; g.until *= 2) {
    const bool last = search->decisions_max > 0 && g.until >= search->decisions_max;
    g.until = last ? search->decisions_max : g.until;
    status = descend(&g, &ended, error);
    if (state->work > whole.work_max || last)
      break;
  }
  CM_FREE(g.cost[0], g.cost[1], g.stack);
  if (status != CM_OK)
    return status;
  found->answer = g.found ? CM_POSSIBLE : ended ? CM_IMPOSSIBLE : CM_UNKNOWN;
  found->proved = ended && (search->cheapest || !g.found);
  return CM_OK;
}
