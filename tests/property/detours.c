/* Distances around dead links where there is no table of all pairs: those of breadth-first search over the links, and so the last
 * links of ways; the same whatever was asked before, and by whom. Packets on these ways never wait for each other in a ring. */
#include "../unit/chips.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "core/chip/interconnect/detours.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/interconnect/path_trees.h"

enum { TEXT_MAX = 1 << 18, THREADS = 3, ASKED = CM_SANITIZED ? 4000 : 40000 };

static cm_error error;
static cm_random dice;

static uint32_t rolled(uint32_t bound)
{
  return (uint32_t)cm_random_below(&dice, bound);
}

/* ---- chips ---- */

typedef struct text {
  char at[TEXT_MAX];
  size_t length;
} text;

__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...)
{
  va_list values;
  va_start(values, format);
  t->length += (size_t)vsnprintf(t->at + t->length, TEXT_MAX - t->length, format, values);
  va_end(values);
  ck_assert_uint_lt(t->length, TEXT_MAX);
}

static cm_chip *chip_said(text *t)
{
  cm_chip *chip = chip_parsed(t->at);
  free(t);
  return chip;
}

/* Dead links in any direction, one way each; dead routers alone and in rectangles, walls among them. */
static void say_dead(text *t, uint32_t columns, uint32_t rows, bool hexagonal, uint32_t links, uint32_t rectangles)
{
  static const char *const names[] = {"east", "north", "west", "south", "north-east", "south-west"};
  say(t, ", \"dead_routers\": [[0, 0]");
  for (uint32_t i = 0; i < rectangles; i++) {
    bool wall = rolled(4) == 0, upright = rolled(2) == 0;
    uint32_t width = wall && !upright ? columns / 2 : 1 + rolled(3), height = wall && upright ? rows / 2 : 1 + rolled(3);
    width = width < columns ? width : columns - 1;
    height = height < rows ? height : rows - 1;
    uint32_t x = rolled(columns - width), y = rolled(rows - height);
    say(t, ", [%u, %u, %u, %u]", x, y, x + width - 1, y + height - 1);
  }
  say(t, "], \"dead_links\": [[1, 1, \"east\"]");
  for (uint32_t i = 0; i < links; i++) /* none that an open edge has not */
    say(t, ", [%u, %u, \"%s\"]", 1 + rolled(columns - 2), 1 + rolled(rows - 2), names[rolled(hexagonal ? 6 : 4)]);
  say(t, "]");
}

static cm_chip *grid_of(uint32_t columns, uint32_t rows, uint32_t links, uint32_t rectangles)
{
  static const char *const truth[] = {"false", "true"};
  text *t = calloc(1, sizeof *t);
  bool hexagonal = rolled(3) > 0;
  say(t, "{\"name\": \"d\", \"cores\": [%u, %u], \"torus\": [%s, %s], \"interconnect\": {\"kind\": \"%s\"}", columns, rows,
      truth[rolled(2)], truth[rolled(2)], hexagonal ? "hexagonal" : "grid");
  say_dead(t, columns, rows, hexagonal, links, rectangles);
  say(t, "}");
  return chip_said(t);
}

/* ---- the judge ---- */

static void flood(const cm_interconnect *net, uint32_t from, uint32_t *steps)
{
  uint32_t *queue = calloc(net->routers, sizeof *queue), tail = 0;
  memset(steps, 0xff, net->routers * sizeof *steps);
  steps[from] = 0;
  queue[tail++] = from;
  for (uint32_t head = 0; head < tail; head++)
    for (uint32_t i = net->first[queue[head]]; i < net->first[queue[head] + 1]; i++)
      if (!net->link[i].dead && steps[net->link[i].to] == UINT32_MAX) {
        steps[net->link[i].to] = steps[queue[head]] + 1;
        queue[tail++] = net->link[i].to;
      }
  free(queue);
}

static void check_last(const cm_interconnect *net, uint32_t from, uint32_t to, const uint32_t *steps)
{
  uint32_t best = UINT32_MAX;
  for (uint32_t i = net->first[to]; i < net->first[to + 1]; i++) {
    const cm_link *in = &net->link[net->link[i].twin];
    if (!in->dead && steps[in->from] != UINT32_MAX && steps[in->from] + 1 == steps[to] && in->from < best)
      best = in->from;
  }
  const cm_link *last = &net->link[cm_interconnect_last(net, from, to)];
  ck_assert_uint_eq(last->to, to);
  ck_assert_uint_eq(last->from, best);
  ck_assert(!last->dead);
}

