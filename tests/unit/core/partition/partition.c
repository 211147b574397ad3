/* core/partition: every step of the source's method against a hand-computed or brute-force answer. */
#include "tests/unit/networks.h"

#include <unistd.h>

#include "base/random.h"
#include "core/levels/level_pairs.h"
#include "core/levels/mend.h"
#include "core/network/topology_file.h"
#include "core/partition/graph.h"
#include "core/partition/reference/bisect.h"
#include "core/partition/reference/coarsen.h"
#include "core/partition/reference/refine.h"

enum { SMALL = 40 };

/* Sum of the weights of edges between different parts. */
static uint64_t cut_of(const cm_graph *graph, const uint32_t *part)
{
  uint64_t cut = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++)
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++)
      if (part[v] != part[graph->neighbour[i]])
        cut += graph->weight[i];
  return cut / 2;
}

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
  run.threads = 2;
}

static cm_partition_options defaults(uint64_t capacity)
{
  return (cm_partition_options){.capacity = capacity,
                                .coarsening_share = 15,
                                .coarsening_tries = 8,
                                .coarsening_stop = 0.2,
                                .bisection_tries = 8,
                                .refinement_passes = 1,
                                .coarsening_seed = 1,
                                .seed = 1};
}

/* A graph from a dense symmetric matrix of weights; 0: no edge. */
static cm_graph *graph_of(uint32_t n, uint64_t weight[SMALL][SMALL], const uint32_t *size)
{
  cm_graph *graph;
  ck_ok(CM_NEW(NULL, graph, 1, &error));
  graph->vertex_count = n;
  ck_ok(CM_NEW(NULL, graph->first, n + 1, &error));
  ck_ok(CM_NEW(NULL, graph->size, n, &error));
  ck_ok(CM_NEW(NULL, graph->neighbour, (size_t)n * n, &error));
  ck_ok(CM_NEW(NULL, graph->weight, (size_t)n * n, &error));
  for (uint32_t v = 0; v < n; v++) {
    graph->size[v] = size != NULL ? size[v] : 1;
    graph->size_total += graph->size[v];
    for (uint32_t u = 0; u < n; u++) {
      if (u == v || weight[v][u] == 0)
        continue;
      graph->neighbour[graph->entry_count] = u;
      graph->weight[graph->entry_count++] = weight[v][u];
      if (u > v)
        graph->weight_total += weight[v][u];
    }
    graph->first[v + 1] = graph->entry_count;
  }
  return graph;
}

static void connect(uint64_t weight[SMALL][SMALL], uint32_t a, uint32_t b, uint64_t w)
{
  weight[a][b] = weight[b][a] = w;
}

/* A random graph; weights distinct enough that no sums tie, when `spread` is large. */
static void random_weights(cm_random *random, uint32_t n, uint32_t percent, uint64_t spread,
                           uint64_t weight[SMALL][SMALL])
{
  memset(weight, 0, sizeof(uint64_t[SMALL][SMALL]));
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++)
      if (cm_random_below(random, 100) < percent)
        connect(weight, a, b, 1 + cm_random_below(random, spread));
}

START_TEST(graph_adds_both_directions)
{
  /* 0 -> 1 (3), 0 -> 2 (1), 1 -> 0 (2), 1 -> 1 (7: a self loop) */
  uint64_t first[] = {0, 2, 4, 4};
  uint32_t pin[] = {1, 2, 0, 1}, weight[] = {3, 1, 2, 7};
  uint64_t rate[] = {1, 1, 1};
  cm_topology topology = {.directed = true, .vertex_count = 3, .net_count = 3, .pin_count = 4, .net_first = first,
                          .net_weight = rate, .pin = pin, .pin_weight = weight, .size_total = 3, .weight_scale = 1};
  cm_graph *graph;
  ck_ok(cm_graph_from_topology(CM_DEMAND_OF(&topology), &run, &graph, &error));
  ck_assert_uint_eq(graph->entry_count, 4);
  ck_assert_uint_eq(graph->weight_total, 6);
  ck_assert_uint_eq(graph->neighbour[0], 1);
  ck_assert_uint_eq(graph->weight[0], 5);
  ck_assert_uint_eq(graph->neighbour[1], 2);
  ck_assert_uint_eq(graph->weight[1], 1);
  ck_assert_uint_eq(graph->first[2] - graph->first[1], 1);
  const uint32_t part[] = {0, 1, 0};
  ck_assert_uint_eq(cut_of(graph, part), 5);
  cm_graph_free(graph);
}
END_TEST

enum { MANY = 200, SLICED_LIMIT = 1 << 15 };

