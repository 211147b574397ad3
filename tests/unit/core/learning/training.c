/* core/learning: environments, layouts, a policy at work, and training. */
#include "tests/unit/parts.h"

#include <math.h>
#include <sodium.h>

#include "core/learning/agent/agent.h"
#include "core/learning/agent/swap_refinement.h"
#include "core/learning/agent/placement_refinement.h"
#include "core/learning/pilot/pilot.h"
#include "core/learning/training/train.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  ck_assert_int_ge(sodium_init(), 0);
  cm_run_init(&run);
}

static cm_example *example(cm_family family, uint32_t width, uint32_t height, uint32_t nodes, uint64_t seed)
{
  cm_chip *chip;
  cm_flows *flows;
  cm_example *made;
  ck_ok(cm_chip_mesh(width, height, &chip, &error));
  ck_ok(cm_example_draw(family, nodes, seed, &run, &flows, &error));
  ck_ok(cm_example_new("e", &(cm_example_traffic){.flows = flows}, &(cm_example_site){chip, 0.2, seed}, &run, &made, &error));
  cm_chip_free(chip);
  return made;
}

/* Every node on a site of its own. */
static void check_placement(const cm_environment *environment, const uint32_t *at)
{
  uint8_t *used = network_array(environment->sites, sizeof *used);
  for (uint32_t v = 0; v < environment->nodes; v++) {
    ck_assert_uint_lt(at[v], environment->sites);
    ck_assert_uint_eq(used[at[v]], 0);
    used[at[v]] = 1;
  }
  cm_free(used);
}

START_TEST(layouts_know_the_shape)
{
  for (int family = 0; family < CM_FAMILIES; family++) {
    cm_example *e = example((cm_family)family, 7, 6, 33, 5);
    const cm_environment *s = e->environment;
    uint32_t *at = network_array(s->nodes, sizeof *at);
    for (uint32_t v = 0; v < s->nodes; v++)
      at[v] = v;
    uint64_t sequential = cm_environment_hops(s, at);
    for (int l = 0; l < CM_LAYOUTS; l++) {
      ck_ok(cm_environment_layout(s, (cm_layout)l, &run, at, &error));
      check_placement(s, at);
      ck_assert_uint_lt(cm_environment_hops(s, at), sequential); /* whose order was shuffled */
    }
    cm_free(at);
    cm_example_free(e);
  }
}
END_TEST

/* Two processors, each with its own nodes, on a chip of two dies. */
START_TEST(processors_keep_their_nodes)
{
  cm_random random;
  cm_random_init(&random, 2, 1, 0);
  cm_chip *chip = parts_chip(2, 1, 4, 4, 1, false);
  cm_graph *g = parts_planted(&random, 20, 2, 60, 10, 50, &run);
  cm_flows *flows;
  ck_ok(cm_flows_of_graph(g, &run, &flows, &error));
  uint32_t site[24], sites = 0, node_processor[20], site_processor[24];
  for (uint32_t c = 0; c < 32; c++) {
    if (c % 4 == 1 && c < 32)
      continue; /* taken */
    site_processor[sites] = c % 8 / 4;
    site[sites++] = c;
  }
  for (uint32_t v = 0; v < 20; v++)
    node_processor[v] = v % 2;
  cm_environment_parts parts = {g, flows, NULL, chip, site, sites, 2, node_processor, site_processor};
  cm_environment *s;
  ck_ok(cm_environment_new(&parts, &run, &s, &error));
  uint32_t at[20];
  float position[40];
  for (int round = 0; round < CM_LAYOUTS + CM_RULES; round++) {
    if (round < CM_LAYOUTS)
      ck_ok(cm_environment_layout(s, (cm_layout)round, &run, at, &error));
    else {
      for (int i = 0; i < 40; i++)
        position[i] = (float)(cm_random_unit(&random) * 2 - 1);
      ck_ok(cm_environment_assign(s, (cm_rule)(round - CM_LAYOUTS), position, 1, at, &error));
    }
    check_placement(s, at);
    for (uint32_t v = 0; v < 20; v++)
      ck_assert_uint_eq(s->site[at[v]] % 8 / 4, v % 2);
  }
  cm_environment joined;
  uint32_t crossed = 0;
  ck_ok(cm_environment_join(s, &joined, &error)); /* the same for one processor: nodes may leave theirs */
  ck_ok(cm_environment_assign(&joined, CM_RULE_NEAREST, position, 1, at, &error));
  check_placement(&joined, at);
  for (uint32_t v = 0; v < 20; v++)
    crossed += s->site[at[v]] % 8 / 4 != v % 2;
  ck_assert_uint_gt(crossed, 0);
  cm_environment_joined_free(&joined);
  cm_environment_free(s);
  for (uint32_t v = 0; v < 20; v++)
    node_processor[v] = v > 0; /* 19 nodes on 12 sites */
  ck_fails(cm_environment_new(&parts, &run, &s, &error), CM_NO_ROOM);
  cm_flows_free(flows);
  cm_graph_free(g);
  cm_chip_free(chip);
}
END_TEST

