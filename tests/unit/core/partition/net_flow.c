/* core/partition/max_flow, balanced_cut and nets/net_flow on random networks: cuts against all pairs of sides of small ones, what
 * refinement makes of partitions against counts made from the pins alone. */
#include "tests/unit/accounted.h"

#include "core/partition/balanced_cut.h"
#include "core/partition/nets/net_flow.h"
#include "core/partition/nets/net_flow_region.h"
#include "core/partition/nets/nets.h"

static void set_up(void)
{
  account_opens(6);
}

/* Small flow networks. */

enum { NODES = 10, ARCS = 30 };

typedef struct arcs {
  uint32_t nodes, count, from[ARCS], to[ARCS];
  int64_t there[ARCS], back[ARCS];
} arcs;

static arcs random_arcs(void)
{
  arcs a = {.nodes = 4 + below(&source, NODES - 3), .count = ARCS};
  for (uint32_t i = 0; i < ARCS; i++) {
    a.from[i] = below(&source, a.nodes);
    a.to[i] = (a.from[i] + 1 + below(&source, a.nodes - 1)) % a.nodes;
    a.there[i] = below(&source, 6);
    a.back[i] = below(&source, 3);
  }
  return a;
}

/* What is carried at most out of a set of nodes. */
static int64_t capacity(const arcs *a, uint32_t set)
{
  int64_t sum = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    bool from = set >> a->from[i] & 1, to = set >> a->to[i] & 1;
    sum += from && !to ? a->there[i] : !from && to ? a->back[i] : 0;
  }
  return sum;
}

/* The least cut between sets of nodes. */
static int64_t least_capacity(const arcs *a, uint32_t with, uint32_t without)
{
  int64_t least = INT64_MAX;
  for (uint32_t set = 0; set < UINT32_C(1) << a->nodes; set++)
    if ((set & with) == with && (set & without) == 0 && capacity(a, set) < least)
      least = capacity(a, set);
  return least;
}

static void load_arcs(const arcs *a, cm_flow *f)
{
  ck_ok(cm_flow_begin(f, a->nodes, &error));
  for (uint32_t i = 0; i < a->count; i++)
    ck_ok(cm_flow_add(f, a->from[i], a->to[i], a->there[i], a->back[i], &error));
  ck_ok(cm_flow_ready(f, &error));
}

static uint32_t set_of(const cm_flow *f, unsigned side)
{
  uint32_t set = 0;
  for (uint32_t v = 0; v < f->nodes; v++)
    set |= cm_flow_has(f, side, v) ? UINT32_C(1) << v : 0;
  return set;
}

/* Sides grow by turns, as balanced_cut makes them. */
START_TEST(flows_are_least_cuts_while_sides_grow)
{
  cm_flow f = {.memory = &account};
  for (uint32_t round = 0; round < 200; round++) {
    arcs a = random_arcs();
    uint32_t ends[2] = {1, 2};
    load_arcs(&a, &f);
    cm_flow_take(&f, 0, 0);
    cm_flow_take(&f, 1, 1);
    cm_flow_maximise(&f, 0, INT64_MAX);
    for (uint32_t v = 2;; v++) {
      uint32_t all = (UINT32_C(1) << a.nodes) - 1, sets[2] = {set_of(&f, 0), set_of(&f, 1)};
      ck_assert_int_eq(f.value, least_capacity(&a, ends[0], ends[1]));
      ck_assert_int_eq(f.value, capacity(&a, sets[0]));
      ck_assert_int_eq(f.value, capacity(&a, all & ~sets[1]));
      unsigned side = below(&source, 2);
      while (v < a.nodes && ((sets[side] | ends[1 - side]) >> v & 1 || f.owner[v] != CM_FLOW_NEITHER))
        v++;
      if (v >= a.nodes)
        break;
      ends[side] |= sets[side];
      ends[side] |= UINT32_C(1) << v;
      cm_flow_close(&f, side);
      cm_flow_take(&f, side, v);
      cm_flow_maximise(&f, side, INT64_MAX);
    }
  }
  cm_flow_free(&f);
}
END_TEST

