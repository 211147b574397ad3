/* core/chip: regions that look at the prices of hops, against every set of cores on small chips; dead links;
 * fragmentation. */
#include "tests/unit/networks.h"

#include <math.h>

#include "core/chip/region_search.h"
#include "core/chip/occupancy.h"
#include "core/chip/interconnect/sets.h"
#include "core/chip/reach.h"
#include "core/chip/region.h"

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

/* ---- random chips ---- */

static const char *truth(bool value)
{
  return value ? "true" : "false";
}

static cm_chip *random_chip(cm_random *random, uint32_t dies, uint32_t side)
{
  char text[600];
  cm_chip *chip;
  uint32_t rx = 1 + below(random, 2), ry = 1 + below(random, 2);
  /* One after another: compilers differ in the order of a call's arguments. */
  uint32_t between = 5 + below(random, 20), north = 1 + below(random, 4), east = 1 + below(random, 4), router = below(random, 3);
  bool torus_y = below(random, 3) == 0, torus_x = below(random, 3) == 0;
  uint32_t cores_y = ry * (1 + below(random, side)), cores_x = rx * (1 + below(random, side));
  uint32_t dies_y = 1 + below(random, dies), dies_x = 1 + below(random, dies);
  int size =
      snprintf(text, sizeof text,
               "{\"name\": \"r\", \"dies\": [%u, %u], \"cores\": [%u, %u], \"cores_per_router\": [%u, %u], "
               "\"torus\": [%s, %s], \"energy_pj\": {\"router\": %u, \"east_west\": %u, \"north_south\": %u, "
               "\"die_to_die\": %u}, \"latency_ns\": {\"router\": 1, \"link\": 1}}",
               dies_x, dies_y, cores_x, cores_y, rx, ry, truth(torus_x), truth(torus_y), router, east, north, between);
  ck_ok(cm_chip_parse(text, (size_t)size, &chip, &error));
  return chip;
}

static void kill_links(cm_random *random, cm_chip *chip, uint32_t percent)
{
  uint32_t routers = cm_chip_routers_x(chip) * cm_chip_routers_y(chip);
  cm_free(chip->dead_links);
  chip->dead_links = network_array((size_t)routers * CM_DIRECTIONS, sizeof *chip->dead_links);
  chip->dead_link_count = 0;
  for (uint32_t key = 0; key < routers * CM_DIRECTIONS; key++)
    if (below(random, 100) < percent &&
        cm_chip_next_router(chip, key / CM_DIRECTIONS, (cm_direction)(key % CM_DIRECTIONS)) != CM_NO_ROUTER)
      chip->dead_links[chip->dead_link_count++] = key;
}

static cm_occupancy *random_occupancy(cm_random *random, const cm_chip *chip)
{
  cm_occupancy *occupancy;
  uint32_t percent = below(random, 70);
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
    if (below(random, 100) < percent)
      occupancy->state[c] = (uint8_t)(1 + below(random, 2));
  return occupancy;
}

/* ---- outside truth ---- */

/* The energy of a way by the chip's own hops, but one router; around a ring the cheaper of two ways with as many
 * hops. */
static double way_energy(const cm_chip *chip, uint32_t a, uint32_t b)
{
  double least = INFINITY;
  for (int turn = 0; turn < 2; turn++) {
    cm_hops h = turn ? cm_chip_hops(chip, b, a) : cm_chip_hops(chip, a, b);
    const cm_hop_cost *e = &chip->energy_pj;
    double d = (double)h.east_west + h.north_south + h.die_to_die;
    least = fmin(least, d * e->router + h.east_west * e->east_west + h.north_south * e->north_south +
                            h.die_to_die * e->die_to_die);
  }
  return least;
}

static double mean_energy(const cm_chip *chip, const uint32_t *cores, uint32_t count)
{
  double sum = 0;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < i; j++)
      sum += way_energy(chip, cores[i], cores[j]);
  return count > 1 ? sum / (count * (count - 1) / 2.0) : 0;
}

/* The cheapest of all sets. */
static void cheapest(const cm_chip *chip, const uint8_t *usable, uint32_t count, uint32_t *set, uint32_t chosen,
                     uint32_t from, double *best)
{
  if (chosen == count) {
    *best = fmin(*best, mean_energy(chip, set, count));
    return;
  }
  for (uint32_t c = from; c < cm_chip_cores(chip); c++)
    if (usable[c]) {
      set[chosen] = c;
      cheapest(chip, usable, count, set, chosen + 1, c + 1, best);
    }
}

