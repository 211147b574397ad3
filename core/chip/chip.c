/* Geometry of chips, presets, opening and freeing. chip_file.c reads and prints descriptions. */
#include "core/chip/chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/internal.h"
#include "core/chip/turns.h"

void cm_chip_free(cm_chip *chip)
{
  if (chip == NULL)
    return;
  cm_free(chip->description);
  cm_free(chip->dead_cores);
  cm_free(chip->dead_links);
  cm_free(chip->target);
  cm_classes_free(chip);
  cm_interconnect_free(chip->interconnect);
  cm_free(chip);
}

const char *const *cm_chip_presets(void)
{
  return cm_chip_preset_names;
}

const char *cm_chip_preset_text(const char *name)
{
  for (const cm_chip_preset *preset = cm_chip_preset_table; preset->name != NULL; preset++)
    if (strcmp(preset->name, name) == 0)
      return preset->text;
  return NULL;
}

static bool is_path(const char *text)
{
  size_t length = strlen(text);
  return strchr(text, '/') != NULL || (length > 5 && strcmp(text + length - 5, ".json") == 0);
}

cm_status cm_chip_open(const char *name_or_path, cm_chip **chip, cm_error *error)
{
  if (is_path(name_or_path)) {
    char *text;
    size_t size;
    cm_status status = cm_file_read(name_or_path, CM_CHIP_FILE_BYTES_MAX, &text, &size, error);
    if (status != CM_OK)
      return status;
    status = cm_chip_parse(text, size, chip, error);
    free(text);
    return status;
  }
  const char *text = cm_chip_preset_text(name_or_path);
  if (text != NULL)
    return cm_chip_parse(text, strlen(text), chip, error);
  char known[300] = "";
  size_t used = 0;
  for (const char *const *name = cm_chip_presets(); *name != NULL && used < sizeof known; name++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ", *name);
  return cm_fail(error, CM_NOT_FOUND,
                 "there is no chip \"%.80s\"; presets are %s (a chip file needs a '/' or ends in .json)",
                 name_or_path, known);
}

cm_status cm_chip_mesh(uint32_t width, uint32_t height, cm_chip **chip, cm_error *error)
{
  char text[400];
  int size = snprintf(text, sizeof text,
                      "{\"name\": \"mesh-%ux%u\", \"description\": \"A bare grid without limits.\", "
                      "\"cores\": [%u, %u], \"energy_pj\": {\"router\": 1, \"link\": 0.1}, "
                      "\"latency_ns\": {\"router\": 1, \"link\": 0.01}}",
                      width, height, width, height);
  return cm_chip_parse(text, (size_t)size, chip, error);
}

/* Signed steps along one axis of routers from a to b: the shorter way round a torus, the positive one when both
 * are equal. */
static int32_t axis_steps(uint32_t a, uint32_t b, uint32_t routers, bool torus)
{
  int32_t direct = (int32_t)b - (int32_t)a, size = (int32_t)routers;
  if (!torus)
    return direct;
  int32_t forward = direct >= 0 ? direct : direct + size;
  return 2 * (int64_t)forward <= size ? forward : forward - size;
}

/* Die borders on a way of `steps` from a. The link that closes a torus is one where the axis has several dies. */
static uint32_t borders(uint32_t a, int32_t steps, uint32_t routers, uint32_t die_routers)
{
  if (die_routers == routers)
    return 0;
  /* A way has the same links in either direction; counted from its western or northern end. */
  uint32_t length = (uint32_t)(steps < 0 ? -steps : steps);
  uint32_t from = steps >= 0 ? a : a >= length ? a - length : a + routers - length;
  return (from + length) / die_routers - from / die_routers;
}

void cm_chip_steps(const cm_chip *chip, uint32_t core_a, uint32_t core_b, int32_t *x, int32_t *y)
{
  *x = axis_steps(core_a % chip->width / chip->router_x, core_b % chip->width / chip->router_x,
                  cm_chip_routers_x(chip), chip->torus_x);
  *y = axis_steps(core_a / chip->width / chip->router_y, core_b / chip->width / chip->router_y,
                  cm_chip_routers_y(chip), chip->torus_y);
}

cm_hops cm_chip_hops(const cm_chip *chip, uint32_t core_a, uint32_t core_b)
{
  int32_t x, y;
  cm_chip_steps(chip, core_a, core_b, &x, &y);
  uint32_t crossed_x = borders(core_a % chip->width / chip->router_x, x, cm_chip_routers_x(chip),
                               chip->die_width / chip->router_x);
  uint32_t crossed_y = borders(core_a / chip->width / chip->router_y, y, cm_chip_routers_y(chip),
                               chip->die_height / chip->router_y);
  return (cm_hops){(uint32_t)abs(x) - crossed_x, (uint32_t)abs(y) - crossed_y, crossed_x + crossed_y};
}

uint32_t cm_chip_distance(const cm_chip *chip, uint32_t core_a, uint32_t core_b)
{
  int32_t x, y;
  if (chip->interconnect != NULL)
    return cm_interconnect_hops(chip->interconnect, cm_router_of(chip, core_a), cm_router_of(chip, core_b));
  cm_chip_steps(chip, core_a, core_b, &x, &y);
  return (uint32_t)abs(x) + (uint32_t)abs(y);
}

bool cm_chip_between_dies(const cm_chip *chip, size_t link)
{
  size_t columns = cm_chip_routers_x(chip), rows = cm_chip_routers_y(chip), router = link / CM_DIRECTIONS;
  size_t x = router % columns, y = router / columns, die_x = chip->die_width / chip->router_x,
         die_y = chip->die_height / chip->router_y;
  switch (link % CM_DIRECTIONS) {
    case CM_EAST: return x / die_x != (x + 1) % columns / die_x;
    case CM_WEST: return x / die_x != (x + columns - 1) % columns / die_x;
    case CM_SOUTH: return y / die_y != (y + 1) % rows / die_y;
    default: return y / die_y != (y + rows - 1) % rows / die_y;
  }
}

double cm_chip_port_ns(const cm_chip *chip)
{
  return chip->costs.port_packets_per_ns > 0 ? 1 / chip->costs.port_packets_per_ns : chip->latency_ns.router;
}

double cm_chip_link_ns(const cm_chip *chip, size_t link)
{
  bool along_x = link % CM_DIRECTIONS == CM_EAST || link % CM_DIRECTIONS == CM_WEST;
  if (chip->costs.link_packets_per_ns > 0)
    return 1 / chip->costs.link_packets_per_ns;
  if (cm_chip_between_dies(chip, link))
    return chip->latency_ns.die_to_die;
  return along_x ? chip->latency_ns.east_west : chip->latency_ns.north_south;
}
