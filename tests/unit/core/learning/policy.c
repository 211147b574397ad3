/* core/learning: what a policy is told, the network forth and back, its Gaussians, its files. The truth here is the
 * seed's own form, a padded matrix, taken through the network in double precision with plain loops. */
#include "tests/unit/parts.h"

#include <math.h>
#include <sodium.h>

#include "core/learning/policy/parameters.h"
#include "core/learning/training/episode.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  ck_assert_int_ge(sodium_init(), 0);
  cm_run_init(&run);
}

static float small(cm_random *random)
{
  return (float)(cm_random_unit(random) * 2 - 1);
}

/* ---- features ---- */

static cm_flows *flows_of(uint32_t parts, uint64_t count, const uint32_t (*flow)[3])
{
  cm_flows *f;
  ck_ok(cm_flows_new(parts, count, &run, &f, &error));
  for (uint64_t i = 0; i < count; i++) { /* ascending by source */
    f->target[i] = flow[i][1];
    f->weight[i] = flow[i][2];
    for (uint32_t p = flow[i][0] + 1; p <= parts; p++)
      f->first[p] = i + 1;
  }
  return f;
}

START_TEST(features_by_hand)
{
  static const uint32_t flow[][3] = {{0, 1, 5}, {0, 2, 3}, {2, 0, 1}, {3, 0, 7}};
  static const double right[4][CM_FEATURES] = {
    {1, 2, 2, 4, 8, 8, 16}, {0, 1, 0, 1, 5, 0, 5}, {0, 1, 1, 2, 3, 1, 4}, {0, 0, 1, 1, 0, 7, 7}};
  cm_flows *f = flows_of(4, 4, flow);
  uint64_t first[] = {0, 2, 2, 2, 2};
  uint32_t target[] = {1, 2};
  cm_multicast multicast = {4, 1, first, target};
  double feature[4 * CM_FEATURES];
  float normal[4 * CM_FEATURES];
  cm_features_count(f, &multicast, feature);
  for (int v = 0; v < 4; v++)
    for (int k = 0; k < CM_FEATURES; k++)
      ck_assert_double_eq(feature[v * CM_FEATURES + k], right[v][k]);
  cm_features_normalise(feature, 4, normal);
  ck_assert_float_eq_tol(normal[CM_FEATURE_WEIGHT], 1, 1e-6f);
  ck_assert_float_eq_tol(normal[2 * CM_FEATURES + CM_FEATURE_WEIGHT], 0, 1e-6f);
  ck_assert_float_eq_tol(normal[CM_FEATURES + CM_FEATURE_WEIGHT], 1.0f / 12, 1e-6f);
  ck_assert_float_eq_tol(normal[2 * CM_FEATURES + CM_FEATURE_CHANNELS], 1.0f / 3, 1e-6f);
  cm_features_normalise(feature, 1, normal); /* all alike */
  for (int k = 0; k < CM_FEATURES; k++)
    ck_assert_float_eq(normal[k], 0);
  cm_flows_free(f);
}
END_TEST

/* ---- the Laplacian ---- */