/* With 32 KiB a slice holds a thousand pins of some ten thousand, and the graph stands in files. */
START_TEST(the_graph_of_a_network_is_whole_in_slices)
{
  static uint64_t weight[MANY][MANY];
  static bool edge[MANY][MANY];
  char folder[CM_PATH_MAX];
  cm_random random;
  cm_memory memory;
  cm_memory_init(&memory, _i % 2 == 0 ? SLICED_LIMIT : 0);
  test_folder(folder);
  memory.scratch_folder = folder;
  run.memory = &memory;
  memset(weight, 0, sizeof weight);
  memset(edge, 0, sizeof edge);
  cm_random_init(&random, (uint64_t)_i / 2, 17, 0);
  cm_topology t = network_directed(&random, MANY, MANY);
  for (uint32_t e = 0; e < t.net_count; e++)
    for (uint64_t i = t.net_first[e]; i < t.net_first[e + 1]; i++) {
      uint32_t a = t.net_source[e], b = t.pin[i];
      uint64_t w = t.pin_weight != NULL ? t.pin_weight[i] : t.net_weight[e];
      edge[a][b] = edge[b][a] = true;
      weight[a][b] += w;
      weight[b][a] = weight[a][b];
    }
  cm_graph *graph;
  ck_ok(cm_graph_from_topology(CM_DEMAND_OF(&t), &run, &graph, &error));
  ck_assert(cm_in_file(graph->weight) == (memory.limit_bytes != 0));
  uint64_t at = 0, sum = 0;
  for (uint32_t v = 0; v < MANY; v++) {
    for (uint32_t u = 0; u < MANY; u++) {
      if (u == v || !edge[v][u])
        continue;
      ck_assert_uint_eq(graph->neighbour[at], u);
      ck_assert_uint_eq(graph->weight[at++], weight[v][u]);
      sum += weight[v][u];
    }
    ck_assert_uint_eq(graph->first[v + 1], at);
  }
  ck_assert_uint_eq(graph->entry_count, at);
  ck_assert_uint_eq(graph->weight_total, sum / 2);
  for (uint32_t parts = 5; parts <= 180; parts += 175) { /* few pairs, by a table; more than there are synapses */
    uint32_t part[MANY];
    cm_graph *few, *same;
    for (uint32_t v = 0; v < MANY; v++)
      part[v] = v < parts ? v : (uint32_t)cm_random_below(&random, parts);
    ck_ok(cm_graph_contract(graph, part, parts, &run, &same, &error));
    ck_ok(cm_graph_of_parts(CM_DEMAND_OF(&t), part, parts, &run, &few, &error));
    ck_assert_uint_eq(few->vertex_count, parts);
    ck_assert_uint_eq(few->entry_count, same->entry_count);
    ck_assert_uint_eq(few->weight_total, same->weight_total);
    ck_assert_uint_eq(few->size_total, same->size_total);
    ck_assert_mem_eq(few->first, same->first, (parts + 1) * sizeof *few->first);
    ck_assert_mem_eq(few->size, same->size, parts * sizeof *few->size);
    ck_assert_mem_eq(few->neighbour, same->neighbour, few->entry_count * sizeof *few->neighbour);
    ck_assert_mem_eq(few->weight, same->weight, few->entry_count * sizeof *few->weight);
    cm_graph_free(few);
    cm_graph_free(same);
  }
  cm_graph_free(graph);
  network_free(&t);
  ck_assert_uint_eq(memory.used_bytes, 0);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* What is packed when the rows are all there takes minutes for gigabytes. */
START_TEST(a_level_stops_being_written_when_its_run_is_to_stop)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  atomic_bool cancel = false;
  uint32_t target[2] = {1, 0}, parent[3] = {0, 1, 1};
  uint64_t weight[2] = {4, 4};
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/level.zip", folder));
  run.cancel = &cancel;
  for (int stored = 0; stored <= 1; stored++)
    for (int stops = 1; stops >= 0; stops--) {
      cm_topology_header header = {.vertex_count = 2, .weight_scale = 1, .finer_count = 3};
      cm_topology_writer *writer;
      cancel = false;
      ck_ok(cm_topology_writer_open(path, &header, NULL, &writer, &error));
      cm_topology_writer_heed(writer, &run);
      if (stored)
        cm_topology_writer_stored(writer);
      ck_ok(cm_topology_writer_parents(writer, parent, &error));
      for (uint32_t v = 0; v < 2; v++)
        ck_ok(cm_topology_writer_row(writer, &(cm_topology_row){.vertex = v, .count = 1, .target = &target[v], .weight = &weight[v]}, &error));
      cancel = stops;
      cm_status status = cm_topology_writer_close(writer, &error);
      ck_assert_int_eq(status, stops ? CM_CANCELLED : CM_OK);
      ck_assert_int_eq(access(path, R_OK) == 0, !stops);
      (void)unlink(path);
    }
  ck_assert_int_eq(rmdir(folder), 0); /* nothing is left beside it */
}
END_TEST

START_TEST(contraction_keeps_all_weight_between_merged_vertices)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL];
  for (uint64_t round = 0; round < 50; round++) {
    cm_random_init(&random, round, 1, 0);
    uint32_t n = 2 + (uint32_t)cm_random_below(&random, SMALL - 2), coarse_count = 0, map[SMALL];
    random_weights(&random, n, 30, 9, weight);
    cm_graph *graph = graph_of(n, weight, NULL), *coarse;
    for (uint32_t v = 0; v < n; v++) {
      map[v] = (uint32_t)cm_random_below(&random, coarse_count + 1);
      coarse_count += map[v] == coarse_count;
    }
    ck_ok(cm_graph_contract(graph, map, coarse_count, &run, &coarse, &error));
    ck_assert_uint_eq(coarse->weight_total, cut_of(graph, map));
    ck_assert_uint_eq(coarse->size_total, n);
    for (uint32_t c = 0; c < coarse_count; c++) {
      for (uint64_t i = coarse->first[c]; i < coarse->first[c + 1]; i++) {
        uint64_t sum = 0;
        for (uint32_t a = 0; a < n; a++)
          for (uint32_t b = 0; b < n; b++)
            if (map[a] == c && map[b] == coarse->neighbour[i])
              sum += weight[a][b];
        ck_assert_uint_eq(coarse->weight[i], sum);
      }
    }
    cm_graph_free(coarse);
    cm_graph_free(graph);
  }
}
END_TEST

