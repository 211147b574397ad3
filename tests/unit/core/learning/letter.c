/* core/learning/letter: the network against its own padded matrices in double precision with plain loops, its gradient by
 * differences, Gaussians over places, the conflict rule word by word; and training, of pilots too. */
#include "tests/unit/parts.h"

#include <math.h>
#include <sodium.h>

#include "core/learning/letter/full_letter.h"
#include "core/learning/policy/letter_numbers.h"
#include "core/learning/pilot/pilot.h"
#include "core/learning/training/episode.h"
#include "core/learning/training/letter_tuning.h"

enum { NODES = 8, SITES = 12, ROWS_MAX = 2 * NODES, DRAWS = 3 };

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

static cm_example *example(cm_family family, uint32_t width, uint32_t height, uint32_t nodes, uint64_t seed)
{
  cm_chip *chip;
  cm_flows *flows;
  cm_multicast multicast;
  cm_example *made;
  ck_ok(cm_chip_mesh(width, height, &chip, &error));
  ck_ok(cm_example_draw(family, nodes, seed, &run, &flows, &error));
  ck_ok(cm_example_cast(flows, seed, &run, &multicast, &error));
  ck_ok(cm_example_new("e", &(cm_example_traffic){flows, multicast}, &(cm_example_site){chip, 0.2, seed}, &run, &made, &error));
  cm_chip_free(chip);
  return made;
}

static cm_policy *policy_new(uint32_t axes, uint32_t layers, cm_random *random)
{
  cm_policy_shape shape = {CM_FEATURES, layers, 6, 5, axes};
  cm_policy *policy;
  ck_ok(cm_policy_new(&shape, 1.5f, 7, &policy, &error));
  for (size_t i = 0; random != NULL && i < policy->count; i++)
    policy->parameter[i] = 0.5f * small(random);
  return policy;
}

/* ---- the network ---- */

/* A graph of NODES nodes for SITES physical ones, and what they look like to the network. */
typedef struct bed {
  cm_example *example;
  cm_letter_view view;
  cm_policy *policy;
  float matrix[SITES * SITES];
} bed;

static bed bed_new(uint32_t axes, uint32_t layers, cm_random *random)
{
  bed b = {.example = example(CM_FAMILY_GEOMETRIC, 4, 3, NODES, 3), .policy = policy_new(axes, layers, random)};
  cm_environment *s = b.example->environment;
  s->sites = SITES; /* four more physical nodes than the graph has: padding */
  s->site_first[1] = SITES;
  ck_ok(cm_letter_view_new(s, 0, &run, &b.view, &error));
  ck_assert_uint_eq(b.view.rows, SITES);
  laplacian_pad(s->laplacian, SITES, b.matrix);
  return b;
}

static void bed_free(bed *b)
{
  cm_letter_view_free(&b->view);
  cm_policy_free(b->policy);
  b->example->environment->sites = b->example->environment->site_first[1] = NODES;
  cm_example_free(b->example);
}

/* One row of `to` from one of `from`. */
static void multiply(const double *from, uint32_t inputs, const double *weight, uint32_t width, double *to)
{
  for (uint32_t k = 0; k < width; k++)
    for (uint32_t i = 0; i < inputs; i++)
      to[k] += from[i] * weight[i * width + k];
}

static void bend(double *x, uint32_t width, const double *bias)
{
  for (uint32_t k = 0; k < width; k++)
    x[k] = fmax(0, x[k] + bias[k]);
}

