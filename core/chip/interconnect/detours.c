/* Happy path: straight pieces that are alive -> what is remembered -> a search. What can fail: memory, at the start. */
#include "core/chip/interconnect/detours.h"

#include "core/chip/interconnect/internal.h"
#include "core/chip/interconnect/path_trees.h"

enum {
  LANES = 4,          /* searches at a time */
  REMEMBERED = 16,    /* pairs a router */
  BUCKETS = 3,        /* a hop makes the estimate of a way 0, 1 or 2 longer */
  ROUTER_BITS = 24,   /* of a remembered pair; CM_CHIP_CORES_MAX */
  HOPS_BITS = 16,     /* of its distance */
  HOPS_MAX = (1 << HOPS_BITS) - 2,
  REMEMBERED_NO_WAY = (1 << HOPS_BITS) - 1
};
_Static_assert(CM_CHIP_CORES_MAX <= 1 << ROUTER_BITS && 2 * ROUTER_BITS + HOPS_BITS == 64, "a pair is one word");

/* Room for one search. */
typedef struct lane {
  pthread_mutex_t busy;
  uint32_t round;   /* of the search under way */
  uint32_t *seen;   /* [routers] round that reached it last */
  uint32_t *length; /* [routers] from the source */
  uint32_t *next;   /* [BUCKETS * routers] in the bucket */
} lane;

struct cm_detours {
  uint16_t *straight;          /* [CM_SIX * routers] living links ahead, UINT16_MAX: as many or more */
  uint32_t *piece;             /* [routers] who hangs together, were links alive both ways */
  _Atomic uint64_t *remembered; /* [1 << remembered_bits] from, to, hops; 0: nothing */
  unsigned remembered_bits;
  lane lane[LANES];
};

/* ---- what is alive ---- */

static void walk_back(const cm_interconnect *net, uint16_t *straight, uint32_t end, unsigned direction)
{
  uint32_t steps = 1;
  for (uint32_t at = end;; steps++) {
    at = cm_interconnect_beside(net, at, (direction + CM_SIX / 2) % CM_SIX);
    if (at == CM_NO_WAY || straight[(size_t)at * CM_SIX + direction] == 0)
      return;
    straight[(size_t)at * CM_SIX + direction] = (uint16_t)(steps < UINT16_MAX ? steps : UINT16_MAX);
  }
}

static void find_straight(const cm_interconnect *net, uint16_t *straight)
{
  for (uint32_t i = 0; i < net->link_count; i++)
    if (!net->link[i].dead)
      straight[(size_t)net->link[i].from * CM_SIX + cm_interconnect_direction(net, i)] = UINT16_MAX;
  for (uint32_t r = 0; r < net->routers; r++)
    for (unsigned d = 0; d < CM_SIX; d++)
      if (straight[(size_t)r * CM_SIX + d] == 0)
        walk_back(net, straight, r, d);
}

/* Numbers from 1 for those that hang together; `queue` is scratch. */
static void find_pieces(const cm_interconnect *net, uint32_t *queue, uint32_t *piece)
{
  uint32_t pieces = 0;
  for (uint32_t r = 0; r < net->routers; r++) {
    uint32_t count = 0;
    if (piece[r] != 0)
      continue;
    piece[r] = ++pieces;
    queue[count++] = r;
    for (uint32_t head = 0; head < count; head++)
      for (uint32_t i = net->first[queue[head]]; i < net->first[queue[head] + 1]; i++) {
        const cm_link *k = &net->link[i];
        if (piece[k->to] != 0 || (k->dead && net->link[k->twin].dead))
          continue;
        piece[k->to] = pieces;
        queue[count++] = k->to;
      }
  }
}

cm_status cm_detours_new(const cm_interconnect *net, cm_detours **detours, cm_error *error)
{
  cm_detours *d;
  CM_TRY(CM_NEW(NULL, d, 1, error));
  for (unsigned i = 0; i < LANES; i++)
    (void)pthread_mutex_init(&d->lane[i].busy, NULL);
  while (UINT64_C(1) << d->remembered_bits < (uint64_t)REMEMBERED * net->routers)
    d->remembered_bits++;
  cm_status status = CM_NEW_ALL(NULL, error, CM_ARRAY(d->straight, (size_t)CM_SIX * net->routers),
                                CM_ARRAY(d->piece, net->routers), CM_ARRAY(d->remembered, (size_t)1 << d->remembered_bits));
  for (unsigned i = 0; i < LANES && status == CM_OK; i++) {
    lane *l = &d->lane[i];
    status = CM_NEW_ALL(NULL, error, CM_ARRAY(l->seen, net->routers), CM_ARRAY(l->length, net->routers),
                        CM_ARRAY(l->next, (size_t)BUCKETS * net->routers));
  }
  CM_TRY_OR(status, cm_detours_free(d));
  find_straight(net, d->straight);
  find_pieces(net, d->lane[0].length, d->piece);
  *detours = d;
  return CM_OK;
}