START_TEST(sparse_is_padded)
{
  cm_random random;
  cm_random_init(&random, 3, 1, 0);
  for (int round = 0; round < 6; round++) {
    uint32_t n = 3 + below(&random, 20), side = n + below(&random, 9), width = 1 + below(&random, 20);
    cm_graph *g = parts_planted(&random, n, 3, 60, 5, 1000, &run); /* some vertices may have no edge */
    cm_laplacian *l;
    ck_ok(cm_laplacian_new(g, &run, &l, &error));
    float *matrix = network_array((size_t)side * side, sizeof *matrix), *x = network_array(n * width, sizeof *x);
    float *y = network_array(n * width, sizeof *y), *z = network_array(n * width, sizeof *z);
    float *scratch = network_array(n * width, sizeof *scratch);
    laplacian_pad(l, side, matrix);
    for (uint32_t i = 0; i < n * width; i++)
      x[i] = small(&random);
    cm_laplacian_apply(l, width, x, y);
    cm_laplacian_apply_transposed(l, width, x, scratch, z);
    for (uint32_t v = 0; v < side; v++)
      for (uint32_t k = 0; k < width; k++) {
        double row = 0, column = 0;
        for (uint32_t u = 0; u < n; u++) {
          row += (double)matrix[v * side + u] * (double)x[u * width + k];
          column += (double)matrix[u * side + v] * (double)x[u * width + k];
        }
        ck_assert_double_eq_tol(v < n ? (double)y[v * width + k] : 0, row, 1e-5);
        ck_assert_double_eq_tol(v < n ? (double)z[v * width + k] : 0, column, 1e-5);
      }
    for (uint32_t v = 0; v < n; v++) { /* a row of a normalised Laplacian adds up to nothing */
      double sum = 0;
      for (uint32_t u = 0; u < side; u++)
        sum += (double)matrix[v * side + u];
      ck_assert_double_eq_tol(sum, 0, 1e-5);
      ck_assert_float_eq(matrix[v * side + v], g->first[v + 1] > g->first[v]);
    }
    CM_FREE(matrix, x, y, z, scratch);
    cm_laplacian_free(l);
    cm_graph_free(g);
  }
}
END_TEST

/* ---- the network ---- */

/* A policy on a graph with input of its own. */
typedef struct bed {
  cm_graph *graph;
  cm_laplacian *laplacian;
  cm_policy *policy;
  cm_policy_pass *pass;
  float *input;
  uint32_t nodes, side;
  float *matrix; /* padded */
} bed;

static bed bed_new(uint32_t nodes, uint32_t side, uint32_t layers, cm_random *random)
{
  bed b = {.nodes = nodes, .side = side};
  cm_policy_shape shape = {CM_POLICY_INPUTS, layers, 6, 5, 0};
  b.graph = parts_planted(random, nodes, 2, 50, 20, 100, &run);
  ck_ok(cm_laplacian_new(b.graph, &run, &b.laplacian, &error));
  ck_ok(cm_policy_new(&shape, 1.5f, 7, &b.policy, &error));
  for (size_t i = 0; i < b.policy->count; i++)
    b.policy->parameter[i] = 0.4f * small(random);
  ck_ok(cm_policy_pass_new(&shape, nodes, NULL, &b.pass, &error));
  b.input = network_array(2 * (size_t)nodes * CM_POLICY_INPUTS, sizeof *b.input);
  for (size_t i = 0; i < 2 * (size_t)nodes * CM_POLICY_INPUTS; i++)
    b.input[i] = i % CM_POLICY_INPUTS == CM_INPUT_STEP ? 0.25f : small(random);
  b.matrix = network_array((size_t)side * side, sizeof *b.matrix);
  laplacian_pad(b.laplacian, side, b.matrix);
  return b;
}

static void bed_free(bed *b)
{
  CM_FREE(b->input, b->matrix);
  cm_policy_pass_free(b->pass);
  cm_policy_free(b->policy);
  cm_laplacian_free(b->laplacian);
  cm_graph_free(b->graph);
}

/* to[rows * width] += from[rows * inputs] times weights */
static void multiply(const double *from, size_t rows, uint32_t inputs, const double *weight, uint32_t width, double *to)
{
  for (size_t r = 0; r < rows; r++)
    for (uint32_t k = 0; k < width; k++)
      for (uint32_t i = 0; i < inputs; i++)
        to[r * width + k] += from[r * inputs + i] * weight[i * width + k];
}

static void finish(double *x, size_t rows, uint32_t width, const double *bias, bool relu)
{
  for (size_t r = 0; r < rows; r++)
    for (uint32_t k = 0; k < width; k++) {
      double sum = x[r * width + k] + bias[k];
      x[r * width + k] = relu && sum < 0 ? 0 : sum;
    }
}

