/* Turn rules and rings of channels, against the rules in words of their own. */
#include "../unit/networks.h"

#include "core/chip/dependency.h"
#include "tests/property/turns.h"

static cm_error error;

START_TEST(rings_are_caught)
{
  cm_chip *chip;
  cm_dependencies graph;
  uint32_t *cycle;
  size_t length;
  ck_ok(cm_chip_mesh(3, 3, &chip, &error));
  ck_ok(cm_dependencies_new(chip, NULL, &graph, &error));
  /* Around the north-western square: (0,0) east, (1,0) south, (1,1) west, (0,1) north. */
  const uint32_t ring[] = {0 * 4 + CM_EAST, 1 * 4 + CM_SOUTH, 4 * 4 + CM_WEST, 3 * 4 + CM_NORTH};
  const cm_direction next[] = {CM_SOUTH, CM_WEST, CM_NORTH, CM_EAST};
  for (int i = 0; i < 3; i++)
    cm_dependencies_add(&graph, ring[i], next[i]);
  ck_ok(cm_dependencies_cycle(&graph, NULL, &cycle, &length, &error));
  ck_assert_uint_eq(length, 0);
  cm_free(cycle);
  cm_dependencies_add(&graph, ring[3], next[3]);
  ck_ok(cm_dependencies_cycle(&graph, NULL, &cycle, &length, &error));
  ck_assert_uint_eq(length, 4);
  for (size_t i = 0; i < 4; i++) {
    size_t k = 0;
    while (k < 4 && ring[k] != cycle[i])
      k++;
    ck_assert_uint_lt(k, 4);
    ck_assert_uint_eq(cycle[(i + 1) % 4], ring[(k + 1) % 4]);
  }
  cm_free(cycle);
  cm_dependencies_free(&graph);
  /* Around a torus: three links east that wait for each other. */
  ck_ok(cm_dependencies_new(chip, NULL, &graph, &error));
  for (uint32_t x = 0; x < 3; x++)
    cm_dependencies_add(&graph, x * 4 + CM_EAST, CM_EAST);
  ck_ok(cm_dependencies_cycle(&graph, NULL, &cycle, &length, &error));
  ck_assert_uint_eq(length, 3);
  cm_free(cycle);
  cm_dependencies_free(&graph);
  cm_chip_free(chip);
}
END_TEST

/* No rule allows a ring, whatever packets do: the graph of all legal turns has none; with every turn it has. */
START_TEST(rules_forbid_every_ring)
{
  cm_chip *chip;
  ck_ok(cm_chip_mesh(5, 4, &chip, &error));
  for (int rule = 0; rule <= CM_TURN_RULES; rule++) {
    cm_dependencies graph;
    uint32_t *cycle;
    size_t length;
    ck_ok(cm_dependencies_new(chip, NULL, &graph, &error));
    for (int router = 0; router < 20; router++)
      for (int from = 0; from < CM_DIRECTIONS; from++)
        for (int to = 0; to < CM_DIRECTIONS; to++) {
          int at = step(chip, router, from);
          if (at < 0 || step(chip, at, to) < 0 || from == (to ^ 1))
            continue;
          bool legal =
              rule == CM_TURN_RULES || cm_turn_allowed((cm_turn_rule)rule, (cm_direction)from, (cm_direction)to);
          ck_assert(rule == CM_TURN_RULES || legal == legal_turn((cm_turn_rule)rule, from, to));
          if (legal)
            cm_dependencies_add(&graph, (uint32_t)(router * CM_DIRECTIONS + from), (cm_direction)to);
        }
    ck_ok(cm_dependencies_cycle(&graph, NULL, &cycle, &length, &error));
    ck_assert_int_eq(length == 0, rule < CM_TURN_RULES);
    cm_free(cycle);
    cm_dependencies_free(&graph);
  }
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("turns");
  TCase *tests = tcase_create("turns");
  tcase_add_test(tests, rings_are_caught);
  tcase_add_test(tests, rules_forbid_every_ring);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
