/* core/partition, axon objective: predicted costs against recomputation, planted partitions, flows by brute force. */
#include "networks.h"

#include <math.h>

#include "base/threads.h"
#include "core/partition/axon/anneal.h"
#include "core/partition/axon/axon.h"
#include "core/partition/axon/axon_levels.h"
#include "core/partition/axon/axon_probe.h"
#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/axon/axon_table.h"
#include "core/partition/axon/bands.h"
#include "core/partition/axon/dense.h"
#include "core/partition/axon/locality.h"
#include "core/partition/axon/signature.h"
#include "core/partition/axon/sketch.h"
#include "core/partition/flows.h"
#include "core/partition/limits.h"

enum { MOST = 60, PARTS = 6 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

static uint32_t lightest; /* rate of a random net */

/* A random directed network; several axons per neuron, self loops included. */
static cm_topology random_axons(cm_random *random)
{
  uint32_t n = 2 + below(random, MOST - 2);
  cm_topology t = {.directed = true, .vertex_count = n, .size_total = n, .weight_scale = 1};
  t.net_first = network_array(2 * (size_t)n + 1, sizeof *t.net_first);
  t.net_source = network_array(2 * (size_t)n, sizeof *t.net_source);
  t.net_weight = network_array(2 * (size_t)n, sizeof *t.net_weight);
  t.pin = network_array(2 * (size_t)n * n, sizeof *t.pin);
  for (uint32_t v = 0; v < n; v++) {
    for (uint32_t nets = below(random, 3); nets > 0; nets--) {
      uint64_t begin = t.pin_count;
      for (uint32_t u = 0; u < n; u++)
        if (below(random, 100) < 12)
          t.pin[t.pin_count++] = u;
      if (t.pin_count == begin)
        continue;
      t.net_source[t.net_count] = v;
      t.net_weight[t.net_count++] = lightest + below(random, 20);
      t.net_first[t.net_count] = t.pin_count;
    }
  }
  return t;
}

/* Parts on a board of three by two, where a way is not proportional to the distance; NULL: parts have no places. */
static const cm_prices *board(cm_random *random)
{
  static uint32_t dx[] = {0, 2, 7, 2, 0, 3, 7, 3, 0}, dy[] = {0, 5, 5, 0}, column[PARTS], row[PARTS], place[PARTS];
  static const cm_prices prices = {
      .parts = PARTS, .columns = 3, .rows = 2, .base = 4, .dx = dx, .dy = dy, .column = column, .row = row};
  if (below(random, 2))
    return NULL;
  cm_random_permutation(random, place, PARTS);
  for (uint32_t p = 0; p < PARTS; p++) {
    column[p] = place[p] % 3;
    row[p] = place[p] / 3;
  }
  return &prices;
}

static double price_of(const cm_prices *prices, uint32_t a, uint32_t b)
{
  if (a == b || prices == NULL)
    return a == b ? 0 : 1;
  return prices->base + prices->dx[prices->column[a] * 3 + prices->column[b]] +
         prices->dy[prices->row[a] * 2 + prices->row[b]];
}

/* What the axons pay, without places connectivity, and inbound nets of every part, from scratch. */
static double recount(const cm_topology *t, const cm_prices *prices, const uint32_t *part, uint64_t axons[PARTS])
{
  double cost = 0;
  memset(axons, 0, PARTS * sizeof *axons);
  for (uint32_t e = 0; e < t->net_count; e++) {
    bool seen[PARTS] = {false};
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      seen[part[t->pin[i]]] = true;
    for (uint32_t p = 0; p < PARTS; p++) {
      axons[p] += seen[p];
      cost += seen[p] ? (double)t->net_weight[e] * price_of(prices, part[t->net_source[e]], p) : 0;
    }
  }
  return cost;
}

static double steep; /* steepness of the state under test */

static double excess_of(uint64_t use, uint64_t limit)
{
  double e = use > limit ? (double)(use - limit) : 0;
  return e * (1 + steep * e / (double)limit);
}

static double penalised(const cm_topology *t, const cm_prices *prices, const uint32_t *part, const cm_limits *limits, double per_axon,
                        double per_neuron)
{
  uint64_t axons[PARTS], size[PARTS] = {0};
  double sum = recount(t, prices, part, axons);
  for (uint32_t v = 0; v < t->vertex_count; v++)
    size[part[v]]++;
  for (uint32_t p = 0; p < PARTS; p++) {
    sum += per_axon * excess_of(axons[p], limits->inbound_axons);
    sum += per_neuron * excess_of(size[p], limits->neurons);
  }
  return sum;
}

/* `groups` groups of `size` neurons; each neuron's axon reaches `fan` of its group, and with `stray` percent one
 * elsewhere. */
static cm_topology planted(uint32_t groups, uint32_t size, uint32_t fan, uint32_t stray, cm_random *random)
{
  uint32_t n = groups * size;
  cm_topology t = {.directed = true, .vertex_count = n, .size_total = n, .weight_scale = 1, .net_count = n};
  t.net_first = network_array((size_t)n + 1, sizeof *t.net_first);
  t.net_weight = network_array(n, sizeof *t.net_weight);
  t.pin = network_array((size_t)n * (fan + 1), sizeof *t.pin);
  uint32_t *name = network_array(n, sizeof *name), *group = network_array(n, sizeof *group);
  cm_random_permutation(random, name, n); /* so that numbers tell nothing */
  for (uint32_t v = 0; v < n; v++)
    group[name[v]] = v / size;
  for (uint32_t v = 0; v < n; v++) {
    uint8_t *hit = network_array(n, 1);
    for (uint32_t k = 0; k < fan; k++)
      hit[name[group[v] * size + below(random, size)]] = 1;
    if (below(random, 100) < stray)
      hit[below(random, n)] = 1;
    for (uint32_t u = 0; u < n; u++)
      if (hit[u])
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
    cm_free(hit);
  }
  cm_free(name);
  cm_free(group);
  return t;
}

/* A random network with its hypergraph, its neurons in random parts, and the state: `part` is by the hypergraph's
 * numbers, and the topology is renumbered alike. */
typedef struct scene {
  cm_topology topology;
  cm_limits limits;
  const cm_prices *prices;
  uint32_t part[MOST];
  cm_hypergraph *graph;
  cm_axon_state *state;
  cm_probe probe;
} scene;

static void scene_set(scene *s, cm_random *random)
{
  s->topology = random_axons(random);
  s->limits = (cm_limits){.neurons = 1 + below(random, 15), .inbound_axons = 1 + below(random, 30)};
  ck_ok(cm_hypergraph_from_topology(&s->topology, &run, &s->graph, &error));
  for (uint32_t v = 0; v < s->topology.vertex_count; v++)
    s->part[v] = below(random, PARTS);
  for (uint64_t i = 0; i < s->topology.pin_count; i++)
    s->topology.pin[i] = s->graph->number[s->topology.pin[i]];
  for (uint32_t e = 0; e < s->topology.net_count; e++)
    s->topology.net_source[e] = s->graph->number[s->topology.net_source[e]];
  for (uint32_t v = 0; v < s->topology.vertex_count; v++)
    s->graph->number[v] = v; /* the graph reads the topology's targets */
  ck_ok(cm_hypergraph_list_inbound(s->graph, &run, &error));
  s->prices = board(random);
  ck_ok(cm_axon_state_new(s->graph, &s->limits, s->prices, s->part, PARTS, PARTS, 1 + below(random, 3), &run, &s->state,
                          &error));
  ck_ok(cm_probe_init(&s->probe, s->state, &error));
  s->state->penalty_axons = 3;
  s->state->penalty_size = 11;
  s->state->steepness = steep = s->limits.neurons % 2 ? 6 : 0;
}

static void scene_clear(scene *s)
{
  cm_probe_free(&s->probe);
  cm_axon_state_free(s->state);
  cm_hypergraph_free(s->graph);
  network_free(&s->topology);
}

static double scene_penalised(const scene *s)
{
  return penalised(&s->topology, s->prices, s->part, &s->limits, 3, 11);
}

START_TEST(predicted_costs_are_what_moves_cost)
{
  cm_random random;
  for (uint64_t round = 0; round < 60; round++) {
    scene s;
    cm_random_init(&random, round, 1, 0);
    scene_set(&s, &random);
    for (int move = 0; move < 60; move++) {
      uint32_t v = below(&random, s.topology.vertex_count), to = below(&random, PARTS);
      cm_offer offer = cm_probe_best(&s.probe, v, false, INFINITY);
      bool offered = offer.to != UINT32_MAX && below(&random, 2);
      to = offered ? offer.to : to;
      if (to == s.part[v])
        continue;
      uint64_t axons[PARTS];
      double before = scene_penalised(&s);
      cm_axon_move(s.state, v, to);
      ck_assert_uint_eq(s.part[v], to);
      if (offered)
        ck_assert_double_eq_tol(scene_penalised(&s) - before, offer.cost, 1e-6);
      ck_assert_double_eq(recount(&s.topology, s.prices, s.part, axons), cm_axon_cost(s.state));
      ck_assert_double_eq(recount(&s.topology, NULL, s.part, axons), (double)cm_axon_connectivity(s.state));
      for (uint32_t p = 0; p < PARTS; p++)
        ck_assert_uint_eq(axons[p], s.state->axons[p]);
    }
    scene_clear(&s);
  }
}
END_TEST

START_TEST(only_parts_over_a_limit_are_left_when_asked)
{
  cm_random random;
  uint32_t moved = 0, stayed = 0;
  for (uint64_t round = 0; round < 40; round++) {
    scene s;
    uint32_t before[MOST];
    bool over[PARTS];
    cm_anneal_options options = {.sweeps = 1, .overfull = true, .silent = true};
    cm_random_init(&random, round, 21, 0);
    scene_set(&s, &random);
    memcpy(before, s.part, sizeof before);
    for (uint32_t p = 0; p < PARTS; p++)
      over[p] = cm_axon_over(s.state, p);
    double cost = scene_penalised(&s);
    /* With a vertex a round, parts become full and empty on the way: those that never were over keep all members. */
    ck_ok(cm_anneal(s.state, &options, &random, &error));
    ck_assert_double_le(scene_penalised(&s), cost);
    bool filled[PARTS] = {false};
    for (uint32_t v = 0; v < s.topology.vertex_count; v++)
      filled[s.part[v]] |= s.part[v] != before[v];
    for (uint32_t v = 0; v < s.topology.vertex_count; v++) {
      moved += s.part[v] != before[v];
      stayed += !over[before[v]] && !filled[before[v]];
      ck_assert(s.part[v] == before[v] || over[before[v]] || filled[before[v]]);
    }
    scene_clear(&s);
  }
  ck_assert_uint_gt(moved, 60);
  ck_assert_uint_gt(stayed, 60);
}
END_TEST

/* What a search may fill a part to: a fifth more than the limit, or one vertex more. */
static uint64_t most_of(uint64_t limit, uint64_t used, uint32_t vertices)
{
  uint64_t one = (used + vertices - 1) / vertices;
  return limit + (limit / 5 > one ? limit / 5 : one);
}

/* What moving v to part `to` costs by counting anew; INFINITY when `hard` and it breaks a limit there, when it breaks one
 * by far, or when no net of v has anything to do with the part. */
static double true_cost(scene *s, uint32_t v, uint32_t to, bool hard)
{
  const cm_topology *t = &s->topology;
  uint32_t from = s->part[v], size = 0;
  uint64_t axons[PARTS];
  bool related = false;
  for (uint32_t e = 0; e < t->net_count; e++) {
    bool mine = t->net_source[e] == v, reaches = s->part[t->net_source[e]] == to;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      mine |= t->pin[i] == v;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      reaches |= s->part[t->pin[i]] == to;
    related |= mine && reaches;
  }
  double before = scene_penalised(s);
  s->part[v] = to;
  double cost = scene_penalised(s) - before;
  (void)recount(t, NULL, s->part, axons);
  for (uint32_t u = 0; u < t->vertex_count; u++)
    size += s->part[u] == to;
  s->part[v] = from;
  bool over = size > s->limits.neurons || axons[to] > s->limits.inbound_axons;
  over = hard ? over
              : size > most_of(s->limits.neurons, t->vertex_count, t->vertex_count) ||
                  axons[to] > most_of(s->limits.inbound_axons, t->pin_count, t->vertex_count);
  return !related || over ? INFINITY : cost;
}

START_TEST(the_best_move_below_a_bound_is_found)
{
  cm_random random;
  uint32_t found = 0, bounded = 0;
  for (uint64_t round = 0; round < 60; round++) {
    scene s;
    cm_random_init(&random, round, 7, 0);
    scene_set(&s, &random);
    for (int move = 0; move < 60; move++) {
      uint32_t v = below(&random, s.topology.vertex_count), best = UINT32_MAX;
      bool hard = below(&random, 2);
      double least = INFINITY, bound = below(&random, 5) ? (double)below(&random, 120) - 60 : INFINITY;
      bound *= s.prices != NULL ? 8 : 1;
      for (uint32_t p = 0; p < PARTS; p++) {
        double c = p == s.part[v] ? INFINITY : true_cost(&s, v, p, hard);
        if (c < least) {
          least = c;
          best = p;
        }
      }
      bounded += best != UINT32_MAX && least >= bound;
      best = least < bound ? best : UINT32_MAX;
      cm_offer offer = cm_probe_best(&s.probe, v, hard, bound);
      ck_assert_uint_eq(offer.to, best);
      if (best == UINT32_MAX)
        continue;
      found++;
      ck_assert_double_eq_tol(offer.cost, least, 1e-6);
      uint64_t before = s.state->axons[best];
      cm_axon_move(s.state, v, best);
      ck_assert_uint_eq(s.state->axons[best], before + offer.added);
    }
    scene_clear(&s);
  }
  ck_assert_uint_gt(found, 300);
  ck_assert_uint_gt(bounded, 300);
}
END_TEST

/* Room for what moving all vertices may do to the nets. */
static cm_net_log new_log(const cm_hypergraph *g)
{
  uint64_t room = 2 * (g->pin_count + g->net_count);
  return (cm_net_log){.event = network_array(room, sizeof(cm_net_event)), .room = room};
}

START_TEST(the_table_offers_what_the_probe_finds_while_vertices_move)
{
  cm_random random;
  uint32_t found = 0;
  lightest = 1; /* parts that draw a vertex with nothing are for the probe alone */
  for (uint64_t round = 0; round < 60; round++) {
    scene s;
    cm_axon_table *table;
    cm_thread_pool *pool;
    cm_random_init(&random, round, 17, 0);
    scene_set(&s, &random);
    const cm_hypergraph *g = s.graph;
    if (s.prices != NULL) { /* there are no tables then */
      scene_clear(&s);
      continue;
    }
    ck_ok(cm_thread_pool_new(run.memory, 1 + below(&random, 2), &pool, &error));
    ck_ok(cm_axon_table_new(s.state, pool, &table, &error));
    uint32_t slices = 1 + below(&random, 4);
    cm_net_log log[4];
    for (uint32_t i = 0; i < slices; i++)
      log[i] = new_log(g);
    for (int turn = 0; turn < 20; turn++) {
      cm_move move[3];
      uint32_t moves = 0;
      for (uint32_t v = 0; v < g->vertex_count; v++) {
        double bound = below(&random, 5) ? (double)below(&random, 120) - 60 : INFINITY;
        cm_offer probed = cm_probe_best(&s.probe, v, false, bound), looked_up = cm_axon_table_best(table, v, bound);
        ck_assert_uint_eq(looked_up.to, probed.to);
        if (probed.to == UINT32_MAX)
          continue;
        found++;
        ck_assert_double_eq_tol(looked_up.cost, probed.cost, 1e-6);
        ck_assert_double_eq_tol(looked_up.spread, probed.spread, 1e-6);
        ck_assert_uint_eq(looked_up.added, probed.added);
      }
      for (uint32_t v = below(&random, 3); v < g->vertex_count && moves < 3; v += 1 + below(&random, 20))
        move[moves++] = (cm_move){v, s.part[v], below(&random, PARTS)};
      for (uint32_t i = 0; i < moves; i++)
        moves = move[i].to == move[i].from ? i : moves;
      cm_axon_move_vertices(s.state, move, moves);
      for (uint32_t i = 0; i < slices; i++) {
        log[i].count = 0;
        cm_axon_move_nets(s.state, move, moves, i, slices, &log[i]);
        ck_assert_uint_le(log[i].count, log[i].room);
      }
      for (uint32_t i = 0; i < slices; i++)
        for (uint32_t j = 0; j < slices; j++)
          cm_axon_table_follow(table, log[j].event, log[j].count, i, slices);
    }
    for (uint32_t i = 0; i < slices; i++)
      cm_free(log[i].event);
    cm_axon_table_free(table);
    cm_thread_pool_free(pool);
    scene_clear(&s);
  }
  lightest = 0;
  ck_assert_uint_gt(found, 1000);
}
END_TEST

/* A group has all vertices with the least nets of a band in common, and no others; returns how many pairs meet in one. */
static uint32_t check_bands(const cm_sketches *s, uint32_t *met)
{
  cm_bands bands;
  uint32_t n = s->vertex_count, pairs = 0;
  ck_ok(cm_bands_new(s, CM_BANDS_MAX, &run, &bands, &error));
  for (uint32_t u = 0; u < n; u++)
    for (uint32_t v = 0; v < u; v++) {
      bool meet = false;
      for (uint32_t b = 0; b < bands.count; b++) {
        const uint32_t *x = s->key + (size_t)u * CM_SKETCH_KEYS + 2 * b, *y = s->key + (size_t)v * CM_SKETCH_KEYS + 2 * b;
        bool equal = x[0] == y[0] && x[1] == y[1];
        uint32_t begin = bands.group[(size_t)u * bands.count + b], found = 0;
        ck_assert_int_eq(equal, begin == bands.group[(size_t)v * bands.count + b]);
        for (uint32_t i = begin; i < bands.end[(size_t)b * n + begin]; i++)
          found += bands.order[(size_t)b * n + i] == u || bands.order[(size_t)b * n + i] == v;
        ck_assert_uint_eq(found, equal ? 2 : 1);
        meet |= equal;
      }
      pairs += meet;
      *met += meet && u / 4 == v / 4;
    }
  cm_bands_free(&bands);
  return pairs;
}

START_TEST(sketches_estimate_the_overlap_merge_and_find_candidates)
{
  /* 40 targets of 2000 nets; target v has net e when a hash says so, more alike within groups of four. */
  enum { TARGETS = 40, NETS = 2000 };
  cm_random random;
  cm_random_init(&random, 5, 9, 0);
  cm_topology t = {
      .directed = true, .vertex_count = TARGETS, .size_total = TARGETS, .weight_scale = 1, .net_count = NETS};
  static bool has[TARGETS][NETS];
  t.net_first = network_array(NETS + 1, sizeof *t.net_first);
  t.net_source = network_array(NETS, sizeof *t.net_source);
  t.pin = network_array((size_t)TARGETS * NETS, sizeof *t.pin);
  for (uint32_t e = 0; e < NETS; e++) {
    for (uint32_t group = 0; group < TARGETS; group += 4) {
      bool common = below(&random, 4) == 0;
      for (uint32_t v = group; v < group + 4; v++) {
        has[v][e] = common ? below(&random, 10) < 9 : below(&random, 20) == 0;
        if (has[v][e])
          t.pin[t.pin_count++] = v;
      }
    }
    t.net_first[e + 1] = t.pin_count;
    t.net_source[e] = e % TARGETS;
  }
  cm_hypergraph *graph;
  cm_sketches *sketches, *merged;
  ck_ok(cm_hypergraph_from_topology(&t, &run, &graph, &error));
  ck_ok(cm_sketches_new(graph, 64, 1, &run, &sketches, &error));
  uint32_t by_number[TARGETS * CM_SKETCH_KEYS];
  double error_sum = 0;
  uint32_t pairs = 0;
  for (uint32_t u = 0; u < TARGETS; u++) {
    for (uint32_t v = 0; v < u; v++, pairs++) {
      uint32_t both = 0, either = 0;
      for (uint32_t e = 0; e < NETS; e++) {
        both += has[u][e] && has[v][e];
        either += has[u][e] || has[v][e];
      }
      double estimate = cm_sketch_overlap(sketches, graph->number[u], graph->number[v]);
      ck_assert_double_eq_tol(estimate, (double)both / either, 0.3);
      error_sum += fabs(estimate - (double)both / either);
    }
  }
  ck_assert_double_le(error_sum / pairs, 0.06); /* 64 bins: a standard deviation of at most 1/16 */
  uint32_t map[TARGETS];
  for (uint32_t v = 0; v < TARGETS; v++)
    map[v] = v % 2;
  ck_ok(cm_sketches_merge(sketches, map, 2, &run, &merged, &error));
  for (uint32_t b = 0; b < merged->bins; b++) {
    uint16_t least = UINT16_MAX;
    for (uint32_t v = 0; v < TARGETS; v += 2)
      least = sketches->rank[v * sketches->bins + b] < least ? sketches->rank[v * sketches->bins + b] : least;
    ck_assert_uint_eq(merged->rank[b], least);
  }
  for (uint32_t v = 0; v < TARGETS; v++)
    memcpy(by_number + (size_t)v * CM_SKETCH_KEYS, sketches->key + (size_t)graph->number[v] * CM_SKETCH_KEYS,
           CM_SKETCH_KEYS * sizeof *by_number);
  memcpy(sketches->key, by_number, sizeof by_number);
  uint32_t alike = 0, all = check_bands(sketches, &alike);
  ck_assert_uint_ge(alike, 45); /* of 60 pairs inside groups */
  ck_assert_uint_le(all - alike, 200); /* of 720 others */
  cm_sketches_free(merged);
  cm_sketches_free(sketches);
  cm_hypergraph_free(graph);
  network_free(&t);
}
END_TEST

START_TEST(numbering_by_locality_is_a_permutation_that_keeps_groups_together)
{
  cm_random random;
  for (uint64_t round = 0; round < 30; round++) {
    cm_random_init(&random, round, 8, 0);
    cm_topology t = random_axons(&random);
    uint32_t number[MOST], order[MOST];
    bool seen[MOST] = {false};
    ck_ok(cm_number_by_locality(&t, &run, number, &error));
    for (uint32_t v = 0; v < t.vertex_count; v++) {
      ck_assert_uint_lt(number[v], t.vertex_count);
      ck_assert(!seen[number[v]]);
      seen[number[v]] = true;
    }
    uint32_t block = 1 + below(&random, 12);
    cm_shuffle_by_locality(&random, block, order, t.vertex_count);
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < t.vertex_count; i++) {
      ck_assert(!seen[order[i]]);
      seen[order[i]] = true;
      ck_assert_uint_eq(order[i] / block, order[i / block * block] / block);
    }
    network_free(&t);
  }
  cm_topology t = planted(8, 64, 40, 0, &random);
  uint32_t number[8 * 64], apart = 0, at[8 * 64];
  ck_ok(cm_number_by_locality(&t, &run, number, &error));
  for (uint32_t v = 0; v < t.vertex_count; v++)
    at[number[v]] = v;
  for (uint32_t i = 1; i < t.vertex_count; i++) {
    bool together = false;
    for (uint64_t j = t.net_first[at[i]]; j < t.net_first[at[i] + 1]; j++)
      for (uint64_t k = t.net_first[at[i - 1]]; k < t.net_first[at[i - 1] + 1]; k++)
        together |= t.pin[j] == t.pin[k];
    apart += !together;
  }
  ck_assert_uint_le(apart, 10); /* by chance it were seven of eight */
  network_free(&t);
}
END_TEST

