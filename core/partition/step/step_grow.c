/* Happy path: a first neuron -> the best of a pool of candidates while one fits -> the next part. The pool is chosen
 * anew when the part has grown by an eighth. What can fail: memory, a stop. */
#include "core/partition/step/step_grow.h"

#include <math.h>
#include <string.h>

#include "base/heap.h"

enum { POOL = 64, REFRESH = 8 };

/* What growing asks of a vertex again and again, side by side in memory. */
typedef struct candidate {
  double shared;       /* rate of inputs that the part under way has already */
  uint32_t axons;      /* their number */
  bool placed;         /* in some part */
} candidate;

typedef struct growth {
  cm_step_state *s;
  double budget;
  const uint32_t *expected;
  candidate *of;       /* [vertices] */
  uint32_t *touched;   /* vertices with `shared` above 0 */
  uint32_t touched_count;
  uint32_t *left;      /* vertices in no part, ascending but for those that went */
  uint32_t left_count;
  double *planned;     /* [vertices] ns that it will send in all */
  double sending;      /* planned sum of the part under way */
  double *shared_in, *planned_in, *sending_in; /* the same in every scenario, in rows */
  uint32_t pool[POOL], pool_count;
  uint32_t members, next_refresh;
  uint32_t *last;         /* [nets] the last part that each reaches; CM_STEP_NO_PART: none yet */
  cm_step_window *window; /* NULL: all wait */
  uint32_t end;           /* behind the last place in its order that waits */
  uint32_t waiting;       /* how many do */
} growth;

/* The higher the better: how much of its input is there already. */
static double score(const growth *g, uint32_t v)
{
  return g->s->input[v] > 0 ? g->of[v].shared / g->s->input[v] : 0;
}

static bool before(const growth *g, uint32_t v, uint32_t u)
{
  double a = score(g, v), b = score(g, u);
  return a > b || (a == b && v < u);
}

/* The best of the touched vertices, as a heap with the worst on top. */
#define POOLED(growth, place) ((growth)->pool[place])
#define SET_POOLED(growth, place, v) ((growth)->pool[place] = (v))
#define COMES_OUT_BEFORE(growth, a, b) before(growth, b, a)
CM_HEAP_DEFINE(pool, growth, uint32_t, 2, POOLED, SET_POOLED, COMES_OUT_BEFORE)

static void fill_pool(growth *g)
{
  uint32_t kept = 0;
  g->pool_count = 0;
  for (uint32_t i = 0; i < g->touched_count; i++) {
    uint32_t v = g->touched[i];
    if (g->of[v].placed)
      continue;
    g->touched[kept++] = v;
    if (g->pool_count < POOL) {
      g->pool[g->pool_count++] = v;
      if (g->pool_count == POOL)
        for (uint32_t k = POOL / 2; k-- > 0;)
          pool_sink(g, POOL, k, g->pool[k]);
    } else if (before(g, v, g->pool[0])) {
      pool_sink(g, POOL, 0, v);
    }
  }
  g->touched_count = kept;
}

/* How long the part takes with the vertex, in the scenario that is longest then. */
static double time_with(const growth *g, uint32_t part, uint32_t v)
{
  const cm_step_state *s = g->s;
  const cm_charge_cost *c = s->costs->charge;
  size_t row = s->scenarios;
  double longest = 0;
  if (row == 0)
    return cm_core_ns(s->costs,
                      s->receive[part] + c[CM_CHARGE_PACKET_RECEIVED].ns * (s->input[v] - g->of[v].shared) + s->handling[v],
                      g->sending + g->planned[v]);
  for (size_t k = 0; k < row; k++) {
    double input = s->input_in[v * row + k],
           ns = cm_core_ns(s->costs,
                           s->receive_in[part * row + k] +
                             c[CM_CHARGE_PACKET_RECEIVED].ns * (input - g->shared_in[v * row + k]) + s->handling_in[v * row + k],
                           g->sending_in[k] + g->planned_in[v * row + k]);
    longest = fmax(longest, s->scale[k] * ns);
  }
  return longest;
}

