/* Training: play a batch of episodes, add up their rewards, and when the total reaches the threshold, update.
 *
 * Nothing random is carried from one update to the next: every episode has a stream of its own, and so has the shuffling
 * of every update. That is why a checkpoint needs no state of generators, and why threads change nothing. What can fail:
 * memory, cancel, files. */
#include "core/learning/training/state.h"

#include "base/threads.h"
#include "core/partition/options.h"

enum { TOGETHER = 8 };

cm_train_options cm_train_defaults(void)
{
  return (cm_train_options){.seed = 1, .updates = 150, .threshold = 48, .rounds = 4, .noise = 0.15, .epochs = 3,
                            .batch = 16, .clip = 0.2, .rate = 3e-3, .whole = 0.6, .entropy = 0.002, .held_out = 5,
                            .watch = 10};
}

cm_train_options cm_train_pilot_defaults(void)
{
  return (cm_train_options){.seed = 1, .updates = 150, .rounds = 1, .noise = 0.15, .epochs = 1, .batch = 24, .rate = 0.08,
                            .held_out = 5, .watch = 10, .draws = 8};
}

cm_train_options cm_train_letter_defaults(void)
{
  return (cm_train_options){.seed = 1, .updates = 2000, .threshold = 96, .rounds = 1, .epochs = 3, .batch = 16,
                            .clip = 0.2, .rate = 1e-3, .whole = 1, .entropy = 0.002, .held_out = 5, .watch = 50,
                            .draws = 8};
}

/* ---- before the first episode ---- */

static cm_status prepare(cm_training *t, cm_error *error)
{
  cm_memory *memory = t->run->memory;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(t->sight, t->count), CM_ARRAY(t->learnt, t->count), CM_ARRAY(t->watched, t->count)));
  CM_TRY(cm_adam_new(t->policy->count, memory, &t->adam, error));
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(t->curve, t->options.updates), CM_ARRAY(t->collected, CM_EPISODES_MAX)));
  CM_TRY(cm_parallel(t->run, t->count, cm_training_see, t, error));
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->options.held_out > 0 && i % t->options.held_out == t->options.held_out - 1)
      t->watched[t->watched_count++] = i;
    else if (t->sight[i].sequential > 0) /* where nobody talks there is nothing to learn */
      t->learnt[t->learnt_count++] = i;
  }
  if (t->learnt_count == 0)
    return cm_fail(error, CM_BAD_OPTION, "there is no graph to train on");
  cm_training_fingerprint(t);
  return CM_OK;
}

static cm_status copy_policy(const cm_policy *policy, cm_policy **copy, cm_error *error)
{
  cm_policy *made;
  CM_TRY(cm_policy_new(&policy->shape, policy->bound, 0, &made, error));
  memcpy(made->parameter, policy->parameter, policy->count * sizeof *made->parameter);
  *copy = made;
  return CM_OK;
}

cm_status cm_training_new(const cm_training_task *task, const cm_train_options *options, cm_run *run, cm_training **training,
                          cm_error *error)
{
  cm_training *t;
  CM_TRY(CM_NEW(run->memory, t, 1, error));
  t->example = task->example;
  t->count = task->examples;
  t->options = *options;
  t->run = run;
  cm_status status = copy_policy(task->policy, &t->policy, error);
  CM_THEN(status, prepare(t, error));
  CM_END(status, *training = t, cm_training_free(t));
}

static void forget(cm_training *t)
{
  for (uint32_t i = 0; i < t->collected_count; i++)
    cm_episode_free(&t->collected[i]);
  t->collected_count = 0;
}

void cm_training_free(cm_training *training)
{
  if (training == NULL)
    return;
  forget(training);
  for (uint32_t i = 0; training->sight != NULL && i < training->count; i++)
    for (int l = 0; l < CM_LAYOUTS; l++)
      cm_free(training->sight[i].start[l]);
  cm_policy_free(training->policy);
  CM_FREE(training->sight, training->learnt, training->watched);
  cm_adam_free(&training->adam);
  CM_FREE(training->curve, training->collected, training);
}

/* ---- an update ---- */

static cm_status play(void *context, size_t index, cm_error *error)
{
  cm_training *t = context;
  cm_episode *e = &t->collected[t->collected_count + index];
  uint64_t number = t->episodes + index;
  e->example = t->learnt[number % t->learnt_count];
  const cm_sight *s = &t->sight[e->example];
  const cm_play played = {t->policy, t->example[e->example], s->start, s->sequential, &t->options, t->run};
  return (cm_training_of_letter(t) ? cm_letter_play : cm_episode_play)(&played, number, e, error);
}

/* Episodes until the rewards add up to the threshold. */
static cm_status collect(cm_training *t, cm_curve_point *point, cm_error *error)
{
  double total = 0, gained = 0;
  while (total < t->options.threshold && t->collected_count + TOGETHER <= CM_EPISODES_MAX) {
    CM_TRY(cm_parallel(t->run, TOGETHER, play, t, error));
    for (uint32_t i = 0; i < TOGETHER; i++) {
      total += t->collected[t->collected_count + i].reward;
      gained += t->collected[t->collected_count + i].gained;
    }
    t->collected_count += TOGETHER;
    t->episodes += TOGETHER;
  }
  point->episodes = t->collected_count;
  point->reward = total / t->collected_count;
  point->gained = gained / t->collected_count;
  return CM_OK;
}