static cm_axon_options effort(uint64_t neurons, uint64_t axons)
{
  return (cm_axon_options){.limits = {.neurons = neurons, .inbound_axons = axons}, .parts_max = 1000, .bands = 8, .samples = 16,
                           .sketch_bins = 64, .starts = 4, .start_sweeps = 20, .coarse_sweeps = 20, .fine_sweeps = 3,
                           .settle_all = true, .last_sweeps = 3, .attempts = 2, .cycles = 2, .coarse_vertices = 20, .seed = 3};
}

START_TEST(planted_groups_are_found_within_the_limits)
{
  cm_random random;
  cm_random_init(&random, 1, 2, 0);
  cm_topology t = planted(8, 64, 12, 10, &random);
  cm_axon_options options = effort(64, 80);
  uint32_t *part = network_array(t.vertex_count, sizeof *part), parts;
  run.threads = 2;
  ck_ok(cm_partition_axons(&t, &options, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, 8);
  uint64_t spread = 0;
  for (uint32_t e = 0; e < t.net_count; e++)
    for (uint64_t i = t.net_first[e]; i < t.net_first[e + 1]; i++)
      spread += part[t.pin[i]] != part[e];
  ck_assert_uint_le(spread, 70); /* the strays alone: a tenth of 512, less those that stay at home */
  /* One attempt and one cycle, and neither. */
  for (options.cycles = 1, options.attempts = 0; options.cycles < 2; options.cycles--) {
    uint32_t *other = network_array(t.vertex_count, sizeof *other), others;
    ck_ok(cm_partition_axons(&t, &options, &run, other, &others, &error));
    ck_assert_uint_eq(others, 8);
    cm_free(other);
  }
  options = effort(64, 80);
  /* The same for any number of threads. */
  uint32_t *again = network_array(t.vertex_count, sizeof *again), parts_again;
  run.threads = 1;
  ck_ok(cm_partition_axons(&t, &options, &run, again, &parts_again, &error));
  ck_assert_uint_eq(parts_again, parts);
  ck_assert_int_eq(memcmp(part, again, t.vertex_count * sizeof *part), 0);
  cm_free(part);
  cm_free(again);
  network_free(&t);
}
END_TEST

/* Every neuron of a ring of 600 reaches the 300 around it, and parts of 40 at most hold the axons of 360: each axon
 * reaches nine parts. One part of everything would save more than it pays by a penalty that is linear. Runs of 40
 * neurons are 15 parts, each of which is reached from outside by 300 neurons and from inside by 40. */
START_TEST(parts_do_not_collapse_where_axons_reach_many)
{
  enum { N = 600, REACHED = 300 };
  cm_topology t = {.directed = true, .vertex_count = N, .net_count = N, .size_total = N, .weight_scale = 1};
  t.net_first = network_array(N + 1, sizeof *t.net_first);
  t.pin = network_array((size_t)N * N, sizeof *t.pin);
  for (uint32_t u = 0; u < N; u++) {
    for (uint32_t v = 0; v < N; v++)
      if ((v + N - u + REACHED / 2) % N < REACHED)
        t.pin[t.pin_count++] = v;
    t.net_first[u + 1] = t.pin_count;
  }
  uint32_t part[N], parts;
  uint64_t connectivity = 0;
  cm_axon_options options = effort(40, 345);
  ck_ok(cm_partition_axons(&t, &options, &run, part, &parts, &error));
  for (uint32_t e = 0; e < N; e++) {
    uint8_t reached[N] = {0};
    for (uint64_t i = t.net_first[e]; i < t.net_first[e + 1]; i++)
      connectivity += part[t.pin[i]] != part[e] && reached[part[t.pin[i]]]++ == 0;
  }
  ck_assert_uint_le(parts, 20);
  ck_assert_uint_le(connectivity, 15 * 300 * 115 / 100);
  network_free(&t);
}
END_TEST

enum { RING = 8192, REACH = 8, AROUND = 512 };

/* A ring in which every neuron reaches 8 of the 512 around it: neighbours share one or two of a hundred sources. */
static cm_topology scattered(void)
{
  cm_random random;
  cm_random_init(&random, 4, 4, 4);
  cm_topology t = {
      .directed = true, .vertex_count = RING, .net_count = RING, .size_total = RING, .weight_scale = 1};
  t.net_first = network_array(RING + 1, sizeof *t.net_first);
  t.net_weight = network_array(RING, sizeof *t.net_weight);
  t.pin = network_array((size_t)RING * REACH, sizeof *t.pin);
  for (uint32_t v = 0; v < RING; v++) {
    bool taken[AROUND] = {false};
    for (uint32_t left = REACH; left > 0; left--)
      taken[below(&random, AROUND)] = true;
    for (uint32_t u = 0; u < AROUND; u++)
      if (taken[u])
        t.pin[t.pin_count++] = (v + u) % RING;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
  }
  return t;
}

/* The distinct targets of a net of level 0 on level l. */
static uint64_t count_targets(const cm_axon_levels *levels, uint32_t e, uint32_t l)
{
  static bool seen[RING];
  const cm_hypergraph *g = levels->graph[0];
  uint64_t count = 0;
  memset(seen, 0, sizeof seen);
  for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
    uint32_t v = cm_targets_next(&t);
    for (uint32_t k = 0; k < l; k++)
      v = levels->map[k][v];
    ck_assert_uint_lt(v, levels->graph[l]->vertex_count);
    count += !seen[v];
    seen[v] = true;
  }
  return count;
}

