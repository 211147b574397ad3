/* core/chip: occupancies, their changes, and the regions that they leave. */
#include "tests/unit/chips.h"

#include "base/random.h"
#include "core/chip/region.h"

static cm_error error;

static cm_status apply(cm_occupancy *occupancy, const cm_chip *chip, const char *text)
{
  json_t *change = json_of(text);
  cm_status status = cm_occupancy_apply(occupancy, chip, change, &error);
  json_decref(change);
  return status;
}

START_TEST(occupancy_changes)
{
  cm_chip *chip = chip_parsed("{\"name\": \"o\", \"cores\": [8, 4], \"dead_cores\": [[7,3]]}");
  cm_occupancy *occupancy;
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  ck_assert_uint_eq(cm_occupancy_free_count(occupancy), 31);
  ck_ok(apply(occupancy, chip, "{\"occupy\": [[0,0,3,1],[5,2]], \"owner\": \"ann\"}"));
  ck_ok(apply(occupancy, chip, "{\"occupy\": [[0,0]], \"owner\": \"ann\"}")); /* hers already */
  ck_assert_uint_eq(cm_occupancy_free_count(occupancy), 22);
  ck_fails(apply(occupancy, chip, "{\"occupy\": [[6,0],[3,1]], \"owner\": \"bob\"}"), CM_CONFLICT);
  ck_assert_str_eq(error.where, "/occupy/1");
  ck_assert_ptr_nonnull(strstr(error.detail, "ann"));
  ck_assert_uint_eq(occupancy->state[6], CM_CORE_FREE); /* nothing of it was done */
  ck_fails(apply(occupancy, chip, "{\"release\": [[0,0]], \"owner\": \"bob\"}"), CM_CONFLICT);
  ck_fails(apply(occupancy, chip, "{\"occupy\": [[7,3]]}"), CM_CONFLICT);
  ck_fails(apply(occupancy, chip, "{\"occupy\": [[8,0]]}"), CM_BAD_OCCUPANCY);
  ck_assert_str_eq(error.where, "/occupy/0");
  ck_fails(apply(occupancy, chip, "{\"broken\": [[0,0],[1,1,0,0]]}"), CM_BAD_OCCUPANCY);
  ck_assert_str_eq(error.where, "/broken/1");
  ck_fails(apply(occupancy, chip, "{\"take\": [[0,0]]}"), CM_BAD_OCCUPANCY);
  ck_assert_str_eq(error.where, "/take");
  ck_fails(apply(occupancy, chip, "{\"owner\": 7}"), CM_BAD_OCCUPANCY);
  ck_fails(apply(occupancy, chip, "[]"), CM_BAD_OCCUPANCY);
  ck_assert_uint_eq(cm_occupancy_free_count(occupancy), 22);
  /* One change hands cores over; a dead core stays dead. */
  ck_ok(apply(occupancy, chip, "{\"release\": [[0,0,7,3]], \"repaired\": [[7,3]]}"));
  ck_assert_uint_eq(cm_occupancy_free_count(occupancy), 31);
  ck_ok(apply(occupancy, chip, "{\"broken\": [[1,1]]}"));
  ck_ok(apply(occupancy, chip, "{\"repaired\": [[1,1]], \"occupy\": [[1,1,2,2]], \"owner\": \"b\\\"ob\"}"));
  ck_ok(apply(occupancy, chip, "{\"broken\": [[0,3,4,3]]}"));
  char *text, *again;
  ck_ok(cm_occupancy_print(occupancy, chip, &text, &error));
  ck_assert_str_eq(text, "{\"chip\": \"o\", \"width\": 8, \"height\": 4, \"free\": 22, "
                          "\"fragmentation\": {\"value\": 0.318182, \"largest_free_rectangle\": 15, \"pieces\": 1, "
                          "\"largest_piece\": 22}, \"taken\": "
                         "[{\"owner\": \"b\\\"ob\", \"cores\": [[1,1,2,2]]}], "
                         "\"broken\": [[0,3,4,3],[7,3,7,3]]}\n");
  cm_occupancy *back;
  ck_ok(cm_occupancy_parse(chip, text, strlen(text), &back, &error));
  ck_ok(cm_occupancy_print(back, chip, &again, &error));
  ck_assert_str_eq(text, again);
  free(text);
  free(again);
  cm_occupancy_free(back);
  cm_occupancy_free(occupancy);
  const char *change = "{\"occupy\": [[0,0,7,0]], \"broken\": [[0,1]]}";
  ck_ok(cm_occupancy_parse(chip, change, strlen(change), &back, &error));
  ck_assert_uint_eq(cm_occupancy_free_count(back), 22);
  cm_occupancy_free(back);
  static const char *const damaged[] = {"", "[", "{\"width\": 9}", "{\"taken\": [{\"owner\": \"x\"}, 4]}",
                                        ("{\"taken\": [{\"owner\": \"x\", \"cores\": [[0,0]]},"
                                         "{\"owner\": \"y\", \"cores\": [[0,0]]}]}")};
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
    ck_assert_int_ne(cm_occupancy_parse(chip, damaged[i], strlen(damaged[i]), &back, &error), CM_OK);
  cm_chip_free(chip);
}
END_TEST

