#include "core/learning/reward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip/routes.h"
#include "core/partition/members.h"

enum { WEST_SIDE, EAST_SIDE, NORTH_SIDE, SOUTH_SIDE, SIDES, NOBODY = UINT32_MAX, UNIT_BITS_MAX = 20 };

#define LOSS_MAX (UINT64_C(1) << 62)

/* What a node pays to those on each side of it. */
typedef struct sides {
  int64_t on[SIDES];
} sides;

struct cm_reward_state {
  cm_reward_task task;
  cm_run *run;
  const uint32_t *site; /* [sites] core numbers */
  uint32_t sites, nodes;
  int32_t *x, *y;       /* [sites] routers */
  int32_t *step_x;      /* [2 * routers_x - 1] from a difference of columns, the middle being 0, to signed steps */
  int32_t *step_y;
  int32_t routers_x, routers_y;
  int64_t *euclidean;   /* [routers_x * routers_y] length of (ax, ay) steps in units; NULL: Manhattan */
  double unit;
  uint32_t *node_at;    /* [sites] */
  uint32_t *at;         /* [nodes] */
  sides *paid;          /* [nodes] */
  int64_t loss;
  /* A try: what changes for neighbours. */
  sides *change;        /* [nodes] zero between tries */
  uint8_t *touched;     /* [nodes] */
  uint32_t *list;       /* [nodes] the touched ones */
  uint32_t count;
  /* Trees of multicast nodes. */
  cm_tracer *tracer;
  uint32_t *router;     /* [nodes] of the targets under way */
  uint32_t *source_first, *source; /* [nodes + 2] and [targets] the multicast nodes that each node is a target of */
  uint64_t *links;      /* [nodes] of each tree */
  uint8_t *stale;       /* [nodes] trees to be counted anew */
  uint32_t *stale_list; /* [nodes] */
  uint32_t stale_count;
  uint64_t channels;
};

uint32_t cm_forbidden_turns(cm_turn_rule rule)
{
  uint32_t forbidden = 0;
  for (int from = 0; from < CM_DIRECTIONS; from++)
    for (int to = 0; to < CM_DIRECTIONS; to++)
      forbidden += from / 2 != to / 2 && !cm_turn_allowed(rule, (cm_direction)from, (cm_direction)to);
  return forbidden;
}

/* ---- loss ---- */

static int64_t length_of(const cm_reward_state *s, int32_t dx, int32_t dy)
{
  int64_t ax = abs(dx), ay = abs(dy);
  return s->euclidean == NULL ? ax + ay : s->euclidean[ay * s->routers_x + ax];
}

/* Adds to `to` what a node on site `from` pays, `weight` times, to one on site `other`. */
static inline void pay(const cm_reward_state *s, sides *to, uint32_t from, uint32_t other, int64_t weight)
{
  int32_t dx = s->step_x[s->x[other] - s->x[from] + s->routers_x - 1];
  int32_t dy = s->step_y[s->y[other] - s->y[from] + s->routers_y - 1];
  int64_t cost = weight * length_of(s, dx, dy);
  to->on[WEST_SIDE] += dx < 0 ? cost : 0;
  to->on[EAST_SIDE] += dx > 0 ? cost : 0;
  to->on[NORTH_SIDE] += dy < 0 ? cost : 0;
  to->on[SOUTH_SIDE] += dy > 0 ? cost : 0;
}

static inline int64_t loss_of(const sides *p)
{
  int64_t x = p->on[WEST_SIDE] > p->on[EAST_SIDE] ? p->on[WEST_SIDE] : p->on[EAST_SIDE];
  int64_t y = p->on[NORTH_SIDE] > p->on[SOUTH_SIDE] ? p->on[NORTH_SIDE] : p->on[SOUTH_SIDE];
  return x + y;
}

/* Node p goes from site `from` to site `to`, where q comes from. Gathers what that changes for p's neighbours but q,
 * and returns what p pays then. */
static sides walk(cm_reward_state *s, uint32_t p, uint32_t from, uint32_t to, uint32_t q)
{
  const cm_graph *g = s->task.parts;
  sides own = {{0}};
  for (uint64_t i = g->first[p]; i < g->first[p + 1]; i++) {
    uint32_t u = g->neighbour[i];
    int64_t weight = (int64_t)g->weight[i];
    if (u == q) {
      pay(s, &own, to, from, weight);
      continue;
    }
    uint32_t there = s->at[u];
    pay(s, &own, to, there, weight);
    pay(s, &s->change[u], there, from, -weight);
    pay(s, &s->change[u], there, to, weight);
    s->list[s->count] = u;
    s->count += s->touched[u] == 0;
    s->touched[u] = 1;
  }
  return own;
}

