/* core/generate: networks against the distributions their recipes state, and equal for any number of threads. */
#include "tests/unit/files.h"

#include <math.h>

#include "base/random.h"
#include "core/generate/generate.h"
#include "core/network/topology_file.h"

static void set_up_threads(void)
{
  setup();
  run.threads = 2;
}

static cm_topology *reservoir(uint32_t neurons, double fan_out)
{
  cm_topology *t = NULL;
  ck_ok(cm_generate_reservoir(neurons, fan_out, &run, &t, &error));
  ck_ok(cm_topology_verify(t, &error));
  ck_assert(t->directed);
  ck_assert_uint_eq(t->vertex_count, neurons);
  return t;
}

static int ascending(const void *a, const void *b)
{
  double left = *(const double *)a, right = *(const double *)b;
  return left < right ? -1 : left > right;
}

static int by_number(const void *a, const void *b)
{
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return left < right ? -1 : left > right;
}

/* The largest distance between the values' distribution and the uniform one, times the root of their number: beyond
 * 2 in one of 1500 samples. */
static double kolmogorov(double *value, size_t count)
{
  double worst = 0;
  qsort(value, count, sizeof *value, ascending);
  for (size_t i = 0; i < count; i++)
    worst = fmax(worst, fmax((double)(i + 1) / (double)count - value[i], value[i] - (double)i / (double)count));
  return worst * sqrt((double)count);
}

/* The 16k network of the published table (DATA: 16384L.snn) has mean fan-out 127.9 with deviation 11.4; fan-in with
 * deviation 39.7, its quantiles 5, 25, 50, 75, 95 % at 59, 112, 130, 144, 184; 15.8 % of its synapses have one back. */
START_TEST(test_reservoir_like_published)
{
  enum { N = 16384 };
  static const double published[][2] = {{0.05, 59}, {0.25, 112}, {0.5, 130}, {0.75, 144}, {0.95, 184}};
  static double in[N], rate[N];
  cm_topology *t = reservoir(N, cm_reservoir_fan_out(N));
  double square = 0, in_square = 0, mean = (double)t->pin_count / N;
  uint64_t back = 0;
  memset(in, 0, sizeof in);
  ck_assert_uint_eq(t->net_count, N);
  for (uint32_t v = 0; v < N; v++) {
    double fan = (double)(t->net_first[v + 1] - t->net_first[v]);
    square += (fan - mean) * (fan - mean);
    /* The rate's logarithm is normal with this deviation: its distribution function must be uniform. */
    rate[v] = 0.5 * erfc(-log((double)t->net_weight[v] / (double)t->weight_scale) / sqrt(2 * log(1 + 1.58 * 1.58)));
    for (uint64_t i = t->net_first[v]; i < t->net_first[v + 1]; i++) {
      uint32_t j = t->pin[i];
      in[j]++;
      ck_assert_uint_ne(j, v);
      back += bsearch(&v, t->pin + t->net_first[j], t->net_first[j + 1] - t->net_first[j], sizeof v, by_number) != NULL;
    }
  }
  for (uint32_t v = 0; v < N; v++)
    in_square += (in[v] - mean) * (in[v] - mean);
  ck_assert_double_eq_tol(mean, 128, 4 * sqrt(128.0 / N));
  ck_assert_double_eq_tol(sqrt(square / N), sqrt(128), 0.25);
  ck_assert_double_eq_tol(sqrt(in_square / N), 39.7, 1.2);
  ck_assert_double_eq_tol((double)back / (double)t->pin_count, 0.158, 0.012);
  ck_assert_double_lt(kolmogorov(rate, N), 2);
  qsort(in, N, sizeof *in, ascending);
  for (size_t q = 0; q < sizeof published / sizeof *published; q++)
    ck_assert_double_eq_tol(in[(size_t)(published[q][0] * N)], published[q][1], 3);
  cm_topology_free(t);
}
END_TEST

typedef struct place {
  double at[3];
  bool minus;
} place;