/* Mean and log(deviation) [NODES * axes]. */
static void reference(const bed *b, const double *parameter, double *mean, double *log_deviation)
{
  enum { WIDE = 8 };
  const cm_policy_shape *s = &b->policy->shape;
  cm_letter_numbers n = cm_letter_numbers_of(s);
  double x[SITES][WIDE] = {0}, y[SITES][WIDE], l[WIDE], mixed[WIDE] = {0}, shared[WIDE] = {0};
  for (uint32_t v = 0; v < NODES; v++)
    for (uint32_t k = 0; k < CM_FEATURES; k++)
      x[v][k] = (double)b->view.input[v * CM_FEATURES + k];
  for (uint32_t layer = 0; layer < s->layers; layer++) {
    memset(y, 0, sizeof y);
    for (uint32_t v = 0; v < SITES; v++) {
      memset(l, 0, sizeof l);
      for (uint32_t u = 0; u < SITES; u++)
        for (uint32_t k = 0; k < WIDE; k++)
          l[k] += (double)b->matrix[v * SITES + u] * x[u][k];
      multiply(x[v], n.below.inputs[layer], parameter + n.below.own[layer], s->width, y[v]);
      multiply(l, n.below.inputs[layer], parameter + n.below.difference[layer], s->width, y[v]);
      bend(y[v], s->width, parameter + n.below.bias[layer]);
    }
    memcpy(x, y, sizeof x);
  }
  memset(y, 0, sizeof y);
  for (uint32_t v = 0; v < SITES; v++) {
    multiply(x[v], n.below.readout_inputs, parameter + n.below.readout, s->readout, y[v]);
    bend(y[v], s->readout, parameter + n.below.readout_bias);
    for (uint32_t k = 0; k < s->readout; k++)
      mixed[k] += y[v][k] / SITES;
  }
  multiply(mixed, s->readout, parameter + n.mix, s->readout, shared);
  for (uint32_t v = 0; v < NODES; v++) {
    double full[WIDE], out[4] = {0};
    memcpy(full, shared, sizeof full);
    multiply(y[v], s->readout, parameter + n.full, s->readout, full);
    bend(full, s->readout, parameter + n.full_bias);
    multiply(full, s->readout, parameter + n.output, 2 * s->kind, out);
    for (uint32_t a = 0; a < s->kind; a++) {
      double bound = (double)b->policy->bound;
      mean[v * s->kind + a] = bound * tanh(out[2 * a] + parameter[n.output_bias + 2 * a]);
      log_deviation[v * s->kind + a] = log(bound) - 1.5 + 2.5 * tanh(out[2 * a + 1] + parameter[n.output_bias + 2 * a + 1]);
    }
  }
}

static double *parameters_of(const bed *b)
{
  double *parameter = network_array(b->policy->count, sizeof *parameter);
  for (size_t i = 0; i < b->policy->count; i++)
    parameter[i] = (double)b->policy->parameter[i];
  return parameter;
}

START_TEST(the_network_is_the_padded_one)
{
  cm_random random;
  cm_random_init(&random, 5, 1, 0);
  for (uint32_t round = 0; round < 8; round++) {
    uint32_t axes = 1 + round % 2;
    bed b = bed_new(axes, round / 2, &random);
    double *parameter = parameters_of(&b), mean[ROWS_MAX], log_deviation[ROWS_MAX];
    cm_letter_pass *pass;
    ck_ok(cm_letter_pass_new(&b.policy->shape, SITES, NULL, &pass, &error));
    cm_letter_forward(b.policy, &b.view, pass);
    reference(&b, parameter, mean, log_deviation);
    for (uint32_t r = 0; r < NODES * axes; r++) {
      ck_assert_double_eq_tol((double)pass->mean[r], mean[r], 1e-5);
      ck_assert_double_eq_tol(log((double)pass->deviation[r]), log_deviation[r], 1e-5);
    }
    cm_letter_pass_free(pass);
    cm_free(parameter);
    bed_free(&b);
  }
}
END_TEST

/* The chance of a place by its formula. */
static double chance(double mean, double log_deviation, uint32_t n, double bound, uint32_t place)
{
  double sum = 0, own = 0;
  for (uint32_t i = 0; i < n; i++) {
    double z = ((n > 1 ? 2.0 * i / (n - 1) - 1 : 0) * bound - mean) / exp(log_deviation);
    sum += exp(-z * z / 2);
    own = i == place ? exp(-z * z / 2) : own;
  }
  return own / sum;
}

/* PPO's clipped objective by its formula, with the sign turned, and the bonus. */
static double objective(const bed *b, const cm_look *look, const cm_train_options *o, const double *parameter,
                        uint32_t *clipped)
{
  uint32_t axes = b->policy->shape.kind, rows = NODES * axes;
  double mean[ROWS_MAX], log_deviation[ROWS_MAX], sum = 0;
  reference(b, parameter, mean, log_deviation);
  *clipped = 0;
  for (uint32_t r = 0; r < rows; r++) {
    sum -= o->entropy * log_deviation[r];
    for (uint32_t k = 0; k < DRAWS; k++) {
      double is = chance(mean[r], log_deviation[r], look->places.count[r % axes], (double)b->policy->bound,
                         look->drawn[k * rows + r]);
      double ratio = is / exp((double)look->was[k * rows + r]), worth = (double)look->worth[k * NODES + r / axes];
      double cut = fmin(fmax(ratio, 1 - o->clip), 1 + o->clip);
      *clipped += cut * worth < ratio * worth;
      sum -= fmin(ratio * worth, cut * worth) / DRAWS;
    }
  }
  return sum / rows;
}

