/* Reads and prints what of a chip is dead: cores, and the links of a plain mesh. What can fail: places outside the chip, memory. */
#include "base/order.h"
#include "core/chip/chip_read.h"
#include "core/chip/json.h"
#include "core/chip/turns.h"

/* Gathers the set bits of a map of `size` into an ascending list. */
static cm_status gather(const uint8_t *map, size_t size, uint32_t **list, uint32_t *count, cm_error *error)
{
  uint32_t found = 0;
  for (size_t i = 0; i < size; i++)
    found += map[i];
  CM_TRY(CM_NEW(NULL, *list, found, error));
  *count = found;
  found = 0;
  for (size_t i = 0; i < size; i++)
    if (map[i])
      (*list)[found++] = (uint32_t)i;
  return CM_OK;
}

/* Marks the cores of a list of rectangles of blocks of cores. */
static cm_status mark_dead(const cm_rectangles *from, const cm_chip *chip, uint8_t *map, cm_error *error)
{
  uint32_t block_x = chip->width / from->width, block_y = chip->height / from->height;
  uint64_t named = 0;
  for (size_t i = 0; i < json_array_size(from->list); i++) {
    cm_rectangle r;
    CM_TRY(cm_rectangle_read(from, i, &r, error));
    named += (uint64_t)(r.x1 - r.x0 + 1) * (r.y1 - r.y0 + 1);
    if (named > cm_named_cores_max(from->width, from->height))
      return cm_chip_bad(error, from->where, "the rectangles repeat the chip's cores too often");
    for (uint32_t y = r.y0 * block_y; y < (r.y1 + 1) * block_y; y++)
      memset(map + (size_t)y * chip->width + (size_t)r.x0 * block_x, 1, (size_t)(r.x1 - r.x0 + 1) * block_x);
  }
  return CM_OK;
}

cm_status cm_dead_cores_read(const json_t *root, cm_chip *chip, cm_error *error)
{
  const json_t *list = json_object_get(root, "dead_cores"), *routers = json_object_get(root, "dead_routers");
  if (list != NULL && !json_is_array(list))
    return cm_chip_bad(error, "/dead_cores", "expected a list");
  if (routers != NULL && !json_is_array(routers))
    return cm_chip_bad(error, "/dead_routers", "expected a list");
  uint8_t *map;
  size_t cores = json_array_size(list) + json_array_size(routers) == 0 ? 0 : cm_chip_cores(chip);
  CM_TRY(CM_NEW(NULL, map, cores, error));
  const cm_rectangles cores_named = {list, "/dead_cores", chip->width, chip->height, CM_BAD_CHIP};
  const cm_rectangles routers_named = {routers, "/dead_routers", cm_chip_routers_x(chip), cm_chip_routers_y(chip), CM_BAD_CHIP};
  cm_status status = mark_dead(&cores_named, chip, map, error);
  CM_THEN(status, mark_dead(&routers_named, chip, map, error));
  CM_THEN(status, gather(map, cores, &chip->dead_cores, &chip->dead_core_count, error));
  cm_free(map);
  return status;
}

/* A link [x, y, direction] that leaves router (x, y). */
static cm_status read_link(const json_t *item, size_t index, const cm_chip *chip, size_t *link, cm_error *error)
{
  char where[64];
  (void)snprintf(where, sizeof where, "/dead_links/%zu", index);
  const char *name = json_string_value(json_array_get(item, 2));
  if (json_array_size(item) != 3 || name == NULL)
    return cm_chip_bad(error, where, "expected [x, y, \"east\" or \"west\" or \"south\" or \"north\"] of a router");
  int64_t x, y;
  uint32_t routers_x = cm_chip_routers_x(chip), routers_y = cm_chip_routers_y(chip);
  cm_status status = cm_chip_read_whole(json_array_get(item, 0), where, 0, routers_x - 1, &x, error);
  CM_THEN(status, cm_chip_read_whole(json_array_get(item, 1), where, 0, routers_y - 1, &y, error));
  CM_TRY(status);
  size_t direction = 0;
  while (direction < CM_DIRECTIONS && strcmp(cm_direction_name((cm_direction)direction), name) != 0)
    direction++;
  if (direction == CM_DIRECTIONS)
    return cm_chip_bad(error, where, "the direction must be east, west, south or north");
  bool outside = (direction == CM_EAST && x == routers_x - 1 && !chip->torus_x) ||
                 (direction == CM_WEST && x == 0 && !chip->torus_x) ||
                 (direction == CM_SOUTH && y == routers_y - 1 && !chip->torus_y) ||
                 (direction == CM_NORTH && y == 0 && !chip->torus_y);
  if (outside)
    return cm_chip_bad(error, where, "there is no such link: it would leave the chip");
  *link = ((size_t)y * routers_x + (size_t)x) * CM_DIRECTIONS + direction;
  return CM_OK;
}

cm_status cm_dead_links_read(const json_t *root, cm_chip *chip, cm_error *error)
{
  const json_t *list = json_object_get(root, "dead_links");
  if (list != NULL && !json_is_array(list))
    return cm_chip_bad(error, "/dead_links", "expected a list");
  uint32_t *links, count = 0;
  CM_TRY(CM_NEW(NULL, links, json_array_size(list), error));
  for (size_t i = 0; i < json_array_size(list); i++) {
    size_t link = 0;
    CM_TRY_OR(read_link(json_array_get(list, i), i, chip, &link, error), cm_free(links));
    links[i] = (uint32_t)link;
  }
  qsort(links, json_array_size(list), sizeof *links, cm_ascending);
  for (size_t i = 0; i < json_array_size(list); i++)
    if (count == 0 || links[i] != links[count - 1])
      links[count++] = links[i];
  chip->dead_links = links;
  chip->dead_link_count = count;
  return CM_OK;
}

/* Dead cores as runs along rows. */
json_t *cm_dead_cores_json(const cm_chip *chip)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < chip->dead_core_count;) {
    uint32_t first = chip->dead_cores[i], y = first / chip->width, last = first;
    for (i++; i < chip->dead_core_count && chip->dead_cores[i] == last + 1 &&
              chip->dead_cores[i] / chip->width == y; i++)
      last++;
    if (json_array_append_new(list, json_pack("[i, i, i, i]", (int)(first % chip->width), (int)y,
                                              (int)(last % chip->width), (int)y)) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

json_t *cm_dead_links_json(const cm_chip *chip)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < chip->dead_link_count; i++) {
    uint32_t router = chip->dead_links[i] / CM_DIRECTIONS;
    if (json_array_append_new(list,
                              json_pack("[i, i, s]", (int)(router % cm_chip_routers_x(chip)),
                                        (int)(router / cm_chip_routers_x(chip)),
                                        cm_direction_name((cm_direction)(chip->dead_links[i] % CM_DIRECTIONS)))) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}
