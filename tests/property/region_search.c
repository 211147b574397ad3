/* The compact graph and its hierarchy against dense tables and brute force: every synapse counted once from either
 * end, cuts kept by contraction on every level, clusters within their size, never across labels, the same for any
 * number of threads. */
#include "../unit/networks.h"

#include "core/partition/edge/clustering.h"
#include "core/partition/edge/ties.h"

static cm_error error;

/* Weight between each two vertices, from the topology itself, both directions together; self loops left out. */
static uint64_t *dense_weights(const cm_topology *t)
{
  uint32_t n = t->vertex_count;
  uint64_t *table = calloc((size_t)n * n, sizeof *table);
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t u = cm_topology_source(t, e), v = t->pin[i];
      uint64_t weight = cm_topology_pin_weight(t, e, i);
      if (u == v)
        continue;
      table[u * n + v] += weight;
      if (t->directed)
        table[v * n + u] += weight;
    }
  return table;
}

static void check_against_table(const cm_csr_graph *g, const uint64_t *table)
{
  uint32_t n = g->vertex_count;
  uint64_t *found = calloc((size_t)n * n, sizeof *found), total = 0;
  for (uint32_t v = 0; v < n; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      found[v * n + g->neighbour[i]] += cm_csr_graph_weight(g, i) * g->weight_unit;
      total += cm_csr_graph_weight(g, i);
    }
  ck_assert_mem_eq(found, table, (size_t)n * n * sizeof *found);
  ck_assert_uint_eq(total, 2 * g->weight_total);
  free(found);
}

static cm_topology random_network(cm_random *random)
{
  uint32_t n = 1 + below(random, 60);
  return below(random, 2) ? network_directed(random, n, 1 + below(random, 80))
                          : network_undirected(random, n, below(random, 40));
}

START_TEST(holds_every_synapse_twice)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 1, 0);
  cm_topology t = random_network(&random);
  cm_run run;
  cm_run_init(&run);
  run.threads = 1 + below(&random, 3);
  cm_csr_graph *g;
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  uint64_t *table = dense_weights(&t);
  check_against_table(g, table);
  ck_assert_uint_eq(g->size_total, t.size_total);
  free(table);
  cm_csr_graph_free(g);
  network_free(&t);
}
END_TEST

START_TEST(takes_weights_beyond_32_bits)
{
  uint64_t first[] = {0, 2, 3}, weight[] = {UINT64_C(6) << 40, 4};
  uint32_t source[] = {0, 1}, pin[] = {0, 1, 0}, map[] = {0, 0};
  cm_topology t = {.directed = true, .vertex_count = 2, .net_count = 2, .pin_count = 3, .net_first = first, .net_source = source,
                   .net_weight = weight, .pin = pin, .size_total = 2, .weight_scale = 1};
  cm_run run;
  cm_run_init(&run);
  cm_csr_graph *g, *one;
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  ck_assert_uint_eq(g->weight_unit, 4);
  ck_assert_uint_eq(g->weight_total, (UINT64_C(6) << 38) + 1);
  ck_ok(cm_csr_graph_contract(g, map, 1, &run, &one, &error));
  ck_assert_uint_eq(one->entry_count, 0);
  ck_assert_uint_eq(one->size[0], 2);
  cm_csr_graph_free(one);
  cm_csr_graph_free(g);
}
END_TEST

START_TEST(contraction_and_induction_keep_weights)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 2, 0);
  cm_topology t = random_network(&random);
  uint32_t n = t.vertex_count, coarse_count = 1 + below(&random, n), map[64], part[64], coarse_part[64], chosen[64],
           local[64] = {0};
  cm_run run;
  cm_run_init(&run);
  cm_csr_graph *g, *coarse, *piece;
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  for (uint32_t v = 0; v < n; v++)
    map[v] = v < coarse_count ? v : below(&random, coarse_count);
  ck_ok(cm_csr_graph_contract(g, map, coarse_count, &run, &coarse, &error));
  for (uint32_t u = 0; u < coarse_count; u++)
    coarse_part[u] = below(&random, 4);
  for (uint32_t v = 0; v < n; v++)
    part[v] = coarse_part[map[v]];
  ck_assert_uint_eq(cm_csr_graph_cut(g, part), cm_csr_graph_cut(coarse, coarse_part));
  ck_assert_uint_eq(coarse->size_total, g->size_total);
  for (uint32_t u = 0; u < coarse_count; u++)
    for (uint64_t i = coarse->first[u]; i < coarse->first[u + 1]; i++)
      for (uint64_t j = coarse->first[u]; j < i; j++)
        ck_assert_uint_ne(coarse->neighbour[i], coarse->neighbour[j]);

  uint32_t count = 0;
  for (uint32_t v = 0; v < n; v++)
    if (part[v] < 2)
      chosen[count++] = v;
  ck_ok(cm_csr_graph_induce(g, chosen, count, local, &run, &piece, &error));
  uint64_t *table = dense_weights(&t), *inner = calloc((size_t)count * count + 1, sizeof *inner);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < count; j++)
      inner[i * count + j] = table[chosen[i] * n + chosen[j]];
  check_against_table(piece, inner);
  free(table);
  free(inner);
  cm_csr_graph_free(piece);
  cm_csr_graph_free(coarse);
  cm_csr_graph_free(g);
  network_free(&t);
}
END_TEST