START_TEST(matching_pairs_only_along_heaviest_edges_within_the_size_limit)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL];
  uint32_t size[SMALL], mate[SMALL], paired_ever = 0;
  for (uint64_t round = 0; round < 200; round++) {
    cm_random_init(&random, round, 2, 0);
    uint32_t n = 2 + (uint32_t)cm_random_below(&random, SMALL - 2), pairs;
    uint64_t removed, sum = 0;
    random_weights(&random, n, 20, round % 2 ? 3 : 1000, weight);
    for (uint32_t v = 0; v < n; v++)
      size[v] = 1 + (uint32_t)cm_random_below(&random, 3);
    cm_graph *graph = graph_of(n, weight, size);
    cm_partition_options options = defaults(15 * 4);
    cm_pairing_task task = {graph, &options, CM_MATCHING_HEAVIEST, 0, &run, NULL};
    cm_pairing pairing = {.mate = mate};
    ck_ok(cm_match(&task, (uint32_t)round, &pairing, &error));
    pairs = pairing.pairs;
    removed = pairing.removed;
    for (uint32_t v = 0; v < n; v++) {
      uint32_t u = mate[v];
      ck_assert_uint_eq(mate[u], v);
      if (u <= v)
        continue;
      ck_assert_uint_gt(weight[v][u], 0);
      ck_assert_uint_le(size[v] + size[u], 4);
      uint64_t heaviest_v = 0, heaviest_u = 0;
      for (uint32_t x = 0; x < n; x++) {
        heaviest_v = weight[v][x] > heaviest_v ? weight[v][x] : heaviest_v;
        heaviest_u = weight[u][x] > heaviest_u ? weight[u][x] : heaviest_u;
      }
      ck_assert(weight[v][u] == heaviest_v || weight[v][u] == heaviest_u);
      sum += weight[v][u];
      pairs--;
      paired_ever++;
    }
    ck_assert_uint_eq(pairs, 0);
    ck_assert_uint_eq(removed, sum);
    cm_graph_free(graph);
  }
  ck_assert_uint_gt(paired_ever, 500);
}
END_TEST

START_TEST(matching_leaves_no_pair_that_the_rule_allows)
{
  /* A star of equal edges around 0: every leaf's heaviest edge leads to 0, so exactly one pair can form. A seed
   * that paired leaf with leaf, or nobody, would be wrong. */
  uint64_t weight[SMALL][SMALL] = {{0}};
  for (uint32_t leaf = 1; leaf < 9; leaf++)
    connect(weight, 0, leaf, 5);
  cm_graph *graph = graph_of(9, weight, NULL);
  cm_partition_options options = defaults(1000);
  uint32_t mate[SMALL], pairs;
  uint64_t removed;
  for (uint32_t try = 0; try < 20; try++) {
    cm_pairing_task task = {graph, &options, CM_MATCHING_HEAVIEST, 0, &run, NULL};
    cm_pairing pairing = {.mate = mate};
    ck_ok(cm_match(&task, try, &pairing, &error));
    pairs = pairing.pairs;
    removed = pairing.removed;
    ck_assert_uint_eq(pairs, 1);
    ck_assert_uint_eq(removed, 5);
  }
  /* One pair of nine vertices shrinks by 11 %, less than 20 %: coarsening stops here. */
  uint32_t parent[SMALL];
  cm_graph *coarse = graph;
  cm_level_note note;
  ck_ok(cm_coarsen_level(&(cm_pairing_task){graph, &options, options.matching, 0, &run, NULL}, parent, &coarse, &note, &error));
  ck_assert_ptr_null(coarse);
  ck_assert(!note.available);
  cm_graph_free(graph);
}
END_TEST

START_TEST(a_level_that_heaviest_edges_would_end_takes_the_heaviest_available)
{
  /* A wheel: every rim vertex's heaviest edge leads to the hub, so that the letter pairs one of them, and no more; along
   * the rim four pairs can form, or three beside the hub's. */
  uint64_t weight[SMALL][SMALL] = {{0}};
  for (uint32_t rim = 1; rim < 9; rim++) {
    connect(weight, 0, rim, 5);
    connect(weight, rim, rim % 8 + 1, 3);
  }
  cm_graph *graph = graph_of(9, weight, NULL), *coarse = graph;
  cm_partition_options options = defaults(1000);
  uint32_t parent[SMALL];
  cm_level_note note = {.available = true};
  options.matching = CM_MATCHING_HEAVIEST;
  ck_ok(cm_coarsen_level(&(cm_pairing_task){graph, &options, options.matching, 0, &run, NULL}, parent, &coarse, &note, &error));
  ck_assert_ptr_null(coarse);
  ck_assert(!note.available);
  options.matching = CM_MATCHING_AUTO;
  ck_ok(cm_coarsen_level(&(cm_pairing_task){graph, &options, options.matching, 0, &run, NULL}, parent, &coarse, &note, &error));
  ck_assert_ptr_nonnull(coarse);
  ck_assert(note.available);
  ck_assert_uint_le(coarse->vertex_count, 6);
  cm_graph_free(coarse);
  /* Where the letter does, it is kept to. */
  uint64_t path[SMALL][SMALL] = {{0}};
  for (uint32_t v = 0; v + 1 < 8; v++)
    connect(path, v, v + 1, v % 2 == 0 ? 9 : 1);
  cm_graph *line = graph_of(8, path, NULL);
  ck_ok(cm_coarsen_level(&(cm_pairing_task){line, &options, options.matching, 0, &run, NULL}, parent, &coarse, &note, &error));
  ck_assert_ptr_nonnull(coarse);
  ck_assert_uint_eq(coarse->vertex_count, 4);
  ck_assert(!note.available);
  cm_graph_free(coarse);
  cm_graph_free(line);
  cm_graph_free(graph);
}
END_TEST