static bool fits(const growth *g, uint32_t part, uint32_t v)
{
  const cm_step_state *s = g->s;
  uint64_t synapses = s->in_first[v + 1] - s->in_first[v], outbound = 0;
  for (uint32_t e = s->out_first[v]; e < s->out_first[v + 1]; e++)
    outbound += g->expected != NULL ? g->expected[e] : s->reached[e];
  return time_with(g, part, v) <= g->budget &&
         cm_step_has_room(s, part, cm_demand_size(s->demand, v), synapses, synapses - g->of[v].axons, outbound);
}

/* The best of the pool that fits; the vertex count when none does. */
static uint32_t pick(growth *g, uint32_t part)
{
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < g->pool_count; i++) {
    uint32_t v = g->pool[i];
    if (!g->of[v].placed && (best == UINT32_MAX || before(g, v, best)) && fits(g, part, v))
      best = v;
  }
  return best;
}

/* The part under way has the axon, which reaches u. */
static void bring(growth *g, uint32_t e, uint32_t u)
{
  const cm_step_state *s = g->s;
  candidate *of = &g->of[u];
  if (of->placed)
    return;
  if (of->axons++ == 0)
    g->touched[g->touched_count++] = u;
  of->shared += s->rate[e];
  for (size_t j = 0; j < s->scenarios; j++)
    g->shared_in[u * (size_t)s->scenarios + j] += s->rate_in[e * (size_t)s->scenarios + j];
}

/* The same for all targets of an axon that wait. Along a window those that were placed go to the front of its list, which
 * `from` leaves behind: a few that wait for long would else keep all that went before them under their eyes. */
static void bring_all(growth *g, uint32_t e)
{
  const cm_topology *t = g->s->demand->network;
  cm_step_window *w = g->window;
  uint64_t end = t->net_first[e + 1];
  if (w == NULL) {
    for (uint64_t k = t->net_first[e]; k < end; k++)
      bring(g, e, t->pin[k]);
    return;
  }
  uint64_t k = w->from[e], kept;
  while (k < end && w->target[k] < g->end)
    k++;
  for (kept = k; k-- > w->from[e];) {
    uint32_t place = w->target[k], u = w->order[place];
    if (g->of[u].placed)
      continue;
    w->target[k] = w->target[--kept];
    w->target[kept] = place;
    bring(g, e, u);
  }
  w->from[e] = kept;
}

/* Others wait in place of those that were placed; the part under way may have axons of theirs. */
static void move_window(growth *g, uint32_t part)
{
  const cm_step_state *s = g->s;
  const cm_step_window *w = g->window;
  uint32_t n = s->demand->network->vertex_count;
  for (g->waiting--; g->end < n && g->waiting < CM_STEP_WINDOW; g->end++, g->waiting++) {
    uint32_t v = w->order[g->end];
    for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++)
      if (g->last[s->in_net[i]] == part)
        bring(g, s->in_net[i], v);
  }
}

static void join(growth *g, uint32_t part, uint32_t v)
{
  cm_step_state *s = g->s;
  for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++)
    if (g->last[s->in_net[i]] != part) {
      g->last[s->in_net[i]] = part;
      bring_all(g, s->in_net[i]);
    }
  g->sending += g->planned[v];
  for (size_t j = 0; j < s->scenarios; j++)
    g->sending_in[j] += g->planned_in[v * (size_t)s->scenarios + j];
  cm_step_put_last(s, v, part);
  g->of[v].placed = true;
  g->members++;
  if (g->window != NULL)
    move_window(g, part);
}

/* Where a new part begins: with what the last one would have taken next, else the first that is left. */
static uint32_t begin_with(growth *g)
{
  fill_pool(g);
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < g->pool_count; i++)
    if (best == UINT32_MAX || before(g, g->pool[i], best))
      best = g->pool[i];
  for (uint32_t i = 0; i < g->touched_count; i++) {
    g->of[g->touched[i]].shared = 0;
    if (g->s->scenarios > 0)
      memset(g->shared_in + (size_t)g->touched[i] * g->s->scenarios, 0, g->s->scenarios * sizeof *g->shared_in);
    g->of[g->touched[i]].axons = 0;
  }
  g->touched_count = 0;
  while (best == UINT32_MAX && g->left_count > 0) {
    uint32_t v = g->left[g->left_count - 1];
    if (!g->of[v].placed)
      best = v;
    else
      g->left_count--;
  }
  return best;
}

