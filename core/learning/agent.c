#include "core/learning/agent.h"

#include <string.h>

#include "core/base/threads.h"

typedef struct work {
  const cm_policy *policy;
  const cm_scene *scene;
  uint32_t rounds;
  cm_run *run;
  cm_acted *acted;
} work;

/* Scratch of one start. */
typedef struct scratch {
  uint32_t *at;
  float *input;
  cm_policy_pass *pass;
} scratch;

static cm_status look_again(const work *w, scratch *s, cm_acted *acted, cm_error *error)
{
  const cm_scene *scene = w->scene;
  for (uint32_t round = 1; round <= w->rounds && round <= acted->rounds + CM_PATIENCE; round++) {
    if (cm_scene_look(scene, s->at, w->run->memory, s->input, error) != CM_OK)
      return error->status;
    cm_policy_forward(w->policy, scene->laplacian, s->input, s->pass);
    if (cm_scene_assign(scene, s->pass->mean, (double)w->policy->bound, w->run->memory, s->at, error) != CM_OK ||
        cm_run_check(w->run, error) != CM_OK)
      return error->status;
    uint64_t hops = cm_scene_hops(scene, s->at);
    if (hops < acted->after) {
      acted->after = hops;
      acted->rounds = round;
      memcpy(acted->at, s->at, scene->nodes * sizeof *s->at);
    }
  }
  return CM_OK;
}

static cm_status act_from(void *context, size_t index, cm_error *error)
{
  const work *w = context;
  cm_acted *acted = &w->acted[index];
  cm_memory *memory = w->run->memory;
  uint32_t nodes = w->scene->nodes;
  scratch s = {0};
  if (CM_NEW(memory, acted->at, nodes, error) != CM_OK)
    return error->status;
  cm_status status = CM_NEW(memory, s.at, nodes, error);
  if (status == CM_OK)
    status = CM_NEW(memory, s.input, 2 * (size_t)nodes * CM_POLICY_INPUTS, error);
  if (status == CM_OK)
    status = cm_policy_pass_new(&w->policy->shape, nodes, memory, &s.pass, error);
  if (status == CM_OK)
    status = cm_scene_layout(w->scene, (cm_layout)index, w->run, s.at, error);
  if (status == CM_OK) {
    memcpy(acted->at, s.at, nodes * sizeof *s.at);
    acted->before = acted->after = cm_scene_hops(w->scene, s.at);
    status = look_again(w, &s, acted, error);
  }
  cm_free(s.at);
  cm_free(s.input);
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