/* Where the generator puts its neurons. */
static void find_places(place *p, uint32_t neurons)
{
  for (uint32_t v = 0; v < neurons; v++) {
    cm_random random;
    cm_random_init(&random, run.seed, 1, v);
    for (int axis = 0; axis < 3; axis++)
      p[v].at[axis] = (double)(cm_random_next(&random) >> 40) * 0x1p-24;
    p[v].minus = cm_random_unit(&random) < 0.1;
  }
}

/* Squared distance, or -1 when j is no allowed target of i. */
static double square(const place *i, const place *j)
{
  double sum = 0, z = j->at[2] - i->at[2];
  for (int axis = 0; axis < 3; axis++)
    sum += (j->at[axis] - i->at[axis]) * (j->at[axis] - i->at[axis]);
  return i == j || (j->minus ? z > 0 : z < 0) ? -1 : sum;
}

/* Neurons with a single target: its rank by distance among all allowed ones, weighed by their probabilities, must be
 * uniform. Brute force over all neurons. */
static void check_single_targets(uint32_t neurons, size_t samples)
{
  cm_topology *t = reservoir(neurons, 1);
  place *p = calloc(neurons, sizeof *p);
  double *rank = calloc(samples, sizeof *rank);
  size_t count = 0;
  cm_random random;
  cm_random_init(&random, 99, 0, 0);
  find_places(p, neurons);
  for (uint32_t e = 0; e < t->net_count && count < samples; e++) {
    if (t->net_first[e + 1] - t->net_first[e] != 1)
      continue;
    const place *from = &p[cm_topology_source(t, e)];
    double target = square(from, &p[t->pin[t->net_first[e]]]), nearest = INFINITY, all = 0, nearer = 0, own = 0;
    ck_assert_double_ge(target, 0);
    for (uint32_t v = 0; v < neurons; v++) {
      double s = square(from, &p[v]);
      nearest = s >= 0 && s < nearest ? s : nearest;
    }
    for (uint32_t v = 0; v < neurons; v++) {
      double s = square(from, &p[v]), far = (s - nearest) / (2 * 0.01 * 0.01);
      double weight = s < 0 || far > 45 ? 0 : exp(-far); /* e^-45 of all neurons is nothing */
      all += weight;
      nearer += s >= 0 && s < target ? weight : 0;
      own = s >= 0 && v == t->pin[t->net_first[e]] ? weight : own;
    }
    rank[count++] = (nearer + cm_random_unit(&random) * own) / all;
  }
  ck_assert_uint_eq(count, samples);
  ck_assert_double_lt(kolmogorov(rank, samples), 2);
  free(p);
  free(rank);
  cm_topology_free(t);
}

START_TEST(test_single_targets_by_race)
{
  check_single_targets(5000, 1500);
  check_single_targets(30000, 500);
}
END_TEST

START_TEST(test_single_targets_by_proposal)
{
  check_single_targets(75000, 400);
}
END_TEST

/* Of k targets round(k / 100) are anywhere; all others are allowed ones. */
START_TEST(test_long_range)
{
  enum { N = 4000 };
  place *p = calloc(N, sizeof *p);
  cm_topology *t = reservoir(N, 40);
  uint64_t wrong = 0, far = 0;
  find_places(p, N);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t here = 0, fan = t->net_first[e + 1] - t->net_first[e], least = (uint64_t)lround(0.01 * (double)fan);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      here += square(&p[cm_topology_source(t, e)], &p[t->pin[i]]) < 0;
    ck_assert_uint_le(here, least);
    wrong += here;
    far += least;
  }
  /* About half of the far ones happen to be allowed. */
  ck_assert_uint_gt(far, 50);
  ck_assert_double_eq_tol((double)wrong / (double)far, 0.5, 0.2);
  free(p);
  cm_topology_free(t);
}
END_TEST

