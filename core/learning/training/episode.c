#include "core/learning/training/episode.h"

#include <math.h>

#include "core/learning/agent/swap_refinement.h"
#include "core/partition/options.h"

double cm_environment_loss(const cm_environment *environment, const uint32_t *at, double *loss)
{
  double sum = 0;
  cm_environment_losses(environment, at, loss);
  for (uint32_t v = 0; v < environment->nodes; v++)
    sum += loss[v];
  return sum;
}

/* Scratch of an episode. */
typedef struct scratch {
  uint32_t *at, *drawn, *other; /* [nodes] */
  cm_swap_refinement exchange;
  float *position;       /* [2 nodes] */
  double *loss, *other_loss;  /* [nodes] */
  cm_policy_pass *pass;
} scratch;

static cm_status scratch_new(const cm_policy *policy, const cm_environment *environment, cm_memory *memory, scratch *s,
                             cm_error *error)
{
  uint32_t nodes = environment->nodes;
  if (CM_NEW_ALL(memory, error, CM_ARRAY(s->at, nodes), CM_ARRAY(s->other, nodes), CM_ARRAY(s->drawn, nodes),
                 CM_ARRAY(s->position, 2 * (size_t)nodes), CM_ARRAY(s->loss, nodes), CM_ARRAY(s->other_loss, nodes)) != CM_OK ||
      cm_swap_refinement_new(environment, memory, &s->exchange, error) != CM_OK ||
      cm_policy_pass_new(&policy->shape, nodes, memory, &s->pass, error) != CM_OK)
    return error->status;
  return CM_OK;
}

static void scratch_free(scratch *s)
{
  CM_FREE(s->at, s->other, s->drawn);
  cm_swap_refinement_free(&s->exchange);
  CM_FREE(s->position, s->loss, s->other_loss);
  cm_policy_pass_free(s->pass);
}

/* Turns, mirrors and shakes a start. */
static cm_status begin(const cm_play *play, const uint32_t *start, cm_random *random, scratch *s, cm_error *error)
{
  const cm_environment *environment = play->example->environment;
  const cm_axes *a = environment->axes;
  double noise = play->options->noise, bound = (double)play->policy->bound;
  uint64_t bits = cm_random_next(random);
  float x = bits & 1 ? -1 : 1, y = bits & 2 ? -1 : 1, shake = (float)(noise * cm_random_unit(random));
  cm_random_normals(random, s->position, 2 * (size_t)environment->nodes);
  for (uint32_t v = 0; v < environment->nodes; v++) {
    float at_x = (float)cm_position(a->column[start[v]], a->columns, bound);
    float at_y = (float)cm_position(a->row[start[v]], a->rows, bound);
    float *p = s->position + 2 * (size_t)v;
    p[0] = x * at_x + shake * (float)bound * p[0];
    p[1] = y * at_y + shake * (float)bound * p[1];
    if (bits & 4) {
      float kept = p[0];
      p[0] = p[1];
      p[1] = kept;
    }
  }
  return cm_environment_assign(environment, CM_RULE_SLICES, s->position, bound, s->at, error);
}

static cm_status look_new(const cm_environment *environment, cm_memory *memory, cm_look *look, cm_error *error)
{
  size_t rows = 2 * (size_t)environment->nodes;
  look->environment = environment;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(look->input, rows * CM_POLICY_INPUTS), CM_ARRAY(look->action[0], rows),
                    CM_ARRAY(look->action[1], rows), CM_ARRAY(look->mean, rows), CM_ARRAY(look->log_deviation, rows),
                    CM_ARRAY(look->advantage, environment->nodes)));
  return CM_OK;
}

/* A node's advantage: what its own edges lose less with one draw than with the other, and a share of what the whole
 * placement does. Of the whole only a node's own edges depend on where it wants to be, save for conflicts over cores:
 * the rest is noise to it. */
static void judge(const scratch *s, const cm_train_options *options, cm_look *look)
{
  uint32_t nodes = look->environment->nodes;
  double whole = 0, squares = 0;
  for (uint32_t v = 0; v < nodes; v++) {
    double better = (s->other_loss[v] - s->loss[v]) / 2;
    whole += better;
    squares += better * better;
  }
  double unit = sqrt(squares / nodes);
  for (uint32_t v = 0; v < nodes; v++) {
    double better = unit > 0 ? (s->other_loss[v] - s->loss[v]) / 2 / unit : 0;
    double all = unit > 0 ? whole / unit / sqrt(nodes) : 0;
    look->advantage[v] = (float)(fmax(-3, fmin(3, better)) + options->whole * fmax(-3, fmin(3, all)));
  }
}

