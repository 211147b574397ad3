/* What the cores of each router, and of each die, take together, core by core. Nothing is shared with what places. */
#include <inttypes.h>
#include <string.h>

#include "core/verify/checker.h"

static uint64_t use_of(const cm_core_load *load, int kind)
{
  return kind == 0 ? load->synapses : kind == 1 ? load->inbound_axons : load->outbound_axons;
}

uint64_t cm_check_shared_limit(const cm_chip *chip, bool die, int kind)
{
  const cm_limits *l = die ? &chip->die_limits : &chip->router_limits;
  return kind == 0 ? l->synapses : kind == 1 ? l->inbound_axons : l->outbound_axons;
}

cm_status cm_check_measure_shared(const cm_mapped *m, const cm_core_load *load, bool die, cm_run *run, cm_check_shared found[3], cm_error *error)
{
  const cm_chip *chip = m->chip;
  const uint32_t wide = die ? chip->die_width : chip->router_x, high = die ? chip->die_height : chip->router_y, across = chip->width / wide;
  uint64_t *sum;
  memset(found, 0, 3 * sizeof *found);
  CM_TRY(CM_NEW(run->memory, sum, (size_t)cm_chip_cores(chip) * 3, error));
  for (uint32_t p = 0; p < m->parts; p++) {
    const uint32_t x = m->core[p] % chip->width / wide, y = m->core[p] / chip->width / high;
    for (int kind = 0; kind < 3; kind++) {
      uint64_t *at = &sum[3 * ((size_t)y * across + x) + (size_t)kind];
      *at += use_of(&load[p], kind);
      if (*at > found[kind].most)
        found[kind] = (cm_check_shared){*at, x, y, p};
    }
  }
  cm_free(sum);
  return CM_OK;
}

cm_status cm_checker_shared(cm_checker *c, cm_error *error)
{
  static const char *const names[] = {"synapses", "inbound axons", "outbound axons"};
  cm_check_shared found[3];
  for (int die = 0; die < 2; die++) {
    CM_TRY(cm_check_measure_shared(&c->mapped, c->truth.core, die == 1, c->given->run, found, error));
    for (int kind = 0; kind < 3; kind++) {
      const uint64_t limit = cm_check_shared_limit(c->given->chip, die == 1, kind);
      if (limit != 0 && found[kind].most > limit)
        violation(c, "the cores of %s (%" PRIu32 ", %" PRIu32 ") take %" PRIu64 " %s together, but %" PRIu64 " are allowed", die == 1 ? "die" : "router", found[kind].x,
                  found[kind].y, found[kind].most, names[kind], limit);
    }
  }
  return CM_OK;
}
