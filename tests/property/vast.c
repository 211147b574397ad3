/* A small network on chips of 16 million cores: memory follows what is used, and the mapping is that of a small chip. */
#include "../unit/networks.h"

#include "core/output/beside.h"
#include "core/verify/check.h"
#include "core/output/views.h"
#include "core/solver/map.h"
#include "core/measure/measure.h"
#include "core/mapping/options.h"
#include "core/network/topology_file.h"

enum { NEURONS = 200, CORES = 4096 * 4096, MEGA = 1000000, MEMORY_MAX = 100 * MEGA, FOLDER_MAX = 4 * MEGA };

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

static cm_mapping *map_on(cm_map_input *input, const char *preset, cm_run *run)
{
  cm_mapping *mapping;
  cm_map_options *options;
  json_t *json = json_pack("{s:s, s:i, s:i}", "preset", preset, "max_part_size", 10, "threads", 2);
  ck_ok(cm_map_options_parse(json, &options, &error));
  cm_map_options_apply(options, run);
  input->options = options;
  ck_ok(cm_map(input, run, &mapping, &error));
  json_decref(json);
  return mapping;
}

/* Every file of a stored mapping together. */
static uint64_t bytes_of_folder(void)
{
  uint64_t bytes = 0;
  for (cm_mapping_view view = 0; view < CM_VIEWS_ALL; view++) {
    char path[CM_PATH_MAX], *text;
    size_t size;
    ck_ok(cm_path(path, &error, "%s/%s", folder, cm_mapping_view_name(view)));
    ck_ok(cm_file_read(path, 1 << 30, &text, &size, &error));
    bytes += size;
    free(text);
  }
  return bytes;
}

static void write_late(cm_mapping_view view, cm_run *run)
{
  char path[CM_PATH_MAX];
  cm_topology *network;
  ck_ok(cm_path(path, &error, "%s/network", folder));
  ck_ok(cm_topology_load(path, run, &network, &error));
  ck_ok(cm_mapping_write_late(folder, view, network, run, &error));
}

/* What a mapping prints must be found by code that keeps its own books of the whole chip. */
static void check(const cm_map_input *input)
{
  char path[CM_PATH_MAX];
  cm_run run;
  cm_check_result result;
  cm_run_init(&run);
  ck_ok(cm_path(path, &error, "%s/mapping.json", folder));
  ck_ok(cm_check_mapping(
    path, &(cm_check_context){.demand = input->demand, .chip = input->chip, .occupancy = input->occupancy, .run = &run},
    &result, &error));
  ck_assert_msg(result.violation_count == 0, "%s", result.violation_count > 0 ? result.violations[0] : "");
  cm_check_result_free(&result);
}

static const struct {
  const char *text; /* of a chip, with %d in place of its two sizes */
  int small, large, vast; /* large: for presets after the first, as vast where less is kept whole in files */
  uint32_t taken;   /* columns that others have, from the west on */
} pairs[] = {
  {"{\"name\": \"v\", \"cores\": [%d, %d]}", 64, 2048, 4096, 0},
  {"{\"name\": \"v\", \"cores\": [%d, %d], \"dead_cores\": [[1, 1]], \"dead_links\": [[50, 2, \"east\"], [3, 60, \"south\"]]}",
   64, 2048, 4096, 3},
  {"{\"name\": \"v\", \"dies\": [%d, %d], \"cores\": [64, 64], \"cores_per_router\": [2, 2], \"routing\": \"yx\"}", 2, 64, 64, 1},
  {"{\"name\": \"v\", \"cores\": [%d, %d], \"torus\": [true, true]}", 64, 2048, 4096, 0},
};

static cm_chip *chip_of(size_t pair, int size)
{
  char text[200];
  cm_chip *chip;
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  (void)snprintf(text, sizeof text, pairs[pair].text, size, size);
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  return chip;
}