START_TEST(occupancy_changes_are_whole_or_nothing)
{
  cm_chip *chip;
  ck_ok(cm_chip_mesh(6, 5, &chip, &error));
  cm_occupancy *occupancy;
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  cm_random random;
  cm_random_init(&random, 5, 0, 0);
  static const char *const verbs[] = {"occupy", "release", "broken", "repaired"};
  int refused = 0;
  for (int round = 0; round < 3000; round++) {
    json_t *change = json_object();
    for (int i = 0; i < 3; i++) {
      int x0 = (int)cm_random_below(&random, 6), y0 = (int)cm_random_below(&random, 5);
      int x1 = x0 + (int)cm_random_below(&random, (uint64_t)(6 - x0) + (round % 50 == 0));
      json_t *list = json_array();
      json_array_append_new(list, json_pack("[i,i,i,i]", x0, y0, x1, y0));
      json_object_set_new(change, verbs[cm_random_below(&random, 4)], list);
    }
    if (round % 3)
      json_object_set_new(change, "owner", json_sprintf("u%d", (int)cm_random_below(&random, 3)));
    uint8_t state[30];
    uint32_t owner[30], owners = occupancy->owner_count;
    memcpy(state, occupancy->state, sizeof state);
    memcpy(owner, occupancy->owner, sizeof owner);
    if (cm_occupancy_apply(occupancy, chip, change, &error) != CM_OK) {
      refused++;
      ck_assert_mem_eq(state, occupancy->state, sizeof state);
      ck_assert_mem_eq(owner, occupancy->owner, sizeof owner);
      ck_assert_uint_eq(owners, occupancy->owner_count);
    }
    json_decref(change);
    char *text, *again;
    cm_occupancy *back;
    ck_ok(cm_occupancy_print(occupancy, chip, &text, &error));
    ck_ok(cm_occupancy_parse(chip, text, strlen(text), &back, &error));
    ck_assert_mem_eq(back->state, occupancy->state, sizeof state);
    ck_ok(cm_occupancy_print(back, chip, &again, &error));
    for (int i = 0; i < 30; i++)
      ck_assert_str_eq(back->owners[back->owner[i]], occupancy->owners[occupancy->owner[i]]);
    free(text);
    free(again);
    cm_occupancy_free(back);
  }
  ck_assert_int_gt(refused, 300);
  ck_assert_int_lt(refused, 2700);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
}
END_TEST

/* The best box by trying every one: shape by half perimeter and area, inside one die, north, west, wide. */
static bool brute_box(const cm_chip *chip, const cm_occupancy *occupancy, uint32_t count, bool whole, uint32_t best[4])
{
  bool found = false;
  uint64_t best_key[6] = {0};
  for (uint32_t w = 1; w <= chip->width; w++)
    for (uint32_t h = 1; h <= chip->height; h++)
      for (uint32_t y = 0; y + h <= chip->height; y++)
        for (uint32_t x = 0; x + w <= chip->width; x++) {
          uint32_t inside = 0;
          for (uint32_t j = y; j < y + h; j++)
            for (uint32_t i = x; i < x + w; i++)
              inside += occupancy->state[j * chip->width + i] == CM_CORE_FREE;
          if (inside < count || (whole && inside < w * h))
            continue;
          bool one = x / chip->die_width == (x + w - 1) / chip->die_width &&
                     y / chip->die_height == (y + h - 1) / chip->die_height;
          uint64_t key[6] = {w + h, (uint64_t)w * h, !one, y, x, chip->width - w};
          int order = 0;
          for (int k = 0; k < 6 && order == 0; k++)
            order = key[k] < best_key[k] ? -1 : key[k] > best_key[k];
          if (!found || order < 0) {
            memcpy(best_key, key, sizeof key);
            best[0] = x, best[1] = y, best[2] = w, best[3] = h;
            found = true;
          }
        }
  return found;
}