START_TEST(a_level_is_the_try_that_removes_most_weight)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL];
  uint32_t mate[SMALL], parent[SMALL];
  for (uint64_t round = 0; round < 30; round++) {
    cm_random_init(&random, round, 3, 0);
    random_weights(&random, SMALL, 15, 50, weight);
    cm_graph *graph = graph_of(SMALL, weight, NULL), *coarse;
    cm_partition_options options = defaults(1000);
    options.coarsening_stop = 0;
    uint64_t most = 0, removed;
    for (uint32_t try = 0; try < options.coarsening_tries; try++) {
      cm_pairing_task task = {graph, &options, CM_MATCHING_HEAVIEST, 7, &run, NULL};
      cm_pairing pairing = {.mate = mate};
      ck_ok(cm_match(&task, try, &pairing, &error));
      removed = pairing.removed;
      most = removed > most ? removed : most;
    }
    cm_level_note note;
    ck_ok(cm_coarsen_level(&(cm_pairing_task){graph, &options, options.matching, 7, &run, NULL}, parent, &coarse, &note, &error));
    ck_assert_uint_eq(graph->weight_total - coarse->weight_total, most);
    cm_graph_free(coarse);
    cm_graph_free(graph);
  }
}
END_TEST

/* What coarsening goes on from: the last of the levels that are shared, or the network's graph. */
static cm_graph *graph_held(uint64_t weight[SMALL][SMALL], const cm_level_files *files)
{
  uint32_t *parent, finer;
  char path[CM_PATH_MAX];
  cm_graph *graph;
  if (files->shared_count == 0)
    return graph_of(SMALL, weight, NULL);
  ck_ok(cm_level_path(files, files->shared_count, path, &error));
  ck_ok(cm_graph_load(path, &run, &graph, &parent, &finer, &error));
  cm_free(parent);
  return graph;
}

/* Coarsens to the end, after what holds of the levels in `shared`; returns how many of them do. */
static uint32_t coarsen(uint64_t weight[SMALL][SMALL], const cm_partition_options *options, const char *shared,
                        cm_level_files *files)
{
  uint32_t available;
  *files = (cm_level_files){0};
  ck_ok(cm_path(files->shared, &error, "%s", shared));
  bool whole = shared[0] != '\0' && cm_levels_hold(files, options->capacity, &available);
  test_folder(files->folder);
  cm_graph *graph = graph_held(weight, files);
  const uint32_t held = files->shared_count;
  files->weight_scale = 1;
  ck_ok(cm_coarsen(graph, options, files, &run, &error));
  ck_assert(!whole || files->count == held);
  ck_assert(cm_levels_hold(files, options->capacity, &available));
  return held;
}

static void same_levels(const cm_level_files *a, const cm_level_files *b)
{
  ck_assert_uint_eq(a->count, b->count);
  for (uint32_t level = 1; level <= a->count; level++) {
    const cm_level_files *files[] = {a, b};
    char path[CM_PATH_MAX], *text[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
      ck_ok(cm_level_path(files[i], level, path, &error));
      ck_ok(cm_file_read(path, 1 << 20, &text[i], &size[i], &error));
    }
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_mem_eq(text[0], text[1], size[0]);
    free(text[0]);
    free(text[1]);
  }
}

START_TEST(levels_made_with_one_capacity_are_shared_by_another_where_they_are_the_same)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL];
  uint32_t shared = 0, refused = 0;
  for (uint64_t round = 0; round < 40; round++) {
    cm_random_init(&random, round, 11, 0);
    random_weights(&random, SMALL, 15, 50, weight);
    cm_partition_options options = defaults(15 * (2 + cm_random_below(&random, 20)));
    options.matching = (cm_matching)(round % 3);
    cm_level_files first, other, alone;
    (void)coarsen(weight, &options, "", &first);
    options.capacity = 15 * (2 + cm_random_below(&random, 20)) + cm_random_below(&random, 15);
    shared += coarsen(weight, &options, first.folder, &other);
    (void)coarsen(weight, &options, "", &alone);
    same_levels(&other, &alone);
    refused += other.shared_count < alone.count;
    ck_ok(cm_folder_remove(first.folder, &error));
    ck_ok(cm_folder_remove(other.folder, &error));
    ck_ok(cm_folder_remove(alone.folder, &error));
  }
  ck_assert_uint_gt(shared, 20);
  ck_assert_uint_gt(refused, 10);
}
END_TEST