static void check_equal(const cm_topology *a, const cm_topology *b)
{
  ck_assert_uint_eq(a->pin_count, b->pin_count);
  ck_assert_uint_eq(a->net_count, b->net_count);
  ck_assert_int_eq(memcmp(a->pin, b->pin, a->pin_count * sizeof *a->pin), 0);
  ck_assert_int_eq(memcmp(a->net_first, b->net_first, ((size_t)a->net_count + 1) * sizeof *a->net_first), 0);
  ck_assert_int_eq(memcmp(a->net_weight, b->net_weight, a->net_count * sizeof *a->net_weight), 0);
}

START_TEST(test_reservoir_threads)
{
  static const struct {
    uint32_t neurons;
    double fan_out;
  } sizes[] = {{5000, 30}, {CM_SANITIZED ? 40000 : 61000, 1}};
  for (size_t i = 0; i < 2; i++) {
    run.threads = 1;
    cm_topology *one = reservoir(sizes[i].neurons, sizes[i].fan_out);
    run.threads = 3;
    cm_topology *three = reservoir(sizes[i].neurons, sizes[i].fan_out);
    check_equal(one, three);
    run.seed++;
    cm_topology *other = reservoir(sizes[i].neurons, sizes[i].fan_out);
    ck_assert(other->pin_count != one->pin_count ||
              memcmp(other->pin, one->pin, one->pin_count * sizeof *one->pin) != 0);
    cm_topology_free(one);
    cm_topology_free(three);
    cm_topology_free(other);
  }
}
END_TEST

/* Fewer neurons than a neuron wants targets: it gets those that there are. */
START_TEST(test_reservoir_small)
{
  cm_topology *t = reservoir(2, 128);
  ck_assert_uint_le(t->pin_count, 2);
  cm_topology_free(t);
  t = reservoir(60, 128);
  ck_assert_uint_gt(t->pin_count, 60 * 59 / 3);
  cm_topology_free(t);
  t = reservoir(1000, 1); /* many without a target */
  ck_assert_uint_eq(t->net_count + t->empty_net_count, 1000);
  ck_assert_uint_gt(t->empty_net_count, 250);
  cm_topology_free(t);
}
END_TEST

START_TEST(test_reservoir_refused)
{
  cm_topology *t = NULL;
  atomic_bool cancel = true;
  ck_fails(cm_generate_reservoir(1, 10, &run, &t, &error), CM_BAD_OPTION);
  ck_fails(cm_generate_reservoir(10, 0.5, &run, &t, &error), CM_BAD_OPTION);
  ck_fails(cm_generate_reservoir(10, NAN, &run, &t, &error), CM_BAD_OPTION);
  ck_fails(cm_generate_reservoir(10, 1e9, &run, &t, &error), CM_BAD_OPTION);
  run.cancel = &cancel;
  ck_fails(cm_generate_reservoir(1000, 10, &run, &t, &error), CM_CANCELLED);
  ck_assert_ptr_null(t);
}
END_TEST

START_TEST(test_reservoir_allocation_faults)
{
  run.threads = 1;
  for (uint64_t n = 1;; n++) {
    cm_topology *t = NULL;
    cm_memory_fail_at(n);
    cm_status status = cm_generate_reservoir(60000, 1, &run, &t, &error);
    bool fired = cm_memory_fault_fired() != 0;
    cm_memory_fail_at(0);
    cm_topology_free(t);
    ck_assert(status == CM_OK || (fired && status == CM_NO_MEMORY));
    if (!fired)
      break;
    n += n > 20 ? (CM_SANITIZED ? 160 : 40) : 0; /* one block is like the next */
  }
}
END_TEST

/* ---- microcircuit ---- */

