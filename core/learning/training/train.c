/* Training: play a batch of episodes, add up their rewards, and when the total reaches the threshold, update.
 *
 * Nothing random is carried from one update to the next: every episode has a stream of its own, and so has the shuffling
 * of every update. That is why a checkpoint needs no state of generators, and why threads change nothing. What can fail:
 * memory, cancel, files. */
#include "core/learning/training/train.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/random.h"
#include "core/base/threads.h"
#include "core/learning/agent/agent.h"
#include "core/learning/training/episode.h"
#include "core/learning/network/sealed.h"
#include "core/partition/options.h"

enum { TOGETHER = 8, EPISODES_MAX = 4096, CHECKPOINT_BYTES_MAX = 256 << 20, WATCH_STEPS = 4 };
static const char magic[] = "CMTRN001";

/* What is known of an example before training. */
typedef struct sight {
  uint32_t *start[CM_LAYOUTS]; /* [nodes] each */
  double sequential;           /* loss of node i on site i */
  double sequential_hops, start_hops;
} sight;

struct cm_training {
  cm_policy *policy;
  cm_example *const *example;
  uint32_t count;
  cm_train_options options;
  cm_run *run;
  unsigned char fingerprint[CM_SEAL_BYTES]; /* of options and examples */
  sight *sight;                             /* [count] */
  uint32_t *learnt, learnt_count;           /* examples that are trained on, in their order */
  uint32_t *watched, watched_count;         /* those held out */
  float *moment, *square;                   /* [parameters] of Adam */
  uint64_t steps;                           /* of Adam */
  uint64_t episodes;                        /* played so far */
  cm_curve_point *curve;                    /* [options.updates] */
  uint32_t updates;                         /* done */
  cm_episode *collected;                    /* [EPISODES_MAX] since the last update */
  uint32_t collected_count;
};

cm_train_options cm_train_defaults(void)
{
  return (cm_train_options){.seed = 1, .updates = 150, .threshold = 48, .rounds = 4, .noise = 0.15, .epochs = 3,
                            .batch = 16, .clip = 0.2, .rate = 3e-3, .whole = 0.6, .entropy = 0.002, .held_out = 5,
                            .watch = 10};
}

/* ---- before the first episode ---- */

static void fingerprint(cm_training *t)
{
  crypto_hash_sha256_state state;
  const cm_train_options *o = &t->options;
  double shape[] = {(double)o->updates, o->threshold, o->rounds, o->noise,   o->epochs,  o->batch,
                    o->clip,            o->rate,      o->whole,  o->entropy, o->held_out, o->watch};
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, (const unsigned char *)&o->seed, sizeof o->seed);
  crypto_hash_sha256_update(&state, (const unsigned char *)shape, sizeof shape);
  crypto_hash_sha256_update(&state, (const unsigned char *)&t->policy->shape, sizeof t->policy->shape);
  for (uint32_t i = 0; i < t->count; i++) {
    const cm_flows *f = t->example[i]->flows;
    const cm_scene *s = t->example[i]->scene;
    crypto_hash_sha256_update(&state, (const unsigned char *)t->example[i]->name, strlen(t->example[i]->name) + 1);
    crypto_hash_sha256_update(&state, (const unsigned char *)f->target, f->first[f->parts] * sizeof *f->target);
    crypto_hash_sha256_update(&state, (const unsigned char *)f->weight, f->first[f->parts] * sizeof *f->weight);
    crypto_hash_sha256_update(&state, (const unsigned char *)s->site, s->sites * sizeof *s->site);
  }
  crypto_hash_sha256_final(&state, t->fingerprint);
}

static cm_status see(void *context, size_t index, cm_error *error)
{
  cm_training *t = context;
  const cm_scene *scene = t->example[index]->scene;
  sight *s = &t->sight[index];
  cm_run quiet = *t->run; /* phases are the caller's */
  quiet.on_progress = NULL;
  double *loss;
  uint32_t *at;
  if (CM_NEW(t->run->memory, loss, scene->nodes, error) != CM_OK)
    return error->status;
  cm_status status = CM_NEW(t->run->memory, at, scene->nodes, error);
  for (int l = 0; l < CM_LAYOUTS && status == CM_OK; l++) {
    status = CM_NEW(t->run->memory, s->start[l], scene->nodes, error);
    if (status == CM_OK)
      status = cm_scene_layout(scene, (cm_layout)l, &quiet, s->start[l], error);
    if (status == CM_OK) {
      double hops = (double)cm_scene_hops(scene, s->start[l]);
      s->start_hops = l == 0 || hops < s->start_hops ? hops : s->start_hops;
    }
  }
  if (status == CM_OK) {
    for (uint32_t v = 0; v < scene->nodes; v++)
      at[v] = v;
    s->sequential = cm_scene_loss(scene, at, loss);
    s->sequential_hops = (double)cm_scene_hops(scene, at);
  }
  cm_free(loss);
  cm_free(at);
  return status;
}