/* ---- levels of an edited network ---- */

/* Every vertex has the name of the one before the edit: order [SMALL] says which. */
static cm_topology named(const uint32_t *order)
{
  cm_topology made = {.vertex_count = SMALL};
  made.label_text = calloc(SMALL, 8);
  made.label_first = calloc(SMALL + 1, sizeof *made.label_first);
  for (uint64_t v = 0; v < SMALL; v++) {
    made.label_first[v] = 8 * v;
    snprintf(made.label_text + 8 * v, 8, "n%u", order[v]);
  }
  return made;
}

/* Levels carried over from those in `old`, after what holds of the ones in `shared`. */
static cm_mended mend(uint64_t weight[SMALL][SMALL], const cm_mend_task *given, const cm_level_files *old, const char *shared,
                      cm_level_files *files)
{
  uint32_t available;
  cm_old_levels before;
  cm_mended mended;
  cm_mend_task task = *given;
  *files = (cm_level_files){.weight_scale = 1};
  ck_ok(cm_path(files->shared, &error, "%s", shared));
  if (shared[0] != '\0' && cm_levels_hold(files, task.options->capacity, &available))
    files->shared_count = files->count;
  test_folder(files->folder);
  cm_graph *graph = graph_held(weight, files);
  ck_ok(cm_old_levels_read(old, &run, &before, &error));
  task.old = &before;
  ck_ok(cm_levels_mend(graph, &task, files, &run, &mended, &error));
  cm_old_levels_free(&before);
  ck_assert(cm_levels_hold(files, task.options->capacity, &available));
  return mended;
}

/* Every level merges two at most, which touch and fit, and its graph is what merging gives. */
static void judge_levels(uint64_t weight[SMALL][SMALL], const cm_partition_options *options, const cm_level_files *files)
{
  uint64_t now[SMALL][SMALL], next[SMALL][SMALL];
  uint32_t size[SMALL], count = SMALL;
  memcpy(now, weight, sizeof now);
  for (uint32_t v = 0; v < SMALL; v++)
    size[v] = 1;
  for (uint32_t level = 1; level <= files->count; level++) {
    char path[CM_PATH_MAX];
    cm_graph *graph;
    uint32_t *parent, finer, members[SMALL] = {0}, sizes[SMALL] = {0};
    ck_ok(cm_level_path(files, level, path, &error));
    ck_ok(cm_graph_load(path, &run, &graph, &parent, &finer, &error));
    ck_assert_uint_eq(finer, count);
    memset(next, 0, sizeof next);
    for (uint32_t u = 0; u < finer; u++) {
      ck_assert_uint_le(++members[parent[u]], 2);
      sizes[parent[u]] += size[u];
      for (uint32_t v = 0; v < finer; v++)
        if (parent[u] != parent[v])
          next[parent[u]][parent[v]] += now[u][v];
        else if (u != v)
          ck_assert(now[u][v] > 0 && (uint64_t)(size[u] + size[v]) * options->coarsening_share <= options->capacity);
    }
    count = graph->vertex_count;
    ck_assert(count <= finer * (1 - options->coarsening_stop));
    for (uint32_t v = 0; v < count; v++) {
      uint64_t entries = 0;
      for (uint32_t u = 0; u < count; u++)
        entries += next[v][u] > 0;
      ck_assert_uint_eq(graph->first[v + 1] - graph->first[v], entries);
      for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++)
        ck_assert_uint_eq(graph->weight[i], next[v][graph->neighbour[i]]);
      ck_assert_uint_eq(graph->size[v], sizes[v]);
    }
    memcpy(now, next, sizeof now);
    memcpy(size, sizes, sizeof size);
    cm_graph_free(graph);
    cm_free(parent);
  }
}

/* Of the first level: pairs of neurons that still touch, by the names that they have now. */
static void judge_pairs(uint64_t weight[SMALL][SMALL], const cm_level_files *old, const cm_level_files *files, const uint32_t *now)
{
  const cm_level_files *both[] = {old, files};
  uint32_t *parent[2], finer, count;
  char path[CM_PATH_MAX];
  for (int i = 0; i < 2; i++) {
    ck_ok(cm_level_path(both[i], 1, path, &error));
    ck_ok(cm_level_parents_read(path, &run, &parent[i], &finer, &count, &error));
  }
  for (uint32_t a = 0; a < SMALL; a++)
    for (uint32_t b = 0; b < a; b++)
      if (parent[0][a] == parent[0][b] && weight[now[a]][now[b]] > 0)
        ck_assert_uint_eq(parent[1][now[a]], parent[1][now[b]]);
  CM_FREE(parent[0], parent[1]);
}