/* A node's loss is its row of traffic * distance, and the larger sides once more; by hand on a line of three. */
START_TEST(losses_by_hand)
{
  uint64_t dense[9] = {0, 5, 2, 5, 0, 0, 2, 0, 0};
  cm_graph *g = parts_graph(3, dense, &run);
  cm_flows *flows;
  cm_chip *chip;
  cm_environment *s;
  uint32_t site[] = {0, 1, 2, 3, 4, 5}, at[] = {1, 0, 5};
  double loss[3];
  ck_ok(cm_flows_of_graph(g, &run, &flows, &error));
  ck_ok(cm_chip_mesh(3, 2, &chip, &error));
  cm_environment_parts parts = {.graph = g, .flows = flows, .chip = chip, .site = site, .sites = 6};
  ck_ok(cm_environment_new(&parts, &run, &s, &error));
  cm_environment_losses(s, at, loss);
  ck_assert_double_eq(loss[0], (5 + 4) + 5 + 4); /* node 1 at distance 1 to the left; node 2 at 2, right and below */
  ck_assert_double_eq(loss[1], 5 + 5);
  ck_assert_double_eq(loss[2], 4 + 4 + 4);
  ck_assert_uint_eq(cm_environment_hops(s, at), 9);
  cm_environment_free(s);
  cm_flows_free(flows);
  cm_graph_free(g);
  cm_chip_free(chip);
}
END_TEST

/* What exchange says that it saved is saved, whatever was wished for; and of two rings it takes the one that pays. */
START_TEST(exchanges_that_pay)
{
  cm_random random;
  cm_random_init(&random, 6, 1, 0);
  uint32_t better = 0;
  for (int round = 0; round < 40; round++) {
    cm_example *e = example((cm_family)(round % CM_FAMILIES), 6, 6, 20 + (uint32_t)round % 9, (uint64_t)round);
    const cm_environment *s = e->environment;
    cm_swap_refinement exchange;
    uint32_t *at = network_array(s->nodes, sizeof *at), *to = network_array(s->sites, sizeof *to);
    ck_ok(cm_environment_layout(s, CM_LAYOUT_CURVE, &run, at, &error));
    cm_random_permutation(&random, to, s->sites);
    if (round % 2 == 0) /* most stay */
      for (uint32_t v = 0; v < s->nodes; v++)
        to[v] = at[v];
    for (int swaps = 0; swaps < 3; swaps++) {
      uint32_t a = below(&random, s->nodes), b = below(&random, s->nodes), kept = to[a];
      to[a] = to[b];
      to[b] = kept;
    }
    uint64_t before = cm_environment_hops(s, at);
    ck_ok(cm_swap_refinement_new(s, NULL, &exchange, &error));
    uint64_t saved = cm_swap_refinement_carry_out(&exchange, to, at);
    check_placement(s, at);
    ck_assert_uint_eq(cm_environment_hops(s, at), before - saved);
    better += saved > 0;
    cm_swap_refinement_free(&exchange);
    CM_FREE(at, to);
    cm_example_free(e);
  }
  ck_assert_uint_gt(better, 5);
}
END_TEST

