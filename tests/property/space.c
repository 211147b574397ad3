/* What lies on a chip by address (core/machine/memory/space.h), beside a plain sorted array of the same residents. */
#include "../unit/unit.h"

#include "base/random.h"
#include "core/machine/memory/space.h"
#include "core/machine/schedule/addresses.h"

enum { LINE = 64, LINES = 2000, TILES = 3000, STEPS = 12000 };

static cm_memory memory;
static cm_error error;
static cm_random rnd;
static cm_space space;
static cm_resident plain[TILES]; /* by address */
static uint32_t plain_count;
static bool pinned[TILES];
static uint32_t stamp = 1;

static void set_up(void)
{
  cm_memory_init(&memory, 0);
  cm_random_init(&rnd, 3, 0, 0);
  ck_ok(cm_space_begin(&space, LINES * LINE, TILES, &memory, &error));
  plain_count = 0;
}

static void tear_down(void)
{
  cm_space_end(&space);
  ck_assert_uint_eq(memory.used_bytes, 0);
}

static uint64_t gap_from(uint32_t rank)
{
  return rank > 0 ? cm_resident_end(&plain[rank - 1]) : 0;
}

static uint64_t gap_to(uint32_t rank)
{
  return rank < plain_count ? plain[rank].address : LINES * LINE;
}

static bool plain_best_gap(uint64_t bytes, uint32_t stretch, uint64_t *address)
{
  uint64_t best = UINT64_MAX;
  for (uint32_t r = 0, after = 0; r <= plain_count; r++) {
    uint64_t gap = gap_to(r) - gap_from(r);
    if (best != UINT64_MAX && (best == bytes || ++after > stretch))
      return true;
    if (gap >= bytes && gap < best) {
      best = gap;
      *address = gap_from(r);
    }
  }
  return best != UINT64_MAX;
}

static void insert(uint32_t tile, uint64_t address, uint64_t bytes)
{
  const cm_resident item = {.address = address, .bytes = bytes, .tile = tile, .next_use = tile};
  uint32_t rank = 0;
  while (rank < plain_count && (plain[rank].address < address || cm_resident_end(&plain[rank]) == address))
    rank++;
  memmove(plain + rank + 1, plain + rank, (plain_count - rank) * sizeof *plain);
  plain[rank] = item;
  plain_count++;
  pinned[tile] = cm_random_below(&rnd, 8) == 0;
  ck_ok(cm_space_insert(&space, &item, pinned[tile] ? stamp : 0, &error));
}

static void drop(uint32_t rank)
{
  cm_space_drop(&space, plain[rank].tile);
  plain_count--;
  memmove(plain + rank, plain + rank + 1, (plain_count - rank) * sizeof *plain);
}

static void compare(void)
{
  const cm_resident *view[TILES];
  uint32_t places[TILES + 1], first = (uint32_t)cm_random_below(&rnd, plain_count + 1),
                              count = (uint32_t)cm_random_below(&rnd, plain_count - first + 1), pins = 0;
  ck_assert_uint_eq(space.count, plain_count);
  uint32_t found = cm_space_view(&space, first, count, stamp, view, places);
  for (uint32_t k = 0; k < count; k++) {
    const cm_resident *p = &plain[first + k];
    cm_place place = cm_space_rank(&space, first + k);
    ck_assert_uint_eq(view[k]->tile, p->tile);
    ck_assert_uint_eq(view[k]->address, p->address);
    ck_assert_ptr_eq(cm_space_find(&space, p->tile), view[k]);
    ck_assert_ptr_eq(cm_space_at(&space, place), view[k]);
    ck_assert_uint_eq(cm_space_gap_from(&space, place), gap_from(first + k));
    ck_assert_uint_eq(cm_space_gap_to(&space, place), gap_to(first + k));
    if (pinned[p->tile])
      ck_assert_uint_eq(places[pins++], k);
  }
  ck_assert_uint_eq(found, pins);
}

/* Small and large residents come by best fit and go at random, while the chip fills and empties again. */
START_TEST(finds_what_a_sorted_array_finds)
{
  uint32_t filled = 0, most = 0;
  for (uint32_t step = 0, tile = 0; step < STEPS; step++) {
    bool grows = step / 2000 % 2 == 0;
    uint64_t bytes = LINE * (cm_random_below(&rnd, 10) == 0 ? 1 + cm_random_below(&rnd, 30) : 1), at, other = 0;
    uint32_t stretch = (uint32_t)cm_random_below(&rnd, 80);
    bool any = cm_space_best_gap(&space, bytes, stretch, &at);
    ck_assert_int_eq(any, plain_best_gap(bytes, stretch, &other));
    filled += !any;
    if (any)
      ck_assert_uint_eq(at, other);
    while (space.number_of[tile] != 0)
      tile = (tile + 1) % TILES;
    if (any && plain_count < TILES - 1 && cm_random_below(&rnd, 4) < (grows ? 3 : 1))
      insert(tile, at, bytes);
    else if (plain_count > 0)
      drop((uint32_t)cm_random_below(&rnd, plain_count));
    most = plain_count > most ? plain_count : most;
    if (step % 50 == 0)
      compare();
  }
  ck_assert_uint_gt(most, 10 * CM_SPACE_BLOCK);
  ck_assert_uint_gt(filled, 0);
}
END_TEST

