/* A look against the best of all partitions of tiny networks, and lines whose parts are known. */
#include "tests/unit/networks.h"

#include <math.h>

#include "core/chip/chip.h"
#include "core/look/look.h"

static cm_error error;
static cm_run run;
static cm_chip *chip;

static void set_up(void)
{
  cm_run_init(&run);
  ck_ok(cm_chip_open("loihi1", &chip, &error));
}

static void tear_down(void)
{
  cm_chip_free(chip);
}

/* Rows of random targets, and random rates. */
static cm_topology random_network(uint64_t seed, uint32_t n, uint32_t percent)
{
  cm_random random;
  cm_random_init(&random, seed, 3, 0);
  cm_topology t = network_of_rows(n, (size_t)n * n);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  for (uint32_t e = 0; e < n; e++) {
    t.net_weight[e] = 1 + below(&random, 3);
    t.pin[t.pin_count++] = (e + 1) % n;
    for (uint32_t u = 0; u < n; u++)
      if (u != (e + 1) % n && below(&random, 100) < percent)
        t.pin[t.pin_count++] = u;
    t.net_first[e + 1] = t.pin_count;
  }
  return t;
}

/* The busiest part's time, and the energy of a step but for hops, counted synapse by synapse. */
static void count(const cm_topology *t, const uint32_t *part, uint32_t parts, double *ns, double *pj)
{
  const cm_charge_cost *c = chip->costs.charge;
  double receive[8] = {0}, send[8] = {0};
  *ns = *pj = 0;
  for (uint32_t e = 0; e < t->net_count; e++) {
    bool reached[8] = {false};
    double rate = (double)t->net_weight[e];
    send[part[e]] += c[CM_CHARGE_NEURON].ns + rate * c[CM_CHARGE_SPIKE].ns;
    *pj += c[CM_CHARGE_NEURON].pj + rate * c[CM_CHARGE_SPIKE].pj;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t p = part[t->pin[i]];
      receive[p] += rate * (c[CM_CHARGE_SYNAPSE].ns + (reached[p] ? 0 : c[CM_CHARGE_PACKET_RECEIVED].ns));
      send[part[e]] += reached[p] ? 0 : rate * c[CM_CHARGE_PACKET_SENT].ns;
      *pj += rate * (c[CM_CHARGE_SYNAPSE].pj + (reached[p] ? 0 : c[CM_CHARGE_PACKET_SENT].pj + c[CM_CHARGE_PACKET_RECEIVED].pj));
      reached[p] = true;
    }
  }
  for (uint32_t p = 0; p < parts; p++)
    *ns = fmax(*ns, fmax(receive[p], send[p]));
}

static void open_look(const cm_demand *demand, uint64_t pins_max, cm_look *look, cm_look_on *on)
{
  ck_ok(cm_look_begin(demand, pins_max, &run, look, &error));
  ck_ok(cm_look_on_chip(look, chip, &chip->limits, on, &error));
}

START_TEST(near_the_best_of_all_partitions_and_bounded)
{
  enum { N = 9, PARTS = 3 };
  cm_topology t = random_network((uint64_t)_i + 1, N, 35);
  cm_demand demand = cm_demand_of(&t);
  cm_look look;
  cm_look_on on;
  open_look(&demand, 1000, &look, &on);
  for (uint32_t parts = 1; parts <= PARTS; parts++) {
    uint32_t part[N], ways = 1;
    double least = INFINITY, pj_there = 0, least_pj = INFINITY;
    for (int v = 0; v < N; v++)
      ways *= parts;
    for (uint32_t way = 0; way < ways; way++) {
      double ns, pj;
      uint32_t rest = way;
      for (int v = 0; v < N; v++, rest /= parts)
        part[v] = rest % parts;
      count(&t, part, parts, &ns, &pj);
      pj_there = ns < least ? pj : pj_there;
      least = fmin(least, ns);
      least_pj = fmin(least_pj, pj);
    }
    cm_look_point point;
    ck_assert(cm_look_at(&on, parts, &point));
    ck_assert_double_le(point.bound_ns, least + cm_barrier_ns(&chip->costs.barrier, 1) + 1e-9);
    ck_assert_double_le(point.bound_pj, least_pj * (1 + 1e-9));
    ck_assert_double_eq_tol(point.core_ns / least, 1, parts == 1 ? 0.021 : 0.2);
    ck_assert_double_eq_tol(point.energy_pj / pj_there, 1, parts == 1 ? 1e-9 : 0.15);
  }
  cm_look_end(&look);
  network_free(&t);
}
END_TEST