/* Two pairs that talk, on a line: one stands apart and is to be joined, the other stands well and is to be torn. */
START_TEST(each_exchange_by_itself)
{
  uint64_t dense[36] = {0};
  dense[0 * 6 + 1] = dense[1 * 6 + 0] = dense[2 * 6 + 3] = dense[3 * 6 + 2] = 1;
  cm_graph *g = parts_graph(6, dense, &run);
  cm_flows *flows;
  cm_chip *chip;
  cm_environment *s;
  cm_swap_refinement exchange;
  uint32_t site[] = {0, 1, 2, 3, 4, 5}, at[] = {0, 2, 3, 4, 1, 5}, to[] = {0, 1, 3, 5, 2, 4};
  static const uint32_t right[] = {0, 1, 3, 4, 2, 5};
  ck_ok(cm_flows_of_graph(g, &run, &flows, &error));
  ck_ok(cm_chip_mesh(6, 1, &chip, &error));
  cm_environment_parts parts = {.graph = g, .flows = flows, .chip = chip, .site = site, .sites = 6};
  ck_ok(cm_environment_new(&parts, &run, &s, &error));
  ck_ok(cm_swap_refinement_new(s, NULL, &exchange, &error));
  ck_assert_uint_eq(cm_swap_refinement_carry_out(&exchange, to, at), 1);
  ck_assert_mem_eq(at, right, sizeof at);
  cm_swap_refinement_free(&exchange);
  cm_environment_free(s);
  cm_flows_free(flows);
  cm_graph_free(g);
  cm_chip_free(chip);
}
END_TEST

/* Trades one by one: each costs less than it may, and what they say that they save is saved. */
START_TEST(trades_cost_less_than_they_may)
{
  cm_random random;
  cm_random_init(&random, 7, 1, 0);
  uint32_t done = 0, costly = 0;
  for (int round = 0; round < 8; round++) {
    cm_example *e = example((cm_family)(round % CM_FAMILIES), 5, 5, 17 + (uint32_t)round, (uint64_t)round);
    const cm_environment *s = e->environment;
    cm_swap_refinement exchange;
    uint32_t *at = network_array(s->nodes, sizeof *at);
    ck_ok(cm_environment_layout(s, CM_LAYOUT_CURVE, &run, at, &error));
    ck_ok(cm_swap_refinement_new(s, NULL, &exchange, &error));
    cm_swap_refinement_begin(&exchange, at);
    for (int k = 0; k < 60; k++) {
      uint64_t before = cm_environment_hops(s, at);
      double most = k % 2 == 0 ? 0 : 300;
      uint32_t v = below(&random, s->nodes), site = below(&random, s->sites);
      int64_t saved = cm_swap_refinement_trade(&exchange, v, site, most, at);
      check_placement(s, at);
      ck_assert_uint_eq(cm_environment_hops(s, at), before - (uint64_t)saved);
      ck_assert(saved == 0 || -(double)saved < most);
      done += saved > 0;
      costly += saved < 0;
    }
    cm_swap_refinement_free(&exchange);
    cm_free(at);
    cm_example_free(e);
  }
  ck_assert_uint_gt(done, 20);
  ck_assert_uint_gt(costly, 5);
}
END_TEST

/* Refinement keeps what is better, and knows more than swaps when it may look longer. */
START_TEST(refinement_never_harms)
{
  for (int round = 0; round < 8; round++) {
    cm_example *e = example((cm_family)round, 6, 6, 24, 3);
    const cm_environment *s = e->environment;
    uint32_t *at = network_array(s->nodes, sizeof *at), *longer = network_array(s->nodes, sizeof *longer);
    cm_refine_options swaps = {0, 1}, looks = {3e5, 1};
    for (uint32_t v = 0; v < s->nodes; v++)
      at[v] = longer[v] = v;
    uint64_t start = cm_environment_hops(s, at);
    ck_ok(cm_environment_refine(s, &swaps, &run, at, &error));
    check_placement(s, at);
    ck_assert_uint_lt(cm_environment_hops(s, at), start); /* whose order was shuffled */
    ck_ok(cm_environment_refine(s, &looks, &run, longer, &error));
    check_placement(s, longer);
    ck_assert_uint_le(cm_environment_hops(s, longer), cm_environment_hops(s, at));
    CM_FREE(at, longer);
    cm_example_free(e);
  }
}
END_TEST

static cm_policy *pilot_new(uint64_t seed)
{
  const cm_policy_shape shape = {CM_PILOT_INPUTS, 1, 4, 4, CM_KIND_PILOT};
  cm_policy *pilot;
  cm_random random;
  ck_ok(cm_policy_new(&shape, 1, seed, &pilot, &error));
  cm_random_init(&random, seed, 1, 0);
  for (size_t i = 0; i < pilot->count && seed > 0; i++)
    pilot->parameter[i] = (float)(2 * cm_random_unit(&random) - 1);
  return pilot;
}

