/* core/partition/axon/axon_flat.c: when parts are grown on the network itself, beside levels or in their place. */
#include "tests/unit/axons.h"

#include <math.h>
#include <string.h>

#include "core/partition/axon/grow.h"
#include "core/partition/quality.h"

/* What a smaller effort found is where another begins. */
static void goes_on_from(cm_axon_options *options, const uint32_t *part)
{
  options->start = part;
  options->searched = true;
}

/* Layers that fill parts to the brim, on a network of too many pins to be grown for that alone: what levels find is reached by so few
 * axons that growing is tried, and finds the layers. */
START_TEST(layers_that_fill_parts_are_found)
{
  enum { LAYERS = 16, LAYER = 64, FAN = 48 };
  cm_random random;
  cm_random_init(&random, 7, 7, 7);
  cm_topology t = network_of_rows(LAYERS * LAYER, (size_t)LAYERS * LAYER * LAYER);
  for (uint32_t v = 0; v < LAYERS * LAYER; v++) {
    for (uint32_t u = (v / LAYER + 1) * LAYER; u < (v / LAYER + 2) * LAYER && u < LAYERS * LAYER; u++)
      if (below(&random, LAYER) < FAN)
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
  }
  uint32_t part[LAYERS * LAYER], first[LAYERS * LAYER], parts;
  cm_axon_options options = effort(LAYER, LAYER), little = effort(LAYER, LAYER);
  little.attempts = little.cycles = options.attempts = options.cycles = 1;
  little.work = 0;
  options.work = 4 * t.pin_count;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &little, &run, first, &parts, &error));
  goes_on_from(&options, first);
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &options, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, LAYERS);
  network_free(&t);
}
END_TEST

static bool has_phase(const char *name)
{
  for (size_t i = 0; i < run.phase_count; i++)
    if (strcmp(run.phases[i].name, name) == 0)
      return true;
  return false;
}

/* Where neurons alone fill the parts of a dense network, as few as hold them are grown, and more effort, which goes through levels,
 * costs no more; where axons may, levels are made. */
START_TEST(dense_networks_are_grown_where_neurons_alone_fill_parts)
{
  enum { N = 2700, PART = 270, REACH = N / 5 };
  cm_random random;
  cm_random_init(&random, 8, 8, 8);
  cm_topology t = network_of_rows(N, (size_t)N * N);
  for (uint32_t u = 0; u < N; u++) {
    for (uint32_t v = 0; v < N; v++)
      if ((v + N - u) % N < REACH && below(&random, 10) > 0)
        t.pin[t.pin_count++] = v;
    t.net_first[u + 1] = t.pin_count;
  }
  uint32_t part[N], first[N], parts;
  cm_axon_options little = effort(PART, N), more = effort(PART, N);
  little.work = 0;
  more.attempts = more.cycles = 1;
  cm_quality grown, better;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &little, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, (N + PART - 1) / PART);
  ck_assert(!has_phase("coarsen"));
  ck_ok(cm_quality_compute(CM_DEMAND_OF(&t), part, parts, &run, &grown, &error));
  memcpy(first, part, sizeof first);
  goes_on_from(&more, first);
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &more, &run, part, &parts, &error));
  ck_assert(has_phase("coarsen"));
  ck_ok(cm_quality_compute(CM_DEMAND_OF(&t), part, parts, &run, &better, &error));
  ck_assert_double_le(better.connectivity, grown.connectivity);
  cm_run_init(&run);
  little.limits.inbound_axons = N - 1;
  ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &little, &run, part, &parts, &error));
  ck_assert(has_phase("coarsen"));
  network_free(&t);
}
END_TEST

/* Plain growing, in the order of the numbers where all is equal: the vertex goes in next that has the largest share of its inbound
 * nets in the part already; the next part begins with the one of which most has been met. `limits` of neurons, synapses and inbound axons. */
