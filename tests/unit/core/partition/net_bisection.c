/* core/partition/nets/net_bisection and net_initial on random hypergraphs: cuts, gains and sizes against counts made from the pins
 * alone, refinement against all single moves and all pairs of sides of small ones. */
#include "tests/unit/accounted.h"

#include "core/partition/nets/net_bisection.h"
#include "core/partition/nets/net_initial.h"

static void set_up(void)
{
  account_opens(5);
}

static cm_net_graph *random_graph(uint32_t vertices, uint32_t nets)
{
  cm_net_graph *g;
  cm_topology t = network_directed(&source, vertices, nets);
  ck_ok(cm_net_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  network_free(&t);
  return g;
}

static void random_sides(const cm_net_graph *g, uint32_t *side)
{
  for (uint32_t v = 0; v < g->vertex_count; v++)
    side[v] = below(&source, 2);
}

static int64_t cut_of(const cm_net_graph *g, const uint32_t *side)
{
  int64_t sum = 0;
  for (uint32_t e = 0; e < g->net_count; e++) {
    uint32_t ones = 0;
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++)
      ones += side[g->pin[i]];
    if (ones > 0 && ones < g->net_first[e + 1] - g->net_first[e])
      sum += g->net_weight[e];
  }
  return sum;
}

static void sizes_of(const cm_net_graph *g, const uint32_t *side, uint64_t load[2])
{
  load[0] = load[1] = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    load[side[v]] += g->size[v];
}

static uint64_t over(const cm_net_graph *g, const uint32_t *side, const uint64_t most[2])
{
  uint64_t load[2], sum = 0;
  sizes_of(g, side, load);
  for (int s = 0; s < 2; s++)
    sum += load[s] > most[s] ? load[s] - most[s] : 0;
  return sum;
}

/* What a change of sides gains, by cutting anew. */
static int64_t gain_of(const cm_net_graph *g, uint32_t *side, uint32_t v)
{
  int64_t before = cut_of(g, side);
  side[v] = 1 - side[v];
  int64_t after = cut_of(g, side);
  side[v] = 1 - side[v];
  return before - after;
}

static void assert_true_of_sides(const cm_net_bisection *b)
{
  uint64_t load[2];
  sizes_of(b->graph, b->side, load);
  ck_assert_int_eq(b->cut, cut_of(b->graph, b->side));
  for (int s = 0; s < 2; s++)
    ck_assert_uint_eq(b->load[s], load[s]);
  for (uint32_t v = 0; v < b->graph->vertex_count; v++)
    ck_assert_int_eq(b->gain[v], gain_of(b->graph, b->side, v));
}

START_TEST(gains_stay_true_through_moves)
{
  enum { VERTICES = 25, MOVES = 40 };
  for (int round = 0; round < 30; round++) {
    cm_net_graph *g = random_graph(2 + below(&source, VERTICES - 1), 40);
    uint32_t side[VERTICES];
    int64_t before[VERTICES];
    cm_net_bisection *b;
    random_sides(g, side);
    ck_ok(cm_net_bisection_new(g, side, &run, &b, &error));
    cm_net_bisection_fill(b);
    assert_true_of_sides(b);
    for (int m = 0; m < MOVES; m++) {
      uint32_t moved = below(&source, g->vertex_count);
      memcpy(before, b->gain, g->vertex_count * sizeof *before);
      cm_net_bisection_move(b, moved);
      assert_true_of_sides(b);
      for (uint32_t v = 0; v < g->vertex_count; v++) { /* listed once, not at all or moved: nobody else's gain has changed */
        uint32_t listed = 0;
        for (uint32_t i = 0; i < b->touched_count; i++)
          listed += b->touched[i] == v;
        ck_assert_uint_le(listed, v == moved ? 0 : 1);
        ck_assert(listed == 1 || v == moved || b->gain[v] == before[v]);
      }
    }
    cm_net_bisection_free(b);
    cm_net_graph_free(g);
  }
}
END_TEST

/* Only where all have one size: else the first of a side may hide smaller ones that would have room. */
static void assert_no_single_move_helps(const cm_net_graph *g, uint32_t *side, const uint64_t most[2])
{
  uint64_t excess = over(g, side, most);
  for (uint32_t v = 0; v < g->vertex_count && g->size_total == g->vertex_count; v++) {
    int64_t gain = gain_of(g, side, v);
    side[v] = 1 - side[v];
    uint64_t after = over(g, side, most);
    side[v] = 1 - side[v];
    ck_assert(after > excess || (after == excess && (excess > 0 || gain <= 0)));
  }
}

