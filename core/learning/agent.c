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

/* Attempts with one look, until one makes things better: who follows the policy, and whether to the means of the
 * Gaussians or to draws from them. Slices move everybody, so that they are of use while many follow. */
typedef struct trial {
  double share;
  bool draws, slices;
} trial;
static const trial attempts[] = {{1, false, true},     {0.5, true, true},   {0.5, false, true},  {0.25, true, false},
                                   {0.25, false, false}, {0.12, true, false}, {0.12, false, false}, {0.06, true, false}};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts, ROUNDS_MAX = 96, ROUNDS_LEAST = 12 };
/* Multiplications that looks may cost at most, beyond those of the least number of rounds. */
static const double work_looks = 3e8;

/* What the nodes want: what the policy says, or to stay. */
static void wish(const cm_scene *scene, double bound, const trial *attempt, cm_random *random, scratch *s)
{
  const cm_axes *a = scene->axes;
  float draw[2] = {0, 0};
  for (size_t v = 0; v < scene->nodes; v++) {
    float *to = s->position + 2 * v;
    bool follows = cm_random_unit(random) < attempt->share;
    if (!follows) {
      to[0] = (float)cm_position(a->column[s->at[v]], a->columns, bound);
      to[1] = (float)cm_position(a->row[s->at[v]], a->rows, bound);
      continue;
    }
    if (attempt->draws)
      cm_random_normals(random, draw, 2);
    to[0] = s->pass->mean[2 * v] + s->pass->deviation[2 * v] * draw[0];
    to[1] = s->pass->mean[2 * v + 1] + s->pass->deviation[2 * v + 1] * draw[1];
  }
}

/* One time step; the cheaper of what the rules make of it. */
static cm_status try_rules(const work *w, const trial *attempt, scratch *s, cm_rule *best, uint64_t *least,
                           cm_error *error)
{
  *least = UINT64_MAX;
  for (int rule = 0; rule < (attempt->slices ? CM_RULES : CM_RULE_SLICES); rule++) {
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

/* As many time steps as suit the size of the scene. */
static uint32_t rounds_for(const work *w)
{
  const cm_policy_shape *shape = &w->policy->shape;
  double look = 2.0 * w->scene->nodes * (double)w->policy->count +
                2.0 * shape->layers * shape->width * (double)w->scene->graph->entry_count;
  double rounds = ROUNDS_LEAST + work_looks / look;
  return rounds > ROUNDS_MAX ? ROUNDS_MAX : (uint32_t)rounds;
}

static cm_status step_by_step(const work *w, scratch *s, cm_acted *acted, cm_error *error)
{
  cm_random random;
  uint32_t rounds = w->rounds > 0 ? w->rounds : rounds_for(w);
  cm_random_init(&random, 1, CM_STREAM_POLICY, 0);
  for (uint32_t round = 1, failed = 0; round <= rounds; round++) {
    const trial *attempt = &attempts[failed % ATTEMPTS];
    uint64_t least;
    cm_rule best = CM_RULE_NEAREST;
    if (failed == 0) {
      if (cm_scene_look(w->scene, s->at, w->run->memory, s->input, error) != CM_OK)
        return error->status;
      cm_policy_forward(w->policy, w->scene->laplacian, s->input, s->pass);
    }
    wish(w->scene, (double)w->policy->bound, attempt, &random, s);
    if (try_rules(w, attempt, s, &best, &least, error) != CM_OK)
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