/* Levels shrink also where hardly any two neurons share inbound axons, and none is kept that repeats the one below. */
START_TEST(scattered_networks_have_few_levels)
{
  cm_topology t = scattered();
  cm_axon_options options = effort(512, 0);
  options.coarse_vertices = 4; /* the coarsest level is to have 64 */
  options.samples = 4;
  cm_axon_levels levels[2];
  for (unsigned threads = 1; threads <= 2; threads++) {
    cm_axon_levels *made = &levels[threads - 1];
    run.threads = threads;
    ck_ok(cm_axon_levels_begin(&t, &run, made, &error));
    ck_ok(cm_axon_levels_build(made, &options, 1, NULL, &run, &error));
    ck_assert_uint_ge(made->count, 3);
    ck_assert_uint_lt(made->graph[made->count - 1]->vertex_count, RING / 8);
    for (uint32_t l = 1; l < made->count; l++) {
      const cm_hypergraph *g = made->graph[l], *fine = made->graph[l - 1];
      ck_assert_uint_eq(g->vertex_count, levels[0].graph[l]->vertex_count);
      if (l + 1 < made->count)
        ck_assert_uint_le(100 * g->pin_count, 85 * fine->pin_count);
      for (uint32_t e = 0; e < RING; e += 61)
        ck_assert_uint_eq(g->net_targets[e], count_targets(made, e, l));
    }
  }
  for (unsigned i = 0; i < 2; i++)
    cm_axon_levels_free(&levels[i]);
  network_free(&t);
}
END_TEST

