/* core/partition/edge/edge_flow on random networks: cuts of regions against all ways to share out their vertices, what refinement
 * makes of partitions against counts from the edges alone. */
#include "tests/unit/accounted.h"

#include "core/partition/balanced_cut.h"
#include "core/partition/edge/edge_flow.h"

static void set_up(void)
{
  account_opens(7);
}

static cm_csr_graph *random_graph(uint32_t vertices, uint32_t nets)
{
  cm_csr_graph *g;
  cm_topology t = network_directed(&source, vertices, nets);
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  network_free(&t);
  return g;
}

static cm_csr_graph *random_sheet(uint32_t vertices)
{
  cm_csr_graph *g;
  cm_topology t = network_nearby(&source, vertices);
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  network_free(&t);
  return g;
}

/* From the entries alone. */
static int64_t cut_of(const cm_csr_graph *g, const uint32_t *part)
{
  int64_t sum = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      sum += part[v] < part[g->neighbour[i]] ? (int64_t)cm_csr_graph_weight(g, i) : 0;
  return sum;
}

static int64_t least_of_region(const cm_csr_graph *g, const cm_flow_region *r, const uint32_t *part)
{
  uint32_t trial[64], all = cm_flow_region_vertices(r);
  int64_t least = INT64_MAX;
  memcpy(trial, part, g->vertex_count * sizeof *trial);
  for (uint32_t set = 0; set < UINT32_C(1) << all; set++) {
    for (uint32_t i = 0; i < all; i++)
      trial[r->vertex[i]] = r->part[set >> i & 1];
    int64_t sum = cut_of(g, trial);
    least = sum < least ? sum : least;
  }
  return least;
}

START_TEST(least_cuts_of_regions_are_least_cuts_of_parts)
{
  enum { VERTICES = 14, REGION = 9 };
  int better = 0;
  for (uint32_t round = 0; round < 60; round++) {
    cm_csr_graph *g = random_graph(4 + below(&source, VERTICES - 3), 4 + below(&source, 30));
    uint32_t part[VERTICES], size[VERTICES], order[VERTICES], n = g->vertex_count;
    uint8_t side[VERTICES];
    cm_kway *s;
    cm_flow_region r;
    for (uint32_t v = 0; v < n; v++)
      part[v] = v < 2 ? v : below(&source, 3);
    ck_ok(cm_kway_new(g, part, 3, &run, &s, &error));
    ck_ok(cm_flow_region_new(n, g->size, &run, &r, &error));
    for (uint32_t again = 0; again < 3; again++) {
      cm_flow_region_begin(&r, 0, 1);
      r.most = UINT64_MAX;
      for (unsigned own = 0; own < 2; own++)
        for (uint32_t v = 0; v < n; v++)
          if (part[v] == own && below(&source, 2) && cm_flow_region_vertices(&r) < REGION)
            cm_flow_region_take(&r, own, v, 0);
      uint32_t all = cm_flow_region_vertices(&r);
      ck_ok(cm_edge_flow_network(s, &r, &error));
      for (uint32_t i = 0; i < all; i++) {
        size[i] = g->size[r.vertex[i]];
        order[i] = i;
      }
      cm_balanced_cut t = {.vertices = all, .size = size, .order = {order, order}, .fixed = {s->load[0] - r.load[0], s->load[1] - r.load[1]},
                           .most = {UINT64_MAX, UINT64_MAX}, .cut = r.cut, .larger = UINT64_MAX, .looks = UINT64_MAX, .side = side};
      ck_ok(cm_balanced_cut_find(&r.flow, &t, &run, &error));
      ck_assert(t.found);
      ck_assert_int_eq(r.cut - t.cut, cut_of(g, part) - least_of_region(g, &r, part));
      better += t.cut < r.cut;
    }
    cm_flow_region_free(&r);
    cm_kway_free(s);
    cm_csr_graph_free(g);
  }
  ck_assert_int_ge(better, 60);
}
END_TEST

START_TEST(refined_partitions_cut_no_more_and_break_no_limit)
{
  enum { VERTICES = 60, PARTS = 5 };
  int better = 0;
  for (uint32_t round = 0; round < 100; round++) {
    cm_csr_graph *g = round % 2 ? random_sheet(VERTICES) : random_graph(VERTICES, 20 + below(&source, 80));
    uint32_t part[VERTICES];
    uint64_t most[PARTS], before[PARTS];
    cm_kway *s, *anew;
    int64_t gain;
    for (uint32_t v = 0; v < VERTICES; v++)
      part[v] = below(&source, 4) ? v * PARTS / VERTICES : below(&source, PARTS);
    for (uint32_t p = 0; p < PARTS; p++)
      most[p] = g->size_total / PARTS + 1 + below(&source, 8);
    ck_ok(cm_kway_new(g, part, PARTS, &run, &s, &error));
    memcpy(before, s->load, sizeof before);
    int64_t was = cut_of(g, part);
    cm_flow_options o = {.most = most, .rounds = 1 + below(&source, 4), .reach = below(&source, 20), .distance = 1 + below(&source, 3),
                         .worth = round % 3 == 0 ? 0.001 : 0, .entries = g->entry_count, .cost = was, .seed = round};
    ck_ok(cm_edge_flow(s, &o, &gain, &error));
    ck_assert_int_ge(gain, 0);
    ck_assert_int_eq(was - cut_of(g, part), gain);
    better += gain > 0;
    ck_ok(cm_kway_new(g, part, PARTS, &run, &anew, &error));
    ck_assert_int_eq(s->cut, anew->cut);
    for (uint32_t p = 0; p < PARTS; p++) {
      ck_assert_uint_eq(s->load[p], anew->load[p]);
      ck_assert(s->load[p] <= most[p] || s->load[p] <= before[p]);
    }
    cm_kway_free(anew);
    cm_kway_free(s);
    cm_csr_graph_free(g);
  }
  ck_assert_int_ge(better, 40);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("edge_flow");
  TCase *tests = tcase_create("flow");
  tcase_add_checked_fixture(tests, set_up, account_is_empty);
  tcase_add_test(tests, least_cuts_of_regions_are_least_cuts_of_parts);
  tcase_add_test(tests, refined_partitions_cut_no_more_and_break_no_limit);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
