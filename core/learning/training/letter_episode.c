/* Episodes of the letter (source 1, steps s600 to s800): one time step, in which every node of a graph is drawn a
 * physical node from its Gaussian, several times over from the same state; what a draw is worth is its reward beside the
 * others'. It is a figure of the whole placement, as the source asks. */
#include <math.h>

#include "core/learning/reward.h"
#include "core/learning/training/episode.h"
#include "core/partition/options.h"

cm_status cm_letter_reward(const cm_example *example, const uint32_t *at, cm_run *run, double *reward, cm_error *error)
{
  const cm_environment *environment = example->environment;
  cm_reward_task task = {.parts = environment->graph,
                         .multicast = example->multicast.first != NULL ? &example->multicast : NULL,
                         .chip = environment->chip, .rule = CM_TURNS_XY, .distance = CM_DISTANCE_MANHATTAN};
  uint32_t *core;
  cm_reward r;
  CM_TRY(CM_NEW(run->memory, core, environment->nodes, error));
  for (uint32_t v = 0; v < environment->nodes; v++)
    core[v] = environment->site[at[v]];
  cm_status status = cm_reward_compute(&task, core, run, &r, error);
  cm_free(core);
  CM_END(status, *reward = r.reward, );
}

static cm_status look_new(const cm_play *play, uint32_t p, cm_look *look, cm_error *error)
{
  const cm_environment *environment = play->example->environment;
  const uint32_t axes = play->policy->shape.kind, draws = play->options->draws;
  cm_run *run = play->run;
  look->environment = environment;
  look->draws = draws;
  CM_TRY(cm_letter_view_new(environment, p, run, &look->view, error));
  size_t rows = (size_t)look->view.nodes * axes;
  CM_TRY(cm_letter_seats_new(environment, p, axes, CM_DISTANCE_MANHATTAN, &look->seats, error));
  look->places = look->seats.places;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(look->drawn, rows * draws), CM_ARRAY(look->was, rows * draws)));
  return CM_NEW(run->memory, look->worth, (size_t)look->view.nodes * draws, error);
}

cm_status cm_look_draw(cm_look *look, const cm_gaussians *gaussians, uint32_t first, uint32_t count, cm_random *random,
                       cm_error *error)
{
  const uint32_t axes = look->places.axes, *n = look->places.count;
  const size_t rows = (size_t)look->view.nodes * axes;
  double *probability;
  CM_TRY(CM_NEW(look->environment->memory, probability, n[0] > n[1] ? n[0] : n[1], error));
  for (size_t r = 0; r < rows; r++) {
    cm_letter_probabilities((double)gaussians->mean[r], (double)gaussians->deviation[r], n[r % axes], gaussians->bound, probability);
    for (uint32_t k = first; k < first + count; k++) {
      double left = cm_random_unit(random);
      uint32_t place = 0;
      while (place + 1 < n[r % axes] && left >= probability[place])
        left -= probability[place++];
      look->drawn[k * rows + r] = place;
      look->was[k * rows + r] = (float)log(fmax(probability[place], 1e-30));
    }
  }
  cm_free(probability);
  return CM_OK;
}

/* Draws places for all rows of a look. */
static cm_status draw(const cm_policy *policy, cm_look *look, cm_random *random, cm_memory *memory, cm_error *error)
{
  cm_letter_pass *pass;
  CM_TRY(cm_letter_pass_new(&policy->shape, look->view.rows, memory, &pass, error));
  cm_letter_forward(policy, &look->view, pass);
  const cm_gaussians gaussians = {pass->mean, pass->deviation, (double)policy->bound};
  cm_status status = cm_look_draw(look, &gaussians, 0, look->draws, random, error);
  cm_letter_pass_free(pass);
  return status;
}

/* What a draw is worth: by how many deviations its reward is above the mean of the draws, and, with options->own, the
 * same for what each node alone loses. */
static void judge(const cm_train_options *options, const double *reward, const double *loss, cm_episode *episode)
{
  uint32_t draws = options->draws, nodes = episode->look[0].environment->nodes;
  double mean = 0, square = 0;
  for (uint32_t k = 0; k < draws; k++)
    mean += reward[k] / draws;
  for (uint32_t k = 0; k < draws; k++)
    square += (reward[k] - mean) * (reward[k] - mean) / draws;
  for (uint32_t l = 0; l < episode->looks; l++) {
    cm_look *look = &episode->look[l];
    const cm_environment *environment = look->environment;
    for (uint32_t i = 0; i < look->view.nodes; i++) {
      uint32_t v = environment->node[environment->node_first[l] + i];
      double own = 0, own_square = 0;
      for (uint32_t k = 0; k < draws; k++)
        own += loss[(size_t)k * nodes + v] / draws;
      for (uint32_t k = 0; k < draws; k++)
        own_square += pow(loss[(size_t)k * nodes + v] - own, 2) / draws;
      for (uint32_t k = 0; k < draws; k++) {
        double whole = square > 0 ? (reward[k] - mean) / sqrt(square) : 0;
        double alone = own_square > 0 ? (own - loss[(size_t)k * nodes + v]) / sqrt(own_square) : 0;
        look->worth[(size_t)k * look->view.nodes + i] = (float)(options->whole * whole + options->own * alone);
      }
    }
  }
}

