/* core/learning on random graphs, chips and occupancies: the assignment rule against its own words, the reward against
 * its formula, changes against recomputation, refinement that never loses, routes free of deadlock and rings caught. */
#include "../unit/parts.h"

#include <math.h>

#include "core/chip/dependency.h"
#include "core/learning/assign.h"
#include "core/learning/deadlock.h"
#include "core/learning/agent/placement_refinement.h"
#include "core/learning/reward.h"

enum { MOST = 48, CORES = 512 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

static cm_chip *random_chip(cm_random *random, bool torus)
{
  uint32_t dies_x = 1 + below(random, 2), dies_y = 1 + below(random, 2);
  return parts_chip(dies_x, dies_y, 2 + below(random, 7), 2 + below(random, 6), 1 + below(random, 2), torus);
}

/* Free cores in random order, at least one. */
static uint32_t random_free(cm_random *random, const cm_chip *chip, uint32_t *core)
{
  uint32_t order[CORES], count = 0, share = 1 + below(random, 4);
  cm_random_permutation(random, order, cm_chip_cores(chip));
  for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
    if (count == 0 || below(random, 4) < share)
      core[count++] = order[c];
  return count;
}

static double length(const cm_chip *chip, cm_distance distance, uint32_t a, uint32_t b)
{
  int32_t x, y;
  cm_chip_steps(chip, a, b, &x, &y);
  return distance == CM_DISTANCE_MANHATTAN ? abs(x) + abs(y) : sqrt((double)x * x + (double)y * y);
}

/* ---- assignment ---- */

/* The rule, word by word. */
static void assign_slowly(const cm_chip *chip, const uint32_t *free_core, uint32_t count, const uint32_t *wanted,
                          const uint64_t *priority, uint32_t nodes, cm_distance distance, uint32_t *core)
{
  bool open[CORES] = {false}, seated[CORES] = {false};
  for (uint32_t i = 0; i < count; i++)
    open[free_core[i]] = true;
  for (int losers = 0; losers < 2; losers++)
    for (uint32_t turn = 0; turn < nodes; turn++) {
      uint32_t v = UINT32_MAX, best = UINT32_MAX;
      /* Whoever wants most of those not looked at yet; the first time round only where nobody is. */
      for (uint32_t u = 0; u < nodes; u++)
        if (!seated[u] && (losers || open[wanted[u]]) && (v == UINT32_MAX || priority[u] > priority[v]))
          v = u;
      if (v == UINT32_MAX)
        break;
      for (uint32_t c = 0; c < cm_chip_cores(chip); c++) {
        if (!open[c] || (!losers && c != wanted[v]))
          continue;
        double now = length(chip, distance, wanted[v], c);
        double before = best == UINT32_MAX ? INFINITY : length(chip, distance, wanted[v], best);
        if (now < before || (now == before && cm_router_of(chip, c) < cm_router_of(chip, best)))
          best = c;
      }
      core[v] = best;
      open[best] = false;
      seated[v] = true;
    }
}

START_TEST(the_assignment_follows_its_rule_and_uses_free_cores_only)
{
  cm_random random;
  for (uint32_t round = 0; round < 400; round++) {
    cm_random_init(&random, round, 1, 0);
    cm_chip *chip = random_chip(&random, below(&random, 3) == 0);
    uint32_t free_core[CORES], wanted[CORES], core[CORES], expected[CORES], used[CORES] = {0};
    uint64_t priority[CORES];
    uint32_t count = random_free(&random, chip, free_core), nodes = below(&random, count + 1);
    uint32_t spread = 1 + below(&random, cm_chip_cores(chip));
    cm_distance distance = below(&random, 2) ? CM_DISTANCE_MANHATTAN : CM_DISTANCE_EUCLIDEAN;
    for (uint32_t v = 0; v < nodes; v++) {
      wanted[v] = below(&random, spread); /* occupied ones too */
      priority[v] = below(&random, 1 + round % 9);
    }
    ck_ok(cm_assign(&(cm_assign_task){chip, free_core, count, wanted, priority, nodes, distance}, NULL, core, &error));
    assign_slowly(chip, free_core, count, wanted, priority, nodes, distance, expected);
    for (uint32_t i = 0; i < count; i++)
      used[free_core[i]] = 1;
    for (uint32_t v = 0; v < nodes; v++) {
      ck_assert_msg(core[v] == expected[v], "round %u: node %u wants %u and gets %u instead of %u", round, v, wanted[v],
                    core[v], expected[v]);
      ck_assert_uint_eq(used[core[v]]++, 1);
    }
    cm_chip_free(chip);
  }
}
END_TEST

START_TEST(what_cannot_be_assigned_is_refused)
{
  cm_chip *chip;
  ck_ok(cm_chip_mesh(4, 4, &chip, &error));
  uint32_t free_core[] = {3, 5}, wanted[] = {0, 0, 0}, core[] = {7, 7, 7};
  uint64_t priority[] = {1, 1, 1};
  ck_fails(cm_assign(&(cm_assign_task){chip, free_core, 2, wanted, priority, 3, CM_DISTANCE_MANHATTAN}, NULL, core, &error),
           CM_NO_ROOM);
  wanted[1] = 16;
  ck_fails(cm_assign(&(cm_assign_task){chip, free_core, 2, wanted, priority, 2, CM_DISTANCE_MANHATTAN}, NULL, core, &error),
           CM_INTERNAL);
  ck_assert_uint_eq(core[0], 7);
  cm_chip_free(chip);
}
END_TEST

/* ---- reward ---- */

/* The seed's bracket, summed over nodes, from the graph and the chip's own distances. */
static double loss_slowly(const cm_reward_task *task, const uint32_t *core)
{
  double sum = 0;
  for (uint32_t v = 0; v < task->parts->vertex_count; v++) {
    double left = 0, right = 0, up = 0, down = 0;
    for (uint64_t i = task->parts->first[v]; i < task->parts->first[v + 1]; i++) {
      uint32_t u = task->parts->neighbour[i];
      int32_t x, y;
      cm_chip_steps(task->chip, core[v], core[u], &x, &y);
      double cost = (double)task->parts->weight[i] * length(task->chip, task->distance, core[v], core[u]);
      *(x < 0 ? &left : &right) += x == 0 ? 0 : cost;
      *(y < 0 ? &up : &down) += y == 0 ? 0 : cost;
    }
    sum += fmax(left, right) + fmax(up, down);
  }
  return sum;
}

/* Links of the trees of multicast nodes under XY or YX: those that some path takes. */
static uint64_t channels_slowly(const cm_reward_task *task, const uint32_t *core)
{
  static bool taken[CORES * CM_DIRECTIONS];
  uint64_t channels = 0;
  uint32_t wide = cm_chip_routers_x(task->chip);
  for (uint32_t v = 0; v < task->multicast->nodes; v++) {
    memset(taken, 0, sizeof taken);
    for (uint64_t i = task->multicast->first[v]; i < task->multicast->first[v + 1]; i++) {
      uint32_t at = cm_router_of(task->chip, core[v]), to = cm_router_of(task->chip, core[task->multicast->target[i]]);
      while (at != to) {
        bool along_x = task->rule == CM_TURNS_XY ? at % wide != to % wide : at / wide == to / wide;
        cm_direction way = along_x ? (at % wide < to % wide ? CM_EAST : CM_WEST) : at < to ? CM_SOUTH : CM_NORTH;
        channels += !taken[at * CM_DIRECTIONS + way];
        taken[at * CM_DIRECTIONS + way] = true;
        at = cm_router_beyond(task->chip, at, way);
      }
    }
  }
  return channels;
}

typedef struct environment {
  cm_random random;
  cm_chip *chip;
  cm_graph *parts;
  cm_multicast multicast;
  uint32_t site[CORES], sites, core[MOST];
  cm_reward_task task;
} environment;

/* The environment of one round of a test; every third chip is a torus. */
static environment *environment_new(uint32_t test, uint32_t round)
{
  environment *s = network_array(1, sizeof *s);
  cm_random *random = &s->random;
  cm_random_init(random, round, test, 0);
  s->chip = random_chip(random, round % 3 == 0);
  s->sites = random_free(random, s->chip, s->site);
  uint32_t n = 1 + below(random, s->sites < MOST ? s->sites : MOST);
  s->parts = parts_planted(random, n, 1 + below(random, 6), 70, below(random, 40), 1 + below(random, 5000), &run);
  s->multicast = parts_multicast(random, n);
  memcpy(s->core, s->site, n * sizeof *s->core);
  s->task = (cm_reward_task){.parts = s->parts, .multicast = &s->multicast, .chip = s->chip, .site = s->site, .sites = s->sites,
                             .rule = below(random, 2) ? CM_TURNS_XY : CM_TURNS_YX,
                             .distance = below(random, 2) ? CM_DISTANCE_MANHATTAN : CM_DISTANCE_EUCLIDEAN};
  return s;
}

/* Nodes on sites as refinement of hops sees them; flows are the caller's. */
static cm_environment *hops_environment(const cm_graph *graph, const cm_chip *chip, const uint32_t *site, uint32_t sites,
                            cm_flows **flows)
{
  cm_environment *made;
  ck_ok(cm_flows_of_graph(graph, &run, flows, &error));
  cm_environment_parts parts = {.graph = graph, .flows = *flows, .chip = chip, .site = site, .sites = sites};
  ck_ok(cm_environment_new(&parts, &run, &made, &error));
  return made;
}

static void environment_free(environment *s)
{
  cm_chip_free(s->chip);
  cm_graph_free(s->parts);
  cm_multicast_free(&s->multicast);
  cm_free(s);
}

START_TEST(turn_rules_forbid_what_they_say)
{
  static const uint32_t forbidden[CM_TURN_RULES] = {4, 4, 2, 2, 2};
  cm_chip *chip;
  ck_ok(cm_chip_mesh(2, 2, &chip, &error));
  for (int rule = 0; rule < CM_TURN_RULES; rule++)
    ck_assert_uint_eq(cm_chip_forbidden_turns(chip, (cm_turn_rule)rule), forbidden[rule]);
  cm_chip_free(chip);
}
END_TEST

START_TEST(a_reward_by_hand)
{
  /* Three by three. Node 0 in the middle; 1 left of it (weight 2), 2 right (3), 3 above left (5: on both sides, two
   * hops), 4 below (7). Node 0: max(4-neighbours...) left 2 * 1 + 5 * 2 = 12, right 3; up 10, down 7: 12 + 10. The
   * others see node 0 alone: 2, 3, 10 + 10, 7. Node 0 sends to 1 and 3: XY goes west and shares that link, 2 channels.
   */
  static const uint64_t dense[25] = {0, 2, 3, 5, 7, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 7, 0, 0, 0, 0};
  const uint32_t core[] = {4, 3, 5, 0, 7};
  uint64_t first[] = {0, 2, 2, 2, 2, 2};
  uint32_t target[] = {1, 3};
  cm_multicast multicast = {.nodes = 5, .trees = 1, .first = first, .target = target};
  cm_graph *graph = parts_graph(5, dense, &run);
  cm_chip *chip;
  ck_ok(cm_chip_mesh(3, 3, &chip, &error));
  cm_reward_task task = {.parts = graph, .multicast = &multicast, .chip = chip, .rule = CM_TURNS_XY};
  cm_reward reward;
  ck_ok(cm_reward_compute(&task, core, &run, &reward, &error));
  ck_assert(reward.loss == 22 + 2 + 3 + 20 + 7);
  ck_assert_uint_eq(reward.channels, 2);
  ck_assert_uint_eq(reward.forbidden_turns, 4);
  ck_assert(reward.dl_ratio == 2);
  ck_assert(fabs(reward.reward + 54 * exp(2)) < 1e-9);
  task.rule = CM_TURNS_WEST_FIRST;
  ck_ok(cm_reward_compute(&task, core, &run, &reward, &error));
  ck_assert(reward.dl_ratio == 1);
  task.multicast = NULL;
  task.distance = CM_DISTANCE_EUCLIDEAN;
  ck_ok(cm_reward_compute(&task, core, &run, &reward, &error));
  double slant = 5 * sqrt(2);
  ck_assert(fabs(reward.reward + (2 + slant + fmax(slant, 7) + 2 + 3 + 2 * slant + 7)) < 1e-4);
  ck_assert(reward.dl_ratio == 0);
  cm_chip_free(chip);
  cm_graph_free(graph);
}
END_TEST

START_TEST(the_reward_is_what_the_formula_says)
{
  for (uint32_t round = 0; round < 200; round++) {
    environment *s = environment_new(2, round);
    cm_reward reward;
    ck_ok(cm_reward_compute(&s->task, s->core, &run, &reward, &error));
    double loss = loss_slowly(&s->task, s->core);
    ck_assert(fabs(reward.loss - loss) <= 1e-6 * (1 + loss));
    ck_assert_uint_eq(reward.channels, channels_slowly(&s->task, s->core));
    double ratio = s->multicast.trees == 0 ? 0 : 4.0 / (double)(reward.channels > 0 ? reward.channels : 1);
    ck_assert(reward.dl_ratio == ratio);
    ck_assert(fabs(reward.reward + loss * exp(ratio)) <= 1e-6 * (1 + loss) * exp(ratio));
    environment_free(s);
  }
}
END_TEST

START_TEST(changes_are_what_recomputation_says)
{
  for (uint32_t round = 0; round < 60; round++) {
    environment *s = environment_new(3, round);
    uint32_t n = s->parts->vertex_count;
    cm_reward_state *state;
    ck_ok(cm_reward_state_new(&s->task, s->core, &run, &state, &error));
    for (uint32_t step = 0; step < 60; step++) {
      uint32_t a = below(&s->random, s->sites), b = below(&s->random, s->sites);
      int64_t before = cm_reward_state_loss(state), change = cm_reward_try(state, a, b);
      ck_assert_int_eq(cm_reward_state_loss(state), before);
      if (below(&s->random, 2))
        continue;
      ck_assert_int_eq(cm_reward_trade(state, a, b), change);
      for (uint32_t v = 0; v < n; v++)
        s->core[v] = s->site[cm_reward_state_site(state, v)];
      cm_reward fresh, kept;
      ck_ok(cm_reward_compute(&s->task, s->core, &run, &fresh, &error));
      ck_assert_int_eq(cm_reward_state_loss(state), before + change);
      ck_ok(cm_reward_state_reward(state, &kept, &error));
      ck_assert(kept.loss == fresh.loss);
      ck_assert_uint_eq(kept.channels, fresh.channels);
      ck_assert(kept.reward == fresh.reward);
    }
    cm_reward_state_free(state);
    environment_free(s);
  }
}
END_TEST

START_TEST(placements_that_share_a_core_or_leave_the_sites_are_refused)
{
  cm_random random;
  cm_random_init(&random, 1, 4, 0);
  cm_chip *chip;
  ck_ok(cm_chip_mesh(4, 4, &chip, &error));
  cm_graph *graph = parts_planted(&random, 4, 1, 100, 0, 9, &run);
  uint32_t site[] = {1, 2, 3, 5, 6}, shared[] = {1, 2, 2, 5}, outside[] = {1, 2, 3, 4};
  cm_reward_task task = {.parts = graph, .chip = chip, .site = site, .sites = 5};
  cm_reward_state *state = NULL;
  ck_fails(cm_reward_state_new(&task, shared, &run, &state, &error), CM_INTERNAL);
  ck_fails(cm_reward_state_new(&task, outside, &run, &state, &error), CM_INTERNAL);
  ck_assert_ptr_null(state);
  cm_graph_free(graph);
  cm_chip_free(chip);
}
END_TEST

/* ---- refinement ---- */

START_TEST(refinement_never_loses_and_stays_on_its_sites)
{
  for (uint32_t round = 0; round < test_rounds(60); round++) {
    environment *s = environment_new(5, round);
    uint32_t n = s->parts->vertex_count, allowed[CORES] = {0}, again[MOST];
    cm_reward_refine_options options = {.sweeps = below(&s->random, 6), .seed = round};
    cm_reward_refined first, second;
    cm_reward truth;
    memcpy(again, s->core, sizeof again);
    ck_ok(cm_reward_compute(&s->task, s->core, &run, &truth, &error));
    ck_ok(cm_reward_refine(&s->task, &options, &run, s->core, &first, &error));
    ck_assert(first.before.reward == truth.reward);
    ck_assert(first.after.reward >= first.before.reward);
    ck_ok(cm_reward_compute(&s->task, s->core, &run, &truth, &error));
    ck_assert(first.after.reward == truth.reward);
    for (uint32_t k = 0; k < s->sites; k++)
      allowed[s->site[k]] = 1;
    for (uint32_t v = 0; v < n; v++)
      ck_assert_uint_eq(allowed[s->core[v]]++, 1);
    ck_ok(cm_reward_refine(&s->task, &options, &run, again, &second, &error));
    ck_assert_mem_eq(again, s->core, n * sizeof *again);
    environment_free(s);
  }
}
END_TEST

/* The best loss of all placements of n nodes on the sites. */
static void try_all(const cm_reward_task *task, const uint32_t *site, uint32_t sites, uint32_t *core, uint32_t placed,
                    double *best)
{
  if (placed == task->parts->vertex_count) {
    double loss = loss_slowly(task, core);
    *best = loss < *best ? loss : *best;
    return;
  }
  for (uint32_t k = 0; k < sites; k++) {
    bool used = false;
    for (uint32_t v = 0; v < placed; v++)
      used |= core[v] == site[k];
    core[placed] = site[k];
    if (!used)
      try_all(task, site, sites, core, placed + 1, best);
  }
}

START_TEST(refinement_finds_the_optimum_of_small_graphs)
{
  cm_random random;
  uint32_t found = 0;
  for (uint32_t round = 0; round < 20; round++) {
    cm_random_init(&random, round, 6, 0);
    cm_chip *chip;
    ck_ok(cm_chip_mesh(3, 3, &chip, &error));
    cm_graph *graph = parts_planted(&random, 6, 2, 80, 40, 20, &run);
    uint32_t site[] = {0, 1, 2, 3, 5, 6, 7}, core[] = {0, 1, 2, 3, 5, 6}, scratch[6];
    cm_reward_task task = {.parts = graph, .chip = chip, .site = site, .sites = 7};
    cm_reward_refined result;
    double best = INFINITY;
    try_all(&task, site, 7, scratch, 0, &best);
    ck_ok(cm_reward_refine(&task, &(cm_reward_refine_options){.sweeps = 100, .seed = 1, .heat = 2},
                           &run, core, &result, &error));
    ck_assert(result.after.loss >= best);
    found += result.after.loss == best;
    cm_graph_free(graph);
    cm_chip_free(chip);
  }
  ck_assert_msg(found >= 18, "the optimum in %u of 20", found);
}
END_TEST

START_TEST(refinement_of_hops_never_loses_and_stays_on_its_sites)
{
  for (uint32_t round = 0; round < 30; round++) {
    environment *s = environment_new(8, round);
    uint32_t n = s->parts->vertex_count, at[2][MOST], used[CORES] = {0};
    cm_flows *flows;
    cm_environment *sites = hops_environment(s->parts, s->chip, s->site, s->sites, &flows);
    for (uint32_t v = 0; v < n; v++)
      at[0][v] = at[1][v] = v;
    uint64_t before = cm_environment_hops(sites, at[0]);
    for (unsigned i = 0; i < 2; i++)
      ck_ok(cm_environment_refine(sites, &(cm_refine_options){.looks = 1e5, .seed = round}, &run, at[i], &error));
    ck_assert_uint_le(cm_environment_hops(sites, at[0]), before);
    ck_assert_mem_eq(at[0], at[1], n * sizeof **at);
    for (uint32_t v = 0; v < n; v++) {
      ck_assert_uint_lt(at[0][v], s->sites);
      ck_assert_uint_eq(used[at[0][v]]++, 0);
    }
    cm_environment_free(sites);
    cm_flows_free(flows);
    environment_free(s);
  }
}
END_TEST

START_TEST(refinement_of_hops_straightens_a_shuffled_grid)
{
  /* A grid of 14 by 14 on as many cores: every edge can be one hop long. Shuffled, edges are nine hops
   * long; a million tries bring them below two. */
  enum { SIDE = 14, NODES = SIDE * SIDE };
  uint64_t *dense = network_array((size_t)NODES * NODES, sizeof *dense);
  for (uint32_t v = 0; v < NODES; v++) {
    if (v % SIDE + 1 < SIDE)
      dense[(size_t)v * NODES + v + 1] = dense[(size_t)(v + 1) * NODES + v] = 1;
    if (v + SIDE < NODES)
      dense[(size_t)v * NODES + v + SIDE] = dense[(size_t)(v + SIDE) * NODES + v] = 1;
  }
  uint32_t site[NODES], at[NODES];
  cm_random random;
  cm_chip *chip;
  cm_flows *flows;
  cm_graph *graph = parts_graph(NODES, dense, &run);
  for (uint32_t v = 0; v < NODES; v++)
    site[v] = v;
  cm_random_init(&random, 1, 9, 0);
  cm_random_permutation(&random, at, NODES);
  ck_ok(cm_chip_mesh(SIDE, SIDE, &chip, &error));
  cm_environment *sites = hops_environment(graph, chip, site, NODES, &flows);
  ck_ok(cm_environment_refine(sites, &(cm_refine_options){.looks = 2e7, .seed = 1}, &run, at, &error));
  ck_assert_uint_le(cm_environment_hops(sites, at), graph->weight_total * 2);
  cm_environment_free(sites);
  cm_flows_free(flows);
  cm_chip_free(chip);
  cm_graph_free(graph);
  cm_free(dense);
}
END_TEST

/* ---- deadlock ---- */

START_TEST(routes_of_placements_are_free_of_deadlock_under_every_rule)
{
  for (uint32_t round = 0; round < 60; round++) {
    environment *s = environment_new(7, round);
    for (int rule = 0; rule < CM_TURN_RULES; rule++) {
      cm_deadlock_report report;
      ck_ok(cm_deadlock_check(&(cm_deadlock_task){s->parts, &s->multicast, s->chip, (cm_turn_rule)rule, s->core}, &run, &report, &error));
      ck_assert_uint_eq(report.routes, s->parts->entry_count + s->multicast.trees);
    }
    environment_free(s);
  }
}
END_TEST

/* Books a route given as routers; its branches are booked one after another. */
static void book(cm_dependencies *graph, const cm_chip *chip, const uint32_t *router, uint32_t count)
{
  cm_tree_node node[8];
  for (uint32_t i = 0; i < count; i++)
    node[i] = (cm_tree_node){.router = router[i], .in = CM_NO_DIRECTION};
  for (uint32_t i = 0; i + 1 < count; i++)
    for (int d = 0; d < CM_DIRECTIONS; d++)
      if (cm_router_beyond(chip, router[i], (cm_direction)d) == router[i + 1]) {
        node[i].out = (uint8_t)(1u << d);
        node[i + 1].in = (uint8_t)d;
      }
  node[count - 1].target = 1;
  cm_dependencies_add_tree(graph, chip, &(cm_tree){.node = node, .count = count});
}

START_TEST(a_ring_of_routes_is_caught)
{
  /* Four packets each turn one corner of the square of routers 0 1 / 3 4 on three by three, all the same way round. A
   * branch of a tree closes the ring: the fourth corner is turned by the second arm of a multicast node. */
  cm_chip *chip;
  cm_dependencies graph;
  ck_ok(cm_chip_mesh(3, 3, &chip, &error));
  ck_ok(cm_dependencies_new(chip, NULL, &graph, &error));
  book(&graph, chip, (uint32_t[]){0, 1, 4}, 3);
  book(&graph, chip, (uint32_t[]){1, 4, 3}, 3);
  book(&graph, chip, (uint32_t[]){4, 3, 0}, 3);
  ck_ok(cm_dependencies_check(&graph, NULL, &error));
  const cm_tree_node tree[] = {{.router = 3, .in = CM_NO_DIRECTION, .out = 1u << CM_NORTH},
                               {.router = 0, .in = CM_NORTH, .out = 1u << CM_EAST},
                               {.router = 1, .in = CM_EAST, .out = 1u << CM_EAST, .target = 1},
                               {.router = 2, .in = CM_EAST, .target = 1}};
  cm_dependencies_add_tree(&graph, chip, &(cm_tree){.node = tree, .count = 4});
  ck_fails(cm_dependencies_check(&graph, NULL, &error), CM_INTERNAL);
  ck_assert_ptr_nonnull(strstr(error.detail, "ring of 4 links"));
  ck_assert_ptr_nonnull(strstr(error.detail, "(0, 0) east"));
  cm_dependencies_free(&graph);
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("rewards");
  TCase *tests = tcase_create("all");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, the_assignment_follows_its_rule_and_uses_free_cores_only);
  tcase_add_test(tests, what_cannot_be_assigned_is_refused);
  tcase_add_test(tests, turn_rules_forbid_what_they_say);
  tcase_add_test(tests, a_reward_by_hand);
  tcase_add_test(tests, the_reward_is_what_the_formula_says);
  tcase_add_test(tests, changes_are_what_recomputation_says);
  tcase_add_test(tests, placements_that_share_a_core_or_leave_the_sites_are_refused);
  tcase_add_test(tests, refinement_never_loses_and_stays_on_its_sites);
  tcase_add_test(tests, refinement_finds_the_optimum_of_small_graphs);
  tcase_add_test(tests, refinement_of_hops_never_loses_and_stays_on_its_sites);
  tcase_add_test(tests, refinement_of_hops_straightens_a_shuffled_grid);
  tcase_add_test(tests, routes_of_placements_are_free_of_deadlock_under_every_rule);
  tcase_add_test(tests, a_ring_of_routes_is_caught);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
