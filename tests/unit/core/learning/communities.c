/* core/learning: communities by fast unfolding, against igraph on the same graphs; brought to processors and assigned.
 * igraph is outside truth here and nowhere else. */
#include "tests/unit/parts.h"

#include <igraph/igraph.h>
#include <math.h>

#include "core/learning/communities/communities.h"
#include "core/learning/communities/processors.h"
#include "core/network/import.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

/* ---- igraph ---- */

typedef struct peer {
  igraph_t graph;
  igraph_vector_t weight;
} peer;

static peer peer_of(const cm_graph *g)
{
  peer p;
  igraph_vector_int_t edge;
  ck_assert_int_eq(igraph_vector_int_init(&edge, 0), IGRAPH_SUCCESS);
  ck_assert_int_eq(igraph_vector_init(&p.weight, 0), IGRAPH_SUCCESS);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      if (g->neighbour[i] > v) {
        (void)igraph_vector_int_push_back(&edge, v);
        (void)igraph_vector_int_push_back(&edge, g->neighbour[i]);
        (void)igraph_vector_push_back(&p.weight, (double)g->weight[i]);
      }
  ck_assert_int_eq(igraph_create(&p.graph, &edge, g->vertex_count, IGRAPH_UNDIRECTED), IGRAPH_SUCCESS);
  igraph_vector_int_destroy(&edge);
  return p;
}

static void peer_free(peer *p)
{
  igraph_destroy(&p->graph);
  igraph_vector_destroy(&p->weight);
}

static double peer_modularity(const peer *p, const uint32_t *community, uint32_t vertices)
{
  igraph_vector_int_t member;
  double modularity;
  ck_assert_int_eq(igraph_vector_int_init(&member, vertices), IGRAPH_SUCCESS);
  for (uint32_t v = 0; v < vertices; v++)
    VECTOR(member)[v] = community[v];
  ck_assert_int_eq(igraph_modularity(&p->graph, &member, &p->weight, 1, false, &modularity), IGRAPH_SUCCESS);
  igraph_vector_int_destroy(&member);
  return modularity;
}

/* The modularity of igraph's own multilevel communities. */
static double peer_unfold(const peer *p)
{
  igraph_vector_int_t member;
  igraph_vector_t level;
  ck_assert_int_eq(igraph_vector_int_init(&member, 0), IGRAPH_SUCCESS);
  ck_assert_int_eq(igraph_vector_init(&level, 0), IGRAPH_SUCCESS);
  ck_assert_int_eq(igraph_community_multilevel(&p->graph, &p->weight, 1, &member, NULL, &level), IGRAPH_SUCCESS);
  double best = igraph_vector_max(&level);
  igraph_vector_int_destroy(&member);
  igraph_vector_destroy(&level);
  return best;
}

/* ---- inputs ---- */

static cm_graph *from_file(const char *name)
{
  cm_import_limits limits = cm_import_limits_default();
  cm_topology *topology;
  cm_import_report report;
  cm_graph *graph;
  ck_ok(cm_import(test_data(name), &limits, &run, &topology, &report, &error));
  ck_ok(cm_graph_from_topology(CM_DEMAND_OF(topology), &run, &graph, &error));
  cm_topology_free(topology);
  return graph;
}

static cm_graph *ring_of_cliques(uint32_t cliques, uint32_t size)
{
  uint32_t n = cliques * size;
  uint64_t *dense = network_array((size_t)n * n, sizeof *dense);
  for (uint32_t v = 0; v < n; v++)
    for (uint32_t u = 0; u < n; u++)
      dense[(size_t)v * n + u] = u / size == v / size;
  for (uint32_t c = 0; c < cliques; c++) {
    size_t v = (size_t)c * size, u = (size_t)((c + 1) % cliques) * size + 1;
    dense[v * n + u] = dense[u * n + v] = 1;
  }
  cm_graph *graph = parts_graph(n, dense, &run);
  cm_free(dense);
  return graph;
}

static cm_graph *grid(uint32_t width, uint32_t height)
{
  uint32_t n = width * height;
  uint64_t *dense = network_array((size_t)n * n, sizeof *dense);
  for (uint32_t v = 0; v < n; v++) {
    if (v % width + 1 < width)
      dense[(size_t)v * n + v + 1] = dense[(size_t)(v + 1) * n + v] = 3;
    if (v + width < n)
      dense[(size_t)v * n + v + width] = dense[(size_t)(v + width) * n + v] = 2;
  }
  cm_graph *graph = parts_graph(n, dense, &run);
  cm_free(dense);
  return graph;
}

