/* Trees under turn rules. What can fail: memory, and targets that dead links cut off. */
#include "core/chip/turn_trees.h"

enum { QUADRANTS = 4, NO_SHAPE = UINT8_MAX };

typedef struct point {
  uint32_t x, y;
} point;

/* Where a quadrant's shape steps from one axis to the other: `last_x` tells of a router (ax, ay) away from the source
 * whether its way ends along x. */
typedef struct shape {
  bool by_column;
  uint32_t step; /* by column: ends along x where ax > step; by row: ends along y where ay > step */
} shape;

struct cm_tracer {
  const cm_chip *chip;
  cm_turn_rule rule;
  cm_memory *memory;
  uint32_t routers_x;
  size_t routers;
  uint8_t *dead;            /* [routers] bit d: the link in direction d is dead; NULL: none is */
  bool turn[CM_DIRECTIONS + 1][CM_DIRECTIONS];
  uint8_t order[QUADRANTS]; /* the only shape allowed, NO_SHAPE: open */
  unsigned open[QUADRANTS], open_count;
  cm_tree_node *node;
  uint64_t count, room;
  uint32_t *slot;           /* [routers] number in `node`, if the node there is of this router; reserved: */
  uint32_t low, high;       /* of which low .. high - 1 are in use */
  uint32_t *late;           /* targets behind dead links */
  uint64_t late_count, late_capacity;
  /* Search, by state: router * CM_DIRECTIONS + direction of travel. */
  uint32_t *seen, *before, *queue; /* [routers * CM_DIRECTIONS]; reserved: */
  uint32_t least, most; /* of which states least .. most - 1 are in use */
  uint32_t stamp;
};

#define IN_TREE UINT32_C(0x80000000) /* `before` names a router of the tree */

static cm_direction along_x(unsigned quadrant)
{
  return quadrant & 1 ? CM_WEST : CM_EAST;
}

static cm_direction along_y(unsigned quadrant)
{
  return quadrant & 2 ? CM_NORTH : CM_SOUTH;
}

static void learn_rule(cm_tracer *t)
{
  for (int from = 0; from < CM_DIRECTIONS; from++)
    for (int to = 0; to < CM_DIRECTIONS; to++)
      t->turn[from][to] = cm_turn_allowed(t->rule, (cm_direction)from, (cm_direction)to);
  for (int to = 0; to < CM_DIRECTIONS; to++)
    t->turn[CM_NO_DIRECTION][to] = true;
  for (unsigned q = 0; q < QUADRANTS; q++) {
    bool x_first = t->turn[along_x(q)][along_y(q)], y_first = t->turn[along_y(q)][along_x(q)];
    t->order[q] = x_first && y_first ? NO_SHAPE : x_first ? 0 : 1;
    if (t->order[q] == NO_SHAPE)
      t->open[t->open_count++] = q;
  }
}

cm_status cm_tracer_new(const cm_chip *chip, cm_turn_rule rule, cm_memory *memory, cm_tracer **tracer, cm_error *error)
{
  cm_tracer *t;
  CM_TRY(CM_NEW(memory, t, 1, error));
  t->chip = chip;
  t->rule = rule;
  t->memory = memory;
  t->routers_x = cm_chip_routers_x(chip);
  t->routers = (size_t)t->routers_x * cm_chip_routers_y(chip);
  learn_rule(t);
  t->low = UINT32_MAX;
  if ((t->slot = cm_reserve(memory, t->routers, sizeof *t->slot, error)) == NULL ||
      (chip->dead_link_count > 0 && CM_NEW(memory, t->dead, t->routers, error) != CM_OK)) {
    cm_tracer_free(t);
    return error->status;
  }
  for (uint32_t i = 0; i < chip->dead_link_count; i++)
    t->dead[chip->dead_links[i] / CM_DIRECTIONS] |= (uint8_t)(1u << chip->dead_links[i] % CM_DIRECTIONS);
  *tracer = t;
  return CM_OK;
}