START_TEST(test_microcircuit_counts)
{
  cm_microcircuit c;
  ck_ok(cm_microcircuit_counts(1, &c, &error));
  ck_assert_uint_eq(c.neurons, 77169);
  ck_assert_uint_eq(c.synapse_count, 298880968);
  /* ln(1 - 0.1689) / ln(1 - 1/(20683 * 5834)) = 22323309.6: layer 2/3, inhibitory to excitatory */
  ck_assert_uint_eq(c.synapses[0][1], (uint64_t)llround(-log1p(-0.1689) * (20683.0 * 5834.0 - 0.5)));
  ck_assert_uint_eq(c.synapses[0][5], 0);
  ck_ok(cm_microcircuit_counts(0.1, &c, &error));
  ck_assert_uint_eq(c.neurons, 2068 + 583 + 2192 + 548 + 485 + 107 + 1440 + 295);
  ck_assert_double_eq_tol((double)c.synapse_count, 2988810, 5000);
  ck_fails(cm_microcircuit_counts(0, &c, &error), CM_BAD_OPTION);
  ck_fails(cm_microcircuit_counts(NAN, &c, &error), CM_BAD_OPTION);
  ck_fails(cm_microcircuit_counts(11, &c, &error), CM_BAD_OPTION);
}
END_TEST

static int population_of(const cm_microcircuit *c, uint32_t neuron)
{
  int p = 0;
  for (; neuron >= c->size[p]; p++)
    neuron -= c->size[p];
  return p;
}

/* Every projection has exactly its synapses; pairs, multiples and autapses are as the report says. */
START_TEST(test_microcircuit_file)
{
  char path[2][CM_PATH_MAX];
  cm_microcircuit c;
  cm_microcircuit_report report;
  cm_topology *t = NULL;
  uint64_t found[8][8] = {0}, total = 0, loops = 0;
  ck_ok(cm_microcircuit_counts(0.02, &c, &error));
  for (int i = 0; i < 2; i++) {
    run.threads = i == 0 ? 1 : 3;
    ck_ok(cm_path(path[i], &error, "%s/%d.zip", folder, i));
    ck_ok(cm_generate_microcircuit(0.02, false, path[i], &run, &report, &error));
  }
  char *bytes[2];
  size_t size[2];
  for (int i = 0; i < 2; i++)
    ck_ok(cm_file_read(path[i], 1 << 24, &bytes[i], &size[i], &error));
  ck_assert_uint_eq(size[0], size[1]);
  ck_assert_int_eq(memcmp(bytes[0], bytes[1], size[0]), 0);
  free(bytes[0]);
  free(bytes[1]);
  ck_ok(cm_topology_load(path[0], &run, &t, &error));
  ck_assert_uint_eq(t->vertex_count, c.neurons);
  ck_assert_uint_eq(t->weight_scale, 1);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    ck_assert_uint_eq(cm_topology_net_weight(t, e), 1);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      found[population_of(&c, t->pin[i])][population_of(&c, source)] += cm_topology_pin_weight(t, e, i);
      total += cm_topology_pin_weight(t, e, i);
      loops += t->pin[i] == source;
    }
  }
  for (int to = 0; to < 8; to++)
    for (int from = 0; from < 8; from++)
      ck_assert_uint_eq(found[to][from], c.synapses[to][from]);
  ck_assert_uint_eq(total, c.synapse_count);
  ck_assert_uint_eq(report.synapses, total);
  ck_assert_uint_eq(report.pairs, t->pin_count);
  ck_assert_uint_eq(report.autapses, loops);
  ck_assert_uint_eq(t->self_loop_count, loops);
  ck_assert_uint_eq(t->duplicate_count, total - t->pin_count);
  ck_assert_uint_gt(t->duplicate_count, 0);
  cm_topology_free(t);
}
END_TEST

START_TEST(test_microcircuit_rates)
{
  char path[CM_PATH_MAX];
  cm_microcircuit c;
  cm_topology *t = NULL;
  static const double rate[8] = {0.903, 2.965, 4.414, 5.876, 7.569, 8.633, 1.105, 7.829};
  ck_ok(cm_path(path, &error, "%s/rates.zip", folder));
  ck_ok(cm_microcircuit_counts(0.01, &c, &error));
  ck_ok(cm_generate_microcircuit(0.01, true, path, &run, NULL, &error));
  ck_ok(cm_topology_load(path, &run, &t, &error));
  ck_assert_uint_eq(t->population_count, 8);
  ck_assert_str_eq(t->population[1].name, "L23I");
  for (uint32_t v = 0; v < t->vertex_count; v++)
    ck_assert_int_eq((int)t->population_of[v], population_of(&c, v));
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t weight = cm_topology_net_weight(t, e);
    ck_assert_double_eq_tol((double)weight / (double)t->weight_scale,
                            rate[population_of(&c, cm_topology_source(t, e))], 0.5 / 1024);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      ck_assert_uint_eq(cm_topology_pin_weight(t, e, i) % weight, 0);
  }
  cm_topology_free(t);
  ck_ok(cm_path(path, &error, "%s/missing/rates.zip", folder));
  ck_fails(cm_generate_microcircuit(0.01, true, path, &run, NULL, &error), CM_NOT_FOUND);
}
END_TEST

