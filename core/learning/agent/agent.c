#include "core/learning/agent/agent.h"

#include <string.h>

#include "core/base/random.h"
#include "core/base/threads.h"
#include "core/learning/agent/exchange.h"
#include "core/partition/options.h"

enum { STEPS_MOST = 32, STEPS_LEAST = 8, FURTHER = 3 };
/* Multiplications that the looks from one start may cost at most, beyond those of the least number of steps. */
static const double work_looks = 5e7;

typedef struct work {
  const cm_policy *policy;
  const cm_scene *scene;
  uint32_t steps;
  cm_run *run;
  cm_acted *acted;
} work;

/* Scratch of one start. */
typedef struct scratch {
  uint32_t *to;           /* [nodes] */
  float *input, *position;
  cm_policy_pass *pass;
  cm_exchange exchange;
} scratch;

/* As many steps as suit the size of the scene. */
static uint32_t steps_for(const cm_policy *policy, const cm_scene *scene)
{
  const cm_policy_shape *shape = &policy->shape;
  double look = 2.0 * scene->nodes * (double)policy->count +
                2.0 * shape->layers * shape->width * (double)scene->graph->entry_count;
  double steps = STEPS_LEAST + CM_STEPS_A_LOOK * work_looks / look;
  return steps > STEPS_MOST ? STEPS_MOST : (uint32_t)steps;
}

/* Where the nodes want to be: at the means, or at draws. */
static void wish(const cm_scene *scene, bool draws, cm_random *random, scratch *s)
{
  size_t rows = 2 * (size_t)scene->nodes;
  if (draws)
    cm_random_normals(random, s->position, rows);
  for (size_t r = 0; r < rows; r++)
    s->position[r] = s->pass->mean[r] + (draws ? s->pass->deviation[r] * s->position[r] : 0);
}

static cm_status settle(const work *w, cm_rule rule, scratch *s, cm_acted *acted, cm_error *error)
{
  if (cm_scene_assign(w->scene, rule, s->position, (double)w->policy->bound, w->run->memory, s->to, error) != CM_OK)
    return error->status;
  acted->after -= cm_exchange_carry_out(&s->exchange, s->to, acted->at);
  return CM_OK;
}

static cm_status take_steps(const work *w, uint32_t steps, scratch *s, cm_acted *acted, cm_error *error)
{
  cm_random random;
  cm_random_init(&random, 1, CM_STREAM_POLICY, acted->steps);
  for (uint32_t step = 0; step < steps; step++) {
    bool looks = step % CM_STEPS_A_LOOK == 0;
    if (looks) {
      if (cm_scene_look(w->scene, acted->at, w->run->memory, s->input, error) != CM_OK)
        return error->status;
      cm_policy_forward(w->policy, w->scene->laplacian, s->input, s->pass);
    }
    wish(w->scene, !looks, &random, s);
    if ((looks && settle(w, CM_RULE_SLICES, s, acted, error) != CM_OK) ||
        settle(w, CM_RULE_NEAREST, s, acted, error) != CM_OK || cm_run_check(w->run, error) != CM_OK)
      return error->status;
    acted->steps++;
  }
  return CM_OK;
}

static cm_status scratch_new(const work *w, scratch *s, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t nodes = w->scene->nodes;
  if (CM_NEW(memory, s->to, nodes, error) != CM_OK ||
      CM_NEW(memory, s->input, 2 * (size_t)nodes * CM_POLICY_INPUTS, error) != CM_OK ||
      CM_NEW(memory, s->position, 2 * (size_t)nodes, error) != CM_OK ||
      cm_exchange_new(w->scene, memory, &s->exchange, error) != CM_OK)
    return error->status;
  return cm_policy_pass_new(&w->policy->shape, nodes, memory, &s->pass, error);
}

static cm_status act(const work *w, uint32_t steps, cm_acted *acted, cm_error *error)
{
  scratch s = {0};
  cm_status status = scratch_new(w, &s, error);
  if (status == CM_OK)
    status = take_steps(w, steps, &s, acted, error);
  cm_free(s.to);
  cm_free(s.input);
  cm_free(s.position);
  cm_exchange_free(&s.exchange);
  cm_policy_pass_free(s.pass);
  return status;
}

static cm_status act_from(void *context, size_t index, cm_error *error)
{
  const work *w = context;
  cm_acted *acted = &w->acted[index];
  if (CM_NEW(w->run->memory, acted->at, w->scene->nodes, error) != CM_OK ||
      cm_scene_layout(w->scene, (cm_layout)index, w->run, acted->at, error) != CM_OK)
    return error->status;
  acted->before = acted->after = cm_scene_hops(w->scene, acted->at);
  return act(w, w->steps, acted, error);
}

cm_status cm_policy_act(const cm_policy *policy, const cm_scene *scene, uint32_t steps, cm_run *run, cm_acted *acted,
                        cm_error *error)
{
  cm_acted made[CM_LAYOUTS] = {0};
  work w = {policy, scene, steps > 0 ? steps : steps_for(policy, scene), run, made};
  cm_status status = cm_parallel(run, CM_LAYOUTS, act_from, &w, error);
  if (status == CM_OK)
    status = act(&w, FURTHER * w.steps, &made[cm_acted_best(made)], error);
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

uint32_t cm_acted_best(const cm_acted *acted)
{
  uint32_t best = 0;
  for (uint32_t l = 1; l < CM_LAYOUTS; l++)
    best = acted[l].after < acted[best].after ? l : best;
  return best;
}