static cm_status look_once(const cm_play *play, cm_random *random, scratch *s, cm_look *look, double *loss, cm_error *error)
{
  const cm_policy *policy = play->policy;
  const cm_environment *environment = look->environment;
  double bound = (double)policy->bound;
  CM_TRY(cm_environment_observe(environment, s->at, look->input, error));
  cm_policy_forward(policy, environment->laplacian, look->input, s->pass);
  cm_random_normals(random, s->position, 2 * (size_t)environment->nodes);
  for (size_t r = 0; r < 2 * (size_t)environment->nodes; r++) {
    look->mean[r] = s->pass->mean[r];
    look->log_deviation[r] = logf(s->pass->deviation[r]);
    look->action[0][r] = s->pass->mean[r] + s->pass->deviation[r] * s->position[r];
    look->action[1][r] = s->pass->mean[r] - s->pass->deviation[r] * s->position[r];
  }
  CM_TRY(cm_environment_assign(environment, CM_RULE_NEAREST, look->action[0], bound, s->drawn, error));
  CM_TRY(cm_environment_assign(environment, CM_RULE_NEAREST, look->action[1], bound, s->other, error));
  double one = cm_environment_loss(environment, s->drawn, s->loss), other = cm_environment_loss(environment, s->other, s->other_loss);
  judge(s, play->options, look);
  if (other < one) { /* what the better draw has to offer first */
    uint32_t *kept = s->drawn;
    s->drawn = s->other;
    s->other = kept;
  }
  if (cm_swap_refinement_carry_out(&s->exchange, s->drawn, s->at) + cm_swap_refinement_carry_out(&s->exchange, s->other, s->at) > 0)
    *loss = cm_environment_loss(environment, s->at, s->loss);
  return CM_OK;
}

cm_status cm_episode_play(const cm_play *play, uint64_t number, cm_episode *episode, cm_error *error)
{
  const cm_environment *environment = play->example->environment;
  const cm_train_options *options = play->options;
  cm_memory *memory = play->run->memory;
  cm_random random;
  scratch s = {0};
  cm_episode made = {.example = episode->example};
  cm_random_init(&random, options->seed, CM_STREAM_EPISODES, number);
  cm_status status = scratch_new(play->policy, environment, memory, &s, error);
  CM_THEN(status, CM_NEW(memory, made.look, options->rounds, error));
  CM_THEN(status, begin(play, play->start[cm_random_below(&random, CM_LAYOUTS)], &random, &s, error));
  double first = status == CM_OK ? cm_environment_loss(environment, s.at, s.loss) : 0, loss = first;
  for (uint32_t r = 0; r < options->rounds && status == CM_OK; r++) {
    status = look_new(environment, memory, &made.look[made.looks++], error);
    CM_THEN(status, look_once(play, &random, &s, &made.look[r], &loss, error));
  }
  scratch_free(&s);
  CM_TRY_OR(status, cm_episode_free(&made));
  made.reward = loss > 0 ? play->sequential / loss : 1;
  made.gained = first > 0 ? 1 - loss / first : 0;
  *episode = made;
  return CM_OK;
}

void cm_episode_free(cm_episode *episode)
{
  for (uint32_t r = 0; episode->look != NULL && r < episode->looks; r++) {
    cm_look *look = &episode->look[r];
    CM_FREE(look->input, look->action[0], look->action[1], look->mean, look->log_deviation, look->advantage);
    cm_letter_look_free(look);
  }
  cm_free(episode->look);
  *episode = (cm_episode){0};
}

/* One Gaussian: the clipped objective's derivative by mean and by log(deviation) of its draws. */
static void descend_row(const cm_look *look, size_t r, const cm_policy_pass *pass, const cm_train_options *options, float *d_mean,
                        float *d_deviation)
{
  for (int draw = 0; draw < 2; draw++) {
    double advantage = (double)look->advantage[r / 2] * (draw == 0 ? 1 : -1);
    double action = (double)look->action[draw][r], deviation = (double)pass->deviation[r];
    double was = (action - (double)look->mean[r]) / exp((double)look->log_deviation[r]);
    double is = (action - (double)pass->mean[r]) / deviation;
    double ratio = exp(fmin((was * was - is * is) / 2 + (double)look->log_deviation[r] - log(deviation), 20));
    if (advantage > 0 ? ratio > 1 + options->clip : ratio < 1 - options->clip)
      continue;
    *d_mean -= (float)(advantage * ratio * is / deviation);
    *d_deviation -= (float)(advantage * ratio * (is * is - 1));
  }
}

cm_status cm_look_descend(const cm_policy *policy, const cm_look *look, const cm_train_options *options,
                          cm_memory *memory, float *gradient, cm_error *error)
{
  size_t rows = 2 * (size_t)look->environment->nodes;
  cm_policy_pass *pass = NULL;
  float *d_mean, *d_deviation = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(d_mean, rows), CM_ARRAY(d_deviation, rows));
  CM_THEN(status, cm_policy_pass_new(&policy->shape, look->environment->nodes, memory, &pass, error));
  if (status == CM_OK) {
    cm_policy_forward(policy, look->environment->laplacian, look->input, pass);
    for (size_t r = 0; r < rows; r++) {
      descend_row(look, r, pass, options, &d_mean[r], &d_deviation[r]);
      d_mean[r] /= (float)(2 * rows);
      d_deviation[r] = (d_deviation[r] - (float)(2 * options->entropy)) / (float)(2 * rows);
    }
    cm_policy_backward(policy, look->environment->laplacian, look->input, pass, d_mean, d_deviation, gradient);
  }
  CM_FREE(d_mean, d_deviation);
  cm_policy_pass_free(pass);
  return status;
}

void cm_letter_look_free(cm_look *look)
{
  cm_letter_view_free(&look->view);
  cm_letter_seats_free(&look->seats);
  CM_FREE(look->drawn, look->was, look->worth);
}