/* All targets of some sources. */
static void compare(const cm_interconnect *net, uint32_t sources)
{
  uint32_t *steps = calloc(net->routers, sizeof *steps);
  ck_ok(cm_interconnect_prepare(net, &error));
  for (uint32_t i = 0; i < sources; i++) {
    uint32_t from = rolled(net->routers);
    flood(net, from, steps);
    for (uint32_t to = 0; to < net->routers; to++) {
      ck_assert_uint_eq(cm_interconnect_hops(net, from, to), steps[to]);
      if (to != from && steps[to] != UINT32_MAX && rolled(8) == 0)
        check_last(net, from, to, steps);
    }
  }
  free(steps);
}

/* ---- tests ---- */

START_TEST(small_grids_of_all_pairs)
{
  cm_random_init(&dice, 5, 0, 0);
  for (uint32_t round = 0; round < test_rounds(300); round++) {
    uint32_t columns = 3 + rolled(9), rows = 3 + rolled(9);
    cm_chip *chip = grid_of(columns, rows, rolled(round % 2 ? 4 : columns * rows), rolled(3));
    const cm_interconnect *net = chip->interconnect;
    uint32_t *steps = calloc(net->routers, sizeof *steps);
    cm_detours *detours;
    ck_ok(cm_detours_new(net, &detours, &error));
    for (uint32_t from = 0; from < net->routers; from++) {
      flood(net, from, steps);
      for (uint32_t to = 0; to < net->routers; to++)
        ck_assert_uint_eq(cm_detours_hops(net, detours, from, to), steps[to]);
    }
    free(steps);
    cm_detours_free(detours);
    cm_chip_free(chip);
  }
}
END_TEST

START_TEST(large_grids_have_no_table)
{
  static const uint32_t size[][2] = {{70, 60}, {3, 1400}, {1366, 3}, {65, 64}};
  cm_random_init(&dice, 6, 0, 0);
  for (uint32_t round = 0; round < test_rounds(12); round++) {
    const uint32_t *s = size[round % 4];
    cm_chip *chip = grid_of(s[0], s[1], rolled(round % 3 ? 20 : 2000), rolled(round % 2 ? 30 : 3));
    compare(chip->interconnect, 4);
    ck_assert_ptr_null(atomic_load(&chip->interconnect->way));
    cm_chip_free(chip);
  }
}
END_TEST

START_TEST(trees_and_all_to_all)
{
  cm_random_init(&dice, 7, 0, 0);
  cm_chip *chip = chip_parsed("{\"name\": \"t\", \"cores\": [64, 64], \"interconnect\": {\"kind\": \"tree\", \"levels\": [{\"block\": "
                              "[4, 4]}, {\"block\": [4, 4], \"cost\": 2}, {\"block\": [4, 4]}]}, \"dead_routers\": [[3, 3]], "
                              "\"dead_links\": [[0, 4096], [4097, 4], [4100, 4353], [4353, 4368]]}");
  compare(chip->interconnect, 20);
  ck_assert_ptr_null(atomic_load(&chip->interconnect->way));
  cm_chip_free(chip);
  text *t = calloc(1, sizeof *t);
  say(t, "{\"name\": \"a\", \"cores\": [16, 16], \"interconnect\": {\"kind\": \"all-to-all\"}, \"dead_links\": [[0, 1]");
  for (uint32_t i = 0; i < 100; i++) {
    uint32_t a = rolled(256), b = rolled(255);
    say(t, ", [%u, %u]", a, b + (b >= a));
  }
  say(t, "]}");
  chip = chip_said(t);
  compare(chip->interconnect, 20);
  cm_chip_free(chip);
}
END_TEST