static cm_status prepare(cm_training *t, cm_error *error)
{
  cm_memory *memory = t->run->memory;
  if (CM_NEW(memory, t->sight, t->count, error) != CM_OK || CM_NEW(memory, t->learnt, t->count, error) != CM_OK ||
      CM_NEW(memory, t->watched, t->count, error) != CM_OK ||
      CM_NEW(memory, t->moment, t->policy->count, error) != CM_OK ||
      CM_NEW(memory, t->square, t->policy->count, error) != CM_OK ||
      CM_NEW(memory, t->curve, t->options.updates, error) != CM_OK ||
      CM_NEW(memory, t->collected, EPISODES_MAX, error) != CM_OK ||
      cm_parallel(t->run, t->count, see, t, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->options.held_out > 0 && i % t->options.held_out == t->options.held_out - 1)
      t->watched[t->watched_count++] = i;
    else if (t->sight[i].sequential > 0) /* where nobody talks there is nothing to learn */
      t->learnt[t->learnt_count++] = i;
  }
  if (t->learnt_count == 0)
    return cm_fail(error, CM_BAD_OPTION, "there is no graph to train on");
  fingerprint(t);
  return CM_OK;
}

static cm_status copy_policy(const cm_policy *policy, cm_policy **copy, cm_error *error)
{
  cm_policy *made;
  if (cm_policy_new(&policy->shape, policy->bound, 0, &made, error) != CM_OK)
    return error->status;
  memcpy(made->parameter, policy->parameter, policy->count * sizeof *made->parameter);
  *copy = made;
  return CM_OK;
}

cm_status cm_training_new(const cm_policy *policy, cm_example *const *examples, uint32_t count,
                          const cm_train_options *options, cm_run *run, cm_training **training, cm_error *error)
{
  cm_training *t;
  if (CM_NEW(run->memory, t, 1, error) != CM_OK)
    return error->status;
  t->example = examples;
  t->count = count;
  t->options = *options;
  t->run = run;
  cm_status status = copy_policy(policy, &t->policy, error);
  if (status == CM_OK)
    status = prepare(t, error);
  if (status != CM_OK) {
    cm_training_free(t);
    return status;
  }
  *training = t;
  return CM_OK;
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
  cm_free(training->sight);
  cm_free(training->learnt);
  cm_free(training->watched);
  cm_free(training->moment);
  cm_free(training->square);
  cm_free(training->curve);
  cm_free(training->collected);
  cm_free(training);
}

/* ---- an update ---- */

static cm_status play(void *context, size_t index, cm_error *error)
{
  cm_training *t = context;
  cm_episode *e = &t->collected[t->collected_count + index];
  uint64_t number = t->episodes + index;
  e->example = t->learnt[number % t->learnt_count];
  const sight *s = &t->sight[e->example];
  return cm_episode_play(t->policy, t->example[e->example], s->start, s->sequential, &t->options, number, t->run, e,
                         error);
}