/* Rounds are long enough here for several threads to share them. */
START_TEST(parts_are_the_same_for_any_number_of_threads)
{
  cm_topology t = scattered();
  cm_axon_options options = effort(600, 4000);
  uint32_t *part = network_array(RING, sizeof *part), *again = network_array(RING, sizeof *again), parts, others;
  options.samples = 2;
  options.start_sweeps = options.coarse_sweeps = 8;
  options.attempts = options.cycles = 1;
  run.threads = 1;
  ck_ok(cm_partition_axons(&t, &options, &run, part, &parts, &error));
  for (run.threads = 2; run.threads <= 8; run.threads *= 2) {
    ck_ok(cm_partition_axons(&t, &options, &run, again, &others, &error));
    ck_assert_uint_eq(others, parts);
    ck_assert_mem_eq(again, part, RING * sizeof *part);
  }
  /* Also cut in pieces for eleven and played by one, by which the test sees that there is something to share. */
  cm_rounds_log log = {.run = &run};
  uint64_t rounds = 0, tasks = 0;
  run.threads = 11;
  cm_threads_record(&log);
  ck_ok(cm_partition_axons(&t, &options, &run, again, &others, &error));
  cm_threads_record(NULL);
  for (size_t i = 0; i < run.phase_count; i++) {
    rounds += log.phase[i].rounds;
    tasks += log.phase[i].tasks;
  }
  ck_assert_mem_eq(again, part, RING * sizeof *part);
  ck_assert_uint_gt(rounds, 200);
  ck_assert_uint_gt(tasks, 8 * rounds);
  run.threads = 1;
  cm_free(part);
  cm_free(again);
  network_free(&t);
}
END_TEST