START_TEST(costs_are_those_of_the_chip)
{
  cm_random random;
  for (uint64_t round = 0; round < test_rounds(400); round++) {
    cm_random_init(&random, round, 21, 0);
    cm_chip *chip = random_chip(&random, 3, 4);
    uint32_t cores[64], count = 0;
    for (uint32_t c = 0; c < cm_chip_cores(chip) && count < 64; c++)
      if (below(&random, 3) == 0)
        cores[count++] = c;
    /* Two axes that both have ties may take different ways round for either direction. */
    bool ties = chip->torus_x && chip->torus_y && cm_chip_routers_x(chip) % 2 == 0 && cm_chip_routers_y(chip) % 2 == 0;
    double said, is = mean_energy(chip, cores, count);
    ck_ok(cm_set_cost(chip, cores, count, NULL, &said, &error));
    ck_assert_msg(ties ? said <= is + 1e-9 : fabs(said - is) < 1e-9, "round %u: %.12g for %.12g", (unsigned)round, said,
                  is);
    cm_chip_free(chip);
  }
}
END_TEST

START_TEST(small_regions_are_nearly_always_the_cheapest)
{
  cm_random random;
  uint32_t rounds = 0, exact = 0, across = 0;
  double worst = 1;
  for (uint64_t round = 0; rounds < 300; round++) {
    cm_random_init(&random, round, 22, 0);
    cm_chip *chip = random_chip(&random, 2, 3);
    cm_occupancy *occupancy = random_occupancy(&random, chip);
    uint8_t usable[256];
    uint32_t free_count, set[8], found, cores = cm_chip_cores(chip);
    ck_assert_uint_le(cores, 256);
    ck_ok(cm_usable_cores(chip, occupancy, NULL, usable, &free_count, &error));
    if (free_count >= 3 && free_count <= 16) {
      uint32_t count = 2 + below(&random, free_count < 7 ? free_count - 1 : 5);
      double best = INFINITY;
      cm_region *region[3];
      cheapest(chip, usable, count, set, 0, 0, &best);
      ck_ok(cm_region_candidates(chip, occupancy, count, 3, &run, region, &found, &error));
      double least = INFINITY;
      for (uint32_t i = 0; i < found; i++)
        least = fmin(least, mean_energy(chip, region[i]->cores, count));
      ck_assert(least >= best - 1e-9);
      exact += least <= best + 1e-9;
      across += chip->dies_x * chip->dies_y > 1;
      worst = best > 0 ? fmax(worst, least / best) : worst;
      for (uint32_t i = 0; i < found; i++)
        cm_region_free(region[i]);
      rounds++;
    }
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
  }
  ck_assert_uint_gt(exact, 290);
  ck_assert(worst < 1.15);
  ck_assert_uint_gt(across, 100);
}
END_TEST

