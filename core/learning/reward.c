/* The state of a reward, and the trees of multicast nodes in it. */
#include <math.h>

#include "core/learning/reward_state.h"
#include "core/learning/agent/trade.h"
#include "base/members.h"

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
  if (s->task.multicast == NULL || v == CM_NOBODY)
    return;
  mark_stale(s, v);
  for (uint32_t k = s->source_first[v]; k < s->source_first[v + 1]; k++)
    mark_stale(s, s->source[k]);
}

int64_t cm_reward_try(cm_reward_state *state, uint32_t site_a, uint32_t site_b)
{
  return cm_reward_exchange(state, site_a, site_b, false);
}

int64_t cm_reward_trade(cm_reward_state *state, uint32_t site_a, uint32_t site_b)
{
  mark_trees_of(state, state->node_at[site_a]);
  mark_trees_of(state, state->node_at[site_b]);
  return cm_reward_exchange(state, site_a, site_b, true);
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
  const cm_ends ends = {cm_router_of(chip, s->site[s->at[v]]), s->router, count};
  CM_TRY(cm_trace(s->tracer, &ends, 0, &tree, &lost, error));
  *links = tree.count - 1;
  return CM_OK;
}

/* As things stand: trees whose nodes moved since the last call are counted anew. */
static cm_status count_channels(cm_reward_state *s, uint64_t *channels, cm_error *error)
{
  while (s->stale_count > 0) {
    uint32_t v = s->stale_list[s->stale_count - 1];
    uint64_t links = 0;
    CM_TRY(count_links(s, v, &links, error));
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
  CM_TRY(cm_tracer_new(s->task.chip, s->task.rule, memory, &s->tracer, error));
  size_t targets = (size_t)m->first[s->nodes];
  if (targets > UINT32_MAX - 2)
    return cm_fail(error, CM_TOO_LARGE, "multicast nodes have %zu targets, more than the 2^32 - 3 possible", targets);
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->router, s->nodes), CM_ARRAY(s->source_first, (size_t)s->nodes + 2),
                    CM_ARRAY(s->source, targets), CM_ARRAY(s->links, s->nodes), CM_ARRAY(s->stale, s->nodes),
                    CM_ARRAY(s->stale_list, s->nodes), CM_ARRAY(of, targets)));
  cm_sort_members(m->target, (uint32_t)targets, s->nodes, s->source_first, s->source);
  for (uint32_t v = 0; v < s->nodes; v++)
    for (uint64_t i = m->first[v]; i < m->first[v + 1]; i++)
      of[i] = v;
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
  s->torus = chip->torus_x || chip->torus_y;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->place, s->sites), CM_ARRAY(s->where, s->nodes),
                    CM_ARRAY(s->site_of, cm_chip_cores(chip))));
  memset(s->site_of, 0xff, cm_chip_cores(chip) * sizeof *s->site_of);
  for (uint32_t k = 0; k < s->sites; k++)
    s->site_of[s->site[k]] = k;
  for (uint32_t k = 0; k < s->sites; k++)
    s->place[k] = (cm_place){.x = (int32_t)(s->site[k] % chip->width / chip->router_x),
                          .y = (int32_t)(s->site[k] / chip->width / chip->router_y)};
  return CM_OK;
}

cm_status cm_reward_state_place(cm_reward_state *state, const uint32_t *core, cm_error *error)
{
  cm_reward_state *s = state;
  uint32_t cores = cm_chip_cores(s->task.chip);
  memset(s->node_at, 0xff, s->sites * sizeof *s->node_at);
  memset(s->paid, 0, s->nodes * sizeof *s->paid);
  s->loss = 0;
  for (uint32_t v = 0; v < s->nodes; v++) {
    uint32_t k = core[v] < cores ? s->site_of[core[v]] : CM_NOBODY;
    if (k == CM_NOBODY || s->node_at[k] != CM_NOBODY)
      return cm_fail(error, CM_INTERNAL, "node %u stands on core %u, which is %s", v, core[v],
                     k == CM_NOBODY ? "none of the sites" : "another's already");
    s->at[v] = k;
    s->where[v] = s->place[k];
    s->node_at[k] = v;
    if (s->task.multicast != NULL)
      mark_stale(s, v);
  }
  cm_reward_pay_all(s);
  return CM_OK;
}

static cm_status fill(cm_reward_state *s, const uint32_t *core, cm_memory *memory, cm_error *error)
{
  if (CM_NEW_ALL(memory, error, CM_ARRAY(s->node_at, s->sites), CM_ARRAY(s->at, s->nodes), CM_ARRAY(s->paid, s->nodes),
                 CM_ARRAY(s->said, s->nodes)) != CM_OK ||
      geometry_new(s, memory, error) != CM_OK || cm_reward_lengths_new(s, memory, error) != CM_OK ||
      (s->task.multicast != NULL && trees_new(s, memory, error) != CM_OK))
    return error->status;
  return cm_reward_state_place(s, core, error);
}

cm_status cm_reward_state_new(const cm_reward_task *task, const uint32_t *core, cm_run *run, cm_reward_state **state, cm_error *error)
{
  cm_reward_state *s;
  CM_TRY(CM_NEW(run->memory, s, 1, error));
  *s = (cm_reward_state){.task = *task, .run = run, .site = task->site, .sites = task->sites, .nodes = task->parts->vertex_count};
  if (task->multicast != NULL && (task->multicast->trees == 0 || cm_chip_forbidden_turns(task->chip, task->rule) == 0))
    s->task.multicast = NULL;
  CM_END(fill(s, core, run->memory, error), *state = s, cm_reward_state_free(s));
}

void cm_reward_state_free(cm_reward_state *state)
{
  if (state == NULL)
    return;
  CM_FREE(state->place, state->site_of, state->where, state->euclidean, state->node_at, state->at, state->paid, state->said);
  cm_tracer_free(state->tracer);
  CM_FREE(state->router, state->source_first, state->source, state->links, state->stale, state->stale_list, state);
}

int64_t cm_reward_state_loss(const cm_reward_state *state)
{
  return state->loss;
}

double cm_reward_state_unit(const cm_reward_state *state)
{
  return state->unit;
}

uint32_t cm_reward_state_site(const cm_reward_state *state, uint32_t node)
{
  return state->at[node];
}

cm_status cm_reward_state_reward(cm_reward_state *state, cm_reward *reward, cm_error *error)
{
  cm_reward r = {.loss = (double)state->loss / state->unit, .forbidden_turns = cm_chip_forbidden_turns(state->task.chip, state->task.rule)};
  CM_TRY(count_channels(state, &r.channels, error));
  if (state->task.multicast != NULL)
    r.dl_ratio = (double)r.forbidden_turns / (double)(r.channels > 0 ? r.channels : 1);
  r.tolerance = state->task.fault_weight > 0 ? cm_reward_tolerance(state) : 1;
  r.reward = -r.loss * exp(r.dl_ratio + state->task.fault_weight * (1 - r.tolerance));
  *reward = r;
  return CM_OK;
}

cm_status cm_reward_compute(const cm_reward_task *task, const uint32_t *core, cm_run *run, cm_reward *reward,
                            cm_error *error)
{
  cm_reward_state *state;
  cm_reward_task here = *task;
  here.site = core;
  here.sites = task->parts->vertex_count;
  CM_TRY(cm_reward_state_new(&here, core, run, &state, error));
  cm_status status = cm_reward_state_reward(state, reward, error);
  cm_reward_state_free(state);
  return status;
}