START_TEST(the_axon_limit_splits_further_and_lack_of_cores_is_said)
{
  cm_random random;
  cm_random_init(&random, 2, 2, 0);
  cm_topology t = planted(4, 128, 20, 30, &random);
  cm_axon_options options = effort(512, 100);
  uint32_t *part = network_array(t.vertex_count, sizeof *part), parts;
  ck_ok(cm_partition_axons(&t, &options, &run, part, &parts, &error));
  ck_assert_uint_ge(parts, 6); /* 512 neurons with one axon each are more than 5 times 100 */
  cm_hypergraph *graph;
  cm_axon_state *state;
  ck_ok(cm_hypergraph_from_topology(&t, &run, &graph, &error));
  uint32_t *numbered = network_array(t.vertex_count, sizeof *numbered);
  for (uint32_t v = 0; v < t.vertex_count; v++)
    numbered[graph->number[v]] = part[v];
  ck_ok(cm_axon_state_new(graph, &options.limits, NULL, numbered, parts, parts, 1, &run, &state, &error));
  for (uint32_t p = 0; p < parts; p++) {
    ck_assert(!cm_axon_over(state, p));
    ck_assert_uint_gt(state->vertices[p], 0);
  }
  cm_axon_state_free(state);
  cm_hypergraph_free(graph);
  cm_free(numbered);
  options.parts_max = 3;
  ck_fails(cm_partition_axons(&t, &options, &run, part, &parts, &error), CM_NO_ROOM);
  cm_free(part);
  network_free(&t);
}
END_TEST

