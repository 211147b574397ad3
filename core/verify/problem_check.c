/* The judge of places. What can fail: the places; memory. */
#include "core/verify/problem_check.h"

#include <stdlib.h>

typedef struct judged {
  const cm_problem *p;
  const uint32_t *place;
  const cm_constraint *c;
  uint32_t number;
  cm_error *error;
} judged;

static long column(const judged *j, uint32_t node)
{
  return j->place[node] % j->p->width;
}

static long row(const judged *j, uint32_t node)
{
  return j->place[node] / j->p->width;
}

/* Whether two nodes are in blocks of so many tiles that are one and the same. */
static bool same_block(const judged *j, uint32_t a, uint32_t b, long wide, long high)
{
  return column(j, a) / wide == column(j, b) / wide && row(j, a) / high == row(j, b) / high;
}

static bool same(const judged *j, uint32_t a, uint32_t b)
{
  switch (j->c->scope) {
    case CM_SCOPE_ROUTER: return same_block(j, a, b, j->p->router_x, j->p->router_y);
    case CM_SCOPE_CHIP: return same_block(j, a, b, j->p->chip_x, j->p->chip_y);
    case CM_SCOPE_COLUMN: return column(j, a) == column(j, b);
    case CM_SCOPE_ROW: return row(j, a) == row(j, b);
    default: return j->place[a] == j->place[b];
  }
}

static bool broken(const judged *j, uint32_t a, uint32_t b)
{
  char words[200];
  cm_constraint_text(&j->p->constraints, j->number, "node", words, sizeof words);
  (void)cm_fail(j->error, CM_LIMIT_BROKEN, "%s is broken by %.40s at (%ld, %ld) and %.40s at (%ld, %ld)", words, j->p->node[a].name, column(j, a),
                row(j, a), j->p->node[b].name, column(j, b), row(j, b));
  return false;
}

/* Routers that node a lies away from node b. */
static void apart_by(const judged *j, uint32_t a, uint32_t b, long *x, long *y)
{
  *x = column(j, a) / j->p->router_x - column(j, b) / j->p->router_x;
  *y = row(j, a) / j->p->router_y - row(j, b) / j->p->router_y;
}

static bool pair_holds(const judged *j, uint32_t a, uint32_t b)
{
  const cm_constraint *c = j->c;
  long x, y;
  bool good = false;
  apart_by(j, a, b, &x, &y);
  if (c->kind == CM_APART)
    return !same(j, a, b) || broken(j, a, b);
  if (c->kind == CM_TOGETHER)
    return same(j, a, b) || broken(j, a, b);
  for (uint32_t i = 0; i < c->offset_count && c->kind == CM_ADJACENT; i++)
    good = good || (c->offset[i].x == x && c->offset[i].y == y);
  if (c->kind == CM_ORDER && c->side == CM_WITHIN_HOPS)
    good = labs(x) + labs(y) <= (long)c->hops;
  else if (c->kind == CM_ORDER)
    good = c->side == CM_LEFT_OF ? x < 0 : c->side == CM_RIGHT_OF ? x > 0 : c->side == CM_ABOVE ? y < 0 : y > 0;
  return good || broken(j, a, b);
}

/* The pairs that a constraint is about. */
static bool pairs_hold(const judged *j)
{
  const cm_constraint *c = j->c;
  const bool listed = c->kind == CM_ADJACENT || (c->kind == CM_ORDER && c->side != CM_WITHIN_HOPS);
  for (uint32_t i = 0; i < c->of_count; i++) {
    for (uint32_t k = 0; k < c->to_count; k++)
      if (!pair_holds(j, c->of[i], c->to[k]))
        return false;
    for (uint32_t k = i + 1; k < c->of_count && c->to_count == 0 && (!listed || k == i + 1); k++)
      if (!pair_holds(j, c->of[i], c->of[k]))
        return false;
  }
  return true;
}

static bool pin_holds(const judged *j)
{
  const cm_constraint *c = j->c;
  for (uint32_t i = 0; i < c->of_count; i++) {
    bool inside = false;
    for (uint32_t k = 0; k < c->at_count; k++) {
      const cm_rectangle *at = &c->at[k];
      inside = inside || (column(j, c->of[i]) >= at->x0 && column(j, c->of[i]) <= at->x1 && row(j, c->of[i]) >= at->y0 && row(j, c->of[i]) <= at->y1);
    }
    if (inside != (c->kind == CM_PIN))
      return broken(j, c->of[i], c->of[i]);
  }
  return true;
}

/* Grows what hangs together with the first node until nothing is added. */
static cm_status check_connected(const judged *j, cm_memory *memory)
{
  const cm_constraint *c = j->c;
  bool *reached, grown = true;
  uint32_t lost = UINT32_MAX;
  if (CM_NEW(memory, reached, c->of_count, j->error) != CM_OK)
    return j->error->status;
  reached[0] = true;
  while (grown) {
    grown = false;
    for (uint32_t i = 0; i < c->of_count; i++)
      for (uint32_t k = 0; k < c->of_count; k++) {
        long x, y;
        apart_by(j, c->of[i], c->of[k], &x, &y);
        if (reached[i] && !reached[k] && labs(x) + labs(y) <= 1)
          reached[k] = grown = true;
      }
  }
  for (uint32_t i = 0; i < c->of_count; i++)
    lost = reached[i] ? lost : i;
  cm_free(reached);
  return lost == UINT32_MAX || broken(j, c->of[0], c->of[lost]) ? CM_OK : CM_LIMIT_BROKEN;
}