START_TEST(the_gradient_by_differences)
{
  const double step = 1e-6;
  cm_random random;
  cm_random_init(&random, 9, 1, 0);
  for (uint32_t axes = 1; axes <= 2; axes++) {
    bed b = bed_new(axes, 2, &random);
    uint32_t rows = NODES * axes, drawn[DRAWS * ROWS_MAX], clipped;
    float was[DRAWS * ROWS_MAX], worth[DRAWS * NODES];
    double *parameter = parameters_of(&b), mean[ROWS_MAX], log_deviation[ROWS_MAX], largest = 0;
    cm_train_options options = cm_train_letter_defaults();
    cm_look look = {.environment = b.example->environment, .view = b.view, .draws = DRAWS, .drawn = drawn, .was = was, .worth = worth,
                    .places = {.axes = axes, .count = {axes == 1 ? SITES : 4, 3}}};
    reference(&b, parameter, mean, log_deviation);
    for (uint32_t i = 0; i < DRAWS * rows; i++) {
      uint32_t r = i % rows, n = look.places.count[r % axes];
      drawn[i] = (uint32_t)cm_random_below(&random, n);
      was[i] = (float)log(chance(mean[r], log_deviation[r], n, 1.5, drawn[i])) + 0.4f * small(&random);
    }
    for (uint32_t i = 0; i < DRAWS * NODES; i++)
      worth[i] = small(&random);
    float *gradient = network_array(b.policy->count, sizeof *gradient);
    ck_ok(cm_letter_descend(b.policy, &look, &options, NULL, gradient, &error));
    for (size_t i = 0; i < b.policy->count; i++)
      largest = fmax(largest, fabs((double)gradient[i]));
    ck_assert_double_gt(largest, 1e-3);
    for (size_t i = 0; i < b.policy->count; i++) {
      double kept = parameter[i];
      parameter[i] = kept + step;
      double up = objective(&b, &look, &options, parameter, &clipped);
      parameter[i] = kept - step;
      double by = (up - objective(&b, &look, &options, parameter, &clipped)) / (2 * step);
      parameter[i] = kept;
      ck_assert_msg(fabs(by - (double)gradient[i]) < 2e-4 * largest + 1e-6, "parameter %zu of %zu: %g by differences, %g",
                    i, b.policy->count, by, (double)gradient[i]);
    }
    ck_assert_uint_gt(clipped, 0);
    ck_assert_uint_lt(clipped, DRAWS * rows);
    CM_FREE(gradient, parameter);
    bed_free(&b);
  }
}
END_TEST

START_TEST(probabilities_are_those_of_the_formula)
{
  cm_random random;
  cm_random_init(&random, 4, 1, 0);
  for (uint32_t round = 0; round < 200; round++) {
    uint32_t n = 1 + (uint32_t)cm_random_below(&random, 40), likeliest = 0;
    double mean = (double)small(&random), deviation = exp(4 * cm_random_unit(&random) - 3.5), p[40], sum = 0;
    cm_letter_probabilities(mean, deviation, n, 1, p);
    for (uint32_t i = 0; i < n; i++) {
      ck_assert_double_eq_tol(p[i], chance(mean, log(deviation), n, 1, i), 1e-9);
      likeliest = p[i] > p[likeliest] ? i : likeliest;
      sum += p[i];
    }
    ck_assert_double_eq_tol(sum, 1, 1e-9);
    ck_assert_uint_eq(likeliest, cm_axis_likeliest(mean, n, 1));
  }
}
END_TEST

/* ---- the rule ---- */

static uint32_t apart(const cm_chip *chip, uint32_t a, uint32_t b)
{
  uint32_t w = chip->width;
  return (uint32_t)(abs((int)(a % w) - (int)(b % w)) + abs((int)(a / w) - (int)(b / w)));
}

/* Word by word, on a chip with a core a router: each node goes to its most probable core; where that is another's, or
 * taken, the one of highest interaction weight has it and the others go by weight to the nearest that is free. */