/* Groups of neurons that hear the same axons, dealt out over all numbers: the line brings each group together, so that as many cores as
 * groups receive every axon once. */
START_TEST(neurons_that_hear_the_same_stand_together)
{
  enum { GROUPS = 8, EACH = 50, N = GROUPS * EACH };
  cm_topology t = network_of_rows(N, (size_t)N * EACH);
  for (uint32_t e = 0; e < N; e++) {
    for (uint32_t u = 0; u < N; u++)
      if (u % GROUPS == e % GROUPS)
        t.pin[t.pin_count++] = u;
    t.net_first[e + 1] = t.pin_count;
  }
  cm_demand demand = cm_demand_of(&t);
  cm_look look;
  cm_look_on on;
  cm_look_point point;
  open_look(&demand, UINT64_MAX, &look, &on);
  ck_assert(cm_look_at(&on, GROUPS, &point));
  ck_assert_double_eq_tol(point.energy_pj / point.bound_pj, 1, 0.05); /* hardly more than a packet an axon */
  ck_assert_int_eq(on.order, CM_STRAND_BY_INPUTS);
  cm_look_end(&look);
  open_look(&demand, t.pin_count / 3, &look, &on); /* of a third of it */
  ck_assert(cm_look_at(&on, GROUPS, &point));
  ck_assert_double_eq_tol(point.energy_pj / point.bound_pj, 1, 0.1);
  cm_look_end(&look);
  network_free(&t);
}
END_TEST

START_TEST(choices_rise_to_the_least_time)
{
  cm_topology t = random_network(7, 600, 5);
  cm_demand demand = cm_demand_of(&t);
  cm_look look;
  cm_look_on on;
  cm_look_point point[CM_LOOK_POINTS_MAX];
  open_look(&demand, UINT64_MAX, &look, &on);
  uint32_t points = cm_look_choices(&on, 1, 128, point), knee = cm_look_knee_between(&on, point, points);
  ck_assert_uint_ge(points, 4);
  ck_assert_uint_eq(point[0].cores, 1);
  double least = INFINITY;
  for (uint32_t i = 0; i < points; i++) {
    ck_assert(i == 0 || (point[i].cores > point[i - 1].cores && point[i].step_ns < point[i - 1].step_ns));
    ck_assert_double_le(point[i].bound_ns, point[i].step_ns);
    ck_assert_double_le(point[i].bound_pj, point[i].energy_pj);
    least = fmin(least, point[i].step_ns * point[i].energy_pj);
  }
  cm_look_point there;
  ck_assert(cm_look_at(&on, knee, &there));
  ck_assert_double_le(there.step_ns * there.energy_pj, 1.25 * least);
  ck_assert_uint_le(knee, point[cm_look_knee(point, points)].cores);
  cm_look_end(&look);
  network_free(&t);
}
END_TEST

/* On fewer cores than there are neurons, but more than half as many, one has two in any case. */
START_TEST(neurons_are_whole)
{
  cm_topology t = random_network(5, 50, 60);
  cm_demand demand = cm_demand_of(&t);
  cm_look look;
  cm_look_on on;
  cm_look_point half, more, all;
  open_look(&demand, UINT64_MAX, &look, &on);
  ck_assert(cm_look_at(&on, 25, &half) && cm_look_at(&on, 42, &more) && cm_look_at(&on, 50, &all));
  ck_assert_double_eq_tol(more.core_ns, half.core_ns, 1e-9);
  ck_assert_double_lt(all.core_ns, 0.95 * half.core_ns);
  cm_look_end(&look);
  network_free(&t);
}
END_TEST

START_TEST(limits_of_a_core_are_kept)
{
  cm_topology t = random_network(2, 300, 5);
  cm_demand demand = cm_demand_of(&t);
  cm_look look;
  cm_look_on on;
  cm_look_point point;
  chip->limits.neurons = 64;
  open_look(&demand, UINT64_MAX, &look, &on);
  ck_assert_uint_eq(on.fewest, 5);
  ck_assert(!cm_look_at(&on, 4, &point));
  ck_assert(cm_look_at(&on, 5, &point));
  ck_assert(point.fullest == CM_NEURONS && point.filled > 0.9 && point.filled <= 1);
  cm_look_end(&look);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("look");
  TCase *tests = tcase_create("look");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_loop_test(tests, near_the_best_of_all_partitions_and_bounded, 0, 6);
  tcase_add_test(tests, neurons_that_hear_the_same_stand_together);
  tcase_add_test(tests, choices_rise_to_the_least_time);
  tcase_add_test(tests, neurons_are_whole);
  tcase_add_test(tests, limits_of_a_core_are_kept);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