/* Eight rings of 41 neurons, one of which reaches all of them: seven have an axon too many, and half a part is room for
 * all of these. */
START_TEST(a_little_too_much_in_many_parts_costs_one_part_more)
{
  enum { RINGS = 8, SIZE = 41, N = RINGS * SIZE };
  cm_topology t = {.directed = true, .vertex_count = N, .size_total = N, .weight_scale = 1, .net_count = N};
  t.net_first = network_array(N + 1, sizeof *t.net_first);
  t.net_weight = network_array(N, sizeof *t.net_weight);
  t.pin = network_array(2 * N, sizeof *t.pin);
  uint32_t part[N];
  for (uint32_t v = 0; v < N; v++) {
    for (uint32_t u = 0; v == 0 && u < N; u++)
      t.pin[t.pin_count++] = u;
    if (v != 0)
      t.pin[t.pin_count++] = v / SIZE * SIZE + (v + 1 - v / SIZE * SIZE) % SIZE;
    t.net_first[v + 1] = t.pin_count;
    t.net_weight[v] = 1;
  }
  cm_hypergraph *graph;
  cm_axon_state *state;
  cm_limits limits = {.neurons = 100, .inbound_axons = SIZE};
  ck_ok(cm_hypergraph_from_topology(&t, &run, &graph, &error));
  ck_ok(cm_hypergraph_list_inbound(graph, &run, &error));
  for (uint32_t v = 0; v < N; v++)
    part[graph->number[v]] = v / SIZE;
  ck_ok(cm_axon_state_new(graph, &limits, NULL, part, RINGS, 2 * RINGS, 1, &run, &state, &error));
  ck_assert_uint_eq(cm_count_overfull(state), RINGS - 1);
  ck_assert_double_eq_tol(cm_total_excess(state), (RINGS - 1) / (double)SIZE, 1e-9);
  ck_ok(cm_repair(state, &error));
  ck_assert_uint_eq(cm_count_overfull(state), 0);
  ck_assert_uint_eq(state->part_count, RINGS + 1);
  cm_axon_state_free(state);
  cm_hypergraph_free(graph);
  network_free(&t);
}
END_TEST

