/* Chips at random for tests: several dies, cores behind one router, torus, hops that differ. */
#pragma once

#include "networks.h"

#include "core/chip/chip.h"

/* The chip that a text describes, and any JSON. */
static inline cm_chip *chip_parsed(const char *json)
{
  cm_chip *chip;
  cm_error error;
  ck_ok(cm_chip_parse(json, strlen(json), &chip, &error));
  return chip;
}

static inline json_t *json_of(const char *text)
{
  json_error_t trouble;
  json_t *value = json_loads(text, 0, &trouble);
  ck_assert_msg(value != NULL, "%s: %s", text, trouble.text);
  return value;
}

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

/* Any interconnect but a plain mesh, some with dead links; two cores behind a router, 72 at most. The caller's: cm_chip_free. */
static inline cm_chip *chip_with_interconnect(cm_random *random)
{
  char text[6000], links[4000] = "", dead[200] = "";
  unsigned kind = (unsigned)cm_random_below(random, 5), width = 3 + (unsigned)cm_random_below(random, 3), routers = width * width;
  static const char *const torus[] = {"false, false", "true, true", "true, false"};
  const char *ring = kind < 2 ? torus[cm_random_below(random, 3)] : torus[0];
  if (kind == 2 || kind == 3)
    width = 4;
  if (kind == 4) { /* a random spanning tree and some links more, around a switch */
    size_t used = 0;
    for (unsigned r = 1; r <= routers; r++)
      used += (size_t)snprintf(links + used, sizeof links - used, "%s[%u, %u, %u, %u]", r > 1 ? ", " : "",
                               (unsigned)cm_random_below(random, r), r, 1 + (unsigned)cm_random_below(random, 4),
                               1 + (unsigned)cm_random_below(random, 3));
    (void)snprintf(links + used, sizeof links - used, "%s", "");
  }
  static const char *const kinds[] = {"\"kind\": \"grid\"", "\"kind\": \"hexagonal\"",
                                      ("\"kind\": \"tree\", \"levels\": [{\"block\": [2, 2], \"bandwidth\": 2}, {\"block\": [2, 2], "
                                       "\"cost\": 3.5}]"),
                                      "\"kind\": \"all-to-all\"", "\"kind\": \"graph\", \"switches\": 1, \"links\": ["};
  if (kind < 2 && cm_random_below(random, 2))
    (void)snprintf(dead, sizeof dead, ", \"dead_links\": [[1, 1, \"east\"], [1, 1, \"north\"], [0, 1, \"south\"]], \"dead_routers\": "
                                      "[[2, 2]]");
  int length = snprintf(text, sizeof text,
                        "{\"name\": \"ways\", \"cores\": [%u, %u], \"cores_per_router\": [2, 1], \"torus\": [%s], "
                        "\"limits\": {\"neurons\": %u}, \"energy_pj\": {\"router\": 1.5, \"link\": 2, \"die_to_die\": 9}, "
                        "\"costs\": {\"packets_per_ns\": {\"link\": 0.5}}, \"interconnect\": {%s%s%s}%s}",
                        2 * width, width, ring, 3 + (unsigned)cm_random_below(random, 10), kinds[kind], links, kind == 4 ? "]" : "",
                        dead);
  cm_chip *chip;
  cm_error error;
  ck_ok(cm_chip_parse(text, (size_t)length, &chip, &error));
  return chip;
}

/* Some cores of a chip, ascending, at least one. */
static inline uint32_t chip_random_cores(cm_random *random, const cm_chip *chip, uint32_t *core)
{
  uint32_t count = 0, share = 1 + below(random, 4);
  for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
    if (below(random, 4) < share)
      core[count++] = c;
  if (count == 0)
    core[count++] = below(random, cm_chip_cores(chip));
  return count;
}
