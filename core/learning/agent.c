#include "core/learning/agent.h"

#include <string.h>

#include "core/base/random.h"
#include "core/base/threads.h"
#include "core/partition/options.h"

typedef struct work {
  const cm_policy *policy;
  const cm_scene *scene;
  uint32_t rounds;
  cm_run *run;
  cm_acted *acted;
} work;

/* Scratch of one start. */
typedef struct scratch {
  uint32_t *at, *tried[CM_RULES];
  float *input, *position;
  cm_policy_pass *pass;
} scratch;

/* Shares of the nodes that follow the policy, time step by time step until one makes things better. */
static const double shares[] = {1, 0.5, 0.5, 0.25, 0.25, 0.12, 0.12, 0.06};
enum { SHARES = sizeof shares / sizeof *shares };

/* What the nodes want: what the policy says, or to stay. */
static void wish(const cm_scene *scene, double bound, double share, cm_random *random, scratch *s)
{
  const cm_axes *a = scene->axes;
  for (uint32_t v = 0; v < scene->nodes; v++) {
    float *to = s->position + 2 * (size_t)v;
    bool follows = cm_random_unit(random) < share;
    to[0] = follows ? s->pass->mean[2 * (size_t)v] : (float)cm_position(a->column[s->at[v]], a->columns, bound);
    to[1] = follows ? s->pass->mean[2 * (size_t)v + 1] : (float)cm_position(a->row[s->at[v]], a->rows, bound);
  }
}

/* One time step; the cheaper of what the rules make of it. */
static cm_status try_rules(const work *w, scratch *s, cm_rule *best, uint64_t *least, cm_error *error)
{
  *least = UINT64_MAX;
  for (int rule = 0; rule < CM_RULES; rule++) {
    if (cm_scene_assign(w->scene, (cm_rule)rule, s->position, (double)w->policy->bound, w->run->memory, s->tried[rule],
                        error) != CM_OK)
      return error->status;
    uint64_t hops = cm_scene_hops(w->scene, s->tried[rule]);
    if (hops < *least) {
      *least = hops;
      *best = (cm_rule)rule;
    }
  }
  return cm_run_check(w->run, error);
}

static cm_status step_by_step(const work *w, scratch *s, cm_acted *acted, cm_error *error)
{
  cm_random random;
  cm_random_init(&random, 1, CM_STREAM_POLICY, 0);
  for (uint32_t round = 1, failed = 0; round <= w->rounds; round++) {
    uint64_t least;
    cm_rule best = CM_RULE_NEAREST;
    if (failed == 0) {
      if (cm_scene_look(w->scene, s->at, w->run->memory, s->input, error) != CM_OK)
        return error->status;
      cm_policy_forward(w->policy, w->scene->laplacian, s->input, s->pass);
    }
    wish(w->scene, (double)w->policy->bound, shares[failed % SHARES], &random, s);
    if (try_rules(w, s, &best, &least, error) != CM_OK)
      return error->status;
    failed++;
    if (least < acted->after) {
      acted->after = least;
      acted->rounds = round;
      memcpy(s->at, s->tried[best], w->scene->nodes * sizeof *s->at);
      failed = 0;
    }
  }
  memcpy(acted->at, s->at, w->scene->nodes * sizeof *s->at);
  return CM_OK;
}

static cm_status scratch_new(const work *w, scratch *s, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t nodes = w->scene->nodes;
  for (int rule = 0; rule < CM_RULES; rule++)
    if (CM_NEW(memory, s->tried[rule], nodes, error) != CM_OK)
      return error->status;
  if (CM_NEW(memory, s->at, nodes, error) != CM_OK ||
      CM_NEW(memory, s->input, 2 * (size_t)nodes * CM_POLICY_INPUTS, error) != CM_OK ||
      CM_NEW(memory, s->position, 2 * (size_t)nodes, error) != CM_OK)
    return error->status;
  return cm_policy_pass_new(&w->policy->shape, nodes, memory, &s->pass, error);
}

static cm_status act_from(void *context, size_t index, cm_error *error)
{
  const work *w = context;
  cm_acted *acted = &w->acted[index];
  scratch s = {0};
  cm_status status = CM_NEW(w->run->memory, acted->at, w->scene->nodes, error);
  if (status == CM_OK)
    status = scratch_new(w, &s, error);
  if (status == CM_OK)
    status = cm_scene_layout(w->scene, (cm_layout)index, w->run, s.at, error);
  if (status == CM_OK) {
    acted->before = acted->after = cm_scene_hops(w->scene, s.at);
    status = step_by_step(w, &s, acted, error);
  }
  cm_free(s.at);
  for (int rule = 0; rule < CM_RULES; rule++)
    cm_free(s.tried[rule]);
  cm_free(s.input);
  cm_free(s.position);
  cm_policy_pass_free(s.pass);
  return status;
}

cm_status cm_policy_act(const cm_policy *policy, const cm_scene *scene, uint32_t rounds, cm_run *run, cm_acted *acted,
                        cm_error *error)
{
  cm_acted made[CM_LAYOUTS] = {0};
  work w = {policy, scene, rounds, run, made};
  cm_status status = cm_parallel(run, CM_LAYOUTS, act_from, &w, error);
  if (status != CM_OK) {
    cm_acted_free(made);
    return status;
  }
  memcpy(acted, made, sizeof made);
  return CM_OK;
}

void cm_acted_free(cm_acted *acted)
{
  for (int i = 0; i < CM_LAYOUTS; i++)
    cm_free(acted[i].at);
}