static void place_slowly(const cm_environment *s, uint32_t p, const uint32_t *wish, uint32_t *at)
{
  bool taken[64] = {false}, seated[64] = {false};
  for (int losers = 0; losers < 2; losers++)
    for (uint32_t turn = s->node_first[p]; turn < s->node_first[p + 1]; turn++) {
      uint32_t v = UINT32_MAX, best = UINT32_MAX;
      for (uint32_t k = s->node_first[p]; k < s->node_first[p + 1]; k++) {
        uint32_t u = s->node[k], site = s->site_on[wish[u]];
        bool open = site != UINT32_MAX && !taken[site] && (s->processors == 1 || s->site[site] % 8 / 4 == p);
        if (!seated[u] && (losers || open) && (v == UINT32_MAX || s->priority[u] > s->priority[v]))
          v = u;
      }
      if (v == UINT32_MAX)
        break;
      for (uint32_t k = s->site_first[p]; k < s->site_first[p + 1]; k++) {
        uint32_t site = s->site_of[k];
        if (!taken[site] && (losers || s->site[site] == wish[v]) &&
            (best == UINT32_MAX || apart(s->chip, s->site[site], wish[v]) < apart(s->chip, s->site[best], wish[v])))
          best = site;
      }
      at[v] = best;
      taken[best] = seated[v] = true;
    }
}

/* Where each node of a processor holds that it is most probable, by looking at all probabilities. */
static void wish_slowly(const cm_policy *policy, const cm_environment *s, uint32_t p, uint32_t *wish)
{
  cm_letter_view view;
  cm_letter_pass *pass;
  uint32_t axes = policy->shape.kind, place[2], w = s->chip->width;
  cm_letter_places places = cm_letter_places_of(s, p, axes);
  ck_ok(cm_letter_view_new(s, p, &run, &view, &error));
  ck_ok(cm_letter_pass_new(&policy->shape, view.rows, NULL, &pass, &error));
  cm_letter_forward(policy, &view, pass);
  for (uint32_t i = 0; i < view.nodes; i++) {
    for (uint32_t a = 0; a < axes; a++) {
      double most = -1;
      for (uint32_t k = 0; k < places.count[a]; k++) {
        double now = chance((double)pass->mean[i * axes + a], log((double)pass->deviation[i * axes + a]),
                            places.count[a], (double)policy->bound, k);
        if (now > most) {
          most = now;
          place[a] = k;
        }
      }
    }
    wish[s->node[s->node_first[p] + i]] = axes == 1 ? s->site[s->site_of[s->site_first[p] + place[0]]]
                                                    : (places.y0 + place[1]) * w + places.x0 + place[0];
  }
  cm_letter_pass_free(pass);
  cm_letter_view_free(&view);
}

START_TEST(conflicts_are_settled_by_the_rule)
{
  cm_random random;
  for (uint32_t round = 0; round < 40; round++) {
    cm_random_init(&random, round, 1, 0);
    uint32_t processors = 1 + round % 2, axes = 1 + round / 2 % 2, nodes = 20, sites = 0;
    uint32_t site[40], site_processor[40], node_processor[20], wish[20], at[20], expected[20];
    cm_chip *chip = processors == 2 ? parts_chip(2, 1, 4, 5, 1, false) : parts_chip(1, 1, 8, 5, 1, false);
    cm_graph *g = parts_planted(&random, nodes, 2, 60, 10, 50, &run);
    cm_flows *flows;
    ck_ok(cm_flows_of_graph(g, &run, &flows, &error));
    for (uint32_t c = 0; c < 40; c++)
      if (c % 4 != round % 4 && c % 7 != 5) { /* the others are taken */
        site_processor[sites] = c % 8 / 4;
        site[sites++] = c;
      }
    for (uint32_t v = 0; v < nodes; v++)
      node_processor[v] = v % 2;
    cm_environment_parts parts = {g, flows, NULL, chip, site, sites, processors, node_processor, site_processor};
    cm_environment *s;
    cm_policy *policy = policy_new(axes, 2, &random);
    ck_ok(cm_environment_new(&parts, &run, &s, &error));
    ck_ok(cm_letter_place(policy, s, &run, at, &error));
    for (uint32_t p = 0; p < processors; p++) {
      wish_slowly(policy, s, p, wish);
      place_slowly(s, p, wish, expected);
    }
    ck_assert_mem_eq(at, expected, sizeof at);
    cm_policy_free(policy);
    cm_environment_free(s);
    cm_flows_free(flows);
    cm_graph_free(g);
    cm_chip_free(chip);
  }
}
END_TEST

