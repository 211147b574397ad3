/* Placement by whole routers: what trees and tables cost against walking every axon's ways and listing the ways out, the optimum of
 * rings, no core that is not the region's. Routes whose trees share entries: as many links, a hop later at most, fewer ways out. */
#include "../unit/chips.h"

#include <string.h>

#include "core/chip/interconnect/interconnect.h"
#include "core/chip/interconnect/path_trees.h"
#include "core/chip/region.h"
#include "core/chip/turns.h"
#include "core/placement/trees/trees.h"
#include "core/routing/walk.h"

enum { PARTS_MAX = 64, ROUTERS_MAX = 64, LINKS_MAX = 512, SEEN_MAX = 4096 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

static cm_chip *chip_of(const char *torus, unsigned routers, unsigned cores)
{
  char text[400];
  int length = snprintf(
    text, sizeof text,
    "{\"name\": \"groups\", \"cores\": [%u, %u], \"cores_per_router\": [%u, 1], \"torus\": [%s], \"table_entries\": 1023, "
    "\"limits\": {\"neurons\": 1}, \"interconnect\": {\"kind\": \"hexagonal\"}, "
    "\"energy_pj\": {\"router\": 1, \"link\": 0.1}, \"latency_ns\": {\"router\": 1, \"link\": 0.01}}",
    routers * cores, routers, cores, torus);
  cm_chip *chip;
  ck_ok(cm_chip_parse(text, (size_t)length, &chip, &error));
  ck_ok(cm_interconnect_prepare(chip->interconnect, &error));
  return chip;
}

/* ---- what a placement costs ---- */

/* A way out of a router: links, and parts behind it. */
typedef struct way_out {
  uint32_t router;
  bool link[LINKS_MAX], part[PARTS_MAX];
} way_out;

typedef struct plain_cost {
  uint64_t links;
  uint32_t entries;
} plain_cost;

/* The links of a cast's tree and the parts it is for, with its sender where another part of that router is one. */
static void draw(const cm_casts *c, const cm_chip *chip, uint32_t sender, uint32_t e, const uint32_t *core, way_out *drawn,
                 int *into)
{
  const cm_interconnect *net = chip->interconnect;
  uint32_t from = cm_router_of(chip, core[sender]);
  memset(drawn, 0, sizeof *drawn);
  for (uint32_t r = 0; r < net->routers; r++)
    into[r] = -1;
  for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++) {
    uint32_t at = cm_router_of(chip, core[c->target[i]]);
    drawn->part[c->target[i]] = true;
    if (at == from)
      drawn->part[sender] = true;
    for (; at != from; at = net->link[into[at]].from) {
      into[at] = (int)cm_interconnect_last(net, from, at);
      drawn->link[into[at]] = true;
    }
  }
}

static bool goes_straight(const cm_interconnect *net, const way_out *way, int into)
{
  uint32_t links = 0, last = 0;
  for (uint32_t l = 0; l < net->link_count; l++)
    if (way->link[l]) {
      links++;
      last = l;
    }
  for (uint32_t p = 0; p < PARTS_MAX; p++)
    if (way->part[p])
      return false;
  return links == 1 && into >= 0 && cm_interconnect_straight(net, (uint32_t)into) == (int64_t)last;
}

/* Every cast alone; ways out of a router that were listed before count once. */
static plain_cost count_plainly(const cm_casts *c, const cm_chip *chip, const uint32_t *core)
{
  static way_out seen[SEEN_MAX];
  static way_out drawn;
  int into[ROUTERS_MAX];
  plain_cost cost = {0};
  const cm_interconnect *net = chip->interconnect;
  for (uint32_t p = 0; p < c->parts; p++)
    for (uint32_t e = c->of_part[p]; e < c->of_part[p + 1]; e++) {
      draw(c, chip, p, e, core, &drawn, into);
      for (uint32_t l = 0; l < net->link_count; l++)
        cost.links += drawn.link[l] ? c->weight[e] * net->link[l].units : 0;
      for (uint32_t r = 0; r < net->routers; r++) {
        way_out *way = &seen[cost.entries];
        bool here = false, known = false;
        memset(way, 0, sizeof *way);
        way->router = r;
        for (uint32_t l = net->first[r]; l < net->first[r + 1]; l++)
          here |= way->link[l] = drawn.link[l];
        for (uint32_t q = 0; q < c->parts; q++)
          here |= way->part[q] = drawn.part[q] && cm_router_of(chip, core[q]) == r;
        for (uint32_t k = 0; k < cost.entries; k++)
          known = known || memcmp(&seen[k], way, sizeof *way) == 0;
        cost.entries += here && !known && !goes_straight(net, way, into[r]);
        ck_assert_uint_lt(cost.entries, SEEN_MAX);
      }
    }
  return cost;
}

