/* core/partition, axon objective: predicted costs of moves, the best move and the table of them against recomputation. */
#include "tests/unit/axons.h"

#include <math.h>

#include "core/partition/axon/axon_probe.h"
#include "core/partition/axon/axon_state.h"
#include "core/partition/axon/axon_table.h"

enum { PARTS = 6 };

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

static double excess_of(uint64_t use, uint64_t limit)
{
  return use > limit ? (double)(use - limit) : 0;
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
  ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&s->topology), (cm_hypergraph_kind){0}, &run, &s->graph, &error));
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
  cm_axon_state_options options = {
    .limits = &s->limits, .prices = s->prices, .part = s->part, .parts = PARTS, .threads = 1 + below(random, 3)};
  ck_ok(cm_axon_state_new(s->graph, &options, &run, &s->state, &error));
  ck_ok(cm_probe_init(&s->probe, s->state, &error));
  s->state->penalty_axons = 3;
  s->state->penalty_size = 11;
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
                  axons[to] > most_of(s->limits.inbound_axons, s->graph->pin_count, t->vertex_count);
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
  return (cm_net_log){.event = network_array(room, sizeof(cm_net_event)), .room = room}; /* axons are booked at once */
}

/* The nets of the moves, dealt by two threads to slices and moved slice by slice. */
static void move_dealt_nets(scene *s, const cm_move *move, uint32_t moves, uint32_t slices, cm_net_log *log)
{
  cm_net_visits visits[2][4] = {0};
  for (uint32_t t = 0; t < 2; t++)
    ck_ok(cm_axon_deal_nets(s->state, move, moves * t / 2, moves * (t + 1) / 2, slices, visits[t], &error));
  for (uint32_t i = 0; i < slices; i++) {
    log[i].count = 0;
    for (uint32_t t = 0; t < 2; t++) {
      cm_axon_visit_nets(s->state, move, &visits[t][i], &log[i]);
      cm_free(visits[t][i].visit);
    }
    ck_assert_uint_le(log[i].count, log[i].room);
  }
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
      move_dealt_nets(&s, move, moves, slices, log);
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

int main(void)
{
  Suite *suite = suite_create("axon moves");
  TCase *tests = tcase_create("axon moves");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, predicted_costs_are_what_moves_cost);
  tcase_add_test(tests, the_best_move_below_a_bound_is_found);
  tcase_add_test(tests, the_table_offers_what_the_probe_finds_while_vertices_move);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
