/* What is known of examples before training, and how a policy does on those that were held out. */
#include <math.h>

#include "core/learning/pilot/pilot.h"
#include "core/learning/training/state.h"
#include "core/partition/options.h"

enum { WATCH_STEPS = 4, WATCH_TRIES = 100 };

/* What the letter is measured by: the sequential placement, and one at random. */
static cm_status see_plainly(cm_training *t, size_t index, cm_error *error)
{
  const cm_environment *environment = t->example[index]->environment;
  cm_sight *s = &t->sight[index];
  uint32_t *at;
  cm_random random;
  CM_TRY(CM_NEW(t->run->memory, at, environment->sites, error));
  cm_random_init(&random, t->options.seed, CM_STREAM_EXAMPLES, index);
  cm_random_permutation(&random, at, environment->sites);
  s->start_hops = (double)cm_environment_hops(environment, at);
  for (uint32_t v = 0; v < environment->nodes; v++)
    at[v] = v;
  s->sequential_hops = (double)cm_environment_hops(environment, at);
  cm_status status = cm_letter_reward(t->example[index], at, t->run, &s->sequential, error);
  s->sequential = -s->sequential;
  cm_free(at);
  return status;
}

cm_status cm_training_see(void *context, size_t index, cm_error *error)
{
  cm_training *t = context;
  if (cm_training_of_letter(t))
    return see_plainly(t, index, error);
  const cm_environment *environment = t->example[index]->environment;
  cm_sight *s = &t->sight[index];
  cm_run quiet = *t->run; /* phases are the caller's */
  quiet.on_progress = NULL;
  double *loss;
  uint32_t *at;
  CM_TRY(CM_NEW(t->run->memory, loss, environment->nodes, error));
  cm_status status = CM_NEW(t->run->memory, at, environment->nodes, error);
  for (int l = 0; l < CM_LAYOUTS && status == CM_OK; l++) {
    status = CM_NEW(t->run->memory, s->start[l], environment->nodes, error);
    CM_THEN(status, cm_environment_layout(environment, (cm_layout)l, &quiet, s->start[l], error));
    if (status == CM_OK) {
      double hops = (double)cm_environment_hops(environment, s->start[l]);
      s->hops[l] = hops;
      s->start_hops = l == 0 || hops < s->start_hops ? hops : s->start_hops;
    }
  }
  if (status == CM_OK) {
    for (uint32_t v = 0; v < environment->nodes; v++)
      at[v] = v;
    s->sequential = cm_environment_loss(environment, at, loss);
    s->sequential_hops = (double)cm_environment_hops(environment, at);
  }
  CM_FREE(loss, at);
  return status;
}

/* Hops of what the policy makes of an environment. */
static cm_status try(cm_training *t, const cm_environment *environment, double *hops, cm_error *error)
{
  if (cm_training_of_letter(t)) {
    uint32_t *at;
    CM_TRY(CM_NEW(t->run->memory, at, environment->nodes, error));
    cm_status status = cm_letter_place(t->policy, environment, t->run, at, error);
    if (status == CM_OK)
      *hops = (double)cm_environment_hops(environment, at);
    cm_free(at);
    return status;
  }
  cm_acted acted[CM_LAYOUTS] = {0};
  const cm_pilot_task flown = {t->policy, environment, WATCH_TRIES, t->options.seed};
  CM_TRY(t->policy->shape.kind == CM_KIND_PILOT ? cm_pilot_act(&flown, t->run, acted, error)
                                                : cm_policy_act(t->policy, environment, WATCH_STEPS, t->run, acted, error));
  *hops = (double)acted[cm_acted_best(acted)].after;
  cm_acted_free(acted);
  return CM_OK;
}

/* Tries the policy on what it was not trained on. */
cm_status cm_training_watch(cm_training *t, cm_curve_point *point, cm_error *error)
{
  double sum = 0, start = 0;
  for (uint32_t i = 0; i < t->watched_count; i++) {
    const cm_environment *environment = t->example[t->watched[i]]->environment;
    const cm_sight *s = &t->sight[t->watched[i]];
    double hops = 0;
    CM_TRY(try(t, environment, &hops, error));
    sum += s->sequential_hops > 0 ? log(hops / s->sequential_hops) : 0;
    start += s->sequential_hops > 0 ? log(s->start_hops / s->sequential_hops) : 0;
  }
  point->held_out = t->watched_count > 0 ? exp(sum / t->watched_count) : 0;
  point->start = t->watched_count > 0 ? exp(start / t->watched_count) : 0;
  return CM_OK;
}