START_TEST(refined_sides_are_no_worse_and_no_single_move_helps_them)
{
  enum { VERTICES = 40 };
  for (int round = 0; round < 60; round++) {
    cm_net_graph *g = random_graph(2 + below(&source, VERTICES - 1), 80);
    uint32_t side[VERTICES];
    uint64_t share = g->size_total * below(&source, 60) / 100;
    uint64_t most[2] = {share + below(&source, 8), g->size_total - share + below(&source, 8)};
    cm_net_bisection *b;
    random_sides(g, side);
    uint64_t excess = over(g, side, most);
    int64_t cut = cut_of(g, side);
    ck_ok(cm_net_bisection_new(g, side, &run, &b, &error));
    cm_net_bisection_fill(b);
    ck_ok(cm_net_bisection_refine(b, most, 1000, &source, &run, &error));
    assert_true_of_sides(b);
    ck_assert_uint_eq(cm_net_bisection_excess(b, most), over(g, side, most));
    ck_assert(over(g, side, most) < excess || (over(g, side, most) == excess && b->cut <= cut));
    assert_no_single_move_helps(g, side, most);
    cm_net_bisection_free(b);
    cm_net_graph_free(g);
  }
}
END_TEST

/* The least cut of all pairs of sides within the limit. */
static int64_t least_cut(const cm_net_graph *g, uint64_t limit)
{
  const uint64_t most[2] = {limit, limit};
  uint32_t side[32];
  int64_t least = INT64_MAX;
  for (uint32_t bits = 0; bits < UINT32_C(1) << g->vertex_count; bits++) {
    for (uint32_t v = 0; v < g->vertex_count; v++)
      side[v] = bits >> v & 1;
    if (over(g, side, most) == 0 && cut_of(g, side) < least)
      least = cut_of(g, side);
  }
  return least;
}

START_TEST(two_parts_of_small_hypergraphs_are_cut_least)
{
  enum { VERTICES = 11 };
  int all = 0, least = 0;
  for (int round = 0; round < 40; round++) {
    cm_net_graph *g = random_graph(4 + below(&source, VERTICES - 3), 30);
    uint32_t part[VERTICES];
    uint64_t limit = g->size_total / 2 + 3, most[2] = {limit, limit};
    cm_net_initial_options o = {.parts = 2, .most = limit, .attempts = 3, .tries = 4, .seed = (uint64_t)round};
    int64_t optimum = least_cut(g, limit);
    ck_ok(cm_net_initial(g, &o, &run, part, &error));
    if (optimum < INT64_MAX) {
      ck_assert_uint_eq(over(g, part, most), 0);
      ck_assert_int_ge(cut_of(g, part), optimum);
      least += cut_of(g, part) == optimum;
      all++;
    }
    cm_net_graph_free(g);
  }
  ck_assert_int_ge(all, 30);
  ck_assert_int_ge(least * 10, all * 9);
}
END_TEST

START_TEST(more_attempts_never_cut_a_bisection_worse)
{
  enum { VERTICES = 400 };
  static uint32_t few[VERTICES], many[VERTICES];
  for (int round = 0; round < 4; round++) {
    cm_net_graph *g = random_graph(VERTICES, 20);
    cm_net_initial_options o = {.parts = 2, .most = g->size_total * 11 / 20, .attempts = 1, .tries = 1, .seed = (uint64_t)round};
    ck_ok(cm_net_initial(g, &o, &run, few, &error));
    o.attempts = 5;
    ck_ok(cm_net_initial(g, &o, &run, many, &error));
    ck_assert_int_le(cut_of(g, many), cut_of(g, few));
    cm_net_graph_free(g);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("net_bisection");
  TCase *tests = tcase_create("net_bisection");
  tcase_add_checked_fixture(tests, set_up, account_is_empty);
  tcase_add_test(tests, gains_stay_true_through_moves);
  tcase_add_test(tests, refined_sides_are_no_worse_and_no_single_move_helps_them);
  tcase_add_test(tests, two_parts_of_small_hypergraphs_are_cut_least);
  tcase_add_test(tests, more_attempts_never_cut_a_bisection_worse);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