void cm_detours_free(cm_detours *d)
{
  if (d == NULL)
    return;
  for (unsigned i = 0; i < LANES; i++) {
    (void)pthread_mutex_destroy(&d->lane[i].busy);
    CM_FREE(d->lane[i].seen, d->lane[i].length, d->lane[i].next);
  }
  CM_FREE(d->straight, d->piece, d->remembered, d);
}

/* ---- ways of two straight pieces ---- */

enum { EAST, NORTH_EAST, NORTH, WEST, SOUTH_WEST, SOUTH };

typedef struct stretch {
  unsigned direction;
  uint32_t steps;
} stretch;

static bool is_alive(const cm_detours *d, uint32_t router, stretch s)
{
  return d->straight[(size_t)router * CM_SIX + s.direction] >= s.steps;
}

static uint32_t end_of(const cm_interconnect *net, uint32_t router, stretch s)
{
  static const int step_x[CM_SIX] = {1, 1, 0, -1, -1, 0}, step_y[CM_SIX] = {0, -1, -1, 0, 1, 1};
  int64_t columns = net->columns, rows = net->rows, x = router % net->columns, y = router / net->columns;
  x = (x + step_x[s.direction] * (int64_t)s.steps + columns) % columns; /* no way goes further than once round */
  y = (y + step_y[s.direction] * (int64_t)s.steps + rows) % rows;
  return (uint32_t)(y * columns + x);
}

/* So many steps east and north as two straight pieces. */
static void divide(const cm_interconnect *net, int64_t east, int64_t north, stretch piece[2])
{
  piece[0] = (stretch){NORTH_EAST, 0};
  if (net->kind == CM_HEXAGONAL && east > 0 && north > 0)
    piece[0] = (stretch){NORTH_EAST, (uint32_t)(east < north ? east : north)};
  else if (net->kind == CM_HEXAGONAL && east < 0 && north < 0)
    piece[0] = (stretch){SOUTH_WEST, (uint32_t)(east > north ? -east : -north)};
  int64_t diagonal = piece[0].direction == NORTH_EAST ? (int64_t)piece[0].steps : -(int64_t)piece[0].steps;
  stretch across = {east > diagonal ? EAST : WEST, cm_steps_apart(east, diagonal)},
          along = {north > diagonal ? NORTH : SOUTH, cm_steps_apart(north, diagonal)};
  if (piece[0].steps == 0)
    piece[0] = across;
  piece[1] = piece[0].direction == across.direction || across.steps == 0 ? along : across;
}

/* Whether a way lives that goes a part of the first piece, all of the second and then the rest of the first. */
static bool lives_bent(const cm_interconnect *net, const cm_detours *d, uint32_t from, stretch first, stretch second)
{
  uint32_t ahead = d->straight[(size_t)from * CM_SIX + first.direction];
  for (uint32_t i = first.steps;; i--) { /* all of it, then less and less */
    stretch part = {first.direction, i}, rest = {first.direction, first.steps - i};
    if (i <= ahead) {
      uint32_t corner = end_of(net, from, part);
      if (is_alive(d, corner, second) && (rest.steps == 0 || is_alive(d, end_of(net, corner, second), rest)))
        return true;
    }
    if (i == 0 || second.steps == 0)
      return false;
  }
}

static bool lives(const cm_interconnect *net, const cm_detours *d, uint32_t from, int64_t east, int64_t north)
{
  stretch s[2];
  divide(net, east, north, s);
  return lives_bent(net, d, from, s[0], s[1]) || lives_bent(net, d, from, s[1], s[0]);
}

/* ---- what is remembered ---- */

static _Atomic uint64_t *slot_of(const cm_detours *d, uint64_t pair)
{
  return &d->remembered[pair * UINT64_C(0x9e3779b97f4a7c15) >> (64 - d->remembered_bits)];
}

static uint64_t pair_of(uint32_t from, uint32_t to)
{
  return (uint64_t)from << ROUTER_BITS | to;
}