START_TEST(levels_of_an_edited_network_keep_the_pairs_that_still_are_some)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL], edited[SMALL][SMALL], carried = 0, shared = 0;
  for (uint64_t round = 0; round < 40; round++) {
    uint32_t order[SMALL], now[SMALL], plain[SMALL];
    cm_random_init(&random, round, 13, 0);
    random_weights(&random, SMALL, 15, 50, weight);
    cm_random_permutation(&random, order, SMALL);
    for (uint32_t v = 0; v < SMALL; v++) {
      order[v] = round % 2 ? order[v] : v;
      plain[v] = v;
      now[order[v]] = v;
    }
    for (uint32_t v = 0; v < SMALL; v++) /* one edge of ten is another now */
      for (uint32_t u = 0; u < v; u++) {
        const uint64_t old = weight[order[v]][order[u]];
        edited[u][v] = edited[v][u] = cm_random_below(&random, 10) > 0 ? old : old > 0 ? 0 : cm_random_below(&random, 9) == 0;
      }
    for (uint32_t v = 0; v < SMALL; v++)
      edited[v][v] = 0;
    cm_topology before = named(plain), after = named(order), numbered = {.vertex_count = SMALL};
    cm_partition_options options = defaults(15 * (2 + cm_random_below(&random, 20)));
    options.matching = (cm_matching)(round % 3);
    cm_level_files old, mended, other, alone;
    const cm_mend_task task = {round % 2 ? &after : &numbered, round % 2 ? &before : &numbered, &options, NULL},
                       same = {&numbered, &numbered, &options, NULL};
    (void)coarsen(weight, &options, "", &old);
    (void)mend(weight, &same, &old, "", &alone);
    same_levels(&alone, &old); /* nothing was edited */
    ck_ok(cm_folder_remove(alone.folder, &error));
    carried += mend(edited, &task, &old, "", &mended).carried;
    judge_levels(edited, &options, &mended);
    if (old.count > 0 && mended.count > 0)
      judge_pairs(edited, &old, &mended, now);
    ck_ok(cm_folder_remove(old.folder, &error));
    options.capacity = 15 * (2 + cm_random_below(&random, 20)) + cm_random_below(&random, 15);
    (void)coarsen(weight, &options, "", &old); /* of another capacity, with what is the same */
    (void)mend(edited, &task, &old, mended.folder, &other);
    shared += other.shared_count;
    (void)mend(edited, &task, &old, "", &alone);
    same_levels(&other, &alone);
    ck_ok(cm_folder_remove(old.folder, &error));
    ck_ok(cm_folder_remove(mended.folder, &error));
    ck_ok(cm_folder_remove(other.folder, &error));
    ck_ok(cm_folder_remove(alone.folder, &error));
    free(before.label_text);
    free(before.label_first);
    free(after.label_text);
    free(after.label_first);
  }
  ck_assert_uint_gt(carried, 500);
  ck_assert_uint_gt(shared, 20);
}
END_TEST

/* Levels again from their pairs, byte for byte with their notes; pairs of another graph are told from its own. */
START_TEST(levels_follow_from_their_pairs)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL];
  char pairs[CM_PATH_MAX];
  for (uint64_t round = 0; round < 20; round++) {
    cm_random_init(&random, round, 12, 0);
    random_weights(&random, SMALL, 15, 50, weight);
    cm_partition_options options = defaults(15 * (2 + cm_random_below(&random, 20)));
    cm_level_files made, again = {.weight_scale = 1};
    uint32_t available;
    (void)coarsen(weight, &options, "", &made);
    test_folder(pairs);
    test_folder(again.folder);
    ck_ok(cm_level_pairs_keep(&made, pairs, &run, &error));
    ck_ok(cm_level_pairs_restore(graph_of(SMALL, weight, NULL), pairs, &again, &run, &error));
    ck_assert(cm_levels_hold(&again, options.capacity, &available));
    same_levels(&made, &again);
    if (made.count > 0)
      ck_fails(cm_level_pairs_restore(graph_of(SMALL - 1, weight, NULL), pairs, &again, &run, &error), CM_DAMAGED);
    ck_ok(cm_folder_remove(made.folder, &error));
    ck_ok(cm_folder_remove(again.folder, &error));
    ck_ok(cm_folder_remove(pairs, &error));
  }
}
END_TEST

START_TEST(a_pair_refused_by_size_bounds_the_capacities_of_its_level)
{
  /* Source 0's path of weights 10-1-10: at share 15, a pair of two neurons asks for a capacity of 30. */
  uint64_t weight[SMALL][SMALL] = {{0}};
  connect(weight, 0, 1, 10);
  connect(weight, 1, 2, 1);
  connect(weight, 2, 3, 10);
  cm_graph *path = graph_of(4, weight, NULL), *coarse;
  cm_partition_options options = defaults(30);
  uint32_t parent[SMALL];
  cm_level_note note;
  ck_ok(cm_coarsen_level(&(cm_pairing_task){path, &options, options.matching, 0, &run, NULL}, parent, &coarse, &note, &error));
  ck_assert_uint_eq(coarse->vertex_count, 2);
  ck_assert_uint_eq(note.holds.least, 30);
  ck_assert_uint_eq(note.holds.most, UINT64_MAX);
  cm_graph_free(coarse);
  options.capacity = 29;
  ck_ok(cm_coarsen_level(&(cm_pairing_task){path, &options, options.matching, 0, &run, NULL}, parent, &coarse, &note, &error));
  ck_assert_ptr_null(coarse);
  ck_assert_uint_eq(note.holds.least, 0);
  ck_assert_uint_eq(note.holds.most, 29);
  cm_graph_free(path);
}
END_TEST

