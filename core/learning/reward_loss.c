/* The loss of a placement and what a trade does to it. A node's payments to its four sides are four lanes of a vector:
 * a cost goes to those that its direction belongs to by a mask. */
#include <math.h>

#include "base/wide.h"
#include "core/learning/reward_state.h"
#include "core/learning/agent/trade.h"

enum { HERE = 4 /* the direction of one's own router */, DIRECTIONS = 9, UNIT_BITS_MAX = 20 };

#define LOSS_MAX (UINT64_C(1) << 62)

/* Into both versions of the hot loop. */
#define CM_INLINE static inline __attribute__((always_inline))

/* What is known of a chip and a trade when the loop over neighbours is compiled. */
typedef struct kind {
  bool torus, euclidean, stay;
} kind;

/* How far it is from one place to another, and in which of nine directions, there and back: row by row from north west
 * to south east. */
typedef struct way {
  int64_t length;
  unsigned there, back;
} way;

CM_INLINE unsigned direction_of(int32_t dx, int32_t dy)
{
  return (unsigned)(3 * ((dy > 0) - (dy < 0)) + (dx > 0) - (dx < 0) + HERE);
}

/* The shorter way around, the positive one of two equal ones, as cm_chip_steps goes. */
static int32_t around(int32_t d, int32_t routers, bool torus)
{
  if (!torus)
    return d;
  return 2 * d > routers ? d - routers : 2 * d <= -routers ? d + routers : d;
}

CM_INLINE way way_between(const cm_reward_state *s, cm_place from, cm_place to, kind k)
{
  int32_t dx = to.x - from.x, dy = to.y - from.y;
  way w = {.there = direction_of(dx, dy)};
  w.back = DIRECTIONS - 1 - w.there;
  if (k.torus) {
    const cm_chip *chip = s->task.chip;
    w.back = direction_of(around(-dx, s->routers_x, chip->torus_x), around(-dy, s->routers_y, chip->torus_y));
    dx = around(dx, s->routers_x, chip->torus_x);
    dy = around(dy, s->routers_y, chip->torus_y);
    w.there = direction_of(dx, dy);
  }
  int64_t ax = abs(dx), ay = abs(dy);
  w.length = k.euclidean ? s->euclidean[ay * s->routers_x + ax] : ax + ay;
  return w;
}

/* Adds a cost to the sides that a direction belongs to. */
CM_INLINE void pay(cm_sides *to, int64_t cost, unsigned direction)
{
  static const cm_sides belongs[DIRECTIONS] = {{-1, 0, -1, 0}, {0, 0, -1, 0}, {0, -1, -1, 0}, {-1, 0, 0, 0}, {0, 0, 0, 0},
                                            {0, -1, 0, 0},  {-1, 0, 0, -1}, {0, 0, 0, -1}, {0, -1, 0, -1}};
  *to += (cm_sides){cost, cost, cost, cost} & belongs[direction];
}

CM_INLINE int64_t loss_of(const cm_sides *p)
{
  return ((*p)[0] > (*p)[1] ? (*p)[0] : (*p)[1]) + ((*p)[2] > (*p)[3] ? (*p)[2] : (*p)[3]);
}

/* A trade under way: p goes from site a to b, q (CM_NOBODY: nobody) from b to a. */
typedef struct exchange {
  uint32_t p, q;
  cm_place a, b;
  cm_sides of_p, of_q; /* what they pay afterwards */
} exchange;

/* What changes for u, which talks `to_p` to p and `to_q` to q; they change places. */
CM_INLINE int64_t change_of(cm_reward_state *s, exchange *e, uint32_t u, int64_t to_p, int64_t to_q, kind k)
{
  way to_a = way_between(s, s->where[u], e->a, k), to_b = way_between(s, s->where[u], e->b, k);
  cm_sides before = s->paid[u], after = before;
  pay(&after, (to_q - to_p) * to_a.length, to_a.there);
  pay(&after, (to_p - to_q) * to_b.length, to_b.there);
  pay(&e->of_p, to_p * to_b.length, to_b.back);
  pay(&e->of_q, to_q * to_a.length, to_a.back);
  if (k.stay)
    s->paid[u] = after;
  return loss_of(&after) - loss_of(&before);
}