static bool recall(const cm_detours *d, uint32_t from, uint32_t to, uint32_t *hops)
{
  uint64_t pair = pair_of(from, to), word = atomic_load_explicit(slot_of(d, pair), memory_order_relaxed);
  if (word >> HOPS_BITS != pair)
    return false;
  *hops = word & REMEMBERED_NO_WAY;
  *hops = *hops == REMEMBERED_NO_WAY ? CM_NO_WAY : *hops;
  return true;
}

static void remember(cm_detours *d, uint32_t from, uint32_t to, uint32_t hops)
{
  uint64_t pair = pair_of(from, to), said = hops == CM_NO_WAY ? REMEMBERED_NO_WAY : hops;
  if (hops == CM_NO_WAY || hops <= HOPS_MAX)
    atomic_store_explicit(slot_of(d, pair), pair << HOPS_BITS | said, memory_order_relaxed);
}

/* ---- the search ---- */

typedef struct open_routers {
  uint32_t head[BUCKETS]; /* routers by estimate modulo BUCKETS, the last come first; CM_NO_WAY: none */
  uint32_t estimate;      /* least of a way through one of them */
} open_routers;

static void reach(const cm_interconnect *net, lane *l, open_routers *open, uint32_t router, uint32_t length, uint32_t to)
{
  if (l->seen[router] == l->round && l->length[router] <= length)
    return;
  uint32_t bucket = (length + cm_formula_hops(net, router, to)) % BUCKETS;
  l->seen[router] = l->round;
  l->length[router] = length;
  l->next[(size_t)bucket * net->routers + router] = open->head[bucket];
  open->head[bucket] = router;
}

/* Takes a router of the least estimate; false: none is left. A router that was reached on a shorter way since comes again, and
 * is passed over: no bucket holds it twice, as its estimates are different and less than BUCKETS apart. */
static bool take_min(const cm_interconnect *net, lane *l, open_routers *open, uint32_t to, uint32_t *router)
{
  for (unsigned empty = 0; empty < BUCKETS; empty++, open->estimate++) {
    uint32_t bucket = open->estimate % BUCKETS;
    while (open->head[bucket] != CM_NO_WAY) {
      *router = open->head[bucket];
      open->head[bucket] = l->next[(size_t)bucket * net->routers + *router];
      if (l->length[*router] + cm_formula_hops(net, *router, to) == open->estimate)
        return true;
    }
  }
  return false;
}

static uint32_t search(const cm_interconnect *net, cm_detours *d, lane *l, uint32_t from, uint32_t to)
{
  open_routers open = {{CM_NO_WAY, CM_NO_WAY, CM_NO_WAY}, cm_formula_hops(net, from, to)};
  uint32_t router;
  l->round = cm_next_mark(l->round, l->seen, net->routers);
  reach(net, l, &open, from, 0, to);
  while (take_min(net, l, &open, to, &router)) {
    uint32_t length = l->length[router];
    if (router == to)
      return length;
    if (length > cm_formula_hops(net, from, router)) /* the estimate never falls along a way: this is its distance */
      remember(d, from, router, length);
    for (uint32_t i = net->first[router]; i < net->first[router + 1]; i++)
      if (!net->link[i].dead)
        reach(net, l, &open, net->link[i].to, length + 1, to);
  }
  return CM_NO_WAY;
}

static lane *take_lane(cm_detours *d, uint32_t from)
{
  for (unsigned i = 0; i < LANES; i++)
    if (pthread_mutex_trylock(&d->lane[i].busy) == 0)
      return &d->lane[i];
  lane *l = &d->lane[from % LANES];
  (void)pthread_mutex_lock(&l->busy);
  return l;
}

uint32_t cm_detours_hops(const cm_interconnect *net, cm_detours *d, uint32_t from, uint32_t to)
{
  if (from == to)
    return 0;
  if (d->piece[from] != d->piece[to])
    return CM_NO_WAY;
  cm_grid_steps steps = cm_grid_steps_between(net, from, to);
  uint32_t length[CM_GRID_SIDES], hops = UINT32_MAX;
  for (unsigned i = 0; i < CM_GRID_SIDES; i++) {
    length[i] = cm_grid_length(net, steps.east[i & 1], steps.north[i / 2]);
    hops = length[i] < hops ? length[i] : hops;
  }
  for (unsigned i = 0; i < CM_GRID_SIDES; i++)
    if (length[i] == hops && lives(net, d, from, steps.east[i & 1], steps.north[i / 2]))
      return hops;
  if (recall(d, from, to, &hops))
    return hops;
  lane *l = take_lane(d, from);
  hops = search(net, d, l, from, to);
  (void)pthread_mutex_unlock(&l->busy);
  remember(d, from, to, hops);
  return hops;
}