static cm_status check_constraint(const judged *j, cm_memory *memory)
{
  switch (j->c->kind) {
    case CM_PIN:
    case CM_NOT_HERE: return pin_holds(j) ? CM_OK : CM_LIMIT_BROKEN;
    case CM_CONNECTED: return check_connected(j, memory);
    default: return pairs_hold(j) ? CM_OK : CM_LIMIT_BROKEN;
  }
}

static cm_status check_tiles(const judged *j, cm_memory *memory)
{
  const cm_problem *p = j->p;
  uint64_t *sum;
  if (CM_NEW(memory, sum, (size_t)cm_problem_tiles(p) * CM_TILE_LIMITS, j->error) != CM_OK)
    return j->error->status;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < p->node_count && status == CM_OK; i++) {
    const uint32_t at = j->place[i];
    if (at >= cm_problem_tiles(p) || p->tile[at].kind == CM_NO_KIND)
      status = cm_fail(j->error, CM_LIMIT_BROKEN, "node %.40s lies where there is no tile", p->node[i].name);
    else if (p->node[i].kind != CM_NO_KIND && p->node[i].kind != p->tile[at].kind)
      status = cm_fail(j->error, CM_LIMIT_BROKEN, "node %.40s lies on a tile of another kind, (%ld, %ld)", p->node[i].name, column(j, i), row(j, i));
    for (int l = 0; l < CM_TILE_LIMITS && status == CM_OK; l++) {
      sum[(size_t)at * CM_TILE_LIMITS + (size_t)l] += p->node[i].need[l];
      if (sum[(size_t)at * CM_TILE_LIMITS + (size_t)l] > p->tile[at].limit[l])
        status = cm_fail(j->error, CM_LIMIT_BROKEN, "tile (%ld, %ld) has too many %s", column(j, i), row(j, i), cm_tile_limit_names[l]);
    }
  }
  cm_free(sum);
  return status;
}

/* What blocks of tiles take together, a router's or a chip's. */
static cm_status check_blocks(const judged *j, const uint64_t limit[CM_TILE_LIMITS], long wide, long high)
{
  const cm_problem *p = j->p;
  for (uint32_t a = 0; a < p->node_count; a++)
    for (int l = 0; l < CM_TILE_LIMITS; l++) {
      uint64_t sum = 0;
      for (uint32_t b = 0; b < p->node_count && limit[l] != UINT64_MAX; b++)
        sum += same_block(j, a, b, wide, high) ? p->node[b].need[l] : 0;
      if (sum > limit[l])
        return cm_fail(j->error, CM_LIMIT_BROKEN, "the %ld by %ld tiles around (%ld, %ld) have too many %s", wide, high, column(j, a), row(j, a),
                       cm_tile_limit_names[l]);
    }
  return CM_OK;
}

/* Circuits over each link of a router, into and out of it, step by step. */
static cm_status check_circuits(const judged *j, cm_memory *memory)
{
  enum { ENTER = 4, LEAVE, PLACES };
  const cm_problem *p = j->p;
  const long across = p->width / p->router_x, routers = across * (p->height / p->router_y);
  uint64_t *count;
  cm_status status = CM_OK;
  if (!p->circuits)
    return CM_OK;
  CM_TRY(CM_NEW(memory, count, (size_t)routers * PLACES, j->error));
  for (uint32_t e = 0; e < p->edge_count; e++) {
    const uint32_t a = p->pin[p->first[e]], b = p->pin[p->first[e + 1] - 1];
    long at[2] = {column(j, a) / p->router_x, row(j, a) / p->router_y};
    const long to[2] = {column(j, b) / p->router_x, row(j, b) / p->router_y};
    if (at[0] == to[0] && at[1] == to[1])
      continue;
    count[(at[1] * across + at[0]) * PLACES + LEAVE]++;
    count[(to[1] * across + to[0]) * PLACES + ENTER]++;
    while (at[0] != to[0] || at[1] != to[1]) {
      const int axis = at[0] != to[0] ? 0 : 1, back = at[axis] > to[axis];
      count[(at[1] * across + at[0]) * PLACES + 2 * axis + back]++;
      at[axis] += back ? -1 : 1;
    }
  }
  for (long i = 0; i < routers * PLACES && status == CM_OK; i++) {
    const cm_circuit_place place = i % PLACES == ENTER ? CM_CIRCUITS_IN : i % PLACES == LEAVE ? CM_CIRCUITS_OUT : CM_CIRCUITS_LINK;
    if (count[i] > p->circuit_limit[place])
      status = cm_fail(j->error, CM_LIMIT_BROKEN, "router (%ld, %ld) has too many circuits", i / PLACES % across, i / PLACES / across);
  }
  cm_free(count);
  return status;
}

cm_status cm_problem_check(const cm_problem *problem, const uint32_t *place, cm_memory *memory, cm_error *error)
{
  judged j = {.p = problem, .place = place, .error = error};
  cm_status status = check_tiles(&j, memory);
  CM_THEN(status, check_blocks(&j, problem->router_limit, problem->router_x, problem->router_y));
  CM_THEN(status, check_blocks(&j, problem->chip_limit, problem->chip_x, problem->chip_y));
  CM_THEN(status, check_circuits(&j, memory));
  for (j.number = 0; j.number < problem->constraints.count && status == CM_OK; j.number++) {
    j.c = &problem->constraints.constraint[j.number];
    status = check_constraint(&j, memory);
  }
  return status;
}