START_TEST(packets_on_their_ways_never_wait_in_a_ring)
{
  enum { SOURCES = 300, TARGETS = 8, CHANNELS = 16 };
  cm_random_init(&dice, 9, 0, 0);
  for (uint32_t round = 0; round < test_rounds(6); round++) {
    cm_chip *chip = grid_of(70, 60, 200, 20);
    const cm_interconnect *net = chip->interconnect;
    cm_way_tracer *tracer;
    cm_channels graph;
    ck_ok(cm_interconnect_prepare(net, &error));
    ck_ok(cm_way_tracer_new(net, NULL, &tracer, &error));
    ck_ok(cm_channels_new(tracer, CHANNELS, NULL, &graph, &error));
    for (uint32_t i = 0; i < SOURCES; i++) {
      uint32_t source = rolled(net->routers), target[TARGETS], count = 0, lost;
      cm_way_tree tree;
      while (count < TARGETS) {
        uint32_t to = rolled(net->routers);
        if (cm_interconnect_hops(net, source, to) != CM_NO_WAY)
          target[count++] = to;
      }
      ck_ok(cm_way_trace(tracer, &(cm_ends){source, target, count}, &tree, &lost, &error));
      for (uint32_t k = 1; k < tree.count; k++) {
        const cm_way_node *node = &tree.node[k];
        ck_assert(!net->link[node->link].dead);
        ck_assert_uint_lt(node->channel, CHANNELS);
        ck_assert_uint_eq(net->link[node->link].from, tree.node[node->parent].router);
      }
      cm_channels_add(&graph, tree);
    }
    bool ring = true;
    ck_ok(cm_channels_ring(&graph, NULL, &ring, &error));
    ck_assert(!ring);
    cm_channels_free(&graph);
    cm_way_tracer_free(tracer);
    cm_chip_free(chip);
  }
}
END_TEST

/* Pairs in an order of one's own, by several at a time. */
typedef struct asker {
  const cm_interconnect *net;
  const uint32_t (*pair)[2];
  uint32_t step;
  uint32_t *answer;
} asker;

static void *ask(void *context)
{
  const asker *a = context;
  for (uint32_t i = 0, at = 0; i < ASKED; i++, at = (at + a->step) % ASKED)
    a->answer[at] = cm_interconnect_hops(a->net, a->pair[at][0], a->pair[at][1]);
  return NULL;
}

START_TEST(answers_are_those_of_one_thread)
{
  static const uint32_t step[THREADS] = {1, ASKED - 1, 7};
  uint32_t (*pair)[2] = calloc(ASKED, sizeof *pair), *steps = calloc(4300, sizeof *steps);
  cm_random_init(&dice, 8, 0, 0);
  cm_chip *chip = grid_of(70, 60, 200, 20);
  ck_ok(cm_interconnect_prepare(chip->interconnect, &error));
  for (uint32_t i = 0; i < ASKED; i++) {
    pair[i][0] = rolled(4200);
    pair[i][1] = rolled(4) ? pair[i][0] / 70 * 70 + rolled(70) : rolled(4200); /* most in a row */
  }
  pthread_t thread[THREADS];
  asker askers[THREADS];
  for (int t = 0; t < THREADS; t++) {
    askers[t] = (asker){chip->interconnect, (const uint32_t (*)[2])pair, step[t], calloc(ASKED, sizeof(uint32_t))};
    ck_assert_int_eq(pthread_create(&thread[t], NULL, ask, &askers[t]), 0);
  }
  for (int t = 0; t < THREADS; t++)
    ck_assert_int_eq(pthread_join(thread[t], NULL), 0);
  for (uint32_t i = 0; i < ASKED; i++) {
    if (i < 200) {
      flood(chip->interconnect, pair[i][0], steps);
      ck_assert_uint_eq(askers[0].answer[i], steps[pair[i][1]]);
    }
    for (int t = 1; t < THREADS; t++)
      ck_assert_uint_eq(askers[t].answer[i], askers[0].answer[i]);
  }
  for (int t = 0; t < THREADS; t++)
    free(askers[t].answer);
  free(pair);
  free(steps);
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("detours");
  TCase *tests = tcase_create("detours");
  tcase_add_test(tests, small_grids_of_all_pairs);
  tcase_add_test(tests, large_grids_have_no_table);
  tcase_add_test(tests, trees_and_all_to_all);
  tcase_add_test(tests, packets_on_their_ways_never_wait_in_a_ring);
  tcase_add_test(tests, answers_are_those_of_one_thread);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