START_TEST(clusters_keep_size_and_labels_on_every_level)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 3, 0);
  cm_topology t = random_network(&random);
  uint32_t n = t.vertex_count, label[64], at[64];
  cm_run run;
  cm_run_init(&run);
  cm_csr_graph *g;
  cm_hierarchy h = {0};
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  for (uint32_t v = 0; v < n; v++) {
    label[v] = below(&random, 3);
    at[v] = v;
  }
  cm_csr_coarsen_options options = {.vertices_min = 2,
                                    .size_max = 2 + below(&random, 20),
                                    .growth = 4,
                                    .seed = (uint64_t)_i,
                                    .label = below(&random, 2) ? label : NULL};
  ck_ok(cm_csr_coarsen(g, &options, &run, &h, &error));
  ck_assert_ptr_eq(h.level[0], g);
  for (uint32_t l = 1; l < h.levels; l++) {
    const cm_csr_graph *coarse = h.level[l];
    uint32_t *owner = malloc(coarse->vertex_count * sizeof *owner);
    uint64_t *size = calloc(coarse->vertex_count, sizeof *size), *members = calloc(coarse->vertex_count, sizeof *members);
    memset(owner, 0xff, coarse->vertex_count * sizeof *owner);
    ck_assert_uint_eq(h.vertices[l], coarse->vertex_count);
    ck_assert_uint_lt(h.vertices[l], h.vertices[l - 1]);
    for (uint32_t v = 0; v < h.vertices[l - 1]; v++)
      ck_assert_uint_le(h.map[l - 1][v], v);
    for (uint32_t v = 0; v < n; v++) {
      at[v] = h.map[l - 1][at[v]];
      if (options.label != NULL && owner[at[v]] != UINT32_MAX)
        ck_assert_uint_eq(owner[at[v]], label[v]);
      owner[at[v]] = label[v];
      size[at[v]] += g->size[v];
      members[at[v]]++;
    }
    for (uint32_t u = 0; u < coarse->vertex_count; u++) {
      ck_assert_uint_eq(coarse->size[u], size[u]);
      ck_assert(size[u] <= options.size_max || members[u] == 1);
    }
    ck_assert_uint_eq(cm_csr_graph_cut(g, at), coarse->weight_total);
    free(owner);
    free(size);
    free(members);
  }
  cm_hierarchy_free(&h);
  cm_csr_graph_free(g);
  network_free(&t);
}
END_TEST

/* Vertices without common edges: a star's leaves, which only two-hop matching can merge, and vertices without any
 * edge. */
START_TEST(stars_and_loose_vertices_shrink)
{
  enum { N = 400, LEAVES = 200 };
  uint64_t first[N + 1];
  uint32_t pin[2 * LEAVES];
  cm_topology t = {.vertex_count = N, .net_count = N, .pin_count = 2 * LEAVES, .net_first = first, .pin = pin, .size_total = N,
                   .weight_scale = 1};
  first[0] = 0;
  for (uint32_t v = 0; v < N; v++)
    first[v + 1] = first[v] + (v == 0 ? LEAVES : v <= LEAVES ? 1 : 0);
  for (uint32_t i = 0; i < LEAVES; i++) {
    pin[i] = i + 1;
    pin[LEAVES + i] = 0;
  }
  cm_run run;
  cm_run_init(&run);
  cm_csr_graph *g;
  uint32_t map[N], clusters;
  cm_clustering_options options = {.size_max = 4, .seed = 1};
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  ck_ok(cm_cluster_heavy_edges(g, &options, &run, map, &clusters, &error));
  ck_assert_uint_le(clusters, N / 4 + 4);
  cm_csr_graph_free(g);
}
END_TEST