START_TEST(what_a_chip_costs_follows_what_is_used)
{
  static const char *const presets[] = {"fast", "balanced", "reference"};
  const size_t preset_count = CM_SANITIZED ? 1 : sizeof presets / sizeof *presets;
  int same_ones = 0;
  cm_random random;
  cm_random_init(&random, 5, 0, 0);
  cm_topology network = network_directed(&random, NEURONS, 150);
  char path[CM_PATH_MAX];
  cm_run plain;
  cm_run_init(&plain);
  ck_ok(cm_path(path, &error, "%s/network", folder));
  ck_ok(cm_topology_store(&network, path, &plain, &error));
  for (size_t i = 0; i < (CM_SANITIZED ? 2 : sizeof pairs / sizeof *pairs); i++)
    for (size_t p = 0; p < preset_count; p++) {
      cm_mapping *made[2];
      cm_memory memory[2]; /* what is made is freed on its account */
      for (int vast = 0; vast < 2; vast++) {
        cm_chip *chip = chip_of(i, !vast ? pairs[i].small : p == 0 ? pairs[i].vast : pairs[i].large);
        cm_occupancy *occupancy;
        cm_run run;
        cm_run_init(&run);
        cm_memory_init(&memory[vast], 0);
        run.memory = &memory[vast];
        ck_ok(cm_occupancy_new(chip, &occupancy, &error));
        for (uint32_t c = 0; c < 20; c++)
          for (uint32_t x = 0; x < pairs[i].taken; x++)
            if (occupancy->state[c * chip->width + x] == CM_CORE_FREE)
              occupancy->state[c * chip->width + x] = CM_CORE_TAKEN;
        cm_map_input input = {.demand = CM_DEMAND_OF(&network), .chip = chip, .occupancy = occupancy, .scratch_folder = folder};
        made[vast] = map_on(&input, presets[p], &run);
        ck_ok(cm_mapping_write_folder(made[vast], CM_DEMAND_OF(&network), chip, NULL, folder, &error));
        ck_ok(cm_mapping_write_beside(made[vast], &input, &run, folder, &error));
        write_late(CM_VIEW_ROUTES_CSV, &run);
        write_late(CM_VIEW_CERTIFICATE_JSON, &run);
        write_late(CM_VIEW_STRUCTURE, &run);
        ck_assert_uint_lt(memory[vast].peak_bytes, cm_chip_cores(chip) < CORES ? MEMORY_MAX / 4 : MEMORY_MAX);
        ck_assert_uint_lt(bytes_of_folder(), FOLDER_MAX);
        if (vast && p == 1)
          check(&input);
        for (uint32_t k = 0; k < made[vast]->part_count; k++) /* numbers of cores mean the same on both */
          made[vast]->core[k] = made[vast]->core[k] / chip->width * 4096 + made[vast]->core[k] % chip->width;
        cm_map_options_free((cm_map_options *)(uintptr_t)input.options);
        cm_occupancy_free(occupancy);
        cm_chip_free(chip);
      }
      /* The same mapping but where cheaper places are looked for all over the chip. */
      ck_assert_uint_eq(made[0]->part_count, made[1]->part_count);
      bool same = memcmp(made[0]->part, made[1]->part, NEURONS * sizeof *made[0]->part) == 0 &&
                  memcmp(made[0]->core, made[1]->core, made[0]->part_count * sizeof *made[0]->core) == 0;
      same_ones += same;
      if (same) {
        ck_assert(made[0]->metrics.energy_pj == made[1]->metrics.energy_pj);
        ck_assert(made[0]->metrics.congestion_max == made[1]->metrics.congestion_max);
        ck_assert(made[0]->metrics.link_load_max == made[1]->metrics.link_load_max);
        ck_assert(made[0]->metrics.multicast_hops == made[1]->metrics.multicast_hops);
      } else {
        ck_assert_double_le(made[1]->metrics.hop_traffic, 1.2 * made[0]->metrics.hop_traffic);
      }
      cm_mapping_free(made[0]);
      cm_mapping_free(made[1]);
    }
  ck_assert_int_ge(same_ones, CM_SANITIZED ? 0 : 4);
  network_free(&network);
}
END_TEST

/* Cores on both sides of the edge of a long ring: its other half costs nothing, and the figures are those of a whole walk. */
START_TEST(a_window_goes_over_the_edge_of_a_torus)
{
  cm_random random;
  cm_random_init(&random, 6, 0, 0);
  cm_topology network = network_directed(&random, 60, 60);
  uint32_t part[60], cores[2][6] = {{0}};
  cm_metrics metrics[2];
  cm_metrics_detail detail[2];
  cm_run run;
  cm_run_init(&run);
  for (uint32_t v = 0; v < 60; v++)
    part[v] = v % 6;
  for (int vast = 0; vast < 2; vast++) {
    cm_chip *chip = chip_of(3, vast ? pairs[3].vast : pairs[3].small);
    static const int at[6][2] = {{-3, -2}, {2, 1}, {0, -1}, {-1, 4}, {5, 0}, {1, 1}};
    for (int p = 0; p < 6; p++) {
      uint32_t x = (uint32_t)((int)chip->width + at[p][0]) % chip->width, y = (uint32_t)((int)chip->height + at[p][1]) % chip->height;
      cores[vast][p] = y * chip->width + x;
    }
    ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&network), chip, part, 6, cores[vast], NULL}, &run, &metrics[vast], &detail[vast], &error));
    cm_chip_free(chip);
  }
  ck_assert_uint_eq(cm_window_size(&detail[1].window), 9 * 7);
  ck_assert_uint_eq(detail[1].window.x0, 4093);
  ck_assert(metrics[0].hop_traffic == metrics[1].hop_traffic && metrics[0].link_load_max == metrics[1].link_load_max);
  ck_assert_double_eq_tol(metrics[0].congestion_max, metrics[1].congestion_max, 1e-9);
  for (int y = -8; y < 8; y++)
    for (int x = -8; x < 8; x++)
      for (cm_direction d = CM_EAST; d < CM_DIRECTIONS; d++)
        ck_assert(cm_link_load_at(&detail[0], (uint32_t)(x + 64) % 64, (uint32_t)(y + 64) % 64, d) ==
                  cm_link_load_at(&detail[1], (uint32_t)(x + 4096) % 4096, (uint32_t)(y + 4096) % 4096, d));
  cm_metrics_detail_free(&detail[0]);
  cm_metrics_detail_free(&detail[1]);
  network_free(&network);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("vast chips, property");
  TCase *tests = tcase_create("vast");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_figures_test(tests, what_a_chip_costs_follows_what_is_used);
  tcase_add_test(tests, a_window_goes_over_the_edge_of_a_torus);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