static uint32_t grow_plainly(const cm_topology *t, const cm_limits *limits, uint32_t *part)
{
  enum { OPEN = UINT32_MAX };
  uint32_t n = t->vertex_count, parts = 0, next;
  uint32_t *shared = network_array(n, sizeof *shared), *met = network_array(n, sizeof *met), *degree = network_array(n, sizeof *degree);
  uint8_t *has = network_array((size_t)n * n, 1); /* [target][source] */
  uint32_t *in = network_array(n, sizeof *in);    /* plus one: the last part that took the net */
  for (uint32_t e = 0; e < n; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      has[(size_t)t->pin[i] * n + e] = 1;
      degree[t->pin[i]]++;
    }
  memset(part, 0xff, n * sizeof *part);
  for (;; parts++) {
    uint64_t neurons = 0, synapses = 0, axons = 0;
    double most = -1;
    next = OPEN;
    for (uint32_t v = 0; v < n; v++)
      if (part[v] == OPEN && (double)met[v] / (degree[v] + 1) > most) {
        most = (double)met[v] / (degree[v] + 1);
        next = v;
      }
    if (next == OPEN)
      break;
    memset(shared, 0, n * sizeof *shared);
    while (next != OPEN) {
      part[next] = parts;
      neurons++;
      synapses += degree[next];
      for (uint32_t e = 0; e < n; e++) {
        if (!has[(size_t)next * n + e] || in[e] == parts + 1)
          continue;
        for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
          met[t->pin[i]] += in[e] == 0;
          shared[t->pin[i]]++;
        }
        in[e] = parts + 1;
        axons++;
      }
      next = OPEN;
      most = 0;
      for (uint32_t v = 0; v < n; v++) {
        double share = (double)shared[v] / (degree[v] + 1);
        bool fits = neurons < limits->neurons && (limits->synapses == 0 || synapses + degree[v] <= limits->synapses) &&
                    axons + degree[v] - shared[v] <= limits->inbound_axons;
        if (part[v] == OPEN && fits && (share > most || (degree[v] == 0 && next == OPEN))) {
          most = share;
          next = v;
        }
      }
    }
  }
  CM_FREE(shared, met, degree, has, in);
  return parts;
}

/* Layers whose neurons hear a third of those before them, two and a bit to a part: pieces that end in the middle of one. */
static cm_topology split_layers(uint32_t layers, uint32_t layer, cm_random *random)
{
  cm_topology t = network_of_rows(layers * layer, (size_t)layers * layer * layer);
  for (uint32_t v = 0; v < layers * layer; v++) {
    for (uint32_t u = (v / layer + 1) * layer; u < (v / layer + 2) * layer && u < layers * layer; u++)
      if (below(random, 3) == 0)
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
  }
  return t;
}

/* Neurons in a square that hear most of those around them. */
static cm_topology dense_reservoir(uint32_t side, cm_random *random)
{
  uint32_t n = side * side, *name = network_array(n, sizeof *name);
  cm_topology t = network_of_rows(n, (size_t)n * n);
  cm_random_permutation(random, name, n); /* so that numbers tell nothing */
  for (uint32_t v = 0; v < n; v++) {
    for (uint32_t u = 0; u < n; u++) {
      double x = (double)(name[v] % side) - name[u] % side, y = (double)(name[v] / side) - name[u] / side;
      if (below(random, 1000) < 900 * exp(-(x * x + y * y) / (0.05 * n)))
        t.pin[t.pin_count++] = u;
    }
    t.net_first[v + 1] = t.pin_count;
  }
  cm_free(name);
  return t;
}

/* Reservoirs whose parts neurons fill, or layers whose parts synapses fill. */
static cm_topology network_to_grow(int kind, cm_limits *limits)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)kind, 9, 9);
  cm_topology t = kind % 2 ? dense_reservoir(24, &random) : split_layers(8, 60, &random);
  *limits = (cm_limits){.neurons = t.vertex_count / 10, .inbound_axons = t.vertex_count, .synapses = kind % 2 ? 0 : 29 * 20};
  return t;
}

/* A growth takes the same vertices as plain growing does, but for those of equal shares, in no more parts, and where parts end with
 * what is connected it does so too: else layers that are cut in the middle of a part cost a tenth more. */
START_TEST(growths_are_as_good_as_plain_ones)
{
  static const double luck = 1.01;
  cm_grow_options options = {.apart = true};
  cm_topology t = network_to_grow(_i, &options.limits);
  uint32_t n = t.vertex_count, plain, *part = network_array(n, sizeof *part), *grown = network_array(n, sizeof *grown);
  cm_hypergraph *g;
  cm_random random;
  cm_random_init(&random, 1, 1, 1);
  ck_ok(cm_hypergraph_from_topology(CM_DEMAND_OF(&t), (cm_hypergraph_kind){0}, &run, &g, &error));
  ck_ok(cm_hypergraph_list_inbound(g, &run, &error));
  cm_growth growth = {.part = grown, .from = g->number[0]};
  ck_ok(cm_grow_parts(g, &options, &random, &run, &growth, &error));
  for (uint32_t v = 0; v < n; v++)
    part[v] = grown[g->number[v]];
  cm_quality ours, peer;
  uint64_t *use = network_array((size_t)growth.parts * CM_RESOURCES, sizeof *use);
  ck_ok(cm_quality_compute(CM_DEMAND_OF(&t), part, growth.parts, &run, &ours, &error));
  ck_ok(cm_count_use(CM_DEMAND_OF(&t), part, growth.parts, &run, use, &error));
  ck_assert_uint_eq(cm_find_violation(&options.limits, use, growth.parts).broken_parts, 0);
  plain = grow_plainly(&t, &options.limits, part);
  ck_ok(cm_quality_compute(CM_DEMAND_OF(&t), part, plain, &run, &peer, &error));
  ck_assert_double_le(ours.connectivity, luck * peer.connectivity);
  ck_assert_uint_le(growth.parts, plain);
  CM_FREE(use, part, grown);
  cm_hypergraph_free(g);
  network_free(&t);
}
END_TEST