/* Large enough for batches in parallel. */
START_TEST(threads_never_change_a_level)
{
  enum { N = 30000, DEGREE = 80 };
  cm_random random;
  cm_random_init(&random, 5, 0, 0);
  cm_topology t = {.directed = true, .vertex_count = N, .net_count = N, .pin_count = (uint64_t)N * DEGREE, .size_total = N,
                   .weight_scale = 1};
  t.net_first = network_array(N + 1, sizeof *t.net_first);
  t.pin = network_array(t.pin_count, sizeof *t.pin);
  for (uint32_t v = 0; v < N; v++) {
    uint32_t at = below(&random, 300);
    for (uint32_t i = 0; i < DEGREE; i++, at += 1 + below(&random, 300))
      t.pin[t.net_first[v] + i] = at;
    t.net_first[v + 1] = t.net_first[v] + DEGREE;
  }
  cm_csr_graph *g[2];
  cm_hierarchy h[2];
  cm_csr_coarsen_options options = {.vertices_min = 2000, .size_max = 30, .growth = 4, .seed = 3};
  for (unsigned i = 0; i < 2; i++) {
    cm_run run;
    cm_run_init(&run);
    run.threads = 1 + 2 * i;
    ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g[i], &error));
    ck_ok(cm_csr_coarsen(g[i], &options, &run, &h[i], &error));
  }
  ck_assert_uint_eq(h[0].levels, h[1].levels);
  ck_assert_uint_gt(h[0].levels, 1);
  for (uint32_t l = 0; l < h[0].levels; l++) {
    const cm_csr_graph *a = h[0].level[l], *b = h[1].level[l];
    ck_assert_uint_eq(a->entry_count, b->entry_count);
    ck_assert_mem_eq(a->first, b->first, (a->vertex_count + 1) * sizeof *a->first);
    ck_assert_mem_eq(a->neighbour, b->neighbour, a->entry_count * sizeof *a->neighbour);
    ck_assert(l == 0 || memcmp(a->weight, b->weight, a->entry_count * sizeof *a->weight) == 0);
  }
  for (unsigned i = 0; i < 2; i++) {
    cm_hierarchy_free(&h[i]);
    cm_csr_graph_free(g[i]);
  }
  network_free(&t);
}
END_TEST

/* Whoever was asked for before, the same vertex included. */
START_TEST(ties_are_those_of_the_vertex_alone)
{
  enum { PARTS = 5 };
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 3, 0);
  cm_topology t = random_network(&random);
  uint32_t n = t.vertex_count, part[64];
  cm_run run;
  cm_run_init(&run);
  cm_csr_graph *g;
  cm_ties ties;
  ck_ok(cm_csr_graph_from_topology(CM_DEMAND_OF(&t), &run, &g, &error));
  ck_ok(cm_ties_new(run.memory, PARTS, &ties, &error));
  for (uint32_t v = 0; v < n; v++)
    part[v] = below(&random, PARTS);
  uint64_t *table = dense_weights(&t);
  for (uint32_t v = 0, asked = 0; asked < 200; asked++, v = below(&random, 3) > 0 ? v : below(&random, n)) {
    uint64_t wanted[PARTS] = {0}, found[PARTS] = {0};
    for (uint32_t u = 0; u < n; u++)
      wanted[part[u]] += table[u * n + v] / g->weight_unit;
    cm_ties_gather(&ties, g, part, v);
    found[part[v]] = (uint64_t)ties.inner;
    for (uint32_t i = 0; i < ties.count; i++) {
      ck_assert_uint_ne(ties.touched[i], part[v]);
      found[ties.touched[i]] += (uint64_t)ties.weight[ties.touched[i]];
    }
    ck_assert_mem_eq(found, wanted, sizeof wanted);
  }
  free(table);
  cm_ties_free(&ties);
  cm_csr_graph_free(g);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("compact");
  TCase *tests = tcase_create("graph");
  tcase_add_loop_test(tests, holds_every_synapse_twice, 0, 60);
  tcase_add_test(tests, takes_weights_beyond_32_bits);
  tcase_add_loop_test(tests, contraction_and_induction_keep_weights, 0, 60);
  tcase_add_loop_test(tests, clusters_keep_size_and_labels_on_every_level, 0, 60);
  tcase_add_test(tests, stars_and_loose_vertices_shrink);
  tcase_add_test(tests, threads_never_change_a_level);
  tcase_add_loop_test(tests, ties_are_those_of_the_vertex_alone, 0, 20);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