typedef struct scene {
  cm_chip *chip;
  cm_topology topology;
  cm_region *region;
  cm_casts *casts;
  uint32_t core[PARTS_MAX];
} scene;

/* Parts of one neuron each. */
static void scene_make(scene *s, cm_topology topology, cm_chip *chip, uint32_t cores)
{
  uint32_t part[PARTS_MAX];
  *s = (scene){.chip = chip, .topology = topology};
  for (uint32_t v = 0; v < topology.vertex_count; v++)
    part[v] = v;
  cm_occupancy *all;
  ck_ok(cm_occupancy_new(chip, &all, &error));
  ck_ok(cm_region_choose(chip, all, cores, &run, &s->region, &error));
  cm_occupancy_free(all);
  ck_ok(cm_casts_of_axons(CM_DEMAND_OF(&s->topology), part, topology.vertex_count, &run, &s->casts, &error));
}

static void scene_free(scene *s)
{
  cm_casts_free(s->casts);
  cm_region_free(s->region);
  network_free(&s->topology);
  cm_chip_free(s->chip);
}

/* With one part a router every way out is counted once; where parts stand together sets that are only partly equal may count twice. */
START_TEST(trees_and_ways_out_cost_what_walking_every_axon_says)
{
  cm_random random;
  for (uint64_t round = 0; round < test_rounds(60); round++) {
    cm_random_init(&random, round, 60, 0);
    uint32_t cores = 1 + below(&random, 3), parts = 2 + below(&random, 14);
    scene s;
    cm_group_cost cost;
    uint32_t order[PARTS_MAX];
    scene_make(&s, network_directed(&random, parts, 1 + below(&random, parts)),
               chip_of(round % 2 ? "true, true" : "false, false", 4, cores), 16 * cores);
    cm_random_permutation(&random, order, s.region->core_count);
    for (uint32_t p = 0; p < parts; p++)
      s.core[p] = s.region->cores[order[p]];
    plain_cost plain = count_plainly(s.casts, s.chip, s.core);
    ck_ok(cm_group_cost_of(s.casts, s.chip, s.core, &run, &cost, &error));
    ck_assert_double_eq(cost.links, (double)plain.links);
    ck_assert_double_ge(cost.entries, plain.entries);
    if (cores == 1)
      ck_assert_double_eq(cost.entries, plain.entries);
    scene_free(&s);
  }
}
END_TEST

START_TEST(parts_stand_on_cores_of_the_region_and_cost_what_is_told)
{
  cm_random random;
  for (uint64_t round = 0; round < test_rounds(30); round++) {
    cm_random_init(&random, round, 61, 0);
    uint32_t parts = 2 + below(&random, 40), used[256] = {0};
    scene s;
    cm_group_cost told, cost;
    scene_make(&s, network_directed(&random, parts, 1 + below(&random, parts)), chip_of("true, true", 4, 4),
               parts + below(&random, 64 - parts));
    ck_ok(cm_place_by_groups(s.casts, &(cm_place_task){.chip = s.chip, .region = s.region, .seed = round, .run = &run}, 2e4,
                             s.core, &told, &error));
    ck_ok(cm_group_cost_of(s.casts, s.chip, s.core, &run, &cost, &error));
    ck_assert_double_eq(told.sum, cost.sum);
    ck_assert_ptr_nonnull(told.order);
    for (uint32_t c = 0; c < s.region->core_count; c++)
      used[s.region->cores[c]] = 1;
    for (uint32_t p = 0; p < parts; p++)
      ck_assert_uint_eq(used[s.core[p]]--, 1);
    scene_free(&s);
  }
}
END_TEST

