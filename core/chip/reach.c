/* Without dead links every free core is usable, and so it is where there is a way round each of them. Else: strongly
 * connected components of the routers (Tarjan 1972), on a stack of our own, and of these the one with most free cores.
 * What can fail: memory. */
#include "core/chip/reach.h"

#include "base/order.h"
#include "core/chip/interconnect/sets.h"
#include "core/chip/turns.h"

uint32_t cm_chip_next_router(const cm_chip *chip, uint32_t router, cm_direction direction)
{
  uint32_t width = cm_chip_routers_x(chip), height = cm_chip_routers_y(chip), x = router % width, y = router / width;
  bool ring = direction == CM_EAST || direction == CM_WEST ? chip->torus_x : chip->torus_y;
  switch (direction) {
    case CM_EAST: return x + 1 < width ? router + 1 : ring ? router - x : CM_NO_ROUTER;
    case CM_WEST: return x > 0 ? router - 1 : ring ? router + width - 1 : CM_NO_ROUTER;
    case CM_SOUTH: return y + 1 < height ? router + width : ring ? x : CM_NO_ROUTER;
    default: return y > 0 ? router - width : ring ? (height - 1) * width + x : CM_NO_ROUTER;
  }
}

bool cm_chip_link_dead(const cm_chip *chip, uint32_t router, cm_direction direction)
{
  uint32_t key = router * CM_DIRECTIONS + (uint32_t)direction;
  return chip->dead_link_count > 0 &&
         bsearch(&key, chip->dead_links, chip->dead_link_count, sizeof key, cm_ascending) != NULL;
}

/* Tarjan's search; numbers start at 1. */
typedef struct components {
  const cm_chip *chip;
  uint32_t *number, *low; /* [routers] order of discovery; least number reached */
  uint32_t *component;    /* [routers] from 1; 0: still open */
  uint32_t *open;         /* routers whose component is not closed, in order of discovery */
  uint32_t *path;         /* routers under way */
  uint8_t *next;          /* [routers] direction to try next */
  uint32_t numbers, opened, depth, found;
} components;

static void enter(components *c, uint32_t router)
{
  c->number[router] = c->low[router] = ++c->numbers;
  c->open[c->opened++] = router;
  c->path[c->depth++] = router;
}

/* All that `start` reaches. */
static void explore(components *c, uint32_t start)
{
  enter(c, start);
  while (c->depth > 0) {
    uint32_t r = c->path[c->depth - 1];
    if (c->next[r] < CM_DIRECTIONS) {
      cm_direction d = (cm_direction)c->next[r]++;
      uint32_t to = cm_chip_next_router(c->chip, r, d);
      if (to == CM_NO_ROUTER || cm_chip_link_dead(c->chip, r, d))
        continue;
      if (c->number[to] == 0)
        enter(c, to);
      else if (c->component[to] == 0 && c->number[to] < c->low[r])
        c->low[r] = c->number[to];
      continue;
    }
    c->depth--;
    if (c->depth > 0 && c->low[r] < c->low[c->path[c->depth - 1]])
      c->low[c->path[c->depth - 1]] = c->low[r];
    if (c->low[r] != c->number[r])
      continue;
    c->found++;
    while (c->component[r] == 0)
      c->component[c->open[--c->opened]] = c->found;
  }
}

static cm_status find_components(components *c, uint32_t routers, cm_memory *memory, cm_error *error)
{
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(c->number, routers), CM_ARRAY(c->low, routers), CM_ARRAY(c->component, routers),
                    CM_ARRAY(c->open, routers), CM_ARRAY(c->path, routers), CM_ARRAY(c->next, routers)));
  for (uint32_t r = 0; r < routers; r++)
    if (c->number[r] == 0)
      explore(c, r);
  return CM_OK;
}

/* ---- ways round ---- */

/* Columns and rows looked at on each side of a link. */
enum { AROUND = 16, SIDE = 2 * AROUND + 1 };

typedef struct step {
  uint32_t router;
  uint8_t x, y; /* in the square around the start */
} step;

/* Whether living links lead from the start of a link to its end in the square around it, breadth first. */
static bool way_round(const cm_chip *chip, uint32_t link)
{
  uint32_t start = link / CM_DIRECTIONS, end = cm_chip_next_router(chip, start, (cm_direction)(link % CM_DIRECTIONS));
  uint8_t seen[SIDE][SIDE] = {{0}};
  step queue[SIDE * SIDE];
  uint32_t head = 0, tail = 0;
  if (end == CM_NO_ROUTER)
    return true;
  queue[tail++] = (step){start, AROUND, AROUND};
  seen[AROUND][AROUND] = 1;
  while (head < tail) {
    step s = queue[head++];
    if (s.router == end)
      return true;
    for (cm_direction d = CM_EAST; d < CM_DIRECTIONS; d++) {
      static const int dx[CM_DIRECTIONS] = {[CM_EAST] = 1, [CM_WEST] = -1}, dy[CM_DIRECTIONS] = {[CM_SOUTH] = 1, [CM_NORTH] = -1};
      uint32_t next = cm_chip_next_router(chip, s.router, d);
      int x = s.x + dx[d], y = s.y + dy[d];
      if (next == CM_NO_ROUTER || x < 0 || y < 0 || x >= SIDE || y >= SIDE || seen[y][x] || cm_chip_link_dead(chip, s.router, d))
        continue;
      seen[y][x] = 1;
      queue[tail++] = (step){next, (uint8_t)x, (uint8_t)y};
    }
  }
  return false;
}

/* Whether each dead link has a short way round: then every router reaches every other one. */
static bool all_reach(const cm_chip *chip)
{
  for (uint32_t i = 0; i < chip->dead_link_count; i++)
    if (!way_round(chip, chip->dead_links[i]))
      return false;
  return true;
}

/* ---- all components ---- */

static cm_status keep_largest(const cm_chip *chip, const components *c, cm_memory *memory, uint8_t *usable,
                              cm_error *error)
{
  uint32_t *members, best = 0;
  CM_TRY(CM_NEW(memory, members, (size_t)c->found + 1, error));
  for (uint32_t core = 0; core < cm_chip_cores(chip); core++)
    members[c->component[cm_router_of(chip, core)]] += usable[core];
  for (uint32_t i = 1; i <= c->found; i++)
    if (members[i] > members[best])
      best = i;
  for (uint32_t core = 0; core < cm_chip_cores(chip); core++)
    usable[core] = usable[core] && c->component[cm_router_of(chip, core)] == best;
  cm_free(members);
  return CM_OK;
}

cm_status cm_usable_cores(const cm_chip *chip, const cm_occupancy *occupancy, cm_memory *memory, uint8_t *usable,
                          uint32_t *count, cm_error *error)
{
  cm_status status = CM_OK;
  uint32_t cores = cm_chip_cores(chip);
  const uint8_t *state = occupancy->state;
  for (uint32_t core = 0; core < cores; core++)
    usable[core] = state[core] == CM_CORE_FREE;
  if (chip->interconnect != NULL)
    status = cm_interconnect_usable(chip, memory, usable, error);
  else if (!all_reach(chip)) {
    components c = {.chip = chip};
    status = find_components(&c, cm_chip_routers_x(chip) * cm_chip_routers_y(chip), memory, error);
    CM_THEN(status, keep_largest(chip, &c, memory, usable, error));
    CM_FREE(c.number, c.low, c.component, c.open, c.path, c.next);
  }
  uint32_t found = 0;
  for (uint32_t core = 0; core < cores; core++)
    found += usable[core];
  *count = found;
  return status;
}