/* Sums up a try, and makes its changes when it is to stay. */
static int64_t settle(cm_reward_state *s, bool stay)
{
  int64_t sum = 0;
  for (uint32_t k = 0; k < s->count; k++) {
    uint32_t u = s->list[k];
    sides now = s->paid[u];
    for (int side = 0; side < SIDES; side++)
      now.on[side] += s->change[u].on[side];
    sum += loss_of(&now) - loss_of(&s->paid[u]);
    if (stay)
      s->paid[u] = now;
    s->change[u] = (sides){{0}};
    s->touched[u] = 0;
  }
  s->count = 0;
  return sum;
}

static int64_t trade(cm_reward_state *s, uint32_t a, uint32_t b, bool stay)
{
  uint32_t p = s->node_at[a], q = s->node_at[b];
  int64_t change = 0;
  sides of_p = {{0}}, of_q = {{0}};
  if (a == b || (p == NOBODY && q == NOBODY))
    return 0;
  if (p != NOBODY) {
    of_p = walk(s, p, a, b, q);
    change += loss_of(&of_p) - loss_of(&s->paid[p]);
  }
  if (q != NOBODY) {
    of_q = walk(s, q, b, a, p);
    change += loss_of(&of_q) - loss_of(&s->paid[q]);
  }
  change += settle(s, stay);
  if (!stay)
    return change;
  if (p != NOBODY) {
    s->paid[p] = of_p;
    s->at[p] = b;
  }
  if (q != NOBODY) {
    s->paid[q] = of_q;
    s->at[q] = a;
  }
  s->node_at[a] = q;
  s->node_at[b] = p;
  s->loss += change;
  return change;
}

int64_t cm_reward_try(cm_reward_state *state, uint32_t site_a, uint32_t site_b)
{
  return trade(state, site_a, site_b, false);
}

/* ---- trees ---- */

static void mark_stale(cm_reward_state *s, uint32_t v)
{
  const cm_multicast *m = s->task.multicast;
  if (s->stale[v] || m->first[v] == m->first[v + 1])
    return;
  s->stale[v] = 1;
  s->stale_list[s->stale_count++] = v;
}

static void mark_trees_of(cm_reward_state *s, uint32_t v)
{
  if (s->task.multicast == NULL || v == NOBODY)
    return;
  mark_stale(s, v);
  for (uint32_t k = s->source_first[v]; k < s->source_first[v + 1]; k++)
    mark_stale(s, s->source[k]);
}

int64_t cm_reward_trade(cm_reward_state *state, uint32_t site_a, uint32_t site_b)
{
  mark_trees_of(state, state->node_at[site_a]);
  mark_trees_of(state, state->node_at[site_b]);
  return trade(state, site_a, site_b, true);
}

static cm_status count_links(cm_reward_state *s, uint32_t v, uint64_t *links, cm_error *error)
{
  const cm_multicast *m = s->task.multicast;
  const cm_chip *chip = s->task.chip;
  size_t count = 0;
  uint32_t lost;
  cm_tree tree;
  for (uint64_t i = m->first[v]; i < m->first[v + 1]; i++)
    s->router[count++] = cm_router_of(chip, s->site[s->at[m->target[i]]]);
  if (cm_trace(s->tracer, cm_router_of(chip, s->site[s->at[v]]), s->router, count, 0, &tree, &lost, error) != CM_OK)
    return error->status;
  *links = tree.count - 1;
  return CM_OK;
}

cm_status cm_reward_channels(cm_reward_state *state, uint64_t *channels, cm_error *error)
{
  cm_reward_state *s = state;
  while (s->stale_count > 0) {
    uint32_t v = s->stale_list[s->stale_count - 1];
    uint64_t links = 0;
    if (count_links(s, v, &links, error) != CM_OK)
      return error->status;
    s->channels += links - s->links[v];
    s->links[v] = links;
    s->stale[v] = 0;
    s->stale_count--;
  }
  *channels = s->channels;
  return CM_OK;
}