/* What the draws of an episode come to. */
typedef struct draws {
  uint32_t *at;   /* [nodes] of the one under way */
  double *reward; /* [draws] */
  double *loss;   /* [draws * nodes] */
} draws;

static cm_status play_draws(const cm_play *play, cm_random *random, draws *d, cm_episode *made, cm_error *error)
{
  const cm_policy *policy = play->policy;
  const cm_train_options *options = play->options;
  const cm_environment *environment = play->example->environment;
  cm_run *run = play->run;
  double mean = 0;
  for (uint32_t p = 0; p < environment->processors; p++) {
    cm_look *look = &made->look[made->looks++];
    CM_TRY(look_new(play, p, look, error));
    CM_TRY(draw(policy, look, random, run->memory, error));
  }
  for (uint32_t k = 0; k < options->draws; k++) {
    for (uint32_t p = 0; p < environment->processors; p++) {
      cm_look *look = &made->look[p];
      cm_letter_seats_by_node(&look->seats, look->drawn + (size_t)k * look->seats.rows, d->at);
    }
    CM_TRY(cm_letter_reward(play->example, d->at, run, &d->reward[k], error));
    if (options->own > 0)
      cm_environment_losses(environment, d->at, d->loss + (size_t)k * environment->nodes);
    mean += (d->reward[k] < 0 ? -play->sequential / d->reward[k] : 1) / options->draws;
  }
  judge(options, d->reward, d->loss, made);
  made->reward = mean;
  made->gained = mean > 0 ? 1 - 1 / mean : 0;
  return CM_OK;
}

cm_status cm_letter_play(const cm_play *play, uint64_t number, cm_episode *episode, cm_error *error)
{
  const cm_environment *environment = play->example->environment;
  const uint32_t count = play->options->draws;
  cm_memory *memory = play->run->memory;
  draws d = {0};
  cm_episode made = {.example = episode->example};
  cm_random random;
  cm_random_init(&random, play->options->seed, CM_STREAM_EPISODES, number);
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(made.look, environment->processors), CM_ARRAY(d.at, environment->nodes),
                                CM_ARRAY(d.reward, count), CM_ARRAY(d.loss, (size_t)count * environment->nodes));
  CM_THEN(status, play_draws(play, &random, &d, &made, error));
  CM_FREE(d.at, d.reward, d.loss);
  CM_END(status, *episode = made, cm_episode_free(&made));
}

/* The clipped objective's derivative by mean and log(deviation) of one Gaussian, all draws together. */
static void descend_row(const cm_look *look, size_t r, const cm_letter_gaussian *g, const cm_train_options *options, float *d_mean,
                        float *d_deviation)
{
  const uint32_t axes = look->places.axes;
  size_t rows = (size_t)look->view.nodes * axes;
  double by_mean, by_deviation, sum_mean = 0, sum_deviation = 0;
  for (uint32_t k = 0; k < look->draws; k++) {
    double worth = (double)look->worth[(size_t)k * look->view.nodes + r / axes];
    double is = cm_letter_log_probability(g, look->drawn[k * rows + r], &by_mean, &by_deviation);
    double ratio = exp(fmin(is - (double)look->was[k * rows + r], 20));
    if (worth > 0 ? ratio > 1 + options->clip : ratio < 1 - options->clip)
      continue;
    sum_mean += worth * ratio * by_mean;
    sum_deviation += worth * ratio * by_deviation;
  }
  *d_mean = (float)(-sum_mean / (double)(rows * look->draws));
  *d_deviation = (float)(-(sum_deviation / look->draws + options->entropy) / (double)rows);
}

void cm_look_slopes(const cm_look *look, const cm_gaussians *gaussians, const cm_train_options *options, float *d_mean,
                    float *d_deviation)
{
  const uint32_t axes = look->places.axes;
  for (size_t r = 0; r < (size_t)look->view.nodes * axes; r++) {
    cm_letter_gaussian g = cm_letter_gaussian_of((double)gaussians->mean[r], (double)gaussians->deviation[r],
                                                 look->places.count[r % axes], gaussians->bound);
    descend_row(look, r, &g, options, &d_mean[r], &d_deviation[r]);
  }
}

cm_status cm_letter_descend(const cm_policy *policy, const cm_look *look, const cm_train_options *options,
                            cm_memory *memory, float *gradient, cm_error *error)
{
  size_t rows = (size_t)look->view.nodes * policy->shape.kind;
  cm_letter_pass *pass = NULL;
  float *d_mean, *d_deviation = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(d_mean, rows), CM_ARRAY(d_deviation, rows));
  CM_THEN(status, cm_letter_pass_new(&policy->shape, look->view.rows, memory, &pass, error));
  if (status == CM_OK) {
    cm_letter_forward(policy, &look->view, pass);
    cm_look_slopes(look, &(cm_gaussians){pass->mean, pass->deviation, (double)policy->bound}, options, d_mean, d_deviation);
    cm_letter_backward(policy, &look->view, pass, d_mean, d_deviation, gradient);
  }
  CM_FREE(d_mean, d_deviation);
  cm_letter_pass_free(pass);
  return status;
}
