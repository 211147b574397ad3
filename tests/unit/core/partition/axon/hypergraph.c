/* core/partition/axon/hypergraph and lists: what is packed is what comes back, by plain lists. */
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

/* Ascending numbers of all ranges, in the memory that they are said to take, close by one another. */
START_TEST(numbers_come_back_from_lists)
{
  enum { LISTS = 400, MOST_NUMBERS = 300 };
  static uint32_t number[LISTS][MOST_NUMBERS], count[LISTS], range[LISTS];
  static uint64_t begin[LISTS + 1];
  static cm_list_end end[LISTS];
  cm_random random;
  cm_random_init(&random, 1, 0, 0);
  for (uint32_t l = 0; l < LISTS; l++) {
    range[l] = 1 + (uint32_t)cm_random_below(&random, UINT64_C(1) << below(&random, 32));
    uint32_t from = range[l] - 1 - (uint32_t)cm_random_below(&random, range[l]), step = 1 + below(&random, 1 + range[l] / 20);
    for (uint64_t v = from; v < range[l] && count[l] < MOST_NUMBERS; v += 1 + below(&random, step))
      number[l][count[l]++] = (uint32_t)v;
    end[l] = cm_list_begin(begin[l], count[l], range[l]);
    begin[l + 1] = begin[l] + cm_list_bytes(count[l], range[l]);
  }
  unsigned char *code = network_array(begin[LISTS] + CM_LIST_BEYOND, 1);
  for (uint32_t i = 0; i < MOST_NUMBERS; i++) /* side by side: none may touch another */
    for (uint32_t l = 0; l < LISTS; l++)
      if (i < count[l])
        cm_list_put(code, &end[l], number[l][i]);
  for (uint32_t l = 0; l < LISTS; l++) {
    cm_list list = cm_list_of(code + begin[l], count[l], range[l]);
    for (uint32_t i = 0; i < count[l]; i++)
      ck_assert_uint_eq(cm_list_next(&list), number[l][i]);
  }
  cm_free(code);
}
END_TEST

START_TEST(plain_numbers_come_back_in_their_order)
{
  enum { NUMBERS = 200 };
  static unsigned char code[NUMBERS * 4 + CM_LIST_BEYOND];
  for (uint32_t width = 1; width < 32; width++) {
    cm_random random;
    memset(code, 0, sizeof code);
    for (int put = 1; put >= 0; put--) {
      cm_list list = cm_list_plain(code, width);
      cm_random_init(&random, width, 0, 0);
      for (uint32_t i = 0; i < NUMBERS; i++) {
        uint32_t number = (uint32_t)cm_random_below(&random, UINT64_C(1) << width);
        if (put)
          cm_list_put_low(code, (uint64_t)i * width, width, number);
        else
          ck_assert_uint_eq(cm_list_next_low(&list), number);
      }
    }
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
  cm_topology t = {.vertex_count = _i == 0 ? 1 << 24 : 1U << (12 + below(&random, 12)), .net_count = NETS, .net_first = first};
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
    cm_list list = cm_list_of((const unsigned char *)t.pin + begin[e], (uint32_t)(first[e + 1] - first[e]), t.vertex_count);
    for (uint64_t i = first[e]; i < first[e + 1]; i++)
      ck_assert_uint_eq(cm_list_next(&list), before[i]);
  }
  cm_pins_unpack(&packed);
  ck_assert_uint_eq(memory.used_bytes, used);
  ck_assert_mem_eq(t.pin, before, t.pin_count * sizeof *before);
  cm_pins_unpack(&packed); /* nothing is packed any more */
  t.vertex_count = 1 << 30;
  for (uint32_t e = 0; e <= NETS; e++)
    first[e] = e;
  ck_assert(!cm_pins_packable(&t)); /* nets of one target take five bytes */
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
    ck_assert(listed == CM_OK || graph->in_code == NULL);
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
  tcase_add_test(tests, numbers_come_back_from_lists);
  tcase_add_test(tests, plain_numbers_come_back_in_their_order);
  tcase_add_loop_test(tests, packed_targets_take_less_and_come_back_as_they_were, 0, 20);
  tcase_add_loop_test(tests, lists_are_the_networks_on_every_level_for_any_number_of_threads, 0, 60);
  tcase_add_loop_test(tests, what_fails_leaves_nothing, 0, 6);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