/* The multicast nodes that each node is a target of. */
static cm_status trees_new(cm_reward_state *s, cm_memory *memory, cm_error *error)
{
  const cm_multicast *m = s->task.multicast;
  uint32_t *of = NULL;
  cm_status status = cm_tracer_new(s->task.chip, s->task.rule, memory, &s->tracer, error);
  if (status != CM_OK)
    return status;
  size_t targets = (size_t)m->first[s->nodes];
  if (targets > UINT32_MAX - 2)
    return cm_fail(error, CM_TOO_LARGE, "multicast nodes have %zu targets, more than the 2^32 - 3 possible", targets);
  if (CM_NEW(memory, s->router, s->nodes, error) != CM_OK ||
      CM_NEW(memory, s->source_first, (size_t)s->nodes + 2, error) != CM_OK ||
      CM_NEW(memory, s->source, targets, error) != CM_OK || CM_NEW(memory, s->links, s->nodes, error) != CM_OK ||
      CM_NEW(memory, s->stale, s->nodes, error) != CM_OK ||
      CM_NEW(memory, s->stale_list, s->nodes, error) != CM_OK || CM_NEW(memory, of, targets, error) != CM_OK)
    return error->status;
  cm_sort_members(m->target, (uint32_t)targets, s->nodes, s->source_first, s->source);
  for (uint32_t v = 0; v < s->nodes; v++) {
    for (uint64_t i = m->first[v]; i < m->first[v + 1]; i++)
      of[i] = v;
    mark_stale(s, v);
  }
  for (size_t k = 0; k < targets; k++)
    s->source[k] = of[s->source[k]];
  cm_free(of);
  return CM_OK;
}

/* ---- state ---- */

static cm_status geometry_new(cm_reward_state *s, cm_memory *memory, cm_error *error)
{
  const cm_chip *chip = s->task.chip;
  s->routers_x = (int32_t)cm_chip_routers_x(chip);
  s->routers_y = (int32_t)cm_chip_routers_y(chip);
  size_t columns = 2 * (size_t)s->routers_x - 1, rows = 2 * (size_t)s->routers_y - 1;
  if (CM_NEW(memory, s->x, s->sites, error) != CM_OK || CM_NEW(memory, s->y, s->sites, error) != CM_OK ||
      CM_NEW(memory, s->step_x, columns, error) != CM_OK || CM_NEW(memory, s->step_y, rows, error) != CM_OK)
    return error->status;
  for (uint32_t k = 0; k < s->sites; k++) {
    s->x[k] = (int32_t)(s->site[k] % chip->width / chip->router_x);
    s->y[k] = (int32_t)(s->site[k] / chip->width / chip->router_y);
  }
  int32_t unused;
  for (int32_t d = 1 - s->routers_x; d < s->routers_x; d++)
    cm_chip_steps(chip, d < 0 ? (uint32_t)-d * chip->router_x : 0, d > 0 ? (uint32_t)d * chip->router_x : 0,
                  &s->step_x[d + s->routers_x - 1], &unused);
  for (int32_t d = 1 - s->routers_y; d < s->routers_y; d++)
    cm_chip_steps(chip, d < 0 ? (uint32_t)-d * chip->router_y * chip->width : 0,
                  d > 0 ? (uint32_t)d * chip->router_y * chip->width : 0, &unused, &s->step_y[d + s->routers_y - 1]);
  return CM_OK;
}

/* Lengths in units so small as 62 bits allow: an edge counts at both ends, on two sides. */
static cm_status lengths_new(cm_reward_state *s, cm_memory *memory, cm_error *error)
{
  uint64_t furthest = (uint64_t)s->routers_x + (uint64_t)s->routers_y, weight = s->task.parts->weight_total;
  __int128 most = (__int128)weight * 4 * furthest;
  if (most > (__int128)LOSS_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the parts say %llu to each other (scaled): their loss may pass 2^62",
                   (unsigned long long)weight);
  s->unit = 1;
  if (s->task.distance == CM_DISTANCE_MANHATTAN)
    return CM_OK;
  for (int bits = 0; bits < UNIT_BITS_MAX && most * 2 <= (__int128)LOSS_MAX; bits++, most *= 2)
    s->unit *= 2;
  size_t columns = (size_t)s->routers_x, rows = (size_t)s->routers_y;
  if (CM_NEW(memory, s->euclidean, columns * rows, error) != CM_OK)
    return error->status;
  for (size_t y = 0; y < rows; y++)
    for (size_t x = 0; x < columns; x++)
      s->euclidean[y * columns + x] = llround(sqrt((double)(x * x + y * y)) * s->unit);
  return CM_OK;
}

static cm_status seat(cm_reward_state *s, const uint32_t *core, cm_memory *memory, cm_error *error)
{
  uint32_t cores = cm_chip_cores(s->task.chip), *place;
  if (CM_NEW(memory, place, cores, error) != CM_OK)
    return error->status;
  memset(place, 0xff, cores * sizeof *place);
  memset(s->node_at, 0xff, s->sites * sizeof *s->node_at);
  for (uint32_t k = 0; k < s->sites; k++)
    place[s->site[k]] = k;
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < s->nodes && status == CM_OK; v++) {
    uint32_t k = core[v] < cores ? place[core[v]] : NOBODY;
    if (k == NOBODY || s->node_at[k] != NOBODY) {
      status = cm_fail(error, CM_INTERNAL, "node %u stands on core %u, which is %s", v, core[v],
                       k == NOBODY ? "none of the sites" : "another's already");
      break;
    }
    s->at[v] = k;
    s->node_at[k] = v;
  }
  cm_free(place);
  return status;
}