static uint64_t size_of(const uint32_t *size, uint32_t count, uint32_t set)
{
  uint64_t sum = 0;
  for (uint32_t v = 0; v < count; v++)
    sum += set >> v & 1 ? size[v] : 0;
  return sum;
}

START_TEST(balanced_cuts_keep_limits_and_are_least_without)
{
  enum { MOST = NODES };
  cm_flow f = {.memory = &account};
  int found = 0;
  for (uint32_t round = 0; round < 400; round++) {
    arcs a = random_arcs();
    uint32_t n = a.nodes - 2, size[MOST], order[2][MOST];
    uint8_t side[MOST];
    for (uint32_t v = 0; v < n; v++) {
      size[v] = 1 + below(&source, 3);
      order[0][v] = v;
      order[1][v] = n - 1 - v;
    }
    uint64_t all = size_of(size, n, UINT32_MAX), fixed[2] = {below(&source, 5), below(&source, 5)}, total = all + fixed[0] + fixed[1];
    bool limited = round % 2;
    uint64_t most = limited ? total / 2 + 1 + below(&source, 3) : total;
    int64_t least = least_capacity(&a, UINT32_C(1) << n, UINT32_C(2) << n), bound = least + below(&source, 8);
    cm_balanced_cut t = {.vertices = n, .size = size, .order = {order[0], order[1]}, .fixed = {fixed[0], fixed[1]},
                         .most = {most, most}, .cut = bound, .larger = UINT64_MAX, .looks = UINT64_MAX, .side = side};
    load_arcs(&a, &f);
    ck_ok(cm_balanced_cut_find(&f, &t, &run, &error));
    ck_assert(t.found || limited);
    if (!t.found)
      continue;
    uint32_t set = UINT32_C(1) << n;
    for (uint32_t v = 0; v < n; v++)
      set |= side[v] == 0 ? UINT32_C(1) << v : 0;
    uint64_t load = fixed[0] + size_of(size, n, set);
    ck_assert_uint_le(load, most);
    ck_assert_uint_le(total - load, most);
    ck_assert_uint_eq(t.larger, load > total - load ? load : total - load);
    ck_assert_int_eq(t.cut, capacity(&a, set));
    ck_assert_int_le(t.cut, bound);
    ck_assert(limited || t.cut == least);
    found += limited;
  }
  ck_assert_int_ge(found, 25);
  cm_flow_free(&f);
}
END_TEST

/* Partitions of hypergraphs. */