void cm_tracer_free(cm_tracer *tracer)
{
  if (tracer == NULL)
    return;
  CM_FREE(tracer->dead, tracer->node, tracer->slot, tracer->late, tracer->seen, tracer->before, tracer->queue, tracer);
}

unsigned cm_tracer_open_quadrants(const cm_tracer *tracer, unsigned quadrant[2])
{
  for (unsigned i = 0; i < tracer->open_count; i++)
    quadrant[i] = tracer->open[i];
  return tracer->open_count;
}

/* ---- the tree under way ---- */

static cm_tree_node *find(const cm_tracer *t, uint32_t router)
{
  uint32_t slot = t->slot[router];
  return slot < t->count && t->node[slot].router == router ? &t->node[slot] : NULL;
}

/* A router outside of what is in use. */
static cm_status widen(cm_tracer *t, uint32_t router, cm_error *error)
{
  uint32_t low = router < t->low ? router : t->low, high = router >= t->high ? router + 1 : t->high;
  uint32_t before = t->high > t->low ? t->high - t->low : 0;
  CM_TRY(cm_book_reserved(t->slot, (size_t)(high - low - before) * sizeof *t->slot, error));
  t->low = low;
  t->high = high;
  return CM_OK;
}

static cm_status grow(cm_tracer *t, uint32_t router, uint8_t in, uint8_t out, cm_error *error)
{
  if (router - t->low >= t->high - t->low && widen(t, router, error) != CM_OK)
    return error->status;
  CM_TRY(CM_ROOM(t->memory, t->node, &t->room, t->count + 1, error));
  t->slot[router] = (uint32_t)t->count;
  t->node[t->count++] = (cm_tree_node){router, in, out, 0};
  return CM_OK;
}

static point point_of(const cm_tracer *t, uint32_t router)
{
  return (point){router % t->routers_x, router / t->routers_x};
}

static uint32_t apart(uint32_t a, uint32_t b)
{
  return a > b ? a - b : b - a;
}

static bool ends_along_x(shape s, uint32_t ax, uint32_t ay)
{
  if (ax == 0 || ay == 0)
    return ay == 0;
  return s.by_column ? ax > s.step : ay <= s.step;
}

/* How far the targets of each quadrant lie decides where its shape steps. */
static void choose_shapes(const cm_tracer *t, const cm_ends *ends, unsigned shapes, shape shape_of[QUADRANTS])
{
  const point from = point_of(t, ends->source);
  uint32_t far_x[QUADRANTS] = {0}, far_y[QUADRANTS] = {0};
  for (size_t i = 0; i < ends->count; i++) {
    point to = point_of(t, ends->target[i]);
    unsigned q = (unsigned)(to.x < from.x) + 2 * (unsigned)(to.y < from.y);
    uint32_t ax = apart(to.x, from.x), ay = apart(to.y, from.y);
    far_x[q] = ax > far_x[q] ? ax : far_x[q];
    far_y[q] = ay > far_y[q] ? ay : far_y[q];
  }
  unsigned used = 0;
  for (unsigned q = 0; q < QUADRANTS; q++) {
    unsigned number = t->order[q];
    if (number == NO_SHAPE) {
      number = shapes >> (CM_SHAPE_BITS * used) & (CM_SHAPES - 1);
      used++;
    }
    shape_of[q] = number < 2 ? (shape){true, number == 0 ? UINT32_MAX : 0}
                  : number < 5 ? (shape){true, (uint32_t)((uint64_t)far_x[q] * (number - 1) / 4)}
                               : (shape){false, (uint32_t)((uint64_t)far_y[q] * (number - 4) / 4)};
  }
}

/* The router before one of a shape, and the direction from there. */
static uint32_t parent(const cm_tracer *t, point from, const shape *shape_of, uint32_t router, cm_direction *direction)
{
  point at = point_of(t, router);
  unsigned q = (unsigned)(at.x < from.x) + 2 * (unsigned)(at.y < from.y);
  if (ends_along_x(shape_of[q], apart(at.x, from.x), apart(at.y, from.y))) {
    *direction = along_x(q);
    return q & 1 ? router + 1 : router - 1;
  }
  *direction = along_y(q);
  return q & 2 ? router + t->routers_x : router - t->routers_x;
}