/* The padded network in double precision: mean and log(deviation) [2 nodes]. */
static void reference(const bed *b, const double *parameter, double *mean, double *log_deviation)
{
  const cm_policy_shape *s = &b->policy->shape;
  cm_policy_parameters n = cm_policy_parameters_of(s);
  size_t rows = 2 * (size_t)b->side;
  uint32_t widest = CM_POLICY_INPUTS;
  double *x = network_array(rows * widest, sizeof *x), *l = network_array(rows * widest, sizeof *l);
  double *y = network_array(rows * widest, sizeof *y), *input = network_array(rows * widest, sizeof *input);
  for (size_t i = 0; i < 2 * (size_t)b->nodes * CM_POLICY_INPUTS; i++)
    x[i] = input[i] = (double)b->input[i];
  for (uint32_t layer = 0; layer < s->layers; layer++) {
    uint32_t wide = 2 * n.below.inputs[layer];
    memset(l, 0, rows * widest * sizeof *l);
    memset(y, 0, rows * widest * sizeof *y);
    for (uint32_t v = 0; v < b->side; v++)
      for (uint32_t u = 0; u < b->side; u++)
        for (uint32_t k = 0; k < wide; k++)
          l[v * wide + k] += (double)b->matrix[v * b->side + u] * x[u * wide + k];
    multiply(x, rows, n.below.inputs[layer], parameter + n.below.own[layer], s->width, y);
    multiply(l, rows, n.below.inputs[layer], parameter + n.below.difference[layer], s->width, y);
    finish(y, rows, s->width, parameter + n.below.bias[layer], true);
    memcpy(x, y, rows * widest * sizeof *x);
  }
  memset(y, 0, rows * widest * sizeof *y);
  multiply(x, rows, n.below.readout_inputs, parameter + n.below.readout, s->readout, y);
  finish(y, rows, s->readout, parameter + n.below.readout_bias, true);
  memset(l, 0, rows * widest * sizeof *l);
  multiply(y, rows, s->readout, parameter + n.full, CM_POLICY_OUTPUTS, l);
  multiply(input, rows, s->inputs, parameter + n.direct, CM_POLICY_OUTPUTS, l);
  finish(l, rows, CM_POLICY_OUTPUTS, parameter + n.full_bias, false);
  for (size_t r = 0; r < 2 * (size_t)b->nodes; r++) {
    double bound = (double)b->policy->bound;
    mean[r] = bound * tanh(l[r * CM_POLICY_OUTPUTS]);
    log_deviation[r] =
      log(bound * input[r * s->inputs + CM_INPUT_STEP]) - 2 + 3 * (1 + tanh(l[r * CM_POLICY_OUTPUTS + 1])) / 2;
  }
  CM_FREE(x, l, y, input);
}

static double *parameters_of(const bed *b)
{
  double *parameter = network_array(b->policy->count, sizeof *parameter);
  for (size_t i = 0; i < b->policy->count; i++)
    parameter[i] = (double)b->policy->parameter[i];
  return parameter;
}

START_TEST(network_is_the_padded_one)
{
  cm_random random;
  cm_random_init(&random, 5, 1, 0);
  for (uint32_t layers = 0; layers < 4; layers++) {
    bed b = bed_new(11, 11 + 3 * layers, layers, &random);
    double *parameter = parameters_of(&b), mean[22], log_deviation[22];
    reference(&b, parameter, mean, log_deviation);
    cm_policy_forward(b.policy, b.laplacian, b.input, b.pass);
    for (int r = 0; r < 22; r++) {
      ck_assert_double_eq_tol((double)b.pass->mean[r], mean[r], 1e-5);
      ck_assert_double_eq_tol(log((double)b.pass->deviation[r]), log_deviation[r], 1e-5);
      ck_assert(fabsf(b.pass->mean[r]) <= b.policy->bound);
    }
    cm_free(parameter);
    bed_free(&b);
  }
}
END_TEST