/* Every neuron has as many targets as asked for, all in the next layer and in the window around its like; at an edge the
 * window is as large. The places of a window are equally likely. */
START_TEST(test_layered)
{
  static const cm_layered shapes[] = {{5, 400, 1, 16, 40}, {4, 30, 20, 12, 36}, {2, 7, 1, 9, 9}, {3, 6, 5, 4, 100}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    const cm_layered *s = &shapes[k];
    uint32_t layer = s->width * s->height, side = s->height == 1 ? s->spread : 6, hits[41] = {0}, inner = 0;
    cm_topology *t = NULL, *other = NULL;
    ck_ok(cm_generate_layered(s, &run, &t, &error));
    ck_ok(cm_topology_verify(t, &error));
    ck_assert_uint_eq(t->vertex_count, s->layers * layer);
    ck_assert_uint_eq(t->net_count, (s->layers - 1) * layer);
    ck_assert_uint_eq(t->population_count, s->layers);
    for (uint32_t v = 0; v < t->vertex_count; v++)
      ck_assert_uint_eq(t->population_of[v], v / layer);
    for (uint32_t v = 0; v < t->net_count; v++) {
      ck_assert_uint_eq(t->net_first[v + 1] - t->net_first[v], k == 2 ? 7 : s->fan_out);
      ck_assert(t->net_weight[v] >= 1 && t->net_weight[v] <= t->weight_scale);
      uint32_t x = v % layer % s->width, y = v % layer / s->width;
      bool whole = k == 0 && x >= side && x + side < s->width;
      inner += whole;
      for (uint64_t i = t->net_first[v]; i < t->net_first[v + 1]; i++) {
        uint32_t to = t->pin[i], tx = to % layer % s->width, ty = to % layer / s->width;
        ck_assert_uint_eq(to / layer, v / layer + 1);
        if (k < 2) {
          bool edge_x = x < side || x + side > s->width, edge_y = y < side || y + side > s->height;
          ck_assert(edge_x || (tx + side / 2 >= x && tx < x - side / 2 + side));
          ck_assert(s->height == 1 || edge_y || (ty + side / 2 >= y && ty < y - side / 2 + side));
          ck_assert_uint_lt((tx > x ? tx - x : x - tx), side);
        }
        if (whole)
          hits[tx + side / 2 - x]++;
      }
    }
    for (uint32_t i = 0; k == 0 && i < side; i++)
      ck_assert_double_eq_tol(hits[i], inner * 16 / 40.0, 5 * sqrt(inner * 0.4 * 0.6));
    run.threads = 1;
    ck_ok(cm_generate_layered(s, &run, &other, &error));
    run.threads = 2;
    ck_assert_mem_eq(t->pin, other->pin, t->pin_count * sizeof *t->pin);
    cm_topology_free(t);
    cm_topology_free(other);
  }
  cm_topology *t = NULL;
  ck_fails(cm_generate_layered(&(cm_layered){1, 9, 1, 4, 8}, &run, &t, &error), CM_BAD_OPTION);
  ck_fails(cm_generate_layered(&(cm_layered){2, 9, 1, 4, 3}, &run, &t, &error), CM_BAD_OPTION);
  ck_fails(cm_generate_layered(&(cm_layered){70000, 70000, 1, 4, 8}, &run, &t, &error), CM_BAD_OPTION);
}
END_TEST