static bool is_dead(const cm_tracer *t, uint32_t router, cm_direction direction)
{
  return t->dead != NULL && (t->dead[router] >> (unsigned)direction & 1);
}

static bool blocked(const cm_tracer *t, point from, const shape *shape_of, uint32_t router)
{
  cm_direction direction;
  while (find(t, router) == NULL) {
    router = parent(t, from, shape_of, router, &direction);
    if (is_dead(t, router, direction))
      return true;
  }
  return false;
}

/* Joins a router to the tree along the shape. */
static cm_status join(cm_tracer *t, point from, const shape *shape_of, uint32_t router, cm_error *error)
{
  uint8_t out = 0;
  while (find(t, router) == NULL) {
    cm_direction direction;
    uint32_t before = parent(t, from, shape_of, router, &direction);
    CM_TRY(grow(t, router, (uint8_t)direction, out, error));
    out = (uint8_t)(1u << (unsigned)direction);
    router = before;
  }
  find(t, router)->out |= out;
  return CM_OK;
}

/* ---- around dead links ---- */

static cm_status search_new(cm_tracer *t, cm_error *error)
{
  size_t states = t->routers * CM_DIRECTIONS;
  if (t->queue != NULL)
    return CM_OK;
  t->least = UINT32_MAX;
  if ((t->seen == NULL && (t->seen = cm_reserve(t->memory, states, sizeof *t->seen, error)) == NULL) ||
      (t->before == NULL && (t->before = cm_reserve(t->memory, states, sizeof *t->before, error)) == NULL) ||
      (t->queue = cm_reserve(t->memory, states, sizeof *t->queue, error)) == NULL)
    return error->status;
  return CM_OK;
}

/* Puts what a search has used on the account. */
static cm_status search_book(cm_tracer *t, uint32_t least, uint32_t most, cm_error *error)
{
  size_t before = t->most > t->least ? t->most - t->least : 0;
  t->least = least < t->least ? least : t->least;
  t->most = most > t->most ? most : t->most;
  return cm_book_reserved(t->seen, (t->most - t->least - before) * 3 * sizeof *t->seen, error);
}

/* Puts the routers next to (router, in) that are not in the tree into the queue. */
static size_t spread_out(cm_tracer *t, uint32_t router, unsigned in, uint32_t before, size_t end)
{
  for (unsigned d = 0; d < CM_DIRECTIONS; d++) {
    if (!t->turn[in][d] || is_dead(t, router, (cm_direction)d))
      continue;
    uint32_t next = cm_router_beyond(t->chip, router, (cm_direction)d);
    if (next == UINT32_MAX || find(t, next) != NULL)
      continue;
    uint32_t state = next * CM_DIRECTIONS + d;
    if (t->seen[state] == t->stamp)
      continue;
    t->seen[state] = t->stamp;
    t->before[state] = before;
    t->queue[end++] = state;
  }
  return end;
}

/* Adds the way that ends in a state. False when it passes a router twice, which no shortest way does. */
static cm_status adopt(cm_tracer *t, uint32_t state, bool *sound, cm_error *error)
{
  uint8_t out = 0;
  *sound = true;
  for (;;) {
    uint32_t router = state / CM_DIRECTIONS, before = t->before[state];
    uint8_t in = (uint8_t)(state % CM_DIRECTIONS);
    if (find(t, router) != NULL) {
      *sound = false;
      return CM_OK;
    }
    CM_TRY(grow(t, router, in, out, error));
    out = (uint8_t)(1u << in);
    if (before & IN_TREE) {
      find(t, before & ~IN_TREE)->out |= out;
      return CM_OK;
    }
    state = before;
  }
}

