/* core/partition/axon/hypergraph and gaps: what is packed is what comes back, by plain lists. */
#include "tests/unit/networks.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/hypergraph.h"
#include "core/partition/axon/sketch.h"

enum { MOST = 40 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

/* Numbers of all lengths, those beside where another word begins among them. */
static uint32_t some_number(cm_random *random)
{
  uint32_t bits = below(random, 33);
  uint64_t top = UINT64_C(1) << bits;
  return (uint32_t)(below(random, 2) ? top - 1 - below(random, 2) % top : cm_random_below(random, top));
}

START_TEST(numbers_come_back_from_the_words_that_they_are_said_to_take)
{
  enum { NUMBERS = 2000 };
  static uint32_t number[NUMBERS];
  static uint16_t word[3 * NUMBERS];
  cm_random random;
  cm_random_init(&random, 1, 0, 0);
  uint16_t *to = word;
  for (uint32_t i = 0; i < NUMBERS; i++) {
    number[i] = some_number(&random);
    uint16_t *next = cm_gap_put(to, number[i]);
    ck_assert_int_eq(next - to, cm_gap_words(number[i]));
    ck_assert_int_eq(next - to, number[i] < 1 << 15 ? 1 : number[i] < 1 << 30 ? 2 : 3);
    to = next;
  }
  const uint16_t *from = word;
  for (uint32_t i = 0; i < NUMBERS; i++)
    ck_assert_uint_eq(cm_gap_take(&from), number[i]);
  ck_assert_ptr_eq(from, to);
}
END_TEST

START_TEST(ways_lead_back_in_either_direction_and_near_ones_are_short)
{
  cm_random random;
  cm_random_init(&random, 2, 0, 0);
  for (int i = 0; i < 10000; i++) {
    uint32_t a = some_number(&random), b = some_number(&random), apart = a < b ? b - a : a - b;
    ck_assert_uint_eq(cm_gap_go(a, cm_gap_way(a, b)), b);
    if (apart < 1 << 14)
      ck_assert_uint_eq(cm_gap_words(cm_gap_way(a, b)), 1);
  }
}
END_TEST

/* Nets of none, one and thousands of targets, near and far, and what comes back to the account meanwhile. */
START_TEST(packed_targets_take_less_and_come_back_as_they_were)
{
  enum { NETS = 40, LARGEST = 3000 };
  cm_random random;
  cm_memory memory;
  cm_packed_pins packed = {0};
  uint64_t begin[NETS], first[NETS + 1] = {0};
  cm_random_init(&random, 4, (uint64_t)_i, 0);
  cm_memory_init(&memory, 0);
  run.memory = &memory;
  cm_topology t = {.vertex_count = _i == 0 ? 1 << 29 : 1U << (12 + below(&random, 17)), .net_count = NETS, .net_first = first};
  ck_ok(CM_NEW(&memory, t.pin, NETS * LARGEST, &error));
  for (uint32_t e = 0; e < NETS; e++) {
    uint32_t targets = below(&random, 3) < 2 ? below(&random, 3) : 1 + below(&random, LARGEST), last = below(&random, 50);
    uint32_t step = 2 * (t.vertex_count / (targets + 1));
    for (uint32_t i = 0; i < targets && last < t.vertex_count; i++, last += 1 + below(&random, step + 1))
      t.pin[t.pin_count++] = last;
    first[e + 1] = t.pin_count;
  }
  t.pin[t.pin_count++] = t.vertex_count - 1;
  first[NETS] = t.pin_count;
  uint32_t *before = network_array(t.pin_count, sizeof *before);
  memcpy(before, t.pin, t.pin_count * sizeof *before);
  uint64_t used = memory.used_bytes;
  ck_assert(cm_pins_packable(&t));
  ck_ok(cm_pins_pack(&t, begin, &run, &packed, &error));
  ck_assert_uint_lt(memory.used_bytes, used);
  for (uint32_t e = 0; e < NETS; e++) {
    const uint16_t *from = (const uint16_t *)t.pin + begin[e];
    uint32_t last = 0;
    for (uint64_t i = first[e]; i < first[e + 1]; i++)
      ck_assert_uint_eq(last = cm_gap_go(last, cm_gap_take(&from)), before[i]);
  }
  cm_pins_unpack(&packed);
  ck_assert_uint_eq(memory.used_bytes, used);
  ck_assert_mem_eq(t.pin, before, t.pin_count * sizeof *before);
  cm_pins_unpack(&packed); /* nothing is packed any more */
  t.vertex_count = (1 << 29) + 1;
  ck_assert(!cm_pins_packable(&t));
  CM_FREE(t.pin, before);
}
END_TEST

/* Random nets, some of a single target and, where `sparse`, so many of none that the next net of a vertex is far. */
static cm_topology random_nets(cm_random *random, bool sparse)
{
  uint32_t n = 1 + below(random, MOST), nets = sparse ? 40000 : below(random, 2 * MOST), per_mille = 1 + below(random, 400);
  cm_topology t = {.directed = true, .vertex_count = n, .net_count = nets, .size_total = n, .weight_scale = 1};
  t.net_first = network_array(nets + 1, sizeof *t.net_first);
  t.net_source = network_array(nets, sizeof *t.net_source);
  t.net_weight = network_array(nets, sizeof *t.net_weight);
  t.pin = network_array((size_t)n * (sparse ? 200 : nets) + 1, sizeof *t.pin);
  for (uint32_t e = 0; e < nets; e++) {
    bool none = sparse && e != 0 && e != nets - 1 && below(random, nets) > 100;
    for (uint32_t v = 0; v < n && !none && t.pin_count < (uint64_t)n * (sparse ? 199 : nets); v++)
      if (below(random, 1000) < per_mille)
        t.pin[t.pin_count++] = v;
    t.net_first[e + 1] = t.pin_count;
    t.net_source[e] = (uint32_t)((uint64_t)e * n / nets);
  }
  uint32_t *weight = network_array(nets, sizeof *weight); /* all different: they tell the nets apart */
  cm_random_permutation(random, weight, nets);
  for (uint32_t e = 0; e < nets; e++)
    t.net_weight[e] = weight[e];
  cm_free(weight);
  return t;
}

/* A net's targets, plainly. */
typedef struct plain {
  uint32_t count, target[MOST];
} plain;

/* The nets of level 0, from the heaviest to the lightest. */
static plain *nets_of(const cm_topology *t, const cm_hypergraph *g)
{
  plain *nets = network_array(t->net_count, sizeof *nets);
  for (uint32_t k = 0; k < t->net_count; k++) {
    uint32_t e = t->net_count - 1 - (uint32_t)t->net_weight[k];
    ck_assert_uint_eq(g->net_weight[e], t->net_weight[k]);
    ck_assert_uint_eq(g->net_source[e], g->number[t->net_source[k]]);
    for (uint64_t i = t->net_first[k]; i < t->net_first[k + 1]; i++)
      nets[e].target[nets[e].count++] = g->number[t->pin[i]];
  }
  return nets;
}

static void check_lists(const cm_hypergraph *g, const plain *nets)
{
  uint64_t pins = 0;
  cm_nets *into = network_array(g->vertex_count, sizeof *into);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    into[v] = cm_nets_into(g, v);
  for (uint32_t e = 0; e < g->net_count; e++) {
    cm_targets targets = cm_targets_of(g, e);
    ck_assert_uint_eq(targets.left, nets[e].count);
    for (uint32_t i = 0; i < nets[e].count; i++, pins++) {
      uint32_t v = cm_targets_next(&targets);
      ck_assert_uint_eq(v, nets[e].target[i]);
      ck_assert_uint_gt(into[v].left, 0);
      ck_assert_uint_eq(cm_nets_next(&into[v]), e);
    }
    ck_assert_uint_eq(targets.left, 0);
  }
  ck_assert_uint_eq(g->pin_count, pins);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    ck_assert_uint_eq(into[v].left, 0);
  cm_free(into);
}

/* Each target once, in the order in which they first appear. */
static void merge(plain *nets, uint32_t count, const uint32_t *map)
{
  for (uint32_t e = 0; e < count; e++) {
    plain merged = {0};
    bool seen[MOST] = {false};
    for (uint32_t i = 0; i < nets[e].count; i++) {
      uint32_t c = map[nets[e].target[i]];
      if (!seen[c])
        merged.target[merged.count++] = c;
      seen[c] = true;
    }
    nets[e] = merged;
  }
}

START_TEST(lists_are_the_networks_on_every_level_for_any_number_of_threads)
{
  cm_random random;
  cm_random_init(&random, 3, (uint64_t)_i, 0);
  cm_topology t = random_nets(&random, _i % 4 == 0);
  cm_hypergraph *fine, *coarse;
  uint32_t map[MOST], clusters;
  run.threads = 1 + (unsigned)_i % 10;
  uint32_t *pin = network_array(t.pin_count + 1, sizeof *pin);
  memcpy(pin, t.pin, t.pin_count * sizeof *pin);
  ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&t), (cm_hypergraph_kind){0}, &run, &fine, &error));
  plain *nets = nets_of(&t, fine);
  cm_hypergraph_free(fine);
  ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&t), (cm_hypergraph_kind){.packed = _i % 3 > 0}, &run, &fine, &error));
  for (int level = 0; level < 3; level++) {
    ck_ok(cm_hypergraph_list_inbound(fine, &run, &error));
    check_lists(fine, nets);
    cm_hypergraph_drop_inbound(fine);
    ck_ok(cm_hypergraph_list_inbound(fine, &run, &error));
    check_lists(fine, nets);
    clusters = 1 + below(&random, fine->vertex_count);
    for (uint32_t v = 0; v < fine->vertex_count; v++)
      map[v] = v < clusters ? v : below(&random, clusters);
    ck_ok(cm_hypergraph_contract(fine, map, clusters, &run, &coarse, &error));
    merge(nets, t.net_count, map);
    coarse->own_net_weight = fine->own_net_weight; /* borrowed weights go on */
    fine->own_net_weight = NULL;
    cm_hypergraph_free(fine);
    fine = coarse;
  }
  ck_assert_mem_eq(t.pin, pin, t.pin_count * sizeof *pin);
  CM_FREE(pin, nets);
  cm_hypergraph_free(fine);
  network_free(&t);
}
END_TEST