/* What a pilot says, by its formula. */
START_TEST(pilots_say_what_the_formula_says)
{
  enum { WIDTH = 4 };
  cm_policy *pilot = pilot_new(3);
  float input[CM_PILOT_INPUTS], output[CM_PILOT_OUTPUTS];
  for (int i = 0; i < CM_PILOT_INPUTS; i++)
    input[i] = 0.1f * (float)i - 0.5f;
  cm_pilot_ask(pilot, input, output);
  for (int o = 0; o < CM_PILOT_OUTPUTS; o++) {
    double sum = 0;
    for (int k = 0; k < WIDTH; k++) {
      double inner = 0;
      for (int i = 0; i < CM_PILOT_INPUTS; i++)
        inner += (double)input[i] * (double)pilot->parameter[i * WIDTH + k];
      sum += tanh(inner) * (double)pilot->parameter[CM_PILOT_INPUTS * WIDTH + k * CM_PILOT_OUTPUTS + o];
    }
    for (int i = 0; i < CM_PILOT_INPUTS; i++)
      sum += (double)input[i] * (double)pilot->parameter[(CM_PILOT_INPUTS + CM_PILOT_OUTPUTS) * WIDTH + i * CM_PILOT_OUTPUTS + o];
    ck_assert_double_eq_tol((double)output[o], sum, 1e-5);
  }
  cm_policy_free(pilot);
}
END_TEST

/* Whatever a pilot's numbers are, it ends with a placement on free sites, no worse than its start, of the traffic that it
 * says; the same again, and for any number of threads. */
START_TEST(pilots_never_harm)
{
  for (uint64_t seed = 0; seed < 12; seed++) {
    cm_example *e = example((cm_family)(seed % CM_FAMILIES), 5 + seed % 4, 6, 20 + (uint32_t)seed % 3, seed);
    const cm_environment *s = e->environment;
    cm_policy *pilot = pilot_new(seed);
    cm_acted one[CM_LAYOUTS], two[CM_LAYOUTS];
    run.threads = 1;
    ck_ok(cm_pilot_act(&(cm_pilot_task){pilot, s, 20, seed}, &run, one, &error));
    run.threads = 2;
    ck_ok(cm_pilot_act(&(cm_pilot_task){pilot, s, 20, seed}, &run, two, &error));
    for (int l = 0; l < CM_LAYOUTS; l++) {
      check_placement(s, one[l].at);
      ck_assert_mem_eq(one[l].at, two[l].at, s->nodes * sizeof *one[l].at);
      ck_assert_uint_le(one[l].after, one[l].before);
      ck_assert_uint_eq(one[l].after, cm_environment_hops(s, one[l].at));
    }
    cm_acted_free(one);
    cm_acted_free(two);
    cm_policy_free(pilot);
    cm_example_free(e);
  }
}
END_TEST

enum { EXAMPLES = 20 };

static void examples_new(cm_example **list)
{
  for (uint32_t i = 0; i < EXAMPLES; i++)
    list[i] = example((cm_family)(i % CM_FAMILIES), 4 + i % 3, 5, 14 + i % 5, i);
}

static cm_training *training_new(cm_example **list, unsigned threads, uint32_t updates)
{
  cm_policy_shape shape = {CM_POLICY_INPUTS, 1, 16, 16, 0};
  cm_train_options options = cm_train_defaults();
  cm_policy *policy;
  cm_training *t;
  options.updates = updates;
  options.threshold = 24;
  options.rate = 3e-3;
  options.watch = updates / 2;
  run.threads = threads;
  ck_ok(cm_policy_new(&shape, 1, 11, &policy, &error));
  ck_ok(cm_training_new(&(cm_training_task){policy, list, EXAMPLES}, &options, &run, &t, &error));
  cm_policy_free(policy);
  return t;
}