/* Episodes until the rewards add up to the threshold. */
static cm_status collect(cm_training *t, cm_curve_point *point, cm_error *error)
{
  double total = 0, gained = 0;
  while (total < t->options.threshold && t->collected_count + TOGETHER <= EPISODES_MAX) {
    if (cm_parallel(t->run, TOGETHER, play, t, error) != CM_OK)
      return error->status;
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
  return cm_look_descend(t->policy, b->look[index], &t->options, t->run->memory, gradient, error);
}

/* Adam, on the mean of the gradients, cut to length 1. */
static void step(cm_training *t, float *gradient, uint32_t looks)
{
  const double decay = 0.9, square_decay = 0.999, tiny = 1e-8;
  size_t count = t->policy->count;
  double length = 0;
  for (size_t i = 0; i < count; i++) {
    for (uint32_t k = 1; k < looks; k++)
      gradient[i] += gradient[k * count + i];
    gradient[i] /= (float)looks;
    length += (double)gradient[i] * (double)gradient[i];
  }
  double cut = length > 1 ? 1 / sqrt(length) : 1;
  double rate = t->options.rate * (1 - 0.9 * t->updates / t->options.updates);
  t->steps++;
  double unbias = 1 - pow(decay, (double)t->steps), unbias_square = 1 - pow(square_decay, (double)t->steps);
  for (size_t i = 0; i < count; i++) {
    double g = (double)gradient[i] * cut;
    t->moment[i] = (float)(decay * (double)t->moment[i] + (1 - decay) * g);
    t->square[i] = (float)(square_decay * (double)t->square[i] + (1 - square_decay) * g * g);
    t->policy->parameter[i] -=
      (float)(rate * ((double)t->moment[i] / unbias) / (sqrt((double)t->square[i] / unbias_square) + tiny));
  }
}

static cm_status epoch(cm_training *t, const cm_look **look, uint32_t count, float *gradient, cm_error *error)
{
  for (uint32_t from = 0; from < count; from += t->options.batch) {
    uint32_t looks = count - from < t->options.batch ? count - from : t->options.batch;
    batch b = {t, look + from, gradient};
    if (cm_parallel(t->run, looks, descend, &b, error) != CM_OK)
      return error->status;
    step(t, gradient, looks);
  }
  return CM_OK;
}

static cm_status improve(cm_training *t, cm_error *error)
{
  uint32_t count = 0, room = t->collected_count * t->options.rounds, *order = NULL;
  const cm_look **look, **shuffled = NULL;
  float *gradient = NULL;
  cm_status status = CM_NEW(t->run->memory, look, room, error);
  if (status == CM_OK)
    status = CM_NEW(t->run->memory, shuffled, room, error);
  if (status == CM_OK)
    status = CM_NEW(t->run->memory, order, room, error);
  if (status == CM_OK)
    status = CM_NEW(t->run->memory, gradient, (size_t)t->options.batch * t->policy->count, error);
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
  cm_free(look);
  cm_free(shuffled);
  cm_free(order);
  cm_free(gradient);
  return status;
}

/* Tries the policy on what it was not trained on. */
static cm_status watch(cm_training *t, cm_curve_point *point, cm_error *error)
{
  double sum = 0, start = 0;
  for (uint32_t i = 0; i < t->watched_count; i++) {
    const cm_scene *scene = t->example[t->watched[i]]->scene;
    const sight *s = &t->sight[t->watched[i]];
    cm_acted acted[CM_LAYOUTS] = {0};
    if (cm_policy_act(t->policy, scene, WATCH_STEPS, t->run, acted, error) != CM_OK)
      return error->status;
    uint64_t least = acted[cm_acted_best(acted)].after;
    sum += s->sequential_hops > 0 ? log((double)least / s->sequential_hops) : 0;
    start += s->sequential_hops > 0 ? log(s->start_hops / s->sequential_hops) : 0;
    cm_acted_free(acted);
  }
  point->held_out = t->watched_count > 0 ? exp(sum / t->watched_count) : 0;
  point->start = t->watched_count > 0 ? exp(start / t->watched_count) : 0;
  return CM_OK;
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
    status = collect(t, &point, error);
    if (status == CM_OK)
      status = improve(t, error);
    forget(t);
    if (status == CM_OK && t->options.watch > 0 &&
        (point.update % t->options.watch == 0 || point.update == t->options.updates))
      status = watch(t, &point, error);
    if (status == CM_OK)
      t->curve[t->updates++] = point;
    else
      t->episodes = episodes;
    if (status == CM_OK)
      status = cm_run_progress(t->run, (double)t->updates / t->options.updates, -1, t->episodes, point.reward, error);
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

/* ---- checkpoints ---- */

cm_status cm_training_save(const cm_training *training, const char *path, cm_error *error)
{
  const cm_training *t = training;
  cm_sealed_writer w;
  size_t numbers = t->policy->count * sizeof(float);
  cm_sealed_begin(&w, magic);
  cm_sealed_put(&w, t->fingerprint, sizeof t->fingerprint);
  cm_sealed_put(&w, &t->updates, sizeof t->updates);
  cm_sealed_put(&w, &t->steps, sizeof t->steps);
  cm_sealed_put(&w, &t->episodes, sizeof t->episodes);
  cm_sealed_put(&w, t->policy->parameter, numbers);
  cm_sealed_put(&w, t->moment, numbers);
  cm_sealed_put(&w, t->square, numbers);
  cm_sealed_put(&w, t->curve, t->updates * sizeof *t->curve);
  return cm_sealed_commit(&w, path, error);
}

/* Reads all fields, or leaves the training as it was. */
static cm_status restore(cm_training *t, cm_sealed_reader *r, const char *path, cm_error *error)
{
  unsigned char of[CM_SEAL_BYTES];
  uint32_t updates;
  uint64_t steps, episodes;
  size_t numbers = t->policy->count * sizeof(float);
  cm_sealed_get(r, of, sizeof of);
  if (memcmp(of, t->fingerprint, sizeof of) != 0)
    return cm_fail(error, CM_CONFLICT, "%s is a checkpoint of other options or other graphs: resume with those, or "
                   "begin anew", path);
  cm_sealed_get(r, &updates, sizeof updates);
  cm_sealed_get(r, &steps, sizeof steps);
  cm_sealed_get(r, &episodes, sizeof episodes);
  if (r->failed || updates > t->options.updates || r->size - r->at != 3 * numbers + updates * sizeof *t->curve)
    return cm_fail(error, CM_DAMAGED, "%s does not hold what a checkpoint after %u updates holds", path, updates);
  cm_sealed_get(r, t->policy->parameter, numbers);
  cm_sealed_get(r, t->moment, numbers);
  cm_sealed_get(r, t->square, numbers);
  cm_sealed_get(r, t->curve, updates * sizeof *t->curve);
  t->updates = updates;
  t->steps = steps;
  t->episodes = episodes;
  return CM_OK;
}

cm_status cm_training_resume(cm_training *training, const char *path, cm_error *error)
{
  char *bytes;
  size_t size;
  cm_sealed_reader r;
  if (cm_file_read(path, CHECKPOINT_BYTES_MAX, &bytes, &size, error) != CM_OK)
    return error->status;
  cm_status status = cm_sealed_open(&r, bytes, size, magic, "checkpoint", path, error);
  if (status == CM_OK)
    status = restore(training, &r, path, error);
  free(bytes);
  return status;
}