/* Whether a gradient is the derivative of `value` by every parameter, by differences in double precision. */
static void check_gradient(const bed *b, const float *gradient, double (*value)(const bed *, const double *, void *),
                           void *user)
{
  double *parameter = parameters_of(b), largest = 0;
  const double step = 1e-6;
  for (size_t i = 0; i < b->policy->count; i++)
    largest = fmax(largest, fabs((double)gradient[i]));
  ck_assert_double_gt(largest, 1e-3);
  for (size_t i = 0; i < b->policy->count; i++) {
    double kept = parameter[i];
    parameter[i] = kept + step;
    double up = value(b, parameter, user);
    parameter[i] = kept - step;
    double down = value(b, parameter, user);
    parameter[i] = kept;
    ck_assert_msg(fabs((up - down) / (2 * step) - (double)gradient[i]) < 2e-4 * largest + 1e-6,
                  "parameter %zu of %zu: %g by differences, %g by the network", i, b->policy->count,
                  (up - down) / (2 * step), (double)gradient[i]);
  }
  cm_free(parameter);
}

typedef struct mixture {
  float d_mean[40], d_deviation[40];
} mixture;

static double mixed(const bed *b, const double *parameter, void *user)
{
  const mixture *m = user;
  double mean[40], log_deviation[40], sum = 0;
  reference(b, parameter, mean, log_deviation);
  for (uint32_t r = 0; r < 2 * b->nodes; r++)
    sum += (double)m->d_mean[r] * mean[r] + (double)m->d_deviation[r] * log_deviation[r];
  return sum;
}

START_TEST(gradient_of_the_network)
{
  cm_random random;
  cm_random_init(&random, 8, 1, 0);
  for (uint32_t layers = 0; layers < 4; layers++) {
    bed b = bed_new(9, 9, layers, &random);
    mixture m;
    for (int r = 0; r < 18; r++) {
      m.d_mean[r] = small(&random);
      m.d_deviation[r] = small(&random);
    }
    float *gradient = network_array(b.policy->count, sizeof *gradient);
    cm_policy_forward(b.policy, b.laplacian, b.input, b.pass);
    cm_policy_backward(b.policy, b.laplacian, b.input, b.pass, m.d_mean, m.d_deviation, gradient);
    check_gradient(&b, gradient, mixed, &m);
    cm_free(gradient);
    bed_free(&b);
  }
}
END_TEST

typedef struct objective {
  const cm_look *look;
  const cm_train_options *options;
  uint32_t clipped;
} objective;

static double log_chance(double x, double mean, double log_deviation)
{
  double z = (x - mean) / exp(log_deviation);
  return -z * z / 2 - log_deviation;
}

/* PPO's clipped objective by its formula, with the sign turned, and the bonus. */
static double clipped_objective(const bed *b, const double *parameter, void *user)
{
  objective *o = user;
  double mean[40], log_deviation[40], sum = 0;
  uint32_t rows = 2 * b->nodes;
  reference(b, parameter, mean, log_deviation);
  o->clipped = 0;
  for (uint32_t r = 0; r < rows; r++)
    for (int draw = 0; draw < 2; draw++) {
      double x = (double)o->look->action[draw][r];
      double ratio = exp(log_chance(x, mean[r], log_deviation[r]) -
                         log_chance(x, (double)o->look->mean[r], (double)o->look->log_deviation[r]));
      double advantage = (draw == 0 ? 1 : -1) * (double)o->look->advantage[r / 2];
      double cut = fmin(fmax(ratio, 1 - o->options->clip), 1 + o->options->clip);
      o->clipped += cut * advantage < ratio * advantage;
      sum -= fmin(ratio * advantage, cut * advantage) + o->options->entropy * log_deviation[r];
    }
  return sum / (2 * rows);
}