/* What q says is laid out by vertex first, so that those who talk to both are met once. */
CM_INLINE int64_t change_of_all(cm_reward_state *s, exchange *trade, kind k)
{
  const cm_graph *g = s->task.parts;
  exchange e = *trade;
  int64_t *to_q = s->said, change = 0;
  uint64_t p_first = g->first[e.p], p_end = g->first[e.p + 1], q_first = 0, q_end = 0;
  if (e.q != CM_NOBODY) {
    q_first = g->first[e.q];
    q_end = g->first[e.q + 1];
  }
  for (uint64_t i = q_first; i < q_end; i++)
    to_q[g->neighbour[i]] = (int64_t)g->weight[i];
  if (e.q != CM_NOBODY && to_q[e.p] != 0) {
    way apart = way_between(s, e.a, e.b, k);
    pay(&e.of_p, to_q[e.p] * apart.length, apart.back);
    pay(&e.of_q, to_q[e.p] * apart.length, apart.there);
    to_q[e.p] = 0;
  }
  for (uint64_t i = p_first; i < p_end; i++) {
    uint32_t u = g->neighbour[i];
    if (u == e.q)
      continue;
    change += change_of(s, &e, u, (int64_t)g->weight[i], to_q[u], k);
    to_q[u] = 0;
  }
  for (uint64_t i = q_first; i < q_end; i++) {
    uint32_t u = g->neighbour[i];
    if (to_q[u] == 0)
      continue;
    change += change_of(s, &e, u, 0, to_q[u], k);
    to_q[u] = 0;
  }
  *trade = e;
  change += loss_of(&e.of_p) - loss_of(&s->paid[e.p]);
  return e.q == CM_NOBODY ? change : change + loss_of(&e.of_q) - loss_of(&s->paid[e.q]);
}

/* Most trades are only tried, most chips are meshes, most distances are Manhattan. */
CM_WIDE static int64_t try_on_mesh(cm_reward_state *s, exchange *e)
{
  return change_of_all(s, e, (kind){0});
}

CM_WIDE static int64_t make_on_mesh(cm_reward_state *s, exchange *e)
{
  return change_of_all(s, e, (kind){.stay = true});
}

static int64_t change_anywhere(cm_reward_state *s, exchange *e, bool stay)
{
  return change_of_all(s, e, (kind){.torus = s->torus, .euclidean = s->euclidean != NULL, .stay = stay});
}

int64_t cm_reward_exchange(cm_reward_state *state, uint32_t site_a, uint32_t site_b, bool stay)
{
  cm_reward_state *s = state;
  uint32_t a = site_a, b = site_b;
  if (s->node_at[a] == CM_NOBODY) {
    uint32_t swapped = a;
    a = b;
    b = swapped;
  }
  exchange e = {.p = s->node_at[a], .q = s->node_at[b], .a = s->place[a], .b = s->place[b]};
  if (a == b || e.p == CM_NOBODY)
    return 0;
  int64_t change = s->torus || s->euclidean != NULL ? change_anywhere(s, &e, stay)
                   : stay                           ? make_on_mesh(s, &e)
                                                    : try_on_mesh(s, &e);
  if (!stay)
    return change;
  s->paid[e.p] = e.of_p;
  s->at[e.p] = b;
  s->where[e.p] = e.b;
  if (e.q != CM_NOBODY) {
    s->paid[e.q] = e.of_q;
    s->at[e.q] = a;
    s->where[e.q] = e.a;
  }
  s->node_at[a] = e.q;
  s->node_at[b] = e.p;
  s->loss += change;
  return change;
}

void cm_reward_pay_all(cm_reward_state *state)
{
  cm_reward_state *s = state;
  const cm_graph *g = s->task.parts;
  const kind k = {.torus = s->torus, .euclidean = s->euclidean != NULL};
  for (uint32_t v = 0; v < s->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      way w = way_between(s, s->where[v], s->where[g->neighbour[i]], k);
      pay(&s->paid[v], (int64_t)g->weight[i] * w.length, w.there);
    }
    s->loss += loss_of(&s->paid[v]);
  }
}

double cm_reward_tolerance(const cm_reward_state *state)
{
  const cm_graph *g = state->task.parts;
  double all = 0, safe = 0;
  for (uint32_t v = 0; v < state->nodes; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      cm_place a = state->where[v], b = state->where[g->neighbour[i]];
      all += (double)g->weight[i];
      safe += (a.x == b.x) == (a.y == b.y) ? (double)g->weight[i] : 0;
    }
  return all > 0 ? safe / all : 1;
}

/* Lengths in units so small as 62 bits allow: an edge counts at both ends, on two sides. */
cm_status cm_reward_lengths_new(cm_reward_state *state, cm_memory *memory, cm_error *error)
{
  cm_reward_state *s = state;
  uint64_t furthest = (uint64_t)s->routers_x + (uint64_t)s->routers_y, weight = s->task.parts->weight_total;
  __int128 most = (__int128)weight * 4 * furthest;
  if (most > (__int128)LOSS_MAX)
    return cm_fail(error, CM_TOO_LARGE, "total traffic %llu (scaled) overflows the reward; the limit is 2^62",
                   (unsigned long long)weight);
  s->unit = 1;
  if (s->task.distance == CM_DISTANCE_MANHATTAN)
    return CM_OK;
  for (int bits = 0; bits < UNIT_BITS_MAX && most * 2 <= (__int128)LOSS_MAX; bits++, most *= 2)
    s->unit *= 2;
  size_t columns = (size_t)s->routers_x, rows = (size_t)s->routers_y;
  CM_TRY(CM_NEW(memory, s->euclidean, columns * rows, error));
  for (size_t y = 0; y < rows; y++)
    for (size_t x = 0; x < columns; x++)
      s->euclidean[y * columns + x] = llround(sqrt((double)(x * x + y * y)) * s->unit);
  return CM_OK;
}