static cm_status count_moves(void *user, const cm_resident *resident, uint64_t address, cm_error *slot)
{
  (void)slot;
  ck_assert_uint_lt(address, resident->address);
  ++*(uint32_t *)user;
  return CM_OK;
}

START_TEST(is_copied_renamed_and_compacted)
{
  cm_resident items[TILES];
  uint32_t moves = 0, tile = TILES - 1;
  uint64_t at = 0, end;
  for (uint32_t k = 0; k < 500; k++, at += LINE * (1 + cm_random_below(&rnd, 7)))
    insert(k, at, LINE);
  insert(600, at, 0); /* what has no bytes lies where the next one begins */
  insert(601, at, LINE);
  compare();
  cm_space_list(&space, items);
  for (uint32_t k = 0; k < plain_count; k++)
    ck_assert(items[k].tile == plain[k].tile && items[k].address == plain[k].address);
  cm_space_rename(&space, cm_space_find(&space, 7), tile);
  ck_assert_ptr_null(cm_space_find(&space, 7));
  ck_assert_uint_eq(cm_space_find(&space, tile)->address, plain[7].address);
  ck_ok(cm_space_compact(&space, count_moves, &moves, &end, &error));
  ck_assert_uint_eq(end, 501 * LINE);
  ck_assert_uint_gt(moves, 300);
  ck_assert(cm_space_best_gap(&space, (LINES - 501) * LINE, 0, &at));
  ck_assert_uint_eq(at, end);
  ck_assert(!cm_space_best_gap(&space, (LINES - 500) * LINE, 0, &at));
  ck_ok(cm_space_fill(&space, items, plain_count, &error));
  ck_assert_ptr_null(cm_space_find(&space, tile));
  memset(pinned, 0, sizeof pinned);
  compare();
}
END_TEST

/* ---- over time (core/machine/schedule/addresses.h) ---- */

enum { WHOLE = 400, HELD = 60 };

/* When `bytes` in a row are first free from `ready` on, line by line, and where the lowest or highest of those lines begin;
 * below 0: nowhere. */
static double first_free(const double *line, const bool *taken, uint64_t bytes, double ready, bool high, uint64_t *at)
{
  double best = -1;
  for (uint64_t from = 0; from + bytes <= WHOLE; from++) {
    double latest = ready;
    bool free = true;
    for (uint64_t l = from; l < from + bytes; l++) {
      free = free && !taken[l];
      latest = line[l] > latest ? line[l] : latest;
    }
    if (free && (best < 0 || latest < best || (high && latest <= best))) {
      best = latest;
      *at = from;
    }
  }
  return best;
}

/* Beside a plain array of when each line is free: a buffer lies on lines of nobody else, is told when they all are free,
 * no place that is free earlier was overlooked, and of those free at the same time it is the one nearest to the end asked
 * for. */
START_TEST(addresses_over_time)
{
  static double line[WHOLE];
  static bool taken[WHOLE];
  struct {
    uint64_t from, count;
  } held[HELD] = {{0, 0}};
  cm_addresses a;
  ck_ok(cm_addresses_begin(&a, &(cm_core_memory){CM_CORE_SHARED, WHOLE}, 1, &memory, &error));
  for (uint32_t step = 0; step < 6000; step++) {
    uint32_t slot = (uint32_t)cm_random_below(&rnd, HELD);
    double now = (double)cm_random_below(&rnd, 1000);
    if (held[slot].count > 0) {
      cm_addresses_free(&a, held[slot].from, now, -1);
      for (uint64_t l = held[slot].from; l < held[slot].from + held[slot].count; l++) {
        line[l] = now;
        taken[l] = false;
      }
      held[slot].count = 0;
      continue;
    }
    const bool high = step % 3 == 0;
    uint64_t bytes = 1 + cm_random_below(&rnd, 12), address, nearest = 0;
    double best = first_free(line, taken, bytes, now, high, &nearest);
    cm_window window;
    const cm_room_wish wish = {bytes, now, high};
    ck_assert_int_eq(cm_addresses_find(&a, 0, WHOLE, &wish, &window), best >= 0);
    if (best < 0)
      continue;
    double when = window.free_ns > now ? window.free_ns : now;
    ck_assert(when <= best && when >= best);
    ck_ok(cm_addresses_take(&a, &window, &wish, slot, &address, &error));
    if (best <= now)
      ck_assert_uint_eq(address, nearest);
    for (uint64_t l = address; l < address + bytes; l++) {
      ck_assert(!taken[l] && line[l] <= when);
      taken[l] = true;
    }
    held[slot].from = address;
    held[slot].count = bytes;
  }
  cm_addresses_end(&a);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("space");
  TCase *tests = tcase_create("space");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, addresses_over_time);
  tcase_add_test(tests, finds_what_a_sorted_array_finds);
  tcase_add_test(tests, is_copied_renamed_and_compacted);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