START_TEST(neurons_without_inbound_axons_and_loose_pieces_are_packed)
{
  /* 500 inputs that each reach one of 20 outputs, and 200 neurons without any synapse. */
  uint32_t n = 720;
  cm_topology t = {
      .directed = true, .vertex_count = n, .size_total = n, .weight_scale = 1, .net_count = 500, .pin_count = 500};
  t.net_first = network_array(501, sizeof *t.net_first);
  t.net_source = network_array(500, sizeof *t.net_source);
  t.net_weight = network_array(500, sizeof *t.net_weight);
  t.pin = network_array(500, sizeof *t.pin);
  for (uint32_t e = 0; e < 500; e++) {
    t.net_first[e + 1] = e + 1;
    t.net_source[e] = e;
    t.net_weight[e] = 1;
    t.pin[e] = 500 + e % 20;
  }
  cm_axon_options options = effort(100, 200);
  uint32_t *part = network_array(n, sizeof *part), parts;
  ck_ok(cm_partition_axons(&t, &options, &run, part, &parts, &error));
  ck_assert_uint_le(parts, 10); /* 8 is the bound */
  cm_free(part);
  network_free(&t);
}
END_TEST

START_TEST(flows_count_each_axon_once_per_part)
{
  cm_random random;
  for (uint64_t round = 0; round < 40; round++) {
    cm_random_init(&random, round, 3, 0);
    cm_topology t = random_axons(&random);
    uint32_t part[MOST];
    uint64_t truth[PARTS][PARTS] = {{0}};
    for (uint32_t v = 0; v < t.vertex_count; v++)
      part[v] = below(&random, PARTS);
    for (uint32_t e = 0; e < t.net_count; e++) {
      bool seen[PARTS] = {false};
      for (uint64_t i = t.net_first[e]; i < t.net_first[e + 1]; i++)
        seen[part[t.pin[i]]] = true;
      for (uint32_t p = 0; p < PARTS; p++) {
        uint32_t home = part[t.net_source[e]];
        truth[home][p] += seen[p] && p != home ? t.net_weight[e] : 0;
        truth[p][home] += seen[p] && p != home ? t.net_weight[e] : 0;
      }
    }
    cm_graph *graph;
    run.threads = 1 + below(&random, 10); /* more than there are parts at times */
    ck_ok(cm_graph_of_axons(&t, part, PARTS, &run, &graph, &error));
    for (uint32_t p = 0; p < PARTS; p++) {
      uint64_t found[PARTS] = {0};
      for (uint64_t i = graph->first[p]; i < graph->first[p + 1]; i++)
        found[graph->neighbour[i]] = graph->weight[i];
      for (uint32_t q = 0; q < PARTS; q++)
        ck_assert_uint_eq(found[q], truth[p][q]);
    }
    cm_graph_free(graph);
    network_free(&t);
  }
}
END_TEST

START_TEST(inputs_are_counted_by_any_number_of_threads)
{
  cm_random random;
  cm_random_init(&random, 5, 4, 0);
  cm_topology t = planted(3, 50, 40, 50, &random);
  uint32_t truth[150] = {0}, synapses[150], axons[150];
  for (uint64_t i = 0; i < t.pin_count; i++)
    truth[t.pin[i]]++;
  for (run.threads = 1; run.threads <= 9; run.threads++) {
    ck_ok(cm_count_inputs(&t, &run, synapses, axons, &error));
    ck_assert_mem_eq(synapses, truth, sizeof truth);
    ck_assert_mem_eq(axons, truth, sizeof truth); /* one net a source */
  }
  network_free(&t);
}
END_TEST