/* Joins a router to the tree by the shortest way that the rule allows; *found tells whether there is one. */
static cm_status detour(cm_tracer *t, uint32_t target, bool *found, cm_error *error)
{
  *found = true;
  if (find(t, target) != NULL)
    return CM_OK;
  CM_TRY(search_new(t, error));
  t->stamp = cm_next_mark(t->stamp, t->seen, (size_t)t->routers * CM_DIRECTIONS);
  size_t end = 0;
  for (size_t i = 0; i < t->count; i++)
    end = spread_out(t, t->node[i].router, t->node[i].in, t->node[i].router | IN_TREE, end);
  uint32_t least = UINT32_MAX, most = 0;
  for (size_t i = 0; i < end; i++) {
    uint32_t state = t->queue[i];
    least = state < least ? state : least;
    most = state >= most ? state + 1 : most;
    if (state / CM_DIRECTIONS == target)
      return search_book(t, least, most, error) == CM_OK ? adopt(t, state, found, error) : error->status;
    end = spread_out(t, state / CM_DIRECTIONS, state % CM_DIRECTIONS, state, end);
  }
  *found = false;
  return end > 0 ? search_book(t, least, most, error) : CM_OK;
}

/* A tree by searches alone, in the order of the targets or against it. */
static cm_status search_tree(cm_tracer *t, const cm_ends *ends, bool backwards, bool *found, uint32_t *lost, cm_error *error)
{
  t->count = 0;
  *found = true;
  cm_status status = grow(t, ends->source, CM_NO_DIRECTION, 0, error);
  for (size_t i = 0; i < ends->count && status == CM_OK && *found; i++) {
    *lost = ends->target[backwards ? ends->count - 1 - i : i];
    status = detour(t, *lost, found, error);
  }
  return status;
}

static cm_status put_late(cm_tracer *t, uint32_t target, cm_error *error)
{
  CM_TRY(CM_ROOM(t->memory, t->late, &t->late_capacity, t->late_count + 1, error));
  t->late[t->late_count++] = target;
  return CM_OK;
}

static cm_status no_route(const cm_tracer *t, uint32_t source, uint32_t lost, cm_error *error)
{
  point from = point_of(t, source), to = point_of(t, lost);
  return cm_fail(error, CM_NO_ROUTE,
                 "%s allows no way from router (%u, %u) to router (%u, %u) around the dead links%s",
                 cm_turn_rule_name(t->rule), from.x, from.y, to.x, to.y,
                 t->rule == CM_TURNS_XY || t->rule == CM_TURNS_YX ? "; west-first, north-last or negative-first may"
                                                                  : "");
}

cm_status cm_trace(cm_tracer *tracer, const cm_ends *ends, unsigned shapes, cm_tree *tree, uint32_t *lost, cm_error *error)
{
  cm_tracer *t = tracer;
  const uint32_t source = ends->source, *target = ends->target;
  const size_t count = ends->count;
  point from = point_of(t, source);
  shape shape_of[QUADRANTS];
  bool found = true;
  t->count = 0;
  t->late_count = 0;
  choose_shapes(t, ends, shapes, shape_of);
  cm_status status = grow(t, source, CM_NO_DIRECTION, 0, error);
  for (size_t i = 0; i < count && status == CM_OK; i++)
    status = t->dead != NULL && blocked(t, from, shape_of, target[i]) ? put_late(t, target[i], error)
                                                                     : join(t, from, shape_of, target[i], error);
  uint32_t missed = source;
  for (size_t i = 0; i < t->late_count && status == CM_OK && found; i++) {
    missed = t->late[i];
    status = detour(t, missed, &found, error);
  }
  for (int backwards = 0; backwards < 2 && status == CM_OK && !found; backwards++)
    status = search_tree(t, ends, backwards, &found, &missed, error);
  if (status == CM_OK && !found) {
    *lost = missed;
    status = no_route(t, source, missed, error);
  }
  CM_TRY(status);
  for (size_t i = 0; i < count; i++)
    find(t, target[i])->target = 1;
  *tree = (cm_tree){t->node, t->count};
  return CM_OK;
}
