/* core/partition/multilevel: levels, labels and parts against maps followed by hand; the graphs here are rows of vertices. */
#include "tests/unit/unit.h"

#include "core/partition/multilevel.h"

enum { MOST = 1000 };

static cm_error error;
static cm_run run;
static cm_memory account;

typedef struct row {
  uint32_t vertices;
} row;

/* Merges every `every`-th vertex with the one before it, of one label; fails on level `bad`. */
typedef struct merging {
  uint32_t every, bad;
} merging;

static cm_status merge(void *context, const cm_level *level, uint32_t *map, uint32_t *clusters, cm_error *slot)
{
  const merging *m = context;
  uint32_t count = 0;
  const uint32_t *label = level->label;
  if (level->number == m->bad)
    return cm_fail(slot, CM_NO_ROOM, "level %u", level->number);
  for (uint32_t v = 0; v < ((const row *)level->graph)->vertices; v++) {
    bool joins = v % m->every == 1 && (label == NULL || label[v] == label[v - 1]);
    count += !joins;
    map[v] = count - 1;
  }
  *clusters = count;
  return CM_OK;
}

static cm_status contract(const void *graph, const uint32_t *map, uint32_t clusters, cm_run *at, void **coarse, cm_error *slot)
{
  row *made;
  ck_assert_uint_eq(map[((const row *)graph)->vertices - 1], clusters - 1);
  if (CM_NEW(at->memory, made, 1, slot) != CM_OK)
    return slot->status;
  made->vertices = clusters;
  *coarse = made;
  return CM_OK;
}

static cm_status build(row *finest, merging *m, uint32_t least, const uint32_t *label, cm_hierarchy *h)
{
  const cm_coarsener coarsener = {m, least, label, merge, contract, cm_free};
  return cm_hierarchy_build(finest, finest->vertices, &coarsener, &run, h, &error);
}

static void set_up(void)
{
  cm_run_init(&run);
  cm_memory_init(&account, 0);
  run.memory = &account;
}

START_TEST(levels_end_at_the_least_where_nothing_merges_and_at_the_most)
{
  static const struct {
    uint32_t vertices, every, least, levels;
  } at[] = {{64, 2, 1, 7}, {64, 2, 8, 4}, {64, 2, 64, 1}, {40, 100, 1, 40}, {1, 2, 0, 1}, {100, 100, 1, CM_HIERARCHY_MAX}};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    row finest = {at[i].vertices};
    merging m = {at[i].every, UINT32_MAX};
    cm_hierarchy h;
    ck_ok(build(&finest, &m, at[i].least, NULL, &h));
    ck_assert_ptr_eq(h.level[0], &finest);
    ck_assert_uint_eq(h.levels, at[i].levels);
    for (uint32_t l = 0; l < h.levels; l++)
      ck_assert_uint_eq(h.vertices[l], ((row *)h.level[l])->vertices);
    cm_hierarchy_free(&h);
    cm_hierarchy_free(&h);
    ck_assert_uint_eq(account.used_bytes, 0);
  }
}
END_TEST

/* Runs of so many vertices have one label. */
START_TEST(labels_stay_apart_on_every_level)
{
  uint32_t label[MOST];
  static const uint32_t lengths[] = {1, 2, 3, 7, 30};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    row finest = {MOST};
    merging m = {2, UINT32_MAX};
    cm_hierarchy h;
    for (uint32_t v = 0; v < MOST; v++)
      label[v] = v / lengths[i] % 2;
    ck_ok(build(&finest, &m, 1, label, &h));
    ck_assert(lengths[i] > 1 || h.levels == 1);
    for (uint32_t v = 0; v < MOST; v++) {
      uint32_t at = v, before = v > 0 ? v - 1 : 0;
      for (uint32_t l = 0; l + 1 < h.levels; l++) {
        at = h.map[l][at];
        before = h.map[l][before];
      }
      ck_assert(at != before || label[v] == label[v > 0 ? v - 1 : 0]);
    }
    cm_hierarchy_free(&h);
  }
  ck_assert_uint_eq(account.used_bytes, 0);
}
END_TEST

/* The levels that a descent came to, and what it found there. */
typedef struct visits {
  const uint32_t *part;
  uint32_t next, bad;
} visits;

static cm_status visit(void *context, const cm_hierarchy *h, uint32_t level, uint32_t *part, cm_error *slot)
{
  visits *seen = context;
  ck_assert_uint_eq(level, seen->next--);
  for (uint32_t v = 0; v < MOST; v++) {
    uint32_t at = v;
    for (uint32_t l = 0; l < level; l++)
      at = h->map[l][at];
    ck_assert_uint_eq(part[at], seen->part[v]);
  }
  return level == seen->bad ? cm_fail(slot, CM_NO_ROOM, "level %u", level) : CM_OK;
}

START_TEST(parts_go_up_and_come_down_as_the_maps_say)
{
  uint32_t part[MOST], held[MOST];
  row finest = {MOST};
  merging m = {2, UINT32_MAX};
  cm_hierarchy h;
  for (uint32_t v = 0; v < MOST; v++)
    part[v] = held[v] = v / 90 * 5 % 11;
  ck_ok(build(&finest, &m, 1, part, &h));
  ck_assert_uint_gt(h.levels, 5);
  cm_hierarchy_lift(&h, held);
  for (uint32_t v = 0; v < MOST; v++) {
    uint32_t at = v;
    for (uint32_t l = 0; l + 1 < h.levels; l++)
      at = h.map[l][at];
    ck_assert_uint_eq(held[at], part[v]);
  }
  visits seen = {part, h.levels - 2, UINT32_MAX};
  ck_ok(cm_hierarchy_descend(&h, visit, &seen, held, &error));
  ck_assert_uint_eq(seen.next, UINT32_MAX);
  ck_assert_mem_eq(held, part, sizeof part);
  cm_hierarchy_lift(&h, held);
  seen = (visits){part, h.levels - 2, 2};
  ck_fails(cm_hierarchy_descend(&h, visit, &seen, held, &error), CM_NO_ROOM);
  ck_assert_uint_eq(seen.next, 1);
  cm_hierarchy_free(&h);
}
END_TEST

START_TEST(a_failure_leaves_nothing_behind)
{
  uint32_t label[MOST] = {0};
  row finest = {MOST};
  for (uint32_t bad = 0; bad < 5; bad++) {
    merging m = {2, bad};
    cm_hierarchy h = {0};
    ck_fails(build(&finest, &m, 1, label, &h), CM_NO_ROOM);
    ck_assert_uint_eq(h.levels, 0);
    ck_assert_uint_eq(account.used_bytes, 0);
  }
  merging m = {2, UINT32_MAX};
  cm_status status = CM_MEMORY_LIMIT;
  uint32_t refused = 0;
  for (uint64_t limit = 100; status != CM_OK; limit += 100, refused++) {
    cm_hierarchy h;
    cm_memory_init(&account, limit);
    status = build(&finest, &m, 1, label, &h);
    if (status == CM_OK)
      cm_hierarchy_free(&h);
    else
      ck_assert_int_eq(status, CM_MEMORY_LIMIT);
    ck_assert_uint_eq(account.used_bytes, 0);
  }
  ck_assert_uint_gt(refused, 10);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("multilevel");
  TCase *tests = tcase_create("multilevel");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, levels_end_at_the_least_where_nothing_merges_and_at_the_most);
  tcase_add_test(tests, labels_stay_apart_on_every_level);
  tcase_add_test(tests, parts_go_up_and_come_down_as_the_maps_say);
  tcase_add_test(tests, a_failure_leaves_nothing_behind);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