/* What every candidate must be, on chips of any kind, with any occupancy and dead links. */
START_TEST(candidates_keep_their_word)
{
  cm_random random;
  uint32_t compared = 0, cheaper = 0, refused = 0, cut = 0;
  for (uint64_t round = 0; round < test_rounds(400); round++) {
    cm_random_init(&random, round, 23, 0);
    cm_chip *chip = random_chip(&random, 3, 6);
    if (round % 2 == 0)
      kill_links(&random, chip, 1 + below(&random, 40));
    cm_occupancy *occupancy = random_occupancy(&random, chip);
    uint32_t cores = cm_chip_cores(chip), count, found, usable_count, most = 1 + below(&random, 5);
    uint8_t *usable = network_array(cores, 1);
    ck_ok(cm_usable_cores(chip, occupancy, NULL, usable, &usable_count, &error));
    cut += usable_count < cm_occupancy_free_count(occupancy);
    count = 1 + below(&random, usable_count + 2);
    cm_region *region[5], *box;
    cm_status status = cm_region_candidates(chip, occupancy, count, most, &run, region, &found, &error);
    if (count > usable_count) {
      ck_assert_int_eq(status, CM_NO_ROOM);
      ck_assert_uint_eq(error.figures[1].value, usable_count);
      refused++;
    } else {
      ck_ok(status);
      ck_assert(found >= 1 && found <= most);
      ck_ok(cm_region_choose(chip, occupancy, count, &run, &box, &error));
      bool box_there = false;
      for (uint32_t i = 0; i < found; i++) {
        cm_region *r = region[i];
        ck_assert_uint_eq(r->core_count, count);
        uint32_t free_inside = 0;
        for (uint32_t k = 0; k < count; k++) {
          uint32_t x = r->cores[k] % chip->width, y = r->cores[k] / chip->width;
          ck_assert(usable[r->cores[k]]);
          ck_assert(k == 0 || r->cores[k - 1] < r->cores[k]);
          ck_assert(x >= r->x0 && x < r->x0 + r->width && y >= r->y0 && y < r->y0 + r->height);
        }
        for (uint32_t y = r->y0; y < r->y0 + r->height; y++)
          for (uint32_t x = r->x0; x < r->x0 + r->width; x++)
            free_inside += usable[y * chip->width + x];
        ck_assert(r->rectangle == (free_inside == r->width * r->height));
        for (uint32_t j = 0; j < i; j++)
          ck_assert(memcmp(region[j]->cores, r->cores, count * sizeof *r->cores) != 0);
        bool is_box = memcmp(box->cores, r->cores, count * sizeof *r->cores) == 0;
        box_there = box_there || is_box;
        ck_assert(i < 1 || r->cost >= region[i - 1]->cost - 1e-9 || i == 1);
      }
      /* Never dearer than the source's box, and the box is first when it is as good. */
      ck_assert(region[0]->cost <= box->cost + 1e-9);
      ck_assert(box_there || found == most);
      compared++;
      cheaper += region[0]->cost < box->cost * 0.98;
      for (uint32_t i = 0; i < found; i++)
        cm_region_free(region[i]);
      cm_region_free(box);
    }
    cm_free(usable);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
  }
  ck_assert_uint_gt(compared, test_rounds(200));
  ck_assert_uint_gt(cheaper, test_rounds(50));
  ck_assert_uint_gt(refused, test_rounds(10));
  ck_assert_uint_gt(cut, test_rounds(30));
}
END_TEST

/* Reachability by closure: a router reaches another, and back. */
START_TEST(cores_behind_dead_links_are_not_used)
{
  cm_random random;
  uint32_t split = 0;
  for (uint64_t round = 0; round < 200; round++) {
    cm_random_init(&random, round, 24, 0);
    cm_chip *chip = random_chip(&random, 2, 3);
    kill_links(&random, chip, 20 + below(&random, 60));
    cm_occupancy *occupancy = random_occupancy(&random, chip);
    uint32_t routers = cm_chip_routers_x(chip) * cm_chip_routers_y(chip), count, best = 0;
    static bool way[64][64];
    ck_assert_uint_le(routers, 64);
    for (uint32_t a = 0; a < routers; a++) {
      for (uint32_t b = 0; b < routers; b++)
        way[a][b] = a == b;
      for (cm_direction d = CM_EAST; d < CM_DIRECTIONS; d++) {
        uint32_t to = cm_chip_next_router(chip, a, d);
        if (to != CM_NO_ROUTER && !cm_chip_link_dead(chip, a, d))
          way[a][to] = true;
      }
    }
    for (uint32_t k = 0; k < routers; k++)
      for (uint32_t a = 0; a < routers; a++)
        for (uint32_t b = 0; b < routers; b++)
          way[a][b] = way[a][b] || (way[a][k] && way[k][b]);
    uint32_t cores = cm_chip_cores(chip);
    uint8_t *usable = network_array(cores, 1);
    ck_ok(cm_usable_cores(chip, occupancy, NULL, usable, &count, &error));
    for (uint32_t a = 0; a < routers; a++) {
      uint32_t together = 0;
      for (uint32_t c = 0; c < cores; c++) {
        uint32_t r = c / chip->width / chip->router_y * cm_chip_routers_x(chip) + c % chip->width / chip->router_x;
        together += occupancy->state[c] == CM_CORE_FREE && way[a][r] && way[r][a];
      }
      best = together > best ? together : best;
    }
    ck_assert_uint_eq(count, best);
    for (uint32_t c = 0; c < cores; c++)
      for (uint32_t e = 0; e < cores; e++) {
        uint32_t r = c / chip->width / chip->router_y * cm_chip_routers_x(chip) + c % chip->width / chip->router_x;
        uint32_t q = e / chip->width / chip->router_y * cm_chip_routers_x(chip) + e % chip->width / chip->router_x;
        ck_assert(!usable[c] || !usable[e] || way[r][q]);
      }
    split += best < cm_occupancy_free_count(occupancy);
    cm_free(usable);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
  }
  ck_assert_uint_gt(split, 50);
}
END_TEST