/* ---- fast unfolding ---- */

static double modularity_of(const cm_graph *g, const uint32_t *community)
{
  double twice = 2 * (double)g->weight_total, sum = 0;
  double *total = network_array(g->vertex_count, sizeof *total);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      total[community[v]] += (double)g->weight[i];
      sum += community[g->neighbour[i]] == community[v] ? (double)g->weight[i] / twice : 0;
    }
  for (uint32_t c = 0; c < g->vertex_count && twice > 0; c++)
    sum -= total[c] / twice * (total[c] / twice);
  cm_free(total);
  return sum;
}

static double unfold(const cm_graph *graph, uint64_t seed, uint32_t *community, uint32_t *count)
{
  ck_ok(cm_communities_find(graph, &(cm_unfold_options){.tries = 4, .seed = seed}, &run, community, count, &error));
  return modularity_of(graph, community);
}

/* As good as igraph's to a hundredth, and worth what igraph says that they are worth. */
static void compare(const cm_graph *graph, const char *what)
{
  uint32_t *community = network_array(graph->vertex_count, sizeof *community), count;
  peer p = peer_of(graph);
  double ours = unfold(graph, 1, community, &count), same = peer_modularity(&p, community, graph->vertex_count);
  ck_assert_msg(fabs(ours - same) < 1e-9, "%s: modularity %.12f, igraph says %.12f", what, ours, same);
  double theirs = peer_unfold(&p);
  ck_assert_msg(ours >= theirs - 0.01, "%s: modularity %.5f, igraph finds %.5f", what, ours, theirs);
  uint32_t seen = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    ck_assert_msg(community[v] <= seen, "%s: communities are not numbered by lowest member", what);
    seen += community[v] == seen;
  }
  ck_assert_uint_eq(seen, count);
  peer_free(&p);
  cm_free(community);
}

START_TEST(unfolding_is_as_good_as_igraphs)
{
  cm_random random;
  for (uint32_t round = 0; round < 24; round++) {
    cm_random_init(&random, round, 1, 0);
    char what[60];
    uint32_t n = 20 + below(&random, 300), groups = 1 + below(&random, 12), inside = 10 + below(&random, 60);
    cm_graph *graph = parts_planted(&random, n, groups, inside, below(&random, 10), 1 + below(&random, 1000), &run);
    (void)snprintf(what, sizeof what, "planted %u in %u, round %u", n, groups, round);
    compare(graph, what);
    cm_graph_free(graph);
  }
  cm_graph *some[] = {from_file("celegans_herm_chem.graph.gz"), ring_of_cliques(30, 5), grid(24, 17)};
  const char *const name[] = {"worm", "ring of cliques", "grid"};
  for (int i = 0; i < 3; i++) {
    compare(some[i], name[i]);
    cm_graph_free(some[i]);
  }
}
END_TEST