/* A batch of looks, each with a gradient of its own: sums are taken in one order. */
typedef struct batch {
  cm_training *training;
  const cm_look *const *look;
  float *gradient; /* [looks * parameters] */
} batch;

static cm_status descend(void *context, size_t index, cm_error *error)
{
  const batch *b = context;
  const cm_training *t = b->training;
  float *gradient = b->gradient + index * t->policy->count;
  memset(gradient, 0, t->policy->count * sizeof *gradient);
  if (cm_training_of_letter(t))
    return cm_letter_descend(t->policy, b->look[index], &t->options, t->run->memory, gradient, error);
  return cm_look_descend(t->policy, b->look[index], &t->options, t->run->memory, gradient, error);
}

/* Adam on the mean of the gradients. */
static void step(cm_training *t, float *gradient, uint32_t looks)
{
  size_t count = t->policy->count;
  for (size_t i = 0; i < count; i++) {
    for (uint32_t k = 1; k < looks; k++)
      gradient[i] += gradient[k * count + i];
    gradient[i] /= (float)looks;
  }
  cm_adam_step(&t->adam, t->options.rate * (1 - 0.9 * t->updates / t->options.updates), gradient, t->policy->parameter);
}

static cm_status epoch(cm_training *t, const cm_look **look, uint32_t count, float *gradient, cm_error *error)
{
  for (uint32_t from = 0; from < count; from += t->options.batch) {
    uint32_t looks = count - from < t->options.batch ? count - from : t->options.batch;
    batch b = {t, look + from, gradient};
    CM_TRY(cm_parallel(t->run, looks, descend, &b, error));
    step(t, gradient, looks);
  }
  return CM_OK;
}

static cm_status improve(cm_training *t, cm_error *error)
{
  uint32_t count = 0, room = 0, *order = NULL;
  for (uint32_t i = 0; i < t->collected_count; i++)
    room += t->collected[i].looks;
  const cm_look **look, **shuffled = NULL;
  float *gradient = NULL;
  cm_status status = CM_NEW_ALL(t->run->memory, error, CM_ARRAY(look, room), CM_ARRAY(shuffled, room), CM_ARRAY(order, room),
                                CM_ARRAY(gradient, (size_t)t->options.batch * t->policy->count));
  for (uint32_t i = 0; i < t->collected_count && status == CM_OK; i++)
    for (uint32_t r = 0; r < t->collected[i].looks; r++)
      look[count++] = &t->collected[i].look[r];
  for (uint32_t e = 0; e < t->options.epochs && status == CM_OK; e++) {
    cm_random random;
    cm_random_init(&random, t->options.seed, CM_STREAM_POLICY, 2 + (uint64_t)t->updates * t->options.epochs + e);
    cm_random_permutation(&random, order, count);
    for (uint32_t i = 0; i < count; i++)
      shuffled[i] = look[order[i]];
    status = epoch(t, shuffled, count, gradient, error);
  }
  CM_FREE(look, shuffled, order, gradient);
  return status;
}

/* An update of a pilot: a batch of graphs, from one layout and with one number of tries after the other. */
static cm_status fly(cm_training *t, cm_curve_point *point, cm_error *error)
{
  static const double tries[] = {60, 200, 500};
  uint32_t graphs = t->options.batch;
  cm_flight *flight;
  float *gradient = NULL;
  cm_status status = CM_NEW_ALL(t->run->memory, error, CM_ARRAY(flight, graphs), CM_ARRAY(gradient, t->policy->count));
  for (uint32_t b = 0; b < graphs && status == CM_OK; b++) {
    uint64_t number = (uint64_t)t->updates * graphs + b, turn = number / t->learnt_count;
    uint32_t which = t->learnt[number % t->learnt_count], layout = (uint32_t)((number + turn) % CM_LAYOUTS);
    const cm_sight *s = &t->sight[which];
    flight[b] = (cm_flight){t->example[which]->environment, s->start[layout], s->hops[layout], s->sequential_hops,
                            tries[turn % 3], number};
  }
  CM_THEN(status, cm_pilot_descend(t, flight, gradient, point, error));
  if (status == CM_OK) {
    t->episodes += point->episodes;
    step(t, gradient, 1);
  }
  CM_FREE(flight, gradient);
  return status;
}

cm_status cm_training_run(cm_training *training, uint32_t until, cm_error *error)
{
  cm_training *t = training;
  cm_status status = CM_OK;
  cm_run_phase(t->run, "train");
  until = until < t->options.updates ? until : t->options.updates;
  while (t->updates < until && status == CM_OK) {
    cm_curve_point point = {.update = t->updates + 1};
    uint64_t episodes = t->episodes;
    if (t->policy->shape.kind == CM_KIND_PILOT)
      status = fly(t, &point, error);
    else {
      status = collect(t, &point, error);
      CM_THEN(status, improve(t, error));
      forget(t);
    }
    CM_THEN_IF(status, t->options.watch > 0 && (point.update % t->options.watch == 0 || point.update == t->options.updates),
               cm_training_watch(t, &point, error));
    if (status == CM_OK)
      t->curve[t->updates++] = point;
    else
      t->episodes = episodes;
    CM_THEN(status, cm_run_progress(t->run, (double)t->updates / t->options.updates, -1, t->episodes, point.reward, error));
  }
  return status;
}

cm_policy *cm_training_policy(cm_training *training)
{
  return training->policy;
}

const cm_curve_point *cm_training_curve(const cm_training *training, uint32_t *count)
{
  *count = training->updates;
  return training->curve;
}