static void pay_all(cm_reward_state *s)
{
  const cm_graph *g = s->task.parts;
  for (uint32_t v = 0; v < s->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      pay(s, &s->paid[v], s->at[v], s->at[g->neighbour[i]], (int64_t)g->weight[i]);
    s->loss += loss_of(&s->paid[v]);
  }
}

static cm_status fill(cm_reward_state *s, const uint32_t *core, cm_memory *memory, cm_error *error)
{
  if (CM_NEW(memory, s->node_at, s->sites, error) != CM_OK || CM_NEW(memory, s->at, s->nodes, error) != CM_OK ||
      CM_NEW(memory, s->paid, s->nodes, error) != CM_OK || CM_NEW(memory, s->change, s->nodes, error) != CM_OK ||
      CM_NEW(memory, s->touched, s->nodes, error) != CM_OK ||
      CM_NEW(memory, s->list, (size_t)s->nodes + 1, error) != CM_OK || geometry_new(s, memory, error) != CM_OK ||
      lengths_new(s, memory, error) != CM_OK || seat(s, core, memory, error) != CM_OK)
    return error->status;
  if (s->task.multicast != NULL && trees_new(s, memory, error) != CM_OK)
    return error->status;
  pay_all(s);
  return CM_OK;
}

cm_status cm_reward_state_new(const cm_reward_task *task, const uint32_t *site, uint32_t sites, const uint32_t *core,
                              cm_run *run, cm_reward_state **state, cm_error *error)
{
  cm_reward_state *s;
  if (CM_NEW(run->memory, s, 1, error) != CM_OK)
    return error->status;
  *s = (cm_reward_state){.task = *task, .run = run, .site = site, .sites = sites, .nodes = task->parts->vertex_count};
  if (task->multicast != NULL && task->multicast->trees == 0)
    s->task.multicast = NULL;
  if (fill(s, core, run->memory, error) != CM_OK) {
    cm_reward_state_free(s);
    return error->status;
  }
  *state = s;
  return CM_OK;
}

void cm_reward_state_free(cm_reward_state *state)
{
  if (state == NULL)
    return;
  cm_free(state->x);
  cm_free(state->y);
  cm_free(state->step_x);
  cm_free(state->step_y);
  cm_free(state->euclidean);
  cm_free(state->node_at);
  cm_free(state->at);
  cm_free(state->paid);
  cm_free(state->change);
  cm_free(state->touched);
  cm_free(state->list);
  cm_tracer_free(state->tracer);
  cm_free(state->router);
  cm_free(state->source_first);
  cm_free(state->source);
  cm_free(state->links);
  cm_free(state->stale);
  cm_free(state->stale_list);
  cm_free(state);
}

int64_t cm_reward_state_loss(const cm_reward_state *state)
{
  return state->loss;
}

double cm_reward_state_unit(const cm_reward_state *state)
{
  return state->unit;
}

uint32_t cm_reward_state_node(const cm_reward_state *state, uint32_t site)
{
  return state->node_at[site];
}

uint32_t cm_reward_state_site(const cm_reward_state *state, uint32_t node)
{
  return state->at[node];
}

cm_status cm_reward_state_reward(cm_reward_state *state, cm_reward *reward, cm_error *error)
{
  cm_reward r = {.loss = (double)state->loss / state->unit, .forbidden_turns = cm_forbidden_turns(state->task.rule)};
  if (cm_reward_channels(state, &r.channels, error) != CM_OK)
    return error->status;
  if (state->task.multicast != NULL)
    r.dl_ratio = (double)r.forbidden_turns / (double)(r.channels > 0 ? r.channels : 1);
  r.reward = -r.loss * exp(r.dl_ratio);
  *reward = r;
  return CM_OK;
}

cm_status cm_reward_compute(const cm_reward_task *task, const uint32_t *core, cm_run *run, cm_reward *reward,
                            cm_error *error)
{
  cm_reward_state *state;
  cm_status status = cm_reward_state_new(task, core, task->parts->vertex_count, core, run, &state, error);
  if (status != CM_OK)
    return status;
  status = cm_reward_state_reward(state, reward, error);
  cm_reward_state_free(state);
  return status;
}
