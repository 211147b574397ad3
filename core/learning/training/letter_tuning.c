/* Happy path: views and networks of all processors -> blocks of draws until their rewards reach the threshold -> what each draw is worth
 * -> steps of Adam -> the next update; at the end every node to its most probable core. What can fail: memory, cancel. */
#include "core/learning/training/letter_tuning.h"

#include <math.h>

#include "core/learning/letter/full_letter.h"
#include "core/learning/training/adam.h"
#include "core/learning/training/episode.h"
#include "core/partition/options.h"

enum { BLOCK = 8, DRAWS_MAX = 64 /* of an update */ };

/* Of draws as good as the sequential placement; of Adam at first, a tenth of it in the end. */
static const double threshold = 32, rate = 2e-3;

/* A processor. */
typedef struct desk {
  cm_look look;
  cm_full_letter *letter;
  cm_adam adam;
  float *gradient, *d_mean, *d_deviation, *drawn; /* [count], [rows] three times */
} desk;

typedef struct tuning {
  const cm_letter_tuning *task;
  cm_run *run;
  cm_random random;
  uint32_t desks;      /* processors that have nodes */
  desk *desk;          /* [processors] */
  cm_reward_state *state;
  uint32_t *at, *core; /* [nodes] */
  double sequential;   /* what the sequential placement loses */
  double reward[DRAWS_MAX];
  uint32_t draws;      /* since the last update */
} tuning;

/* ---- beginning and end ---- */

static void desk_free(desk *d)
{
  cm_letter_look_free(&d->look);
  cm_full_letter_free(d->letter);
  cm_adam_free(&d->adam);
  CM_FREE(d->gradient, d->d_mean, d->d_deviation, d->drawn);
}

static void tuning_free(tuning *t)
{
  for (uint32_t p = 0; t->desk != NULL && p < t->desks; p++)
    desk_free(&t->desk[p]);
  cm_free(t->desk);
  cm_reward_state_free(t->state);
  CM_FREE(t->at, t->core);
}

static cm_status desk_new(tuning *t, uint32_t p, cm_error *error)
{
  const cm_letter_tuning *task = t->task;
  desk *d = &t->desk[t->desks++];
  cm_look *look = &d->look;
  cm_memory *memory = t->run->memory;
  look->environment = task->environment;
  CM_TRY(cm_letter_view_new(task->environment, p, t->run, &look->view, error));
  CM_TRY(cm_letter_seats_new(task->environment, p, task->axes, task->task->distance, &look->seats, error));
  look->places = look->seats.places;
  const size_t rows = look->seats.rows;
  if (cm_full_letter_new(&look->view, task->axes, task->seed + p, memory, &d->letter, error) != CM_OK ||
      cm_adam_new(d->letter->count, memory, &d->adam, error) != CM_OK ||
      CM_NEW_ALL(memory, error, CM_ARRAY(d->gradient, d->letter->count), CM_ARRAY(d->d_mean, rows),
                 CM_ARRAY(d->d_deviation, rows), CM_ARRAY(d->drawn, rows), CM_ARRAY(look->drawn, rows * DRAWS_MAX),
                 CM_ARRAY(look->was, rows * DRAWS_MAX), CM_ARRAY(look->worth, (size_t)look->view.nodes * DRAWS_MAX)) != CM_OK)
    return error->status;
  return CM_OK;
}

static cm_status tuning_new(tuning *t, cm_error *error)
{
  const cm_environment *e = t->task->environment;
  cm_memory *memory = t->run->memory;
  cm_random_init(&t->random, t->task->seed, CM_STREAM_EPISODES, 0);
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(t->desk, e->processors), CM_ARRAY(t->at, e->nodes), CM_ARRAY(t->core, e->nodes)));
  for (uint32_t p = 0; p < e->processors; p++)
    if (e->node_first[p + 1] > e->node_first[p] && desk_new(t, p, error) != CM_OK)
      return error->status;
  cm_reward_task rewarded = *t->task->task;
  rewarded.site = e->site;
  rewarded.sites = e->sites;
  CM_TRY(cm_reward_state_new(&rewarded, e->site, t->run, &t->state, error));
  t->sequential = (double)cm_reward_state_loss(t->state) / cm_reward_state_unit(t->state);
  return CM_OK;
}

/* ---- an update ---- */

/* R of t->at. Where dead links leave multicast nodes no way, they count as having one channel. */
static cm_status reward_of(tuning *t, double *reward, cm_error *error)
{
  const cm_environment *e = t->task->environment;
  cm_reward r;
  for (uint32_t v = 0; v < e->nodes; v++)
    t->core[v] = e->site[t->at[v]];
  CM_TRY(cm_reward_state_place(t->state, t->core, error));
  cm_status status = cm_reward_state_reward(t->state, &r, error);
  if (status == CM_NO_ROUTE)
    r.reward = -(double)cm_reward_state_loss(t->state) / cm_reward_state_unit(t->state) * exp(cm_chip_forbidden_turns(t->task->task->chip, t->task->task->rule));
  else if (status != CM_OK)
    return status;
  *reward = r.reward;
  return CM_OK;
}