START_TEST(prices_shape_regions)
{
  /* Eight cores where a step north costs nine times one east: two rows, not a square. */
  const char *text =
      "{\"name\": \"a\", \"cores\": [12, 12], \"energy_pj\": {\"router\": 0, \"east_west\": 1, \"north_south\": 9, "
      "\"die_to_die\": 9}, \"latency_ns\": {\"router\": 1, \"link\": 1}}";
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_region *region;
  uint32_t found;
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  ck_ok(cm_region_candidates(chip, occupancy, 8, 1, &run, &region, &found, &error));
  ck_assert_uint_eq(region->height, 1);
  cm_region_free(region);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  /* Nine cores on dies of 3 x 3 with dear links between: one die, though the occupied middle leaves a nearer ring. */
  text = "{\"name\": \"d\", \"dies\": [3, 3], \"cores\": [3, 3], \"energy_pj\": {\"router\": 1, \"link\": 1, \"die_to_die\": 50}, "
         "\"latency_ns\": {\"router\": 1, \"link\": 1}}";
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  for (uint32_t c = 0; c < 81; c++)
    if (c / 9 / 3 != 2 || c % 9 / 3 != 0)
      occupancy->state[c] = c % 4 == 0 ? CM_CORE_TAKEN : CM_CORE_FREE;
  ck_ok(cm_region_candidates(chip, occupancy, 9, 1, &run, &region, &found, &error));
  ck_assert_uint_eq(region->x0, 0);
  ck_assert_uint_eq(region->y0, 6);
  ck_assert(region->rectangle);
  cm_region_free(region);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  /* A torus: free cores left and right of the seam are neighbours. */
  text = "{\"name\": \"t\", \"cores\": [10, 4], \"torus\": [true, false], \"energy_pj\": {\"router\": 1, \"link\": 1}, "
         "\"latency_ns\": {\"router\": 1, \"link\": 1}}";
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  for (uint32_t c = 0; c < 40; c++)
    if (c % 10 == 2 || c % 10 == 3 || c % 10 == 7)
      occupancy->state[c] = CM_CORE_TAKEN;
  ck_ok(cm_region_candidates(chip, occupancy, 16, 1, &run, &region, &found, &error));
  ck_assert_uint_eq(found, 1);
  ck_assert_uint_eq(region->width, 10);
  for (uint32_t i = 0; i < 16; i++)
    ck_assert(region->cores[i] % 10 < 2 || region->cores[i] % 10 > 7);
  cm_region_free(region);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
}
END_TEST