/* With an effort like that of balanced, whatever fills the parts first: moves gain a twentieth. */
START_TEST(plain_growing_finds_no_less)
{
  enum { NETWORKS = 12 };
  double ratio = 0;
  for (int i = 0; i < NETWORKS; i++) {
    cm_axon_options little = effort(0, 0), more = effort(0, 0);
    cm_topology t = network_to_grow(i, &more.limits);
    uint32_t n = t.vertex_count, parts, *part = network_array(n, sizeof *part), *first = network_array(n, sizeof *first);
    little.limits = more.limits;
    little.attempts = little.starts = more.attempts = more.cycles = 1;
    little.work = 0;
    cm_quality ours, grown;
    ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &little, &run, first, &parts, &error));
    goes_on_from(&more, first);
    ck_ok(cm_partition_axons(CM_DEMAND_OF(&t), &more, &run, part, &parts, &error));
    ck_ok(cm_quality_compute(CM_DEMAND_OF(&t), part, parts, &run, &ours, &error));
    parts = grow_plainly(&t, &more.limits, part);
    ck_ok(cm_quality_compute(CM_DEMAND_OF(&t), part, parts, &run, &grown, &error));
    ck_assert_double_le(ours.connectivity, grown.connectivity);
    ratio += ours.connectivity / grown.connectivity / NETWORKS;
    CM_FREE(part, first);
    network_free(&t);
  }
  ck_assert_double_le(ratio, 0.95);
}
END_TEST

/* A sheet in which neurons hear those around them. */
static cm_topology sheet(uint32_t side, uint32_t reach, cm_random *random)
{
  uint32_t n = side * side;
  cm_topology t = network_of_rows(n, (size_t)n * reach);
  for (uint32_t v = 0; v < n; v++) {
    uint8_t *hit = network_array(n, 1);
    for (uint32_t k = 0; k < reach; k++) {
      uint32_t x = v % side + below(random, 13) + below(random, 13) + below(random, 13) + side - 18;
      uint32_t y = v / side + below(random, 13) + below(random, 13) + below(random, 13) + side - 18;
      hit[y % side * side + x % side] = 1;
    }
    for (uint32_t u = 0; u < n; u++)
      if (hit[u])
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
    cm_free(hit);
  }
  return t;
}

/* Where a neuron needs a copy for every part but the first that it reaches, parts of few neurons are grown with room for them: as plain
 * growing finds by trying ever smaller limits, less a twentieth: levels alone save 3.7 %, with growths it is 6.3. */
START_TEST(parts_are_grown_with_room_for_copies)
{
  cm_random random;
  cm_random_init(&random, 0, 9, 11);
  cm_topology t = sheet(48, 48, &random);
  cm_demand demand = cm_demand_of(&t);
  demand.target_cores_max = 1;
  cm_axon_options options = effort(256, 256);
  options.starts = options.attempts = options.fine_sweeps = options.sweeps = 1;
  options.work = 0;
  uint32_t n = t.vertex_count, parts, *part = network_array(n, sizeof *part);
  uint64_t *use = network_array((size_t)n * CM_RESOURCES, sizeof *use);
  cm_limits smaller = options.limits;
  cm_quality ours, grown;
  ck_ok(cm_partition_axons(&demand, &options, &run, part, &parts, &error));
  ck_ok(cm_quality_compute(&demand, part, parts, &run, &ours, &error));
  ck_ok(cm_count_use(&demand, part, parts, &run, use, &error));
  ck_assert_uint_eq(cm_find_violation(&options.limits, use, parts).broken_parts, 0);
  do {
    parts = grow_plainly(&t, &smaller, part);
    ck_ok(cm_count_use(&demand, part, parts, &run, use, &error));
    smaller.inbound_axons -= 4;
  } while (cm_find_violation(&options.limits, use, parts).broken_parts > 0);
  ck_ok(cm_quality_compute(&demand, part, parts, &run, &grown, &error));
  ck_assert_double_le(ours.connectivity, 0.95 * grown.connectivity);
  CM_FREE(use, part);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("growing");
  TCase *tests = tcase_create("growing");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_figures_test(tests, layers_that_fill_parts_are_found);
  tcase_add_figures_test(tests, dense_networks_are_grown_where_neurons_alone_fill_parts);
  tcase_add_loop_test(tests, growths_are_as_good_as_plain_ones, 0, 12);
  tcase_add_figures_test(tests, plain_growing_finds_no_less);
  tcase_add_figures_test(tests, parts_are_grown_with_room_for_copies);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