static cm_net_graph *random_graph(uint32_t vertices, uint32_t nets)
{
  cm_net_graph *g;
  cm_topology t = network_directed(&source, vertices, nets);
  ck_ok(cm_net_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  network_free(&t);
  return g;
}

static cm_net_graph *random_sheet(uint32_t vertices)
{
  cm_net_graph *g;
  cm_topology t = network_nearby(&source, vertices);
  ck_ok(cm_net_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  network_free(&t);
  return g;
}

static int64_t connectivity_of(const cm_net_graph *g, const uint32_t *part)
{
  int64_t sum = 0;
  for (uint32_t e = 0; e < g->net_count; e++) {
    uint32_t touched = 0;
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++) {
      bool first = true;
      for (uint64_t j = g->net_first[e]; j < i; j++)
        first &= part[g->pin[j]] != part[g->pin[i]];
      touched += first;
    }
    sum += g->net_weight[e] * ((int64_t)touched - 1);
  }
  return sum;
}

/* The least connectivity of all ways to share out the vertices of a region between its two parts. */
static int64_t least_of_region(const cm_net_region *r, const uint32_t *part)
{
  const cm_net_graph *g = r->state->graph;
  uint32_t trial[64], all = cm_flow_region_vertices(&r->base);
  int64_t least = INT64_MAX;
  memcpy(trial, part, g->vertex_count * sizeof *trial);
  for (uint32_t set = 0; set < UINT32_C(1) << all; set++) {
    for (uint32_t i = 0; i < all; i++)
      trial[r->base.vertex[i]] = r->base.part[set >> i & 1];
    int64_t sum = connectivity_of(g, trial);
    least = sum < least ? sum : least;
  }
  return least;
}

START_TEST(least_cuts_of_regions_are_least_connectivity)
{
  enum { VERTICES = 14, REGION = 9 };
  for (uint32_t round = 0; round < 60; round++) {
    cm_net_graph *g = random_graph(4 + below(&source, VERTICES - 3), 4 + below(&source, 30));
    uint32_t part[VERTICES], size[VERTICES], order[VERTICES], n = g->vertex_count;
    uint8_t side[VERTICES];
    cm_net_state *s;
    cm_net_region r;
    for (uint32_t v = 0; v < n; v++)
      part[v] = v < 2 ? v : below(&source, 3);
    ck_ok(cm_net_state_new(g, part, 3, &run, &s, &error));
    ck_ok(cm_net_region_new(s, &run, &r, &error));
    for (uint32_t again = 0; again < 3; again++) {
      cm_flow_region_begin(&r.base, 0, 1);
      cm_net_region_begin(&r);
      r.base.most = UINT64_MAX;
      for (unsigned own = 0; own < 2; own++)
        for (uint32_t v = 0; v < n; v++)
          if (part[v] == own && below(&source, 2) && cm_flow_region_vertices(&r.base) < REGION) {
            cm_flow_region_take(&r.base, own, v, 0);
            cm_net_region_spread(&r, own, v, 1, false);
          }
      uint32_t all = cm_flow_region_vertices(&r.base);
      ck_ok(cm_net_region_network(&r, &error));
      for (uint32_t i = 0; i < all; i++) {
        size[i] = g->size[r.base.vertex[i]];
        order[i] = i;
      }
      cm_balanced_cut t = {.vertices = all, .size = size, .order = {order, order}, .fixed = {s->load[0] - r.base.load[0], s->load[1] - r.base.load[1]},
                           .most = {UINT64_MAX, UINT64_MAX}, .cut = r.base.cut, .larger = UINT64_MAX, .looks = UINT64_MAX, .side = side};
      ck_ok(cm_balanced_cut_find(&r.base.flow, &t, &run, &error));
      ck_assert(t.found);
      ck_assert_int_eq(r.base.cut - t.cut, CM_NET_FLOW_UNIT * (connectivity_of(g, part) - least_of_region(&r, part)));
    }
    cm_net_region_free(&r);
    cm_net_state_free(s);
    cm_net_graph_free(g);
  }
}
END_TEST

START_TEST(refined_partitions_cost_no_more_and_break_no_limit)
{
  enum { VERTICES = 60, PARTS = 5 };
  int better = 0;
  for (uint32_t round = 0; round < 100; round++) {
    cm_net_graph *g = round % 2 ? random_sheet(VERTICES) : random_graph(VERTICES, 20 + below(&source, 80));
    uint32_t part[VERTICES];
    uint64_t most[PARTS], before[PARTS];
    cm_net_state *s, *anew;
    int64_t gain = 0;
    for (uint32_t v = 0; v < VERTICES; v++)
      part[v] = below(&source, 4) ? v * PARTS / VERTICES : below(&source, PARTS);
    for (uint32_t p = 0; p < PARTS; p++)
      most[p] = g->size_total / PARTS + 1 + below(&source, 8);
    ck_ok(cm_net_state_new(g, part, PARTS, &run, &s, &error));
    memcpy(before, s->load, sizeof before);
    int64_t was = connectivity_of(g, part);
    cm_flow_options o = {.most = most, .rounds = 1 + below(&source, 4), .reach = below(&source, 20), .distance = 1 + below(&source, 3),
                             .seed = round};
    ck_ok(cm_net_flow(s, &o, &run, &gain, &error));
    ck_assert_int_ge(gain, 0);
    ck_assert_int_eq(was - connectivity_of(g, part), gain);
    better += gain > 0;
    ck_ok(cm_net_state_new(g, part, PARTS, &run, &anew, &error));
    for (uint32_t p = 0; p < PARTS; p++) {
      ck_assert_uint_eq(s->load[p], anew->load[p]);
      ck_assert(s->load[p] <= most[p] || s->load[p] <= before[p]);
    }
    cm_net_state_free(anew);
    cm_net_state_free(s);
    cm_net_graph_free(g);
  }
  ck_assert_int_ge(better, 40);
}
END_TEST

/* A chain of vertices between two halves: moves one by one lose before they gain, a cut finds the thin place at once. */
START_TEST(a_thin_place_beyond_the_reach_of_single_moves_is_found)
{
  enum { N = 40, AT = 24 };
  cm_topology t = network_of_rows(N, 2 * N);
  uint32_t part[N];
  uint64_t most[2] = {30, 30};
  cm_net_graph *g;
  cm_net_state *s;
  int64_t gain = 0;
  t.net_weight = network_array(N, sizeof *t.net_weight);
  for (uint32_t v = 0; v < N; v++) { /* a path, heavier the nearer to its middle, but for one place */
    t.net_weight[v] = v == AT ? 1 : 20 + (v < N / 2 ? v : N - v);
    if (v + 1 < N)
      t.pin[t.pin_count++] = v + 1;
    t.net_first[v + 1] = t.pin_count;
    part[v] = v >= N / 2;
  }
  ck_ok(cm_net_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  ck_ok(cm_net_state_new(g, part, 2, &run, &s, &error));
  cm_flow_options o = {.most = most, .rounds = 3, .reach = 1, .distance = N};
  ck_ok(cm_net_flow(s, &o, &run, &gain, &error));
  ck_assert_int_eq(connectivity_of(g, part), 1);
  for (uint32_t v = 0; v < N; v++)
    ck_assert_uint_eq(part[v], part[0] ^ (v > AT));
  cm_net_state_free(s);
  cm_net_graph_free(g);
  network_free(&t);
}
END_TEST

START_TEST(refinement_ends_when_cancelled_or_without_memory)
{
  enum { VERTICES = 60, PARTS = 4 };
  cm_net_graph *g = random_graph(VERTICES, 60);
  uint32_t part[VERTICES];
  uint64_t most[PARTS];
  atomic_bool cancelled = true;
  cm_net_state *s;
  int64_t gain = 0;
  for (uint32_t v = 0; v < VERTICES; v++)
    part[v] = v % PARTS;
  for (uint32_t p = 0; p < PARTS; p++)
    most[p] = g->size_total;
  ck_ok(cm_net_state_new(g, part, PARTS, &run, &s, &error));
  cm_flow_options o = {.most = most, .rounds = 3, .reach = 16, .distance = 2};
  run.cancel = &cancelled;
  ck_assert_int_eq(cm_net_flow(s, &o, &run, &gain, &error), CM_CANCELLED);
  run.cancel = NULL;
  uint64_t used = account.used_bytes;
  account.limit_bytes = used;
  for (cm_status status = CM_MEMORY_LIMIT; status != CM_OK; account.limit_bytes += 512) { /* every allocation fails once */
    status = cm_net_flow(s, &o, &run, &gain, &error);
    ck_assert(status == CM_OK || status == CM_MEMORY_LIMIT);
    ck_assert_uint_eq(account.used_bytes, used);
  }
  cm_net_state_free(s);
  cm_net_graph_free(g);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("net_flow");
  TCase *tests = tcase_create("net_flow");
  tcase_add_checked_fixture(tests, set_up, account_is_empty);
  tcase_add_test(tests, flows_are_least_cuts_while_sides_grow);
  tcase_add_test(tests, balanced_cuts_keep_limits_and_are_least_without);
  tcase_add_test(tests, least_cuts_of_regions_are_least_connectivity);
  tcase_add_test(tests, refined_partitions_cost_no_more_and_break_no_limit);
  tcase_add_test(tests, a_thin_place_beyond_the_reach_of_single_moves_is_found);
  tcase_add_test(tests, refinement_ends_when_cancelled_or_without_memory);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
