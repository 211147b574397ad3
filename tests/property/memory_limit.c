/* Memory limits: a hopeless one is refused at once, and none that holds changes a mapping. */
#include "../unit/chips.h"

#include "core/output/views.h"
#include "core/mapping/options.h"
#include "core/network/topology_file.h"
#include "core/solver/map.h"

static cm_error error;
static char folder[CM_PATH_MAX];

static void set_up(void)
{
  test_folder(folder);
}

static void tear_down(void)
{
  ck_ok(cm_folder_remove(folder, &error));
}

/* The bytes that a user would get. */
static char *print(const cm_map_input *input, const cm_mapping *mapping, size_t *size)
{
  char *text;
  FILE *stream = open_memstream(&text, size);
  ck_ok(cm_mapping_write(mapping, CM_DEMAND_OF(input->demand->network), input->chip, "net", CM_VIEW_FULL_JSON, stream, &error));
  ck_assert_int_eq(fclose(stream), 0);
  return text;
}

/* Maps the network at `path` under a memory limit (0: none) and gives the bytes that a user would get. The account's
 * peak is that of all phases afterwards. */
static cm_status map_within(const char *path, const cm_chip *chip, const char *preset, const char *objective,
                            cm_memory *memory, char **text, size_t *size)
{
  cm_run run;
  cm_run_init(&run);
  run.memory = memory;
  run.threads = 2;
  json_t *json = json_pack("{s:s, s:s, s:i, s:I}", "preset", preset, "objective", objective, "max_part_size", 60,
                           "memory_limit", (json_int_t)memory->limit_bytes);
  cm_map_options *options;
  cm_topology *topology = NULL;
  cm_mapping *mapping;
  ck_ok(cm_map_options_parse(json, &options, &error));
  json_decref(json);
  cm_map_options_apply(options, &run);
  cm_status status = cm_topology_load(path, &run, &topology, &error);
  cm_map_input input = {.demand = CM_DEMAND_OF(topology), .chip = chip, .options = options, .scratch_folder = folder};
  CM_THEN(status, cm_map(&input, &run, &mapping, &error));
  if (status == CM_OK) {
    *text = print(&input, mapping, size);
    cm_mapping_free(mapping);
  }
  cm_topology_free(topology);
  cm_map_options_free(options);
  for (size_t i = 0; i < run.phase_count; i++)
    if (run.phases[i].peak_bytes > memory->peak_bytes)
      memory->peak_bytes = run.phases[i].peak_bytes;
  ck_assert_uint_eq(memory->used_bytes + memory->scratch_bytes, 0);
  return status;
}

/* A limit far below what objective axon reads all over is refused before any work, with a number that would do. */
START_TEST(hopeless_memory_limits_are_refused_at_once)
{
  cm_random random;
  cm_random_init(&random, 3, 13, 0);
  cm_topology made = network_directed(&random, 600, 600);
  char path[CM_PATH_MAX], *text;
  size_t size;
  cm_chip *chip;
  cm_run run;
  cm_memory memory;
  ck_ok(cm_chip_mesh(16, 16, &chip, &error));
  ck_ok(cm_path(path, &error, "%s/network.zip", folder));
  cm_run_init(&run);
  ck_ok(cm_topology_save(&made, path, &run, &error));
  static const char *const presets[] = {"fast", "balanced"};
  for (int i = 0; i < 2; i++) {
    cm_memory_init(&memory, made.pin_count);
    memory.scratch_folder = folder;
    ck_assert_int_eq(map_within(path, chip, presets[i], "axon", &memory, &text, &size), CM_MEMORY_LIMIT);
    ck_assert_str_eq(error.figures[1].name, "needed_bytes");
    uint64_t needed = error.figures[1].value;
    ck_assert_uint_gt(needed, made.pin_count * 3);
    ck_assert_uint_lt(memory.scratch_peak, made.pin_count * 9); /* the topology, with weights, at most */
    cm_memory_init(&memory, needed);
    memory.scratch_folder = folder;
    ck_ok(map_within(path, chip, presets[i], "axon", &memory, &text, &size));
    free(text);
  }
  network_free(&made);
  cm_chip_free(chip);
}
END_TEST

static const struct {
  const char *preset, *objective;
} ways[] = {{"fast", "edge"}, {"balanced", "axon"}, {"reference", "edge"}, {"balanced", "edge"}, {"fast", "axon"}};

/* What does not fit stands in files; limits too small for that are refused. */
START_TEST(a_memory_limit_never_changes_a_mapping)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 11, 0);
  char path[CM_PATH_MAX], *whole, *within;
  size_t size, again;
  cm_chip *chip;
  const uint32_t neurons = 300;
  cm_topology made = network_directed(&random, neurons, neurons);
  ck_ok(cm_chip_mesh(8, 8, &chip, &error));
  ck_ok(cm_path(path, &error, "%s/network.zip", folder));
  cm_run run;
  cm_run_init(&run);
  ck_ok(cm_topology_save(&made, path, &run, &error));
  cm_memory memory;
  cm_memory_init(&memory, 0);
  ck_ok(map_within(path, chip, ways[_i].preset, ways[_i].objective, &memory, &whole, &size));
  uint64_t limit = 1 << 15, needed = memory.peak_bytes;
  for (;; limit *= 2) {
    cm_memory_init(&memory, limit);
    memory.scratch_folder = folder;
    if (map_within(path, chip, ways[_i].preset, ways[_i].objective, &memory, &within, &again) == CM_OK)
      break;
    ck_assert_int_eq(error.status, CM_MEMORY_LIMIT);
    ck_assert_str_eq(error.figures[1].name, "needed_bytes");
    ck_assert_uint_gt(error.figures[1].value, limit);
  }
  ck_assert_uint_lt(limit, needed);
  for (int more = 0; more < 2; more++) { /* what is enough stays enough */
    ck_assert_uint_le(memory.peak_bytes, limit);
    ck_assert_uint_eq(size, again);
    ck_assert_mem_eq(whole, within, size);
    free(within);
    limit += limit / 2;
    cm_memory_init(&memory, limit);
    memory.scratch_folder = folder;
    ck_ok(map_within(path, chip, ways[_i].preset, ways[_i].objective, &memory, &within, &again));
  }
  ck_assert_uint_le(memory.peak_bytes, limit);
  ck_assert_uint_gt(memory.scratch_peak, 0);
  ck_assert_uint_eq(size, again);
  ck_assert_mem_eq(whole, within, size);
  free(whole);
  free(within);
  cm_chip_free(chip);
  network_free(&made);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("memory limit");
  TCase *tests = tcase_create("memory limit");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, hopeless_memory_limits_are_refused_at_once);
  tcase_add_loop_test(tests, a_memory_limit_never_changes_a_mapping, 0, CM_SANITIZED ? 2 : sizeof ways / sizeof *ways);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
