/* Partitions by ties alone: limits are kept, threads change nothing, and cuts get smaller. */
#include "../unit/networks.h"

#include "core/partition/edge/affinity.h"
#include "core/partition/quality.h"

static cm_error error;

/* The same with a memory limit that sends the synapses to files. */
static void check_within_limit(const cm_topology *t, const cm_affinity_options *options, const uint32_t *part)
{
  char folder[CM_PATH_MAX];
  uint32_t again[80];
  cm_run run;
  cm_memory memory;
  cm_topology other = *t;
  test_folder(folder);
  cm_run_init(&run);
  cm_memory_init(&memory, 1 << 15);
  memory.scratch_folder = folder;
  run.memory = &memory;
  ck_ok(CM_NEW(&memory, other.pin, 1 << 14, &error));
  ck_assert(cm_in_file(other.pin));
  memcpy(other.pin, t->pin, t->pin_count * sizeof *t->pin);
  ck_ok(cm_partition_by_affinity(CM_DEMAND_OF(&other), options, &run, again, &error));
  ck_assert_mem_eq(part, again, t->vertex_count * sizeof *part);
  cm_free(other.pin);
  ck_assert_uint_eq(memory.used_bytes + memory.scratch_bytes, 0);
  ck_ok(cm_folder_remove(folder, &error));
}

/* Ties alone under sizes, self loops, several nets of a source, weights, and weights too large for one word. */
START_TEST(profiles_keep_limits)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 7, 0);
  cm_topology t = network_directed(&random, 10 + below(&random, 70), 60);
  uint32_t part[80];
  if (_i % 3 == 0)
    for (uint32_t e = 0; e < t.net_count; e++)
      t.net_weight[e] <<= 28;
  cm_affinity_options options = {.split_sweeps = 2, .sweeps = 3, .more_sweeps = _i % 2 ? 3 : 0, .seed = (uint64_t)_i};
  options.most = 12 + below(&random, 30);
  options.parts = (uint32_t)(t.size_total * 5 / 4 / options.most) + 2;
  cm_run run;
  cm_run_init(&run);
  ck_ok(cm_partition_by_affinity(CM_DEMAND_OF(&t), &options, &run, part, &error));
  uint64_t *load = calloc(options.parts, sizeof *load);
  for (uint32_t v = 0; v < t.vertex_count; v++) {
    ck_assert_uint_lt(part[v], options.parts);
    load[part[v]] += cm_topology_size(&t, v);
  }
  for (uint32_t p = 0; p < options.parts; p++)
    ck_assert_uint_le(load[p], options.most);
  free(load);
  check_within_limit(&t, &options, part);
  network_free(&t);
}
END_TEST

static double cut_of(const cm_topology *t, const uint32_t *part, uint32_t parts)
{
  cm_run run;
  cm_quality quality;
  cm_run_init(&run);
  ck_ok(cm_quality_compute(CM_DEMAND_OF(t), part, parts, &run, &quality, &error));
  return quality.edge_cut;
}

/* Neurons of `groups` kinds, each connected with those of its own and of other kinds with these chances (percent). */
static cm_topology kinds(cm_random *random, uint32_t vertices, uint32_t groups, uint32_t own, uint32_t other)
{
  cm_topology t = {
      .directed = true, .vertex_count = vertices, .net_count = vertices, .size_total = vertices, .weight_scale = 1};
  t.net_first = network_array((size_t)vertices + 1, sizeof *t.net_first);
  t.pin = network_array((size_t)vertices * vertices, sizeof *t.pin);
  for (uint32_t u = 0; u < vertices; u++) {
    for (uint32_t v = 0; v < vertices; v++)
      if (below(random, 100) < (u % groups == v % groups ? own : other))
        t.pin[t.pin_count++] = v;
    t.net_first[u + 1] = t.pin_count;
  }
  return t;
}

START_TEST(ties_alone_are_for_networks_without_clusters)
{
  cm_random random;
  cm_random_init(&random, 1, 9, 0);
  cm_topology mixed = kinds(&random, 1200, 3, 55, 35), clustered = kinds(&random, 1800, 3, 52, 0);
  ck_assert(cm_affinity_suits(&mixed, 8, true));
  ck_assert(!cm_affinity_suits(&mixed, 8, false)); /* not so large that it must be */
  ck_assert(!cm_affinity_suits(&mixed, 80, true)); /* the table would be as large as the graph */
  ck_assert_uint_gt(clustered.pin_count, 1 << 19);
  ck_assert(!cm_affinity_suits(&clustered, 8, true));
  network_free(&mixed);
  network_free(&clustered);
}
END_TEST

START_TEST(annealed_ties_cut_less)
{
  enum { N = 240, PARTS = 6, SEEDS = 6 };
  double cut[2] = {0, 0};
  uint32_t part[2][N];
  cm_run run;
  cm_run_init(&run);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    cm_random random;
    cm_random_init(&random, seed, 10, 0);
    cm_topology t = kinds(&random, N, 2, 30, 20);
    for (uint32_t more = 0; more < 2; more++) {
      cm_affinity_options options = {.parts = PARTS, .most = N / PARTS, .split_sweeps = 3, .sweeps = 40 - 35 * more,
                                    .more_sweeps = 8 * more, .seed = seed};
      run.threads = 1 + more;
      ck_ok(cm_partition_by_affinity(CM_DEMAND_OF(&t), &options, &run, part[more], &error));
      cut[more] += cut_of(&t, part[more], PARTS);
    }
    network_free(&t);
  }
  ck_assert_msg(cut[1] < 0.997 * cut[0], "%g annealed, %g not", cut[1], cut[0]);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("affinity");
  TCase *tests = tcase_create("affinity");
  tcase_add_loop_test(tests, profiles_keep_limits, 0, 40);
  tcase_add_test(tests, ties_alone_are_for_networks_without_clusters);
  tcase_add_figures_test(tests, annealed_ties_cut_less);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