/* Greedy growing as the seed words it, without a queue. */
static void grow_naively(uint32_t n, uint64_t weight[SMALL][SMALL], uint32_t start, uint32_t target, uint8_t *side)
{
  memset(side, 0, n);
  side[start] = 1;
  for (uint32_t taken = 1; taken < target; taken++) {
    int64_t least = INT64_MAX;
    uint32_t best = 0;
    for (uint32_t v = 0; v < n; v++) {
      int64_t cost = 0;
      for (uint32_t u = 0; u < n; u++)
        cost += side[u] ? -(int64_t)weight[v][u] : (int64_t)weight[v][u];
      if (!side[v] && cost < least) {
        least = cost;
        best = v;
      }
    }
    side[best] = 1;
  }
}

START_TEST(bisection_is_greedy_growing_from_the_best_of_its_starts)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL];
  uint8_t side[SMALL], naive[SMALL];
  for (uint64_t round = 0; round < 60; round++) {
    cm_random_init(&random, round, 4, 0);
    uint32_t n = 2 + (uint32_t)cm_random_below(&random, SMALL - 2), target = n / 2, matches = 0;
    random_weights(&random, n, 100, UINT32_MAX, weight); /* complete, no ties */
    cm_graph *graph = graph_of(n, weight, NULL);
    uint64_t cut, least = UINT64_MAX;
    ck_ok(
      cm_bisect(graph, &(cm_bisect_options){{.target = target}, 100, round, 1, CM_STREAM_BISECTION}, &run, side, &cut, &error));
    uint32_t part[SMALL], selected = 0;
    for (uint32_t v = 0; v < n; v++) {
      part[v] = side[v];
      selected += side[v];
    }
    ck_assert_uint_eq(selected, target);
    ck_assert_uint_eq(cut, cut_of(graph, part));
    for (uint32_t start = 0; start < n; start++) {
      grow_naively(n, weight, start, target, naive);
      matches += memcmp(side, naive, n) == 0;
      for (uint32_t v = 0; v < n; v++)
        part[v] = naive[v];
      uint64_t naive_cut = cut_of(graph, part);
      least = naive_cut < least ? naive_cut : least;
    }
    ck_assert_uint_ge(matches, 1);
    if (n <= 12) /* a hundred tries have surely met every start */
      ck_assert_uint_eq(cut, least);
    cm_graph_free(graph);
  }
}
END_TEST

START_TEST(two_cliques_and_a_bridge_are_cut_at_the_bridge)
{
  uint64_t weight[SMALL][SMALL] = {{0}};
  for (uint32_t a = 0; a < 8; a++)
    for (uint32_t b = a + 1; b < 8; b++)
      if (a / 4 == b / 4)
        connect(weight, a, b, 5);
  connect(weight, 3, 4, 1);
  cm_graph *graph = graph_of(8, weight, NULL);
  cm_partition_options options = defaults(4);
  for (options.seed = 1; options.seed <= 20; options.seed++) {
    uint32_t part[SMALL], parts;
    ck_ok(cm_bisect_recursively(graph, &options, &run, part, &parts, &error));
    ck_assert_uint_eq(parts, 2);
    ck_assert_uint_eq(cut_of(graph, part), 1);
  }
  cm_graph_free(graph);
}
END_TEST