/* Where a draw puts a processor's nodes. */
static void seat(tuning *t, desk *d, uint32_t k)
{
  cm_look *look = &d->look;
  const uint32_t *place = look->drawn + (size_t)k * look->seats.rows;
  if (!t->task->by_core) {
    cm_letter_seats_by_node(&look->seats, place, t->at);
    return;
  }
  for (uint32_t r = 0; r < look->seats.rows; r++)
    d->drawn[r] = (float)cm_position(place[r], look->places.count[r % look->places.axes], (double)d->letter->bound);
  cm_letter_seats_by_core(&look->seats, d->drawn, d->letter->deviation, (double)d->letter->bound, t->at);
}

static cm_gaussians gaussians_of(const cm_full_letter *letter)
{
  return (cm_gaussians){letter->mean, letter->deviation, (double)letter->bound};
}

/* Draws and rewards until the rewards add up to the threshold. */
static cm_status collect(tuning *t, cm_error *error)
{
  double total = 0;
  t->draws = 0;
  for (uint32_t p = 0; p < t->desks; p++)
    cm_full_letter_forward(t->desk[p].letter);
  while (total < threshold && t->draws < DRAWS_MAX) {
    for (uint32_t p = 0; p < t->desks; p++) {
      const cm_gaussians g = gaussians_of(t->desk[p].letter);
      CM_TRY(cm_look_draw(&t->desk[p].look, &g, t->draws, BLOCK, &t->random, error));
    }
    for (uint32_t k = t->draws; k < t->draws + BLOCK; k++) {
      for (uint32_t p = 0; p < t->desks; p++)
        seat(t, &t->desk[p], k);
      CM_TRY(reward_of(t, &t->reward[k], error));
      total += t->reward[k] < 0 ? -t->sequential / t->reward[k] : 1;
    }
    t->draws += BLOCK;
  }
  return CM_OK;
}

/* How many deviations each draw's reward is above the mean: the same for every node. */
static void judge(tuning *t)
{
  double mean = 0, square = 0;
  for (uint32_t k = 0; k < t->draws; k++)
    mean += t->reward[k] / t->draws;
  for (uint32_t k = 0; k < t->draws; k++)
    square += (t->reward[k] - mean) * (t->reward[k] - mean) / t->draws;
  for (uint32_t p = 0; p < t->desks; p++) {
    cm_look *look = &t->desk[p].look;
    look->draws = t->draws;
    for (uint32_t k = 0; k < t->draws; k++)
      for (uint32_t i = 0; i < look->view.nodes; i++)
        look->worth[(size_t)k * look->view.nodes + i] = square > 0 ? (float)((t->reward[k] - mean) / sqrt(square)) : 0;
  }
}

static void improve(tuning *t, double now)
{
  static const cm_train_options options = {.clip = 0.2, .entropy = 0.002};
  for (uint32_t p = 0; p < t->desks; p++) {
    desk *d = &t->desk[p];
    const cm_gaussians g = gaussians_of(d->letter);
    cm_look_slopes(&d->look, &g, &options, d->d_mean, d->d_deviation);
    cm_full_letter_backward(d->letter, d->d_mean, d->d_deviation, d->gradient);
    cm_adam_step(&d->adam, now, d->gradient, d->letter->parameter);
  }
}

/* Every node to its most probable core, or the other way round. */
static void conclude(tuning *t)
{
  for (uint32_t p = 0; p < t->desks; p++) {
    desk *d = &t->desk[p];
    cm_look *look = &d->look;
    const double bound = (double)d->letter->bound;
    cm_full_letter_forward(d->letter);
    for (uint32_t r = 0; r < look->seats.rows; r++)
      look->drawn[r] = cm_axis_likeliest((double)d->letter->mean[r], look->places.count[r % look->places.axes], bound);
    if (t->task->by_core)
      cm_letter_seats_by_core(&look->seats, d->letter->mean, d->letter->deviation, bound, t->at);
    else
      cm_letter_seats_by_node(&look->seats, look->drawn, t->at);
  }
}

static cm_status tune(tuning *t, cm_letter_tuned *tuned, cm_error *error)
{
  const uint64_t wanted = t->task->draws;
  cm_letter_tuned so_far = {0};
  while (so_far.draws < wanted && t->sequential > 0) {
    CM_TRY(collect(t, error));
    judge(t);
    improve(t, rate * (1 - 0.9 * (double)so_far.draws / (double)wanted));
    so_far.draws += t->draws;
    so_far.updates++;
    CM_TRY(cm_run_progress(t->run, fmin(1, (double)so_far.draws / (double)wanted), -1, so_far.draws, t->reward[0], error));
  }
  conclude(t);
  *tuned = so_far;
  return CM_OK;
}

cm_status cm_letter_tune(const cm_letter_tuning *task, cm_run *run, uint32_t *at, cm_letter_tuned *tuned, cm_error *error)
{
  tuning t = {.task = task, .run = run};
  cm_run_phase(run, "train");
  cm_status status = tuning_new(&t, error);
  CM_THEN(status, tune(&t, tuned, error));
  if (status == CM_OK)
    memcpy(at, t.at, task->environment->nodes * sizeof *at);
  tuning_free(&t);
  return status;
}
