/* Happy path: the parts as reassigned -> annealing of those that may move, within the time of those that stay -> the
 * parts that came out. What can fail: memory, a stop; parts that break a limit leave everything as it was. */
#include "core/placement/reassign/hasten.h"

#include <math.h>

#include "core/limits/populations.h"
#include "core/partition/step/step_anneal.h"

/* Synapses and parts that may be looked at. */
static const double visits = 5e7, heat = 2;
enum { SWEEPS_MAX = 2000 };

static uint32_t sweeps_for(const cm_step_state *s, const uint32_t *movable, uint32_t count)
{
  double work = 1;
  for (uint32_t i = 0; i < count; i++)
    work += 64 + 8.0 * (double)(s->in_first[movable[i] + 1] - s->in_first[movable[i]]);
  double sweeps = visits / work;
  return sweeps < 4 ? 4 : sweeps > SWEEPS_MAX ? SWEEPS_MAX : (uint32_t)sweeps;
}

/* Whether all limits hold, those that the search does not keep too, and there are cores enough. */
static cm_status check(const cm_assignment *s, const uint32_t *part, uint32_t parts, cm_run *run, bool *legal, cm_error *error)
{
  uint64_t *use;
  CM_TRY(CM_NEW(run->memory, use, (size_t)parts * CM_RESOURCES, error));
  cm_status status = cm_count_use(s->demand, part, parts, run, use, error);
  uint32_t live = 0;
  for (uint32_t p = 0; p < parts; p++)
    live += use[(size_t)p * CM_RESOURCES + CM_NEURONS] > 0;
  cm_violation shared = {0};
  CM_THEN(status, cm_check_populations(s->demand->network, &s->limits, part, parts, run, &shared, error));
  *legal = status == CM_OK && live <= s->parts_max && shared.broken_parts == 0 &&
           cm_find_violation(&s->limits, use, parts).broken_parts == 0;
  cm_free(use);
  return status;
}

/* A assignment with its parts numbered without gaps: number [parts] of each, those without neurons behind the others. */
typedef struct numbering {
  uint32_t *number, *part; /* [parts], [slots] there and back */
  uint32_t live;
} numbering;

static cm_status number_parts(const cm_assignment *s, uint32_t slots, cm_run *run, numbering *n, cm_error *error)
{
  uint32_t most = s->parts > slots ? s->parts : slots, next = 0;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(n->number, most), CM_ARRAY(n->part, most)));
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++)
    n->number[s->part[v]] = 1;
  for (int empty = 0; empty < 2; empty++)
    for (uint32_t p = 0; p < most; p++)
      if ((n->number[p] == 0) == (empty == 1))
        n->part[next++] = p;
  for (uint32_t i = 0; i < most; i++) {
    n->live += n->number[n->part[i]];
    n->number[n->part[i]] = i;
  }
  return CM_OK;
}

static cm_status search(cm_assignment *s, const numbering *n, cm_step_state *state, cm_step_anneal_options *options, cm_run *run,
                        cm_error *error)
{
  bool legal;
  uint8_t *moves;
  CM_TRY(CM_NEW(run->memory, moves, s->demand->network->vertex_count, error));
  for (uint32_t i = 0; i < options->movable_count; i++)
    moves[options->movable[i]] = 1;
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++)
    if (!moves[v])
      cm_step_put(state, v, n->number[s->part[v]]);
  cm_free(moves);
  options->budget_ns = fmax(fmax(cm_step_longest_ns(state), options->budget_ns), 1e-3);
  for (uint32_t i = 0; i < options->movable_count; i++)
    cm_step_put(state, options->movable[i], n->number[s->part[options->movable[i]]]);
  options->sweeps = sweeps_for(state, options->movable, options->movable_count);
  CM_TRY(cm_step_anneal(state, options, error));
  CM_TRY(check(s, state->part, state->parts, run, &legal, error));
  if (!legal)
    return CM_OK;
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++) {
    s->part[v] = n->part[state->part[v]];
    for (; s->parts <= s->part[v]; s->parts++)
      s->core[s->parts] = CM_NOWHERE;
  }
  return CM_OK;
}

cm_status cm_hasten(cm_assignment *assignment, const cm_hasten_task *task, cm_run *run, cm_error *error)
{
  cm_assignment *s = assignment;
  cm_step_anneal_options options = {.budget_ns = task->budget_ns, .heat = heat, .seed = task->seed, .share = 1,
                                    .movable = task->movable, .movable_count = task->count};
  cm_step_state state = {0};
  numbering n = {0};
  if (task->count == 0)
    return CM_OK;
  cm_status status = number_parts(s, s->parts_max, run, &n, error);
  uint32_t slots = n.live > s->parts_max ? n.live : s->parts_max;
  CM_THEN(status, cm_step_state_new(s->demand, &s->chip->costs, &s->limits, slots, run, &state, error));
  CM_THEN(status, search(s, &n, &state, &options, run, error));
  CM_FREE(n.number, n.part);
  cm_step_state_free(&state);
  return status;
}