START_TEST(regions_are_the_best_boxes)
{
  cm_random random;
  cm_random_init(&random, 11, 0, 0);
  cm_run run;
  cm_run_init(&run);
  int rectangles = 0, ragged = 0, none = 0;
  for (int round = 0; round < 600; round++) {
    char text[200];
    uint32_t dx = 1 + (uint32_t)cm_random_below(&random, 3), dy = 1 + (uint32_t)cm_random_below(&random, 2);
    snprintf(text, sizeof text, "{\"name\": \"r\", \"dies\": [%u, %u], \"cores\": [%u, %u]}", dx, dy,
             1 + (unsigned)cm_random_below(&random, 4), 1 + (unsigned)cm_random_below(&random, 5));
    cm_chip *chip = chip_parsed(text);
    cm_occupancy *occupancy;
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    uint32_t cores = cm_chip_cores(chip), density = (uint32_t)cm_random_below(&random, 101);
    for (uint32_t i = 0; i < cores; i++)
      if (cm_random_below(&random, 100) < density)
        occupancy->state[i] = (uint8_t)(1 + cm_random_below(&random, 2));
    uint32_t count = 1 + (uint32_t)cm_random_below(&random, cores + 2), best[4],
             free_count = cm_occupancy_free_count(occupancy);
    if (round % 2 && free_count > 0)
      count = 1 + (uint32_t)cm_random_below(&random, free_count);
    cm_region *region;
    if (count > free_count) {
      ck_fails(cm_region_choose(chip, occupancy, count, &run, &region, &error), CM_NO_ROOM);
      ck_assert_str_eq(error.figures[0].name, "needed");
      ck_assert_uint_eq(error.figures[0].value, count);
      ck_assert_str_eq(error.figures[1].name, "free");
      ck_assert_uint_eq(error.figures[1].value, free_count);
      ck_assert_str_eq(error.figures[2].name, "largest_free_rectangle");
      uint64_t largest = error.figures[2].value;
      ck_assert_str_eq(error.figures[3].name, "missing");
      ck_assert_uint_eq(error.figures[3].value, count - free_count);
      ck_assert(largest == 0 || brute_box(chip, occupancy, (uint32_t)largest, true, best));
      ck_assert(!brute_box(chip, occupancy, (uint32_t)largest + 1, true, best));
      none++;
    } else {
      ck_ok(cm_region_choose(chip, occupancy, count, &run, &region, &error));
      bool whole = brute_box(chip, occupancy, count, true, best);
      ck_assert(region->rectangle == whole);
      if (!whole)
        brute_box(chip, occupancy, count, false, best);
      whole ? rectangles++ : ragged++;
      ck_assert_uint_eq(region->width, best[2]);
      ck_assert_uint_eq(region->height, best[3]);
      ck_assert_uint_eq(region->x0, best[0]);
      ck_assert_uint_eq(region->y0, best[1]);
      ck_assert_uint_eq(region->core_count, count);
      for (uint32_t i = 0; i < count; i++) {
        uint32_t core = region->cores[i], x = core % chip->width, y = core / chip->width;
        ck_assert(i == 0 || region->cores[i - 1] < core);
        ck_assert_uint_eq(occupancy->state[core], CM_CORE_FREE);
        ck_assert(x >= best[0] && x < best[0] + best[2] && y >= best[1] && y < best[1] + best[3]);
      }
      cm_region_free(region);
    }
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
  }
  ck_assert_int_gt(rectangles, 100);
  ck_assert_int_gt(ragged, 50);
  ck_assert_int_gt(none, 50);
}
END_TEST

START_TEST(region_figure_of_the_seed)
{
  /* 11 cores on 8 x 8: 3 x 4 and 4 x 3 are equal, the wider wins; the surplus core is the far corner. */
  cm_chip *chip;
  ck_ok(cm_chip_mesh(8, 8, &chip, &error));
  cm_occupancy *occupancy;
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  cm_run run;
  cm_run_init(&run);
  cm_region *region;
  ck_ok(cm_region_choose(chip, occupancy, 11, &run, &region, &error));
  ck_assert_uint_eq(region->width, 4);
  ck_assert_uint_eq(region->height, 3);
  ck_assert_uint_eq(region->cores[10], 2 * 8 + 2);
  cm_region_free(region);
  ck_ok(cm_region_choose(chip, occupancy, 0, &run, &region, &error));
  ck_assert_uint_eq(region->core_count, 0);
  cm_region_free(region);
  ck_fails(cm_region_choose(chip, occupancy, 65, &run, &region, &error), CM_NO_ROOM);
  ck_assert_ptr_nonnull(strstr(error.detail, "1 more cores"));
  ck_ok(apply(occupancy, chip, "{\"occupy\": [[0,0,7,3]]}"));
  ck_fails(cm_region_choose(chip, occupancy, 40, &run, &region, &error), CM_NO_ROOM);
  ck_assert_ptr_nonnull(strstr(error.detail, "8 taken cores were released"));
  /* Out of memory at every allocation in turn: refused, nothing lost. */
  int faults = 0;
  for (uint64_t n = 1;; n++) {
    cm_memory_fail_at(n);
    cm_status status = cm_region_choose(chip, occupancy, 20, &run, &region, &error);
    if (!cm_memory_fault_fired())
      break;
    ck_assert_int_eq(status, CM_NO_MEMORY);
    faults++;
  }
  cm_memory_fail_at(0);
  cm_region_free(region);
  ck_assert_int_ge(faults, 5);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("occupancy");
  TCase *tests = tcase_create("occupancy");
  tcase_add_test(tests, occupancy_changes);
  tcase_add_test(tests, occupancy_changes_are_whole_or_nothing);
  tcase_add_test(tests, regions_are_the_best_boxes);
  tcase_add_test(tests, region_figure_of_the_seed);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