/* ---- numbers of one's own for every row ---- */

/* Rows that look alike have different means nonetheless; the gradient by differences. */
START_TEST(rows_of_the_full_letter_have_numbers_of_their_own)
{
  cm_random random;
  cm_full_letter *l;
  float slope_mean[ROWS_MAX], slope_deviation[ROWS_MAX];
  cm_random_init(&random, 3, 1, 0);
  bed b = bed_new(2, 1, NULL);
  memset(b.view.input, 0, SITES * CM_FEATURES * sizeof *b.view.input);
  b.view.input[0] = 1;
  ck_ok(cm_full_letter_new(&b.view, 2, 5, NULL, &l, &error));
  cm_full_letter_forward(l);
  for (uint32_t r = 0; r < ROWS_MAX; r++) {
    slope_mean[r] = small(&random);
    slope_deviation[r] = small(&random);
    for (uint32_t q = 0; q < r; q++)
      ck_assert_float_ne(l->mean[r], l->mean[q]);
  }
  float *gradient = network_array(l->count, sizeof *gradient);
  cm_full_letter_backward(l, slope_mean, slope_deviation, gradient);
  for (size_t i = 0; i < l->count; i++) {
    const float step = 1e-2F, kept = l->parameter[i];
    double by = 0;
    for (int side = -1; side <= 1; side += 2) {
      l->parameter[i] = kept + (float)side * step;
      cm_full_letter_forward(l);
      for (uint32_t r = 0; r < ROWS_MAX; r++)
        by += side * ((double)slope_mean[r] * (double)l->mean[r] + (double)slope_deviation[r] * log((double)l->deviation[r]));
    }
    l->parameter[i] = kept;
    ck_assert_double_eq_tol(by / (2 * (double)step), (double)gradient[i], 2e-3);
  }
  cm_free(gradient);
  cm_full_letter_free(l);
  bed_free(&b);
}
END_TEST

/* Three in a line, at -1, 0, 1, all means 0: the first core takes the one of the widest Gaussian, the second the narrowest. */
START_TEST(cores_take_the_node_most_probable_for_them)
{
  const float mean[] = {0, 0, 0}, deviation[] = {0.5F, 0.9F, 0.7F};
  uint32_t at[3];
  cm_letter_seats seats;
  cm_example *e = example(CM_FAMILY_RING, 4, 1, 3, 1);
  ck_ok(cm_letter_seats_new(e->environment, 0, 1, CM_DISTANCE_MANHATTAN, &seats, &error));
  ck_assert_uint_eq(seats.places.sites, 3); /* at -1, 0, 1 */
  cm_letter_seats_by_core(&seats, mean, deviation, 1, at);
  ck_assert_uint_eq(at[1], 0); /* log density at -1: -1.31, -0.51, -0.66 */
  ck_assert_uint_eq(at[0], 1); /* in the middle the narrowest */
  ck_assert_uint_eq(at[2], 2);
  cm_letter_seats_free(&seats);
  cm_example_free(e);
}
END_TEST

/* Training takes a quarter of the hops at least; the same twice, and everybody on a core of his own, under every reading. */
START_TEST(the_letter_learns_the_graph_at_hand)
{
  for (uint32_t reading = 0; reading < 4; reading++) {
    cm_example *e = example(CM_FAMILY_GEOMETRIC, 5, 5, 20, 7);
    const cm_environment *s = e->environment;
    cm_reward_task task = {.parts = s->graph, .chip = s->chip, .rule = CM_TURNS_XY,
                           .distance = reading == 3 ? CM_DISTANCE_EUCLIDEAN : CM_DISTANCE_MANHATTAN, .fault_weight = reading == 3 ? 0.1 : 0};
    cm_letter_tuning tuning = {s, &task, reading == 1 ? 1 : 2, reading == 2, CM_SANITIZED ? 400 : 10000, 3};
    cm_letter_tuned tuned;
    uint32_t at[2][32], taken = 0;
    for (int i = 0; i < 2; i++)
      ck_ok(cm_letter_tune(&tuning, &run, at[i], &tuned, &error));
    ck_assert_mem_eq(at[0], at[1], s->nodes * sizeof **at);
    ck_assert_uint_ge(tuned.draws, tuning.draws);
    for (uint32_t v = 0; v < s->nodes; v++) {
      ck_assert_uint_eq(taken >> at[0][v] & 1, 0);
      taken |= 1U << at[0][v];
    }
    uint64_t trained = cm_environment_hops(s, at[0]);
    tuning.draws = 1;
    ck_ok(cm_letter_tune(&tuning, &run, at[1], &tuned, &error));
    if (!CM_SANITIZED)
      ck_assert_uint_lt(trained, cm_environment_hops(s, at[1]) * 3 / 4);
    cm_example_free(e);
  }
}
END_TEST