START_TEST(gradient_of_the_clipped_objective)
{
  cm_random random;
  cm_random_init(&random, 12, 1, 0);
  bed b = bed_new(10, 10, 2, &random);
  cm_train_options options = cm_train_defaults();
  cm_environment environment = {.graph = b.graph, .laplacian = b.laplacian, .nodes = b.nodes};
  float action[2][20], mean[20], log_deviation[20], advantage[10];
  cm_look look = {.environment = &environment, .input = b.input, .action = {action[0], action[1]}, .mean = mean,
                  .log_deviation = log_deviation, .advantage = advantage};
  cm_policy_forward(b.policy, b.laplacian, b.input, b.pass);
  for (int r = 0; r < 20; r++) { /* drawn by a policy that was a little different */
    mean[r] = b.pass->mean[r] + 0.2f * small(&random);
    log_deviation[r] = logf(b.pass->deviation[r]) + 0.3f * small(&random);
    float draw = expf(log_deviation[r]) * 1.5f * small(&random);
    action[0][r] = mean[r] + draw;
    action[1][r] = mean[r] - draw;
    advantage[r / 2] = 2 * small(&random);
  }
  float *gradient = network_array(b.policy->count, sizeof *gradient);
  ck_ok(cm_look_descend(b.policy, &look, &options, NULL, gradient, &error));
  objective o = {&look, &options, 0};
  check_gradient(&b, gradient, clipped_objective, &o);
  ck_assert_uint_gt(o.clipped, 0);
  ck_assert_uint_lt(o.clipped, 40);
  cm_free(gradient);
  bed_free(&b);
}
END_TEST

/* ---- Gaussians over places ---- */

START_TEST(likeliest_places)
{
  for (uint32_t n = 1; n <= 33; n += 4)
    for (double bound = 1; bound < 3; bound++)
      for (double mean = -bound; mean <= bound; mean += bound / 7) {
        uint32_t nearest = 0;
        for (uint32_t i = 1; i < n; i++)
          if (fabs(cm_position(i, n, bound) - mean) < fabs(cm_position(nearest, n, bound) - mean) - 1e-12)
            nearest = i;
        uint32_t likeliest = cm_axis_likeliest(mean, n, bound);
        ck_assert_double_eq_tol(fabs(cm_position(likeliest, n, bound) - mean),
                                fabs(cm_position(nearest, n, bound) - mean), 1e-9);
      }
  ck_assert_double_eq_tol(cm_position(3, 5, 2), 1, 1e-15); /* -2, -1, 0, 1, 2: steps of 2 * bound / (n - 1) */
}
END_TEST

/* ---- files ---- */

START_TEST(damaged_files_are_refused)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX + 16], *bytes;
  size_t size;
  cm_policy_shape shape = {CM_POLICY_INPUTS, 1, 4, 4, 0};
  cm_policy *policy, *back, *none = NULL;
  test_folder(folder);
  (void)snprintf(path, sizeof path, "%s/p", folder);
  ck_ok(cm_policy_new(&shape, 1, 3, &policy, &error));
  ck_ok(cm_policy_save(policy, path, &error));
  ck_ok(cm_policy_load(path, &back, &error));
  ck_assert_uint_eq(back->count, policy->count);
  ck_assert_mem_eq(back->parameter, policy->parameter, policy->count * sizeof *policy->parameter);
  ck_assert_str_eq(back->card, policy->card);
  ck_ok(cm_file_read(path, 1 << 20, &bytes, &size, &error));
  for (size_t at = 0; at < size; at += 1 + at / 40) {
    bytes[at] ^= 16;
    ck_fails(cm_policy_parse(bytes, size, "p", &none, &error), CM_DAMAGED);
    bytes[at] ^= 16;
    ck_fails(cm_policy_parse(bytes, at, "p", &none, &error), CM_DAMAGED);
  }
  ck_assert_ptr_null(none);
  ck_fails(cm_policy_load("/nowhere/p", &none, &error), CM_NOT_FOUND);
  shape.layers = CM_POLICY_LAYERS_MAX + 1;
  ck_fails(cm_policy_new(&shape, 1, 3, &none, &error), CM_BAD_OPTION);
  free(bytes);
  cm_policy_free(policy);
  cm_policy_free(back);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("policy");
  TCase *tests = tcase_create("policy");
  tcase_add_unchecked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, features_by_hand);
  tcase_add_test(tests, sparse_is_padded);
  tcase_add_test(tests, network_is_the_padded_one);
  tcase_add_test(tests, gradient_of_the_network);
  tcase_add_test(tests, gradient_of_the_clipped_objective);
  tcase_add_test(tests, likeliest_places);
  tcase_add_test(tests, damaged_files_are_refused);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