static void same(cm_training *a, cm_training *b)
{
  const cm_policy *p = cm_training_policy(a), *q = cm_training_policy(b);
  uint32_t n, m;
  const cm_curve_point *c = cm_training_curve(a, &n), *d = cm_training_curve(b, &m);
  ck_assert_uint_eq(n, m);
  ck_assert_mem_eq(p->parameter, q->parameter, p->count * sizeof *p->parameter);
  ck_assert_mem_eq(c, d, n * sizeof *c);
}

/* The same bits in one go on one thread, and on two threads with a checkpoint in the middle. */
START_TEST(resumed_is_uninterrupted)
{
  cm_example *list[EXAMPLES];
  char folder[CM_PATH_MAX], path[CM_PATH_MAX + 16];
  test_folder(folder);
  (void)snprintf(path, sizeof path, "%s/c", folder);
  examples_new(list);
  cm_training *whole = training_new(list, 1, 6), *half = training_new(list, 2, 6), *rest, *other;
  ck_ok(cm_training_run(whole, 6, &error));
  ck_ok(cm_training_run(half, 3, &error));
  ck_ok(cm_training_save(half, path, &error));
  rest = training_new(list, 2, 6);
  ck_ok(cm_training_resume(rest, path, &error));
  same(half, rest);
  ck_ok(cm_training_run(rest, 6, &error));
  same(whole, rest);
  other = training_new(list, 1, 8);
  ck_fails(cm_training_resume(other, path, &error), CM_CONFLICT);
  char *bytes;
  size_t size;
  ck_ok(cm_file_read(path, 1 << 24, &bytes, &size, &error));
  bytes[size / 2] ^= 1;
  test_write(path, bytes, size);
  ck_fails(cm_training_resume(rest, path, &error), CM_DAMAGED);
  same(whole, rest); /* untouched */
  free(bytes);
  cm_training_free(whole);
  cm_training_free(half);
  cm_training_free(rest);
  cm_training_free(other);
  for (uint32_t i = 0; i < EXAMPLES; i++)
    cm_example_free(list[i]);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* What was learnt shows on graphs that were held out; and a policy at work is the same on any number of threads, and
 * never ends with worse than it began. */
START_TEST(training_teaches)
{
  cm_example *list[EXAMPLES];
  uint32_t count;
  examples_new(list);
  cm_training *t = training_new(list, 2, 60);
  ck_ok(cm_training_run(t, 60, &error));
  const cm_curve_point *curve = cm_training_curve(t, &count);
  ck_assert_uint_eq(count, 60);
  double before = 0, after = 0;
  for (int i = 0; i < 10; i++) {
    before += curve[i].gained;
    after += curve[50 + i].gained;
  }
  ck_assert_double_gt(after, before + 0.5); /* ten updates' shares of the loss */
  ck_assert_double_lt(curve[59].held_out, 0.99 * curve[59].start);
  const cm_environment *s = list[4]->environment;
  cm_acted one[CM_LAYOUTS], two[CM_LAYOUTS];
  run.threads = 1;
  ck_ok(cm_policy_act(cm_training_policy(t), s, 8, &run, one, &error));
  run.threads = 2;
  ck_ok(cm_policy_act(cm_training_policy(t), s, 8, &run, two, &error));
  for (int l = 0; l < CM_LAYOUTS; l++) {
    check_placement(s, one[l].at);
    ck_assert_mem_eq(one[l].at, two[l].at, s->nodes * sizeof *one[l].at);
    ck_assert_uint_le(one[l].after, one[l].before);
    ck_assert_uint_eq(one[l].after, cm_environment_hops(s, one[l].at));
  }
  cm_acted_free(one);
  cm_acted_free(two);
  cm_training_free(t);
  for (uint32_t i = 0; i < EXAMPLES; i++)
    cm_example_free(list[i]);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("training");
  TCase *tests = tcase_create("training");
  tcase_add_unchecked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, layouts_know_the_shape);
  tcase_add_test(tests, processors_keep_their_nodes);
  tcase_add_test(tests, losses_by_hand);
  tcase_add_test(tests, exchanges_that_pay);
  tcase_add_test(tests, each_exchange_by_itself);
  tcase_add_test(tests, trades_cost_less_than_they_may);
  tcase_add_test(tests, refinement_never_harms);
  tcase_add_test(tests, pilots_say_what_the_formula_says);
  tcase_add_test(tests, pilots_never_harm);
  tcase_add_test(tests, resumed_is_uninterrupted);
  tcase_add_test(tests, training_teaches);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