/* Each allocation fails once: what was begun is gone, and nothing is left to be freed again. */
START_TEST(what_fails_leaves_nothing)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 31, 0);
  cm_topology t = random_nets(&random, false);
  cm_hypergraph *graph;
  ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&t), (cm_hypergraph_kind){0}, &run, &graph, &error));
  run.threads = 1 + (unsigned)_i % 3;
  uint32_t failed = 0;
  bool hit = true;
  for (uint64_t n = 1; hit; n++) {
    cm_sketches *sketches = NULL;
    cm_memory_fail_at(n);
    cm_status made = cm_sketches_new(graph, 1, &run, &sketches, &error);
    cm_status listed = made == CM_OK ? cm_hypergraph_list_inbound(graph, &run, &error) : CM_OK;
    hit = cm_memory_fault_fired() != 0;
    cm_memory_fail_at(0);
    failed += hit;
    ck_assert(!hit || made == CM_NO_MEMORY || listed == CM_NO_MEMORY || run.threads > 1); /* a helper may be done without */
    ck_assert(made == CM_OK || sketches == NULL);
    ck_assert(listed == CM_OK || graph->in_gap == NULL);
    cm_sketches_free(sketches);
    cm_hypergraph_drop_inbound(graph);
  }
  ck_assert_uint_gt(failed, 8);
  cm_hypergraph_free(graph);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("hypergraph");
  TCase *tests = tcase_create("hypergraph");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, numbers_come_back_from_the_words_that_they_are_said_to_take);
  tcase_add_test(tests, ways_lead_back_in_either_direction_and_near_ones_are_short);
  tcase_add_loop_test(tests, packed_targets_take_less_and_come_back_as_they_were, 0, 20);
  tcase_add_loop_test(tests, lists_are_the_networks_on_every_level_for_any_number_of_threads, 0, 60);
  tcase_add_loop_test(tests, what_fails_leaves_nothing, 0, 6);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
