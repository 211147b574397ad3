/* Training a pilot by evolution strategies (Salimans et al., Evolution Strategies as a Scalable Alternative to
 * Reinforcement Learning, 2017): a batch of graphs is flown by pairs of pilots whose numbers are changed at random, once up
 * and once down; what the one saves more than the other says which way to go. */
#include <math.h>

#include "base/threads.h"
#include "core/learning/pilot/pilot.h"
#include "core/learning/training/state.h"
#include "core/partition/options.h"

typedef struct work {
  const cm_policy *pilot;
  const cm_flight *flight; /* [options->batch] */
  const cm_train_options *options;
  uint64_t update;
  cm_run *run;
  double *value; /* [batch * draws * 2] log(hops) */
} work;

/* Every pair of every graph has changes of its own: the more ways are tried, the better the mean of what they say. */
static void draw_noise(const work *w, size_t pair, float *noise)
{
  cm_random random;
  uint64_t pairs = (uint64_t)w->options->draws * w->options->batch;
  cm_random_init(&random, w->options->seed, CM_STREAM_EPISODES, w->update * pairs + pair);
  cm_random_normals(&random, noise, w->pilot->count);
}

static cm_status fly_one(const work *w, size_t index, float *noise, uint32_t *at, cm_error *error)
{
  const cm_flight *f = &w->flight[index / 2 / w->options->draws];
  cm_policy changed = *w->pilot;
  double up = index % 2 == 0 ? w->options->noise : -w->options->noise;
  uint64_t hops;
  draw_noise(w, index / 2, noise);
  for (size_t i = 0; i < changed.count; i++)
    noise[i] = w->pilot->parameter[i] + (float)up * noise[i];
  changed.parameter = noise;
  memcpy(at, f->start, f->environment->nodes * sizeof *at);
  CM_TRY(cm_pilot_fly(&(cm_pilot_task){&changed, f->environment, f->tries, f->seed}, w->run, at, &hops, error));
  w->value[index] = log(fmax((double)hops, 1));
  return CM_OK;
}

static cm_status fly(void *context, size_t index, cm_error *error)
{
  const work *w = context;
  float *noise;
  uint32_t *at = NULL;
  cm_status status = CM_NEW_ALL(w->run->memory, error, CM_ARRAY(noise, w->pilot->count),
                                CM_ARRAY(at, w->flight[index / 2 / w->options->draws].environment->nodes));
  CM_THEN(status, fly_one(w, index, noise, at, error));
  CM_FREE(noise, at);
  return status;
}

/* The mean of what pairs say, in deviations of what the pairs of a graph say. */
static void add_up(const work *w, float *noise, float *gradient)
{
  uint32_t pairs = w->options->draws, batch = w->options->batch;
  memset(gradient, 0, w->pilot->count * sizeof *gradient);
  for (uint32_t b = 0; b < batch; b++) {
    const double *value = w->value + 2 * (size_t)b * pairs;
    double squares = 0;
    for (uint32_t q = 0; q < pairs; q++)
      squares += (value[2 * q] - value[2 * q + 1]) * (value[2 * q] - value[2 * q + 1]) / pairs;
    for (uint32_t p = 0; p < pairs && squares > 0; p++) {
      double worth = (value[2 * p] - value[2 * p + 1]) / sqrt(squares) / ((double)pairs * batch);
      draw_noise(w, (size_t)b * pairs + p, noise);
      for (size_t i = 0; i < w->pilot->count; i++)
        gradient[i] += (float)worth * noise[i];
    }
  }
}

cm_status cm_pilot_descend(const cm_training *training, const cm_flight *flight, float *gradient, cm_curve_point *point, cm_error *error)
{
  const cm_train_options *options = &training->options;
  const cm_policy *pilot = training->policy;
  cm_run quiet = *training->run; /* phases are the caller's */
  size_t flights = 2 * (size_t)options->batch * options->draws;
  quiet.on_progress = NULL;
  work w = {pilot, flight, options, training->updates, &quiet, NULL};
  float *noise = NULL;
  cm_status status = CM_NEW_ALL(quiet.memory, error, CM_ARRAY(w.value, flights), CM_ARRAY(noise, pilot->count));
  CM_THEN(status, cm_parallel(&quiet, flights, fly, &w, error));
  if (status == CM_OK) {
    double saved = 0, gained = 0;
    add_up(&w, noise, gradient);
    for (size_t i = 0; i < flights; i++) {
      const cm_flight *f = &flight[i / 2 / options->draws];
      saved += (log(fmax(f->sequential, 1)) - w.value[i]) / (double)flights;
      gained += (1 - exp(w.value[i]) / fmax(f->hops, 1)) / (double)flights;
    }
    point->episodes = (uint32_t)flights;
    point->reward = exp(saved);
    point->gained = gained;
  }
  CM_FREE(noise, w.value);
  return status;
}
