#include "core/learning/agent/agent.h"

#include <math.h>

#include "base/annealing.h"
#include "base/threads.h"
#include "core/learning/agent/swap_refinement.h"
#include "core/partition/options.h"

enum { STEPS_MOST = 16, STEPS_MIN = 4, FURTHER = 12 };
/* Multiplications that the looks from one start may cost at most, beyond those of the least number of steps. */
static const double work_looks = 2.5e7;

/* What a trade may cost at first, in shares of what a node pays on average; at last, as a share of that; and from which
 * share of the steps on it must save something. */
#define HEAT 0.2
#define COLDEST 0.05
#define COLD_FROM 0.9
/* Draws come from so many deviations: where one node at a time may go somewhere else, wider ones are worth a try than
 * where all go at once, as in training. */
#define WIDE 3

typedef struct work {
  const cm_policy *policy;
  const cm_environment *environment;
  uint32_t steps;
  cm_run *run;
  cm_acted *acted;
} work;

/* Scratch of one start. */
typedef struct scratch {
  uint32_t *to, *best;    /* [nodes] */
  float *input, *position;
  cm_policy_pass *pass;
  cm_swap_refinement exchange;
} scratch;

/* As many steps as suit the size of the environment. */
static uint32_t steps_for(const cm_policy *policy, const cm_environment *environment)
{
  const cm_policy_shape *shape = &policy->shape;
  double look = 2.0 * environment->nodes * (double)policy->count +
                2.0 * shape->layers * shape->width * (double)environment->graph->entry_count;
  double steps = STEPS_MIN + CM_STEPS_A_LOOK * work_looks / look;
  return steps > STEPS_MOST ? STEPS_MOST : (uint32_t)steps;
}

static cm_status settle(const work *w, cm_rule rule, const float *position, scratch *s, cm_acted *acted,
                        cm_error *error)
{
  CM_TRY(cm_environment_assign(w->environment, rule, position, (double)w->policy->bound, s->to, error));
  acted->after -= cm_swap_refinement_carry_out(&s->exchange, s->to, acted->at);
  return CM_OK;
}

/* Nodes want to be at the means of their Gaussians, by either rule. */
static cm_status look(const work *w, scratch *s, cm_acted *acted, cm_error *error)
{
  CM_TRY(cm_environment_observe(w->environment, acted->at, s->input, error));
  cm_policy_forward(w->policy, w->environment->laplacian, s->input, s->pass);
  CM_TRY(settle(w, CM_RULE_SLICES, s->pass->mean, s, acted, error));
  return settle(w, CM_RULE_NEAREST, s->pass->mean, s, acted, error);
}

/* Nodes want to be at draws from their Gaussians. What that saves as a whole is carried out, ring by ring; then one
 * node after the other goes where it should. */
static cm_status draw(const work *w, double heat, cm_random *random, scratch *s, cm_acted *acted, cm_error *error)
{
  size_t rows = 2 * (size_t)w->environment->nodes;
  cm_random_normals(random, s->position, rows);
  for (size_t r = 0; r < rows; r++)
    s->position[r] = s->pass->mean[r] + WIDE * s->pass->deviation[r] * s->position[r];
  CM_TRY(settle(w, CM_RULE_NEAREST, s->position, s, acted, error));
  int64_t saved = 0;
  cm_swap_refinement_begin(&s->exchange, acted->at);
  for (uint32_t v = 0; v < w->environment->nodes; v++) {
    double most = heat > 0 ? -heat * log(1 - cm_random_unit(random)) : 0;
    if (s->to[v] != acted->at[v])
      saved += cm_swap_refinement_trade(&s->exchange, v, s->to[v], most, acted->at);
  }
  acted->after -= (uint64_t)saved; /* modulo 2^64 where trades cost something */
  return CM_OK;
}

static double heat_at(uint32_t step, uint32_t steps, double pays)
{
  double done = (double)step / steps;
  return done < COLD_FROM ? cm_cooled(HEAT * pays, COLDEST, done / COLD_FROM) : 0;
}

static cm_status take_steps(const work *w, uint32_t steps, scratch *s, cm_acted *acted, cm_error *error)
{
  cm_random random;
  uint64_t least = acted->after;
  size_t bytes = w->environment->nodes * sizeof *acted->at;
  memcpy(s->best, acted->at, bytes);
  cm_random_init(&random, 1, CM_STREAM_POLICY, acted->steps);
  for (uint32_t step = 0; step < steps; step++) {
    if (step % CM_STEPS_A_LOOK == 0 && look(w, s, acted, error) != CM_OK)
      return error->status;
    double heat = heat_at(step, steps, (double)acted->after / w->environment->nodes);
    CM_TRY(draw(w, heat, &random, s, acted, error));
    CM_TRY(cm_run_check(w->run, error));
    acted->steps++;
    if (acted->after < least) {
      least = acted->after;
      memcpy(s->best, acted->at, bytes);
    }
  }
  acted->after = least;
  memcpy(acted->at, s->best, bytes);
  return CM_OK;
}

static cm_status scratch_new(const work *w, scratch *s, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t nodes = w->environment->nodes;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->to, nodes), CM_ARRAY(s->best, nodes),
                    CM_ARRAY(s->input, 2 * (size_t)nodes * CM_POLICY_INPUTS), CM_ARRAY(s->position, 2 * (size_t)nodes)));
  CM_TRY(cm_swap_refinement_new(w->environment, memory, &s->exchange, error));
  return cm_policy_pass_new(&w->policy->shape, nodes, memory, &s->pass, error);
}

static cm_status act(const work *w, uint32_t steps, cm_acted *acted, cm_error *error)
{
  scratch s = {0};
  cm_status status = scratch_new(w, &s, error);
  CM_THEN(status, take_steps(w, steps, &s, acted, error));
  CM_FREE(s.to, s.best, s.input, s.position);
  cm_swap_refinement_free(&s.exchange);
  cm_policy_pass_free(s.pass);
  return status;
}

static cm_status act_from(void *context, size_t index, cm_error *error)
{
  const work *w = context;
  cm_acted *acted = &w->acted[index];
  CM_TRY(CM_NEW(w->run->memory, acted->at, w->environment->nodes, error));
  CM_TRY(cm_environment_layout(w->environment, (cm_layout)index, w->run, acted->at, error));
  acted->before = acted->after = cm_environment_hops(w->environment, acted->at);
  return act(w, w->steps, acted, error);
}

/* On from the best start; who is to be beside somebody on another processor may go there now. */
static cm_status act_further(const work *w, cm_acted *acted, cm_error *error)
{
  cm_environment joined;
  work further = *w;
  CM_TRY(cm_environment_join(w->environment, &joined, error));
  further.environment = &joined;
  cm_status status = act(&further, FURTHER * w->steps, acted, error);
  cm_environment_joined_free(&joined);
  return status;
}

cm_status cm_policy_act(const cm_policy *policy, const cm_environment *environment, uint32_t steps, cm_run *run, cm_acted *acted,
                        cm_error *error)
{
  cm_acted made[CM_LAYOUTS] = {0};
  work w = {policy, environment, steps > 0 ? steps : steps_for(policy, environment), run, made};
  cm_status status = cm_parallel(run, CM_LAYOUTS, act_from, &w, error);
  CM_THEN(status, act_further(&w, &made[cm_acted_best(made)], error));
  CM_END(status, memcpy(acted, made, sizeof made), cm_acted_free(made));
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