START_TEST(recursive_bisection_halves_until_parts_fit)
{
  /* Four cliques of eight, weakly joined in a ring: capacity 8 must give the cliques. */
  uint64_t weight[SMALL][SMALL] = {{0}};
  for (uint32_t a = 0; a < 32; a++)
    for (uint32_t b = a + 1; b < 32; b++)
      if (a / 8 == b / 8)
        connect(weight, a, b, 10);
  for (uint32_t c = 0; c < 4; c++)
    connect(weight, 8 * c + 7, (8 * c + 8) % 32, 1);
  cm_graph *graph = graph_of(32, weight, NULL);
  uint32_t part[SMALL], parts;
  cm_partition_options options = defaults(8);
  ck_ok(cm_bisect_recursively(graph, &options, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, 4);
  ck_assert_uint_eq(cut_of(graph, part), 4);
  options = defaults(15);
  ck_ok(cm_bisect_recursively(graph, &options, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, 4); /* 16 is too large, so it is halved again */
  options = defaults(32);
  ck_ok(cm_bisect_recursively(graph, &options, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, 1);
  for (uint32_t k = 1; k <= 32; k++) {
    options = defaults(32);
    options.parts = k;
    ck_ok(cm_bisect_recursively(graph, &options, &run, part, &parts, &error));
    ck_assert_uint_eq(parts, k);
  }
  cm_graph_free(graph);
}
END_TEST

START_TEST(refinement_moves_to_the_cheapest_part_with_room)
{
  /* Vertex 0 in part 0 hangs on part 1 (weight 5) and part 2 (weight 4); nothing else may move. */
  uint64_t weight[SMALL][SMALL] = {{0}};
  connect(weight, 0, 1, 1);
  connect(weight, 0, 2, 5);
  connect(weight, 0, 3, 4);
  connect(weight, 1, 4, 9);
  connect(weight, 2, 5, 9);
  connect(weight, 3, 6, 9);
  const uint32_t start[] = {0, 0, 1, 2, 0, 1, 2};
  cm_graph *graph = graph_of(7, weight, NULL);
  uint32_t part[7];
  uint64_t gain;
  cm_partition_options options = defaults(3);
  memcpy(part, start, sizeof part);
  ck_ok(cm_refine(graph, &options, 0, &run, part, 3, &gain, &error));
  ck_assert_uint_eq(part[0], 1);
  ck_assert_uint_eq(gain, 4); /* c = 1 - 5 */
  /* Part 1 full: the next best with a negative cost is part 2. */
  graph->size[5] = 2;
  memcpy(part, start, sizeof part);
  ck_ok(cm_refine(graph, &options, 0, &run, part, 3, &gain, &error));
  ck_assert_uint_eq(part[0], 2);
  ck_assert_uint_eq(gain, 3);
  /* Both full: it stays. */
  graph->size[6] = 2;
  memcpy(part, start, sizeof part);
  ck_ok(cm_refine(graph, &options, 0, &run, part, 3, &gain, &error));
  ck_assert_uint_eq(part[0], 0);
  ck_assert_uint_eq(gain, 0);
  cm_graph_free(graph);
}
END_TEST

START_TEST(refinement_never_loses_and_ends_where_no_vertex_gains)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL];
  for (uint64_t round = 0; round < 60; round++) {
    cm_random_init(&random, round, 5, 0);
    uint32_t n = 4 + (uint32_t)cm_random_below(&random, SMALL - 4), parts = 2 + (uint32_t)cm_random_below(&random, 4);
    random_weights(&random, n, 25, 6, weight);
    cm_graph *graph = graph_of(n, weight, NULL);
    uint32_t part[SMALL], size[8] = {0};
    for (uint32_t v = 0; v < n; v++)
      part[v] = v % parts;
    uint64_t before = cut_of(graph, part), gain;
    cm_partition_options options = defaults((n + parts - 1) / parts + 1);
    options.refinement_passes = 100;
    ck_ok(cm_refine(graph, &options, 0, &run, part, parts, &gain, &error));
    ck_assert_uint_eq(cut_of(graph, part) + gain, before);
    for (uint32_t v = 0; v < n; v++)
      size[part[v]]++;
    for (uint32_t p = 0; p < parts; p++)
      ck_assert_uint_le(size[p], options.capacity);
    for (uint32_t v = 0; v < n; v++) {
      uint64_t into[8] = {0};
      for (uint32_t u = 0; u < n; u++)
        into[part[u]] += weight[v][u];
      for (uint32_t p = 0; p < parts; p++)
        ck_assert(into[p] <= into[part[v]] || size[p] >= options.capacity);
    }
    cm_graph_free(graph);
  }
}
END_TEST

START_TEST(rebalancing_makes_a_fixed_number_of_parts_fit)
{
  cm_random random;
  uint64_t weight[SMALL][SMALL];
  cm_random_init(&random, 9, 6, 0);
  random_weights(&random, SMALL, 25, 6, weight);
  cm_graph *graph = graph_of(SMALL, weight, NULL);
  uint32_t part[SMALL] = {0}, size[5] = {0};
  part[39] = 1, part[38] = 2, part[37] = 3, part[36] = 4;
  cm_partition_options options = defaults(8);
  options.parts = 5;
  ck_ok(cm_rebalance(graph, &options, &run, part, 5, &error));
  for (uint32_t v = 0; v < SMALL; v++)
    size[part[v]]++;
  for (uint32_t p = 0; p < 5; p++)
    ck_assert_uint_eq(size[p], 8);
  options.capacity = 7;
  ck_fails(cm_rebalance(graph, &options, &run, part, 5, &error), CM_LIMIT_BROKEN);
  cm_graph_free(graph);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("partition");
  TCase *tests = tcase_create("partition");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, graph_adds_both_directions);
  tcase_add_loop_test(tests, the_graph_of_a_network_is_whole_in_slices, 0, 16);
  tcase_add_test(tests, a_level_stops_being_written_when_its_run_is_to_stop);
  tcase_add_test(tests, contraction_keeps_all_weight_between_merged_vertices);
  tcase_add_test(tests, matching_pairs_only_along_heaviest_edges_within_the_size_limit);
  tcase_add_test(tests, matching_leaves_no_pair_that_the_rule_allows);
  tcase_add_test(tests, levels_made_with_one_capacity_are_shared_by_another_where_they_are_the_same);
  tcase_add_test(tests, levels_of_an_edited_network_keep_the_pairs_that_still_are_some);
  tcase_add_test(tests, levels_follow_from_their_pairs);
  tcase_add_test(tests, a_pair_refused_by_size_bounds_the_capacities_of_its_level);
  tcase_add_test(tests, a_level_that_heaviest_edges_would_end_takes_the_heaviest_available);
  tcase_add_test(tests, a_level_is_the_try_that_removes_most_weight);
  tcase_add_test(tests, bisection_is_greedy_growing_from_the_best_of_its_starts);
  tcase_add_test(tests, two_cliques_and_a_bridge_are_cut_at_the_bridge);
  tcase_add_test(tests, recursive_bisection_halves_until_parts_fit);
  tcase_add_test(tests, refinement_moves_to_the_cheapest_part_with_room);
  tcase_add_test(tests, refinement_never_loses_and_ends_where_no_vertex_gains);
  tcase_add_test(tests, rebalancing_makes_a_fixed_number_of_parts_fit);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