START_TEST(test_chain)
{
  cm_topology *t = NULL;
  ck_ok(cm_generate_chain(5, 7, &run, &t, &error));
  ck_ok(cm_topology_verify(t, &error));
  ck_assert_uint_eq(t->vertex_count, 35);
  ck_assert_uint_eq(t->pin_count, 35);
  for (uint32_t v = 0; v < 35; v++)
    ck_assert_uint_eq(t->pin[v], (v / 7 + 1) % 5 * 7 + v % 7);
  ck_assert_uint_eq(t->population_count, 5);
  ck_assert_str_eq(t->population[4].name, "population 5");
  ck_assert_uint_eq(t->population_of[34], 4);
  cm_topology_free(t);
  ck_fails(cm_generate_chain(1, 7, &run, &t, &error), CM_BAD_OPTION);
}
END_TEST

/* As many synapses as asked for; distinct targets, heavy tails on both sides, three quarters in the own region. */
START_TEST(test_connectome)
{
  enum { NEURONS = 12000, FAN_OUT = 40 };
  cm_topology *t = NULL, *other = NULL;
  uint32_t most_out = 0, most_in = 0, *in = calloc(NEURONS, sizeof *in);
  uint64_t own = 0;
  ck_ok(cm_generate_connectome(NEURONS, FAN_OUT, &run, &t, &error));
  ck_ok(cm_topology_verify(t, &error));
  ck_assert_uint_eq(t->vertex_count, NEURONS);
  ck_assert_double_eq_tol((double)t->pin_count, NEURONS * FAN_OUT, 0.02 * NEURONS * FAN_OUT);
  ck_assert_uint_eq(t->population_count, 20);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t fan = (uint32_t)(t->net_first[e + 1] - t->net_first[e]);
    most_out = fan > most_out ? fan : most_out;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      ck_assert_uint_ne(t->pin[i], t->net_source[e]);
      own += t->population_of[t->pin[i]] == t->population_of[t->net_source[e]];
      in[t->pin[i]]++;
    }
  }
  for (uint32_t v = 0; v < NEURONS; v++)
    most_in = in[v] > most_in ? in[v] : most_in;
  ck_assert_uint_gt(most_out, 15 * FAN_OUT);
  ck_assert_uint_gt(most_in, 10 * FAN_OUT);
  ck_assert(own > 6 * t->pin_count / 10 && own < 9 * t->pin_count / 10);
  run.threads = 1;
  ck_ok(cm_generate_connectome(NEURONS, FAN_OUT, &run, &other, &error));
  run.threads = 2;
  ck_assert_mem_eq(t->pin, other->pin, t->pin_count * sizeof *t->pin);
  ck_assert_mem_eq(t->net_weight, other->net_weight, NEURONS * sizeof *t->net_weight);
  cm_topology_free(t);
  cm_topology_free(other);
  free(in);
  ck_fails(cm_generate_connectome(100, 40, &run, &t, &error), CM_BAD_OPTION);
  ck_fails(cm_generate_connectome(8, 1, &run, &t, &error), CM_BAD_OPTION);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("generate");
  TCase *test = tcase_create("generate");
  tcase_add_checked_fixture(test, set_up_threads, teardown);
  tcase_add_figures_test(test, test_reservoir_like_published);
  tcase_add_figures_test(test, test_single_targets_by_race);
  tcase_add_figures_test(test, test_single_targets_by_proposal);
  tcase_add_test(test, test_long_range);
  tcase_add_test(test, test_reservoir_threads);
  tcase_add_test(test, test_reservoir_small);
  tcase_add_test(test, test_reservoir_refused);
  tcase_add_test(test, test_reservoir_allocation_faults);
  tcase_add_test(test, test_microcircuit_counts);
  tcase_add_test(test, test_microcircuit_file);
  tcase_add_test(test, test_microcircuit_rates);
  tcase_add_test(test, test_layered);
  tcase_add_test(test, test_chain);
  tcase_add_test(test, test_connectome);
  suite_add_tcase(suite, test);
  return test_main(suite);
}