/* A neuron without shared input that fits beside: what is left of the list. */
static uint32_t pick_any(growth *g, uint32_t part)
{
  enum { LOOKS = 16 };
  uint32_t looks = 0;
  for (uint32_t i = g->left_count; i-- > 0 && looks < LOOKS;) {
    uint32_t v = g->left[i];
    if (g->of[v].placed)
      continue;
    looks++;
    if (fits(g, part, v))
      return v;
  }
  return UINT32_MAX;
}

static void grow_part(growth *g, uint32_t part, uint32_t first)
{
  g->sending = 0;
  for (size_t j = 0; j < g->s->scenarios; j++)
    g->sending_in[j] = 0;
  g->members = 0;
  join(g, part, first);
  g->next_refresh = 1;
  for (;;) {
    if (g->members >= g->next_refresh) {
      fill_pool(g);
      g->next_refresh = g->members + 1 + g->members / REFRESH;
    }
    uint32_t v = pick(g, part);
    if (v == UINT32_MAX) {
      fill_pool(g);
      v = pick(g, part);
    }
    if (v == UINT32_MAX)
      v = pick_any(g, part);
    if (v == UINT32_MAX)
      return;
    join(g, part, v);
  }
}

static void plan(growth *g)
{
  const cm_step_state *s = g->s;
  memset(g->last, 0xff, s->demand->network->net_count * sizeof *g->last);
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++) {
    g->planned[v] = s->own[v];
    for (uint32_t e = s->out_first[v]; e < s->out_first[v + 1]; e++)
      g->planned[v] += s->costs->charge[CM_CHARGE_PACKET_SENT].ns * s->rate[e] * (g->expected != NULL ? g->expected[e] : 1);
    g->left[s->demand->network->vertex_count - 1 - v] = g->window != NULL ? g->window->order[v] : v;
  }
  g->left_count = s->demand->network->vertex_count;
}

static cm_status plan_scenarios(growth *g, cm_error *error)
{
  const cm_step_state *s = g->s;
  cm_memory *memory = s->run->memory;
  size_t row = s->scenarios, n = s->demand->network->vertex_count;
  if (row == 0)
    return CM_OK;
  CM_TRY(CM_NEW(memory, g->shared_in, n * row, error));
  CM_TRY(CM_NEW(memory, g->planned_in, n * row, error));
  CM_TRY(CM_NEW(memory, g->sending_in, row, error));
  memcpy(g->planned_in, s->own_in, n * row * sizeof *g->planned_in);
  for (uint32_t e = 0; e < s->demand->network->net_count; e++) {
    double packets = s->costs->charge[CM_CHARGE_PACKET_SENT].ns * (g->expected != NULL ? g->expected[e] : 1);
    for (size_t k = 0; k < row; k++)
      g->planned_in[cm_topology_source(s->demand->network, e) * row + k] += packets * s->rate_in[e * row + k];
  }
  return CM_OK;
}

cm_status cm_step_grow(cm_step_state *state, double budget_ns, const uint32_t *expected, cm_step_window *window, uint32_t *used,
                       cm_error *error)
{
  uint32_t n = state->demand->network->vertex_count, part = 0, first;
  growth g = {.s = state, .budget = budget_ns, .expected = expected, .window = window,
              .end = n < CM_STEP_WINDOW ? n : CM_STEP_WINDOW};
  g.waiting = g.end;
  cm_memory *memory = state->run->memory;
  cm_status status = CM_OK;
  if (CM_NEW(memory, g.of, n, error) != CM_OK ||
      CM_NEW(memory, g.touched, n, error) != CM_OK || CM_NEW(memory, g.left, n, error) != CM_OK ||
      CM_NEW(memory, g.planned, n, error) != CM_OK || CM_NEW(memory, g.last, state->demand->network->net_count, error) != CM_OK)
    status = error->status;
  else {
    if (window != NULL)
      cm_step_window_reset(window, state);
    plan(&g);
    status = plan_scenarios(&g, error);
  }
  while (status == CM_OK && (first = begin_with(&g)) != UINT32_MAX) {
    if (part == state->parts) {
      part++;
      break;
    }
    grow_part(&g, part++, first);
    status = cm_run_check(state->run, error);
  }
  CM_FREE(g.of, g.touched, g.left, g.planned, g.last, g.shared_in, g.planned_in, g.sending_in);
  if (status == CM_OK)
    *used = part;
  return status;
}