/* Filled one after another, parts keep every limit that the method knows, also where sources repeat, neurons are their
 * own sources, and limits are as tight as one neuron needs. */
START_TEST(dense_parts_keep_limits)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 9, 0);
  cm_topology t = network_directed(&random, 30 + below(&random, 170), 150);
  uint32_t n = t.vertex_count, part[200], again[200], parts, parts_again;
  uint64_t alone[200 * CM_RESOURCES], use[200 * CM_RESOURCES], most[CM_RESOURCES] = {0};
  cm_run_init(&run);
  for (uint32_t v = 0; v < n; v++)
    part[v] = v;
  ck_ok(cm_count_use(&t, part, n, &run, alone, &error));
  for (uint32_t i = 0; i < n * CM_RESOURCES; i++)
    most[i % CM_RESOURCES] = alone[i] > most[i % CM_RESOURCES] ? alone[i] : most[i % CM_RESOURCES];
  cm_axon_options options = {.limits = {.neurons = most[CM_NEURONS] + below(&random, 20),
                                        .synapses = _i % 3 == 0 ? 0 : most[CM_SYNAPSES] + below(&random, 200),
                                        .inbound_axons = most[CM_INBOUND_AXONS] + below(&random, 20)},
                             .parts_max = UINT32_MAX,
                             .seed = (uint64_t)_i};
  ck_ok(cm_partition_dense(&t, &options, &run, part, &parts, &error));
  ck_ok(cm_count_use(&t, part, parts, &run, use, &error));
  ck_assert_uint_eq(cm_find_violation(&options.limits, use, parts).broken_parts, 0);
  for (uint32_t p = 0; p < parts; p++)
    ck_assert_uint_gt(use[p * CM_RESOURCES + CM_NEURONS], 0);
  run.threads = 3;
  options.parts_max = parts;
  ck_ok(cm_partition_dense(&t, &options, &run, again, &parts_again, &error));
  ck_assert_uint_eq(parts_again, parts);
  ck_assert_mem_eq(again, part, n * sizeof *part);
  options.parts_max = parts - 1;
  ck_fails(cm_partition_dense(&t, &options, &run, again, &parts_again, &error), CM_NO_ROOM);
  network_free(&t);
}
END_TEST

/* Three kinds of neurons that are reached from other kinds with other probabilities: in the order, neighbours are of one
 * kind, though no two neurons share more sources than chance has them share. */
START_TEST(the_order_by_sources_tells_kinds_apart)
{
  enum { N = 900, KINDS = 3 };
  static const uint32_t percent[KINDS][KINDS] = {{10, 4, 20}, {16, 12, 3}, {4, 18, 11}}; /* [source][target] */
  cm_random random;
  cm_random_init(&random, 1, 10, 0);
  cm_topology t = {.directed = true, .vertex_count = N, .net_count = N, .size_total = N, .weight_scale = 1};
  t.net_first = network_array(N + 1, sizeof *t.net_first);
  t.pin = network_array((size_t)N * N, sizeof *t.pin);
  for (uint32_t u = 0; u < N; u++) {
    for (uint32_t v = 0; v < N; v++)
      if (v == (u + 1) % N || below(&random, 100) < percent[u % KINDS][v % KINDS])
        t.pin[t.pin_count++] = v;
    t.net_first[u + 1] = t.pin_count;
  }
  uint32_t order[2][N], changes = 0;
  uint8_t seen[N] = {0};
  cm_synapses synapses;
  cm_run_init(&run);
  ck_ok(cm_synapses_new(&t, &run, &synapses, &error));
  for (unsigned i = 0; i < 2; i++) {
    run.threads = 1 + i;
    ck_ok(cm_order_by_sources(&synapses, 5, &run, order[i], &error));
  }
  run.threads = 1;
  ck_assert_mem_eq(order[0], order[1], sizeof order[0]);
  for (uint32_t i = 0; i < N; i++) {
    ck_assert_uint_eq(seen[order[0][i]]++, 0);
    changes += i > 0 && order[0][i] % KINDS != order[0][i - 1] % KINDS;
  }
  ck_assert_uint_lt(changes, N / 20); /* at random two thirds */
  cm_synapses_free(&synapses);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("axons");
  TCase *tests = tcase_create("axons");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, the_order_by_sources_tells_kinds_apart);
  tcase_add_loop_test(tests, dense_parts_keep_limits, 0, 20);
  tcase_add_test(tests, predicted_costs_are_what_moves_cost);
  tcase_add_test(tests, only_parts_over_a_limit_are_left_when_asked);
  tcase_add_test(tests, the_best_move_below_a_bound_is_found);
  tcase_add_test(tests, the_table_offers_what_the_probe_finds_while_vertices_move);
  tcase_add_test(tests, sketches_estimate_the_overlap_merge_and_find_candidates);
  tcase_add_test(tests, numbering_by_locality_is_a_permutation_that_keeps_groups_together);
  tcase_add_test(tests, planted_groups_are_found_within_the_limits);
  tcase_add_figures_test(tests, parts_do_not_collapse_where_axons_reach_many);
  tcase_add_test(tests, scattered_networks_have_few_levels);
  tcase_add_test(tests, parts_are_the_same_for_any_number_of_threads);
  tcase_add_test(tests, the_axon_limit_splits_further_and_lack_of_cores_is_said);
  tcase_add_test(tests, a_little_too_much_in_many_parts_costs_one_part_more);
  tcase_add_test(tests, neurons_without_inbound_axons_and_loose_pieces_are_packed);
  tcase_add_test(tests, flows_count_each_axon_once_per_part);
  tcase_add_test(tests, inputs_are_counted_by_any_number_of_threads);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