/* ---- training ---- */

/* Three in a row; the middle one multicasts to both ends over two channels, so that e is raised to 4 / 2. */
START_TEST(the_reward_by_hand)
{
  cm_chip *chip;
  cm_flows *flows;
  cm_multicast multicast = {0};
  cm_example *e;
  double reward;
  const uint32_t at[] = {1, 0, 2};
  ck_ok(cm_chip_mesh(3, 1, &chip, &error));
  ck_ok(cm_flows_new(3, 2, &run, &flows, &error));
  flows->first[1] = flows->first[2] = flows->first[3] = 2;
  flows->target[0] = 1, flows->target[1] = 2;
  flows->weight[0] = 5, flows->weight[1] = 3;
  for (uint64_t seed = 1; multicast.trees == 0; seed++) {
    cm_multicast_free(&multicast);
    ck_ok(cm_example_cast(flows, seed, &run, &multicast, &error));
  }
  ck_assert_uint_eq(multicast.first[1], 2);
  ck_ok(cm_example_new("hand", &(cm_example_traffic){flows, multicast}, &(cm_example_site){chip, 0, 1}, &run, &e, &error));
  ck_ok(cm_letter_reward(e, at, &run, &reward, &error));
  ck_assert_double_eq_tol(reward, -(5 + 5 + 3) * exp(2), 1e-9); /* max(5, 3) of the middle, then the ends */
  cm_example_free(e);
  cm_chip_free(chip);
}
END_TEST

/* Nodes at (0, 0), (1, 0), (1, 1); 3 between the first two, in one row, 5 between the first and the last, which have two ways. */
START_TEST(tolerance_by_hand)
{
  cm_chip *chip;
  cm_flows *flows;
  cm_graph *graph;
  cm_reward r;
  const uint32_t core[] = {0, 1, 3};
  ck_ok(cm_chip_mesh(2, 2, &chip, &error));
  ck_ok(cm_flows_new(3, 2, &run, &flows, &error));
  flows->first[1] = flows->first[2] = flows->first[3] = 2;
  flows->target[0] = 1, flows->target[1] = 2;
  flows->weight[0] = 3, flows->weight[1] = 5;
  ck_ok(cm_graph_of_flows(flows, &run, &graph, &error));
  cm_reward_task task = {.parts = graph, .chip = chip, .rule = CM_TURNS_XY, .fault_weight = 0.5};
  ck_ok(cm_reward_compute(&task, core, &run, &r, &error));
  ck_assert_double_eq_tol(r.loss, (3 + 10 + 10) + 3 + (10 + 10), 1e-9); /* right and down of the first, the second, the last */
  ck_assert_double_eq_tol(r.tolerance, 5.0 / 8, 1e-12);
  ck_assert_double_eq_tol(r.reward, -46 * exp(0.5 * 3 / 8), 1e-9);
  task.distance = CM_DISTANCE_EUCLIDEAN;
  task.fault_weight = 0;
  ck_ok(cm_reward_compute(&task, core, &run, &r, &error));
  ck_assert_double_eq_tol(r.reward, -(3 + 3 + 4 * 5 * sqrt(2)), 1e-4);
  cm_graph_free(graph);
  cm_flows_free(flows);
  cm_chip_free(chip);
}
END_TEST

enum { EXAMPLES = 10 };

