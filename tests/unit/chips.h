/* Chips at random for tests: several dies, cores behind one router, torus, hops that differ. */
#ifndef CM_TESTS_UNIT_CHIPS_H
#define CM_TESTS_UNIT_CHIPS_H

#include "networks.h"

#include "core/chip/chip.h"

/* Up to two dies of up to most_side routers a side; routes by "xy", or by either rule. The caller's: cm_chip_free. */
static inline cm_chip *chip_random(cm_random *random, uint32_t most_side, bool either_rule)
{
  static const char *const energies[] = {"{\"router\": 1, \"link\": 0.1}",
                                         "{\"router\": 0, \"east_west\": 3, \"north_south\": 4.2, \"die_to_die\": 20}"};
  char text[500];
  cm_chip *chip;
  cm_error error;
  uint32_t dies = 1 + below(random, 2), width = 1 + below(random, most_side), height = 1 + below(random, most_side);
  uint32_t block = below(random, 4) == 0 ? 2 : 1;
  const char *energy = energies[below(random, 2)], *rule = !either_rule || below(random, 2) ? "xy" : "yx";
  const char *torus_y = below(random, 2) ? "true" : "false", *torus_x = below(random, 2) ? "true" : "false";
  (void)snprintf(text, sizeof text,
                 "{\"name\": \"r\", \"dies\": [%u, 1], \"cores\": [%u, %u], \"cores_per_router\": [%u, 1], "
                 "\"torus\": [%s, %s], \"routing\": \"%s\", \"energy_pj\": %s}",
                 dies, width * block, height, block, torus_x, torus_y, rule, energy);
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  return chip;
}

#endif