START_TEST(unfolding_finds_the_optimum_of_the_karate_club)
{
  /* Zachary 1977; 0.4198 is optimal (Brandes et al., "On Modularity Clustering", TKDE 2008). */
  static const uint8_t edge[][2] = {
    {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {1, 7}, {1, 8}, {1, 9}, {1, 11}, {1, 12}, {1, 13}, {1, 14}, {1, 18},
    {1, 20}, {1, 22}, {1, 32}, {2, 3}, {2, 4}, {2, 8}, {2, 14}, {2, 18}, {2, 20}, {2, 22}, {2, 31}, {3, 4}, {3, 8},
    {3, 9}, {3, 10}, {3, 14}, {3, 28}, {3, 29}, {3, 33}, {4, 8}, {4, 13}, {4, 14}, {5, 7}, {5, 11}, {6, 7}, {6, 11},
    {6, 17}, {7, 17}, {9, 31}, {9, 33}, {9, 34}, {10, 34}, {14, 34}, {15, 33}, {15, 34}, {16, 33}, {16, 34}, {19, 33},
    {19, 34}, {20, 34}, {21, 33}, {21, 34}, {23, 33}, {23, 34}, {24, 26}, {24, 28}, {24, 30}, {24, 33}, {24, 34},
    {25, 26}, {25, 28}, {25, 32}, {26, 32}, {27, 30}, {27, 34}, {28, 34}, {29, 32}, {29, 34}, {30, 33}, {30, 34},
    {31, 33}, {31, 34}, {32, 33}, {32, 34}, {33, 34}};
  uint64_t dense[34 * 34] = {0};
  uint32_t community[34], count, edges = sizeof edge / sizeof *edge;
  ck_assert_uint_eq(edges, 78);
  for (uint32_t i = 0; i < edges; i++) {
    size_t u = edge[i][0] - 1u, v = edge[i][1] - 1u;
    dense[u * 34 + v] = dense[v * 34 + u] = 1;
  }
  cm_graph *graph = parts_graph(34, dense, &run);
  double modularity = unfold(graph, 1, community, &count);
  ck_assert_uint_eq(count, 4);
  ck_assert(fabs(modularity - 0.4198) < 0.0001);
  cm_graph_free(graph);
}
END_TEST

START_TEST(unfolding_depends_on_graph_and_seed_alone)
{
  cm_graph *graph = from_file("celegans_herm_chem.graph.gz");
  uint32_t n = graph->vertex_count, counts[2], *community[2];
  for (unsigned i = 0; i < 2; i++) {
    run.threads = 1 + 3 * i;
    community[i] = network_array(n, sizeof **community);
    (void)unfold(graph, 7, community[i], &counts[i]);
  }
  ck_assert_uint_eq(counts[0], counts[1]);
  ck_assert_mem_eq(community[0], community[1], n * sizeof **community);
  CM_FREE(community[0], community[1]);
  cm_graph_free(graph);
}
END_TEST

START_TEST(graphs_without_edges_stay_apart_and_weights_too_large_are_refused)
{
  uint64_t none[9] = {0}, heavy[4] = {0, UINT64_C(1) << 62, UINT64_C(1) << 62, 0};
  uint32_t community[3] = {9, 9, 9}, count = 9;
  cm_graph *graph = parts_graph(3, none, &run);
  ck_assert(unfold(graph, 1, community, &count) == 0);
  ck_assert_uint_eq(count, 3);
  cm_graph_free(graph);
  graph = parts_graph(2, heavy, &run);
  count = 9;
  ck_fails(cm_communities_find(graph, &(cm_unfold_options){.tries = 1, .seed = 1}, &run, community, &count, &error),
           CM_TOO_LARGE);
  ck_assert_uint_eq(count, 9);
  cm_graph_free(graph);
}
END_TEST

/* ---- processors ---- */

static int falling(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

START_TEST(communities_fit_processors_of_any_capacities)
{
  cm_random random;
  for (uint32_t round = 0; round < 120; round++) {
    cm_random_init(&random, round, 2, 0);
    uint32_t n = 1 + below(&random, 90), processors = 1 + below(&random, 9), capacity[9] = {0}, room = 0;
    cm_graph *graph = parts_planted(&random, n, 1 + below(&random, 12), 40, below(&random, 8), 9, &run);
    /* Often exactly as many cores as vertices. */
    for (uint32_t extra = below(&random, 2) * below(&random, 30); room < n + extra; room++)
      capacity[below(&random, processors)]++;
    uint32_t community[90], count, size[90] = {0};
    (void)unfold(graph, round, community, &count);
    ck_ok(cm_communities_fit(graph, capacity, processors, &run, community, &count, &error));
    uint32_t usable = 0;
    for (uint32_t p = 0; p < processors; p++)
      usable += capacity[p] > 0;
    ck_assert_uint_eq(count, usable < n ? usable : n);
    for (uint32_t v = 0; v < n; v++) {
      ck_assert_uint_lt(community[v], count);
      size[community[v]]++;
    }
    qsort(size, count, sizeof *size, falling);
    qsort(capacity, processors, sizeof *capacity, falling);
    for (uint32_t c = 0; c < count; c++) {
      ck_assert_uint_ge(size[c], 1);
      ck_assert_msg(size[c] <= capacity[c], "round %u: %u nodes for %u cores", round, size[c], capacity[c]);
    }
    cm_graph_free(graph);
  }
}
END_TEST

START_TEST(planted_communities_survive_the_fit)
{
  /* Four groups of 25 that talk little to each other, four processors: the groups, whatever their capacities allow. */
  cm_random random;
  cm_random_init(&random, 5, 3, 0);
  cm_graph *graph = parts_planted(&random, 100, 4, 60, 3, 4, &run);
  for (uint32_t spare = 0; spare < 20; spare += 10) {
    uint32_t capacity[4] = {25 + spare, 25, 25 + spare, 25}, community[100], count;
    (void)unfold(graph, 1, community, &count);
    ck_ok(cm_communities_fit(graph, capacity, 4, &run, community, &count, &error));
    for (uint32_t v = 4; v < 100; v++)
      ck_assert_uint_eq(community[v], community[v % 4]);
  }
  cm_graph_free(graph);
}
END_TEST

START_TEST(too_little_room_is_refused)
{
  cm_random random;
  cm_random_init(&random, 5, 4, 0);
  cm_graph *graph = parts_planted(&random, 20, 4, 60, 3, 4, &run);
  uint32_t capacity[2] = {9, 10}, community[20] = {0}, count = 1;
  ck_fails(cm_communities_fit(graph, capacity, 2, &run, community, &count, &error), CM_NO_ROOM);
  ck_assert_uint_eq(count, 1);
  cm_graph_free(graph);
}
END_TEST

START_TEST(processors_go_by_connection_weight_and_by_room)
{
  /* Groups 0 to 3 of 3, 2, 2, 1 nodes; connection weights 10, 40, 38, 12: priority 1, 2, 3, 0. The processors have 3,
   * 2, 2, 1 free cores. The largest goes first and must be left to group 0: the only one that it can hold and nobody
   * else; the source's rule passes over those that do not fit. */
  static const uint32_t group[8] = {0, 0, 0, 1, 1, 2, 2, 3};
  uint64_t dense[64] = {0};
  dense[3 * 8 + 5] = dense[5 * 8 + 3] = 30;
  dense[4 * 8 + 2] = dense[2 * 8 + 4] = 6;
  dense[4 * 8 + 7] = dense[7 * 8 + 4] = 4;
  dense[6 * 8 + 7] = dense[7 * 8 + 6] = 8;
  cm_graph *graph = parts_graph(8, dense, &run);
  cm_chip *chip = parts_chip(2, 2, 2, 2, 1, false);
  /* Die 0 is cores 0 1 4 5, die 1 is 2 3 6 7, die 2 is 8 9 12 13, die 3 is 10 11 14 15. */
  const uint32_t free_core[] = {9, 12, 2, 3, 6, 14, 10, 5};
  cm_processors processors;
  ck_ok(cm_processors_new(chip, free_core, 8, NULL, &processors, &error));
  ck_assert_uint_eq(processors.count, 4);
  static const uint32_t first[] = {0, 1, 4, 6, 8}, core[] = {5, 2, 3, 6, 9, 12, 10, 14};
  for (uint32_t p = 0; p < 4; p++)
    ck_assert_uint_eq(processors.die[p], p);
  ck_assert_mem_eq(processors.first, first, sizeof first);
  ck_assert_mem_eq(processors.core, core, sizeof core);
  cm_community list[4];
  ck_ok(cm_communities_describe(graph, group, 4, &run, list, &error));
  static const cm_community expected[] = {{3, 2, 6}, {2, 6, 40}, {2, 3, 38}, {1, 4, 12}};
  ck_assert_mem_eq(list, expected, sizeof expected);
  uint32_t processor[4];
  ck_ok(cm_processors_assign(&(cm_sharing){graph, chip, &processors, 0, &run}, group, 4, processor, &error));
  ck_assert_uint_eq(processor[0], 1);
  ck_assert_uint_eq(processor[3], 0);
  ck_assert_uint_eq(processor[1] + processor[2], 5);
  ck_assert_uint_ne(processor[1], processor[2]);
  cm_processors_free(&processors);
  cm_chip_free(chip);
  cm_graph_free(graph);
}
END_TEST

START_TEST(communities_that_talk_sit_on_processors_that_are_near)
{
  /* A chain of four groups on a row of four dies: in order, or in reverse. */
  static const uint32_t group[8] = {0, 1, 2, 3, 0, 1, 2, 3};
  static const uint32_t link[][2] = {{2, 0}, {0, 3}, {3, 1}};
  uint64_t dense[64] = {0};
  for (int i = 0; i < 3; i++)
    dense[link[i][0] * 8 + link[i][1]] = dense[link[i][1] * 8 + link[i][0]] = 5;
  cm_graph *graph = parts_graph(8, dense, &run);
  cm_chip *chip = parts_chip(4, 1, 2, 1, 1, false);
  const uint32_t free_core[] = {0, 1, 2, 3, 4, 5, 6, 7};
  cm_processors processors;
  uint32_t processor[4];
  ck_ok(cm_processors_new(chip, free_core, 8, NULL, &processors, &error));
  ck_ok(cm_processors_assign(&(cm_sharing){graph, chip, &processors, 0, &run}, group, 4, processor, &error));
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(abs((int)processor[link[i][0]] - (int)processor[link[i][1]]), 1);
  cm_processors_free(&processors);
  cm_chip_free(chip);
  cm_graph_free(graph);
}
END_TEST

START_TEST(sizes_do_not_decide_who_sits_across)
{
  /* Four groups of nine that talk in a ring, on two by two dies of which each has another number of free cores: whatever
   * the numbers, those who talk sit side by side, and little runs between dies across. */
  static const uint32_t room[][4] = {{12, 8, 9, 7}, {7, 9, 8, 12}, {10, 11, 7, 8}, {8, 7, 11, 10}, {9, 12, 7, 8}};
  uint32_t n = 36, processor[36];
  uint64_t *dense = network_array((size_t)n * n, sizeof *dense);
  for (uint32_t v = 0; v < n; v++)
    for (uint32_t u = 0; u < v; u++) {
      uint32_t apart = (v + 4 - u) % 4;
      dense[(size_t)v * n + u] = dense[(size_t)u * n + v] = apart == 0 ? 20 : apart == 2 ? 0 : v / 4 == u / 4 ? 30 : 0;
    }
  cm_graph *graph = parts_graph(n, dense, &run);
  cm_chip *chip = parts_chip(2, 2, 4, 3, 1, false);
  for (unsigned round = 0; round < sizeof room / sizeof *room; round++) {
    uint32_t free_core[36], count = 0, given[4] = {0};
    for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
      if (given[c / 24 * 2 + c % 8 / 4]++ < room[round][c / 24 * 2 + c % 8 / 4])
        free_core[count++] = c;
    ck_assert_uint_eq(count, n);
    cm_processors processors;
    ck_ok(cm_processors_new(chip, free_core, count, NULL, &processors, &error));
    ck_ok(cm_processors_share(&(cm_sharing){graph, chip, &processors, 1, &run}, processor, &error));
    uint64_t across = 0, between = 0;
    for (uint32_t v = 0; v < n; v++)
      for (uint32_t u = 0; u < n; u++) {
        between += processor[v] != processor[u] ? dense[(size_t)v * n + u] : 0;
        across += processor[v] + processor[u] == 3 ? dense[(size_t)v * n + u] : 0;
      }
    ck_assert_msg(across * 4 < between, "round %u: %lu of %lu across", round, (unsigned long)across,
                  (unsigned long)between);
    cm_processors_free(&processors);
  }
  cm_chip_free(chip);
  cm_graph_free(graph);
  cm_free(dense);
}
END_TEST

START_TEST(every_node_gets_a_processor_with_room)
{
  cm_random random;
  for (uint32_t round = 0; round < 60; round++) {
    cm_random_init(&random, round, 6, 0);
    cm_chip *chip = parts_chip(1 + below(&random, 3), 1 + below(&random, 3), 4, 3, 1 + below(&random, 2), false);
    uint32_t free_core[256], count = 0;
    for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
      if (below(&random, 3) > 0)
        free_core[count++] = c;
    uint32_t n = count - below(&random, 2) * below(&random, count);
    cm_graph *graph = parts_planted(&random, n, 5, 30, 4, 50, &run);
    cm_processors processors;
    ck_ok(cm_processors_new(chip, free_core, count, NULL, &processors, &error));
    uint32_t processor[256], used[16] = {0};
    ck_ok(cm_processors_share(&(cm_sharing){graph, chip, &processors, round, &run}, processor, &error));
    for (uint32_t v = 0; v < n; v++) {
      ck_assert_uint_lt(processor[v], processors.count);
      used[processor[v]]++;
    }
    for (uint32_t p = 0; p < processors.count; p++)
      ck_assert_uint_le(used[p], processors.first[p + 1] - processors.first[p]);
    cm_processors_free(&processors);
    cm_graph_free(graph);
    cm_chip_free(chip);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("communities");
  TCase *tests = tcase_create("all");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, unfolding_is_as_good_as_igraphs);
  tcase_add_test(tests, unfolding_finds_the_optimum_of_the_karate_club);
  tcase_add_test(tests, unfolding_depends_on_graph_and_seed_alone);
  tcase_add_test(tests, graphs_without_edges_stay_apart_and_weights_too_large_are_refused);
  tcase_add_test(tests, communities_fit_processors_of_any_capacities);
  tcase_add_test(tests, planted_communities_survive_the_fit);
  tcase_add_test(tests, too_little_room_is_refused);
  tcase_add_test(tests, processors_go_by_connection_weight_and_by_room);
  tcase_add_test(tests, communities_that_talk_sit_on_processors_that_are_near);
  tcase_add_test(tests, sizes_do_not_decide_who_sits_across);
  tcase_add_test(tests, every_node_gets_a_processor_with_room);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