START_TEST(fragmentation_is_counted)
{
  static const char *const rows[] = {"..x...", ".x..x.", "x.x...", "..xxxx"};
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_fragmentation f;
  ck_ok(cm_chip_mesh(6, 4, &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  ck_ok(cm_fragmentation_of(occupancy, &f, &error));
  ck_assert(f.value == 0 && f.free == 24 && f.largest_rectangle == 24 && f.pieces == 1 && f.largest_piece == 24);
  for (uint32_t c = 0; c < 24; c++)
    occupancy->state[c] = rows[c / 6][c % 6] == 'x' ? CM_CORE_TAKEN : CM_CORE_FREE;
  ck_ok(cm_fragmentation_of(occupancy, &f, &error));
  ck_assert_uint_eq(f.free, 15);
  ck_assert_uint_eq(f.pieces, 3);
  ck_assert_uint_eq(f.largest_piece, 9);
  ck_assert_uint_eq(f.largest_rectangle, 3);
  ck_assert_double_eq_tol(f.value, 1 - 3 / 15.0, 1e-12);
  memset(occupancy->state, CM_CORE_BROKEN, 24);
  ck_ok(cm_fragmentation_of(occupancy, &f, &error));
  ck_assert(f.value == 0 && f.free == 0 && f.pieces == 0);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
}
END_TEST

START_TEST(failed_allocations_leave_nothing)
{
  cm_random random;
  cm_random_init(&random, 1, 25, 0);
  cm_chip *chip;
  cm_occupancy *occupancy;
  ck_ok(cm_chip_mesh(7, 6, &chip, &error));
  kill_links(&random, chip, 10);
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  occupancy->state[20] = CM_CORE_TAKEN;
  cm_memory memory;
  cm_memory_init(&memory, 0);
  run.memory = &memory;
  uint32_t fired = 0;
  for (uint64_t n = 1;; n++) {
    cm_region *region[3];
    uint32_t found = 0;
    cm_memory_fail_at(n);
    cm_status status = cm_region_candidates(chip, occupancy, 12, 3, &run, region, &found, &error);
    bool done = !cm_memory_fault_fired();
    cm_memory_fail_at(0);
    for (uint32_t i = 0; status == CM_OK && i < found; i++)
      cm_region_free(region[i]);
    ck_assert_uint_eq(memory.used_bytes, 0);
    ck_assert_int_eq(status, done ? CM_OK : CM_NO_MEMORY);
    if (done)
      break;
    fired++;
  }
  ck_assert_uint_gt(fired, 25);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
}
END_TEST

/* Hops between two routers of a hexagonal array without edges joined: north-east and south-west are one hop. */
static uint32_t hexagonal_hops(uint32_t width, uint32_t a, uint32_t b)
{
  int dx = (int)(b % width) - (int)(a % width), dy = (int)(b / width) - (int)(a / width);
  uint32_t across = (uint32_t)abs(dx), down = (uint32_t)abs(dy);
  return (dx > 0) == (dy > 0) ? across + down : across > down ? across : down;
}

/* Whether no usable core outside is nearer to the centre than one inside. */
static bool is_ball(uint32_t width, uint32_t cores, const uint8_t *usable, const uint8_t *inside, uint32_t centre)
{
  uint32_t farthest = 0, nearest = UINT32_MAX;
  for (uint32_t c = 0; c < cores && farthest <= nearest; c++) {
    uint32_t hops = hexagonal_hops(width, centre, c);
    if (inside[c] && hops > farthest)
      farthest = hops;
    if (usable[c] && !inside[c] && hops < nearest)
      nearest = hops;
  }
  return farthest <= nearest;
}

/* Sets too large to be improved are the nearest cores around some router. */
START_TEST(large_sets_are_balls)
{
  enum { WIDTH = 96, CORES = WIDTH * WIDTH, WANTED = 5000 };
  cm_random random;
  cm_chip *chip;
  uint8_t usable[CORES], inside[CORES] = {0};
  uint32_t *set[2];
  cm_core_sets sets = {.set = set, .capacity = 2, .cores = WANTED};
  static const char text[] = "{\"name\": \"h\", \"cores\": [96, 96], \"interconnect\": {\"kind\": \"hexagonal\"}}";
  ck_ok(cm_chip_parse(text, sizeof text - 1, &chip, &error));
  cm_random_init(&random, 1, 1, 0);
  for (uint32_t c = 0; c < CORES; c++)
    usable[c] = below(&random, 3) > 0;
  ck_ok(cm_interconnect_sets(chip, usable, &run, &sets, &error));
  ck_assert_uint_gt(sets.count, 0);
  for (uint32_t i = 0; i < WANTED; i++) {
    ck_assert_uint_eq(usable[set[0][i]], 1);
    ck_assert_uint_eq(inside[set[0][i]]++, 0);
  }
  uint32_t centres = 0;
  for (uint32_t centre = 0; centre < CORES; centre++)
    centres += is_ball(WIDTH, CORES, usable, inside, centre);
  ck_assert_uint_gt(centres, 0);
  while (sets.count > 0)
    cm_free(set[--sets.count]);
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("regions");
  TCase *tests = tcase_create("regions");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, costs_are_those_of_the_chip);
  tcase_add_test(tests, small_regions_are_nearly_always_the_cheapest);
  tcase_add_test(tests, candidates_keep_their_word);
  tcase_add_test(tests, cores_behind_dead_links_are_not_used);
  tcase_add_test(tests, prices_shape_regions);
  tcase_add_test(tests, large_sets_are_balls);
  tcase_add_test(tests, fragmentation_is_counted);
  tcase_add_test(tests, failed_allocations_leave_nothing);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