/* One axon of each listed neuron. */
static cm_topology network_of(uint32_t vertices, uint32_t nets, const uint32_t *source, const uint32_t *first,
                              const uint32_t *target)
{
  cm_topology t = {.vertex_count = vertices, .net_count = nets, .pin_count = first[nets], .weight_scale = 1, .directed = true};
  t.net_source = network_array(nets, sizeof *t.net_source);
  t.net_first = network_array((size_t)nets + 1, sizeof *t.net_first);
  t.pin = network_array(first[nets], sizeof *t.pin);
  t.net_weight = network_array(nets, sizeof *t.net_weight);
  for (uint32_t e = 0; e < nets; e++) {
    t.net_source[e] = source[e];
    t.net_first[e + 1] = first[e + 1];
    t.net_weight[e] = 1;
  }
  memcpy(t.pin, target, first[nets] * sizeof *target);
  return t;
}

/* Six rings of eight on routers of four: each stands on two routers beside each other, and is cut twice. */
START_TEST(rings_are_cut_as_seldom_as_can_be)
{
  uint32_t source[48], first[49] = {0}, target[48];
  scene s;
  cm_group_cost cost;
  for (uint32_t v = 0; v < 48; v++) { /* the members of a ring are six apart */
    source[v] = v;
    target[v] = (v + 6) % 48;
    first[v + 1] = v + 1;
  }
  scene_make(&s, network_of(48, 48, source, first, target), chip_of("false, false", 4, 4), 64);
  ck_ok(cm_place_by_groups(s.casts, &(cm_place_task){.chip = s.chip, .region = s.region, .seed = 1, .run = &run}, 1e5, s.core,
                           &cost, &error));
  ck_assert_str_eq(cost.order, "grown");
  ck_assert_double_eq(cost.links, 12.0 * s.chip->interconnect->link[0].units);
  ck_assert_double_eq(cost.entries, 48 + 12);
  scene_free(&s);
}
END_TEST

/* What two neurons send to six others each: behind a router of its own each six take one link, else some take two. */
START_TEST(populations_begin_with_a_router_where_that_costs_less)
{
  uint32_t source[2] = {0, 1}, first[3] = {0, 6, 12}, target[12];
  scene s;
  cm_group_cost cost;
  for (uint32_t i = 0; i < 12; i++)
    target[i] = 2 + i;
  scene_make(&s, network_of(14, 2, source, first, target), chip_of("true, true", 3, 6), 54);
  ck_ok(cm_place_by_groups(s.casts, &(cm_place_task){.chip = s.chip, .region = s.region, .seed = 1, .run = &run}, 1e5, s.core,
                           &cost, &error));
  ck_assert_str_eq(cost.order, "populations");
  ck_assert_double_eq(cost.links, 2.0 * s.chip->interconnect->link[0].units);
  scene_free(&s);
}
END_TEST

/* ---- trees that share entries ---- */

/* What the trees of routes come to, hung anew or as the ways say. */
static plain_cost count_routes(const cm_routes *r, bool hung)
{
  static way_out seen[SEEN_MAX];
  const cm_interconnect *net = r->chip->interconnect;
  cm_routes plain = *r;
  cm_walker walker;
  cm_way_tree tree;
  plain_cost cost = {0};
  if (!hung)
    plain.rehung_first = NULL;
  ck_ok(cm_walker_new(&plain, NULL, &walker, &error));
  for (uint32_t f = 0; f < r->flow_count; f++) {
    uint32_t depth[ROUTERS_MAX] = {0};
    ck_ok(cm_walk_ways(&walker, f, &tree, &error));
    cost.links += tree.count - 1;
    for (uint32_t i = 0; i < tree.count; i++) {
      way_out *way = &seen[cost.entries];
      bool known = false;
      memset(way, 0, sizeof *way);
      way->router = tree.node[i].router;
      if (i > 0) {
        ck_assert_uint_lt(tree.node[i].parent, i);
        ck_assert_uint_eq(net->link[tree.node[i].link].from, tree.node[tree.node[i].parent].router);
        ck_assert_uint_eq(net->link[tree.node[i].link].to, way->router);
        depth[i] = depth[tree.node[i].parent] + 1;
        ck_assert_uint_le(depth[i], cm_interconnect_hops(net, tree.node[0].router, way->router) + hung);
      }
      for (uint32_t k = i + 1; k < tree.count; k++)
        if (tree.node[k].parent == i)
          way->link[tree.node[k].link] = true;
      for (uint64_t k = r->first[f]; k < r->first[f + 1]; k++)
        if (cm_router_of(r->chip, r->core[r->target[k]]) == way->router)
          way->part[r->target[k]] = true;
      for (uint32_t k = 0; k < cost.entries; k++)
        known = known || memcmp(&seen[k], way, sizeof *way) == 0;
      cost.entries += !known && !goes_straight(net, way, i > 0 ? (int)tree.node[i].link : -1);
      ck_assert_uint_lt(cost.entries, SEEN_MAX);
    }
  }
  cm_walker_free(&walker);
  return cost;
}