static cm_training *training_new(cm_example **list, uint32_t kind, unsigned threads, uint32_t updates)
{
  bool pilot = kind == CM_KIND_PILOT;
  cm_policy_shape shape = {pilot ? CM_PILOT_INPUTS : CM_FEATURES, pilot ? 1 : 2, 16, 16, kind};
  cm_train_options options = pilot ? cm_train_pilot_defaults() : cm_train_letter_defaults();
  cm_policy *policy;
  cm_training *t;
  options.updates = updates;
  options.threshold = 16;
  options.rate = pilot ? 0.1 : 3e-3;
  options.batch = pilot ? EXAMPLES - 2 : options.batch; /* all that are not held out, so that updates compare */
  options.watch = updates;
  run.threads = threads;
  ck_ok(cm_policy_new(&shape, 1, 11, &policy, &error));
  ck_ok(cm_training_new(&(cm_training_task){policy, list, EXAMPLES}, &options, &run, &t, &error));
  cm_policy_free(policy);
  return t;
}

/* The same bits on one thread without a checkpoint, and on two with one between; what was learnt shows in the rewards; and the
 * policy's file brings it back whole. */
START_TEST(training_resumes_and_teaches)
{
  enum { UPDATES = CM_SANITIZED ? 10 : 42, MEAN = 9 /* a pilot has a third of its tries in turns */, SAME = CM_SANITIZED ? 5 : 12 };
  cm_example *list[EXAMPLES];
  char folder[CM_PATH_MAX], path[CM_PATH_MAX + 16];
  uint32_t count, at[64];
  test_folder(folder);
  (void)snprintf(path, sizeof path, "%s/c", folder);
  for (uint32_t i = 0; i < EXAMPLES; i++)
    list[i] = example((cm_family)(i % CM_FAMILIES), 5, 5, 16 + i % 4, i);
  for (uint32_t kind = CM_KIND_LETTER; kind < CM_KINDS; kind++) {
    cm_training *whole = training_new(list, kind, 1, UPDATES), *half = training_new(list, kind, 2, UPDATES), *rest;
    ck_ok(cm_training_run(whole, SAME, &error));
    ck_ok(cm_training_run(half, 2, &error));
    ck_ok(cm_training_save(half, path, &error));
    rest = training_new(list, kind, 2, UPDATES);
    ck_ok(cm_training_resume(rest, path, &error));
    ck_ok(cm_training_run(rest, SAME, &error));
    cm_policy *p = cm_training_policy(whole), *back;
    ck_assert_mem_eq(p->parameter, cm_training_policy(rest)->parameter, p->count * sizeof *p->parameter);
    ck_ok(cm_training_run(whole, UPDATES, &error));
    const cm_curve_point *curve = cm_training_curve(whole, &count);
    ck_assert_uint_eq(count, UPDATES);
    double before = 0, after = 0;
    for (int i = 0; i < MEAN; i++) {
      before += curve[i].reward / MEAN;
      after += curve[UPDATES - MEAN + i].reward / MEAN;
    }
    if (!CM_SANITIZED) /* too few steps to learn */
      ck_assert_double_gt(after, before * (kind == CM_KIND_PILOT ? 1.005 : 1.02));
    ck_ok(cm_policy_save(p, path, &error));
    ck_ok(cm_policy_load(path, &back, &error));
    ck_assert_uint_eq(back->shape.kind, kind);
    ck_assert_mem_eq(back->parameter, p->parameter, p->count * sizeof *p->parameter);
    if (kind != CM_KIND_PILOT)
      ck_ok(cm_letter_place(back, list[4]->environment, &run, at, &error));
    ck_assert_double_gt(curve[UPDATES - 1].held_out, 0);
    cm_policy_free(back);
    cm_training_free(whole);
    cm_training_free(half);
    cm_training_free(rest);
  }
  for (uint32_t i = 0; i < EXAMPLES; i++)
    cm_example_free(list[i]);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("letter");
  TCase *tests = tcase_create("letter");
  tcase_add_unchecked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, the_network_is_the_padded_one);
  tcase_add_test(tests, the_gradient_by_differences);
  tcase_add_test(tests, probabilities_are_those_of_the_formula);
  tcase_add_test(tests, conflicts_are_settled_by_the_rule);
  tcase_add_test(tests, rows_of_the_full_letter_have_numbers_of_their_own);
  tcase_add_test(tests, cores_take_the_node_most_probable_for_them);
  tcase_add_test(tests, the_letter_learns_the_graph_at_hand);
  tcase_add_test(tests, the_reward_by_hand);
  tcase_add_test(tests, tolerance_by_hand);
  tcase_add_test(tests, training_resumes_and_teaches);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
