/* What coordinates alone tell of an interconnect: who is beside whom, and how far routers are apart where nothing is dead. */
#include "base/order.h"
#include "core/chip/interconnect/internal.h"
#include "core/chip/interconnect/path_trees.h"

static const int step_x[CM_SIX] = {1, 1, 0, -1, -1, 0}, step_y[CM_SIX] = {0, -1, -1, 0, 1, 1};

typedef struct tree_place {
  uint32_t level, x, y; /* level 0: routers with cores */
} tree_place;

static uint32_t grid_hops(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  cm_grid_steps steps = cm_grid_steps_between(net, from, to);
  uint32_t least = UINT32_MAX;
  for (unsigned i = 0; i < CM_GRID_SIDES; i++) {
    uint32_t length = cm_grid_length(net, steps.east[i & 1], steps.north[i / 2]);
    least = length < least ? length : least;
  }
  return least;
}

static tree_place tree_place_of(const cm_interconnect *net, uint32_t router)
{
  uint32_t level = net->levels;
  while (level > 0 && router < net->level[level - 1].first)
    level--;
  uint32_t width = level == 0 ? net->columns : net->level[level - 1].width,
           at = level == 0 ? router : router - net->level[level - 1].first;
  return (tree_place){level, at % width, at / width};
}

static void climb(const cm_interconnect *net, tree_place *p)
{
  p->x /= net->level[p->level].x;
  p->y /= net->level[p->level].y;
  p->level++;
}

/* The link to the switch above. */
static const cm_link *up_link(const cm_interconnect *net, const tree_place *p)
{
  uint32_t router = p->level == 0 ? p->y * net->columns + p->x
                                  : net->level[p->level - 1].first + p->y * net->level[p->level - 1].width + p->x;
  return &net->link[net->first[router + 1] - 1]; /* the switch above has the highest number beside it */
}

/* Hops, and units where they are wanted: there is one way only. */
static uint32_t tree_hops(const cm_interconnect *net, uint32_t from, uint32_t to, uint32_t *units)
{
  tree_place a = tree_place_of(net, from), b = tree_place_of(net, to);
  uint32_t hops = 0;
  while (a.level != b.level || a.x != b.x || a.y != b.y) {
    tree_place *lower = a.level <= b.level ? &a : &b;
    if (units != NULL || net->dead_count > 0) {
      const cm_link *up = up_link(net, lower);
      if (lower == &a ? up->dead : net->link[up->twin].dead)
        return CM_NO_WAY;
      if (units != NULL)
        *units += up->units;
    }
    climb(net, lower);
    hops++;
  }
  return hops;
}

uint32_t cm_formula_hops(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  switch (net->kind) {
    case CM_TREE: return tree_hops(net, from, to, NULL);
    case CM_ALL_TO_ALL: return from != to;
    default: return grid_hops(net, from, to);
  }
}

uint32_t cm_formula_units(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  uint32_t units = 0;
  if (net->kind == CM_TREE) {
    return tree_hops(net, from, to, &units) == CM_NO_WAY ? CM_NO_WAY : units;
  }
  if (net->kind == CM_ALL_TO_ALL)
    return from == to ? 0 : net->link[cm_interconnect_link(net, from, to)].units;
  return grid_hops(net, from, to) * net->link[0].units;
}

uint32_t cm_interconnect_beside(const cm_interconnect *net, uint32_t router, unsigned direction)
{
  int64_t x = (int64_t)(router % net->columns) + step_x[direction], y = (int64_t)(router / net->columns) + step_y[direction];
  if ((!net->ring_x && (x < 0 || x >= net->columns)) || (!net->ring_y && (y < 0 || y >= net->rows)))
    return CM_NO_WAY;
  x = (x + net->columns) % net->columns;
  y = (y + net->rows) % net->rows;
  return (uint32_t)(y * net->columns + x);
}

unsigned cm_interconnect_direction(const cm_interconnect *net, uint32_t link)
{
  unsigned direction = 0;
  while (direction < CM_SIX - 1 && cm_interconnect_beside(net, net->link[link].from, direction) != net->link[link].to)
    direction++;
  return direction;
}

int64_t cm_interconnect_link(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  uint32_t low = net->first[from], high = net->first[from + 1];
  CM_BISECT(low, high, middle, net->link[middle].to < to)
  return low < net->first[from + 1] && net->link[low].to == to ? (int64_t)low : CM_NO_LINK;
}