START_TEST(trees_hang_where_they_share_entries)
{
  cm_random random;
  uint32_t fewer = 0;
  for (uint64_t round = 0; round < test_rounds(60); round++) {
    cm_random_init(&random, round, 62, 0);
    uint32_t cores = 1 + below(&random, 4), parts = 8 + below(&random, 16 * cores - 8 < 24 ? 16 * cores - 8 : 24),
             part[PARTS_MAX], order[PARTS_MAX];
    scene s;
    cm_routes *routes;
    cm_route_options options = {.multicast = true};
    scene_make(&s, network_directed(&random, parts, 1 + below(&random, 2 * parts)),
               chip_of(round % 2 ? "true, true" : "false, false", 4, cores), 16 * cores);
    cm_random_permutation(&random, order, s.region->core_count);
    for (uint32_t p = 0; p < parts; p++) {
      s.core[p] = s.region->cores[order[p]];
      part[p] = p;
    }
    cm_mapping mapping = {.vertex_count = parts, .part_count = parts, .part = part, .core = s.core};
    const cm_mapped mapped = cm_mapped_by(&mapping, CM_DEMAND_OF(&s.topology), s.chip);
    ck_ok(cm_routes_make(&mapped, &options, &run, &routes, &error));
    plain_cost ways = count_routes(routes, false), hung = count_routes(routes, true);
    ck_assert_uint_eq(hung.links, ways.links);
    ck_assert_uint_eq(routes->links, ways.links);
    ck_assert_uint_le(hung.entries, ways.entries);
    ck_assert_uint_le(routes->load_max, routes->load_max_before);
    fewer += hung.entries < ways.entries;
    cm_routes_free(routes);
    scene_free(&s);
  }
  ck_assert_uint_gt(fewer, test_rounds(60) / 4);
}
END_TEST

/* Each allocation in turn fails: a clear refusal, nothing left. */
START_TEST(groups_and_shared_entries_survive_a_lack_of_memory)
{
  cm_random random;
  scene s;
  uint32_t part[PARTS_MAX], fired = 0;
  cm_random_init(&random, 1, 63, 0);
  scene_make(&s, network_directed(&random, 20, 20), chip_of("true, true", 4, 2), 32);
  for (uint32_t p = 0; p < 20; p++)
    part[p] = p;
  for (uint64_t n = 1;; n += 1 + n / test_rounds(200)) {
    cm_memory memory;
    cm_run mine;
    cm_group_cost cost;
    cm_routes *routes = NULL;
    cm_run_init(&mine);
    cm_memory_init(&memory, 0);
    mine.memory = &memory;
    cm_memory_fail_at(n);
    cm_status status = cm_place_by_groups(s.casts, &(cm_place_task){.chip = s.chip, .region = s.region, .seed = 1, .run = &mine},
                                          1e3, s.core, &cost, &error);
    const cm_mapped mapped = {CM_DEMAND_OF(&s.topology), s.chip, part, 20, s.core, NULL};
    cm_route_options options = {.multicast = true};
    CM_THEN(status, cm_routes_make(&mapped, &options, &mine, &routes, &error));
    bool hit = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    cm_routes_free(routes);
    ck_assert_int_eq(status, hit ? CM_NO_MEMORY : CM_OK);
    ck_assert_uint_eq(memory.used_bytes, 0);
    if (!hit)
      break;
    fired++;
  }
  ck_assert_uint_gt(fired, 30);
  scene_free(&s);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("groups");
  TCase *tests = tcase_create("groups");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, trees_and_ways_out_cost_what_walking_every_axon_says);
  tcase_add_test(tests, parts_stand_on_cores_of_the_region_and_cost_what_is_told);
  tcase_add_test(tests, rings_are_cut_as_seldom_as_can_be);
  tcase_add_test(tests, populations_begin_with_a_router_where_that_costs_less);
  tcase_add_test(tests, trees_hang_where_they_share_entries);
  tcase_add_test(tests, groups_and_shared_entries_survive_a_lack_of_memory);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
