/* Reads the array of a placement problem. What can fail: unknown fields, numbers out of range; memory. */
#include "base/json.h"
#include "core/constraints/problem_reading.h"

enum { SIDE_MAX = 4096 };

static cm_status read_side(const json_t *array, const char *name, uint32_t *side, cm_error *error)
{
  const json_t *value = json_object_get(array, name);
  char where[CM_JSON_PLACE_MAX];
  (void)cm_json_place(where, "/array/%s", name);
  if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > SIDE_MAX)
    return cm_problem_bad(where, "a whole number, 1 to 4096", error);
  *side = (uint32_t)json_integer_value(value);
  return CM_OK;
}

/* Corners of the tiles that an entry is about; all where it does not say. */
static cm_status read_box(const cm_problem_reading *r, const json_t *entry, const char *where, uint32_t x[2], uint32_t y[2], cm_error *error)
{
  const struct {
    const char *name;
    uint32_t *span, bound;
  } fields[] = {{"columns", x, r->p->width}, {"rows", y, r->p->height}};
  for (size_t i = 0; i < 2; i++) {
    const json_t *value = json_object_get(entry, fields[i].name), *from = json_array_get(value, 0), *to = json_array_get(value, 1);
    char place[CM_JSON_PLACE_MAX];
    (void)cm_json_place(place, "%s/%s", where, fields[i].name);
    if (value == NULL)
      continue;
    if (json_array_size(value) != 2 || !json_is_integer(from) || !json_is_integer(to))
      return cm_problem_bad(place, "[FIRST, LAST]", error);
    const json_int_t a = json_integer_value(from), b = json_integer_value(to);
    if (a < 0 || b < a || b >= (json_int_t)fields[i].bound)
      return cm_json_fail(error, CM_BAD_OPTION, place, "%s: no range of 0 to %u", place, fields[i].bound - 1);
    fields[i].span[0] = (uint32_t)a;
    fields[i].span[1] = (uint32_t)b;
  }
  return CM_OK;
}

static cm_status read_tiles(cm_problem_reading *r, const json_t *entry, const char *where, cm_error *error)
{
  static const char *const fields[] = {"kind", "columns", "rows", "nodes", "memory", "channels_in", "channels_out", NULL};
  cm_problem *p = r->p;
  const char *kind = json_string_value(json_object_get(entry, "kind"));
  uint32_t x[2] = {0, p->width - 1}, y[2] = {0, p->height - 1}, number;
  cm_problem_tile tile = {.limit = {1, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
  if (!json_is_object(entry))
    return cm_problem_bad(where, "an object: kind, columns, rows and limits of tiles", error);
  CM_TRY(cm_json_known_fields(entry, where, fields, CM_BAD_OPTION, error));
  CM_TRY(read_box(r, entry, where, x, y, error));
  for (size_t l = 0; l < CM_TILE_LIMITS; l++)
    CM_TRY(cm_problem_whole(entry, where, cm_tile_limit_names[l], CM_NEED_MAX, &tile.limit[l], error));
  if (json_object_get(entry, "kind") != NULL && kind == NULL)
    return cm_problem_bad(where, "\"kind\" to be text", error);
  CM_TRY(cm_problem_intern(r, (cm_problem_names){&p->kind, &p->kind_count, CM_PROBLEM_KINDS_MAX}, kind != NULL ? kind : "core", &number, error));
  tile.kind = (uint16_t)number;
  for (uint32_t row = y[0]; row <= y[1]; row++)
    for (uint32_t column = x[0]; column <= x[1]; column++)
      p->tile[row * p->width + column] = tile;
  return CM_OK;
}

static cm_status read_broken(cm_problem_reading *r, const json_t *list, cm_error *error)
{
  const cm_rectangles from = {list, "/array/broken", r->p->width, r->p->height, CM_BAD_OPTION};
  if (list != NULL && !json_is_array(list))
    return cm_problem_bad(from.where, "a list of [X, Y] and [X0, Y0, X1, Y1]", error);
  for (size_t i = 0; i < json_array_size(list); i++) {
    cm_rectangle one;
    CM_TRY(cm_rectangle_read(&from, i, &one, error));
    for (uint32_t y = one.y0; y <= one.y1; y++)
      for (uint32_t x = one.x0; x <= one.x1; x++)
        r->p->tile[y * r->p->width + x].kind = CM_NO_KIND;
  }
  return CM_OK;
}

/* Tiles of a router, of a chip: [COLUMNS, ROWS], of which whole ones make the array. */
static cm_status read_block(const cm_problem *p, const json_t *array, const char *name, uint32_t *wide, uint32_t *high, cm_error *error)
{
  const json_t *block = json_object_get(array, name), *x = json_array_get(block, 0), *y = json_array_get(block, 1);
  char where[CM_JSON_PLACE_MAX];
  (void)cm_json_place(where, "/array/%s", name);
  if (block == NULL)
    return CM_OK;
  if (json_array_size(block) != 2 || !json_is_integer(x) || !json_is_integer(y) || json_integer_value(x) < 1 || json_integer_value(y) < 1 ||
      p->width % json_integer_value(x) != 0 || p->height % json_integer_value(y) != 0)
    return cm_problem_bad(where, "[COLUMNS, ROWS] in tiles, of which whole ones make the array", error);
  *wide = (uint32_t)json_integer_value(x);
  *high = (uint32_t)json_integer_value(y);
  return CM_OK;
}

/* What the tiles of a router, or of a chip, take together. */
static cm_status read_shared(const json_t *array, const char *name, uint64_t limit[CM_TILE_LIMITS], cm_error *error)
{
  static const char *const fields[] = {"nodes", "memory", "channels_in", "channels_out", NULL};
  const json_t *limits = json_object_get(array, name);
  char where[CM_JSON_PLACE_MAX];
  (void)cm_json_place(where, "/array/%s", name);
  if (limits != NULL && !json_is_object(limits))
    return cm_problem_bad(where, "an object of nodes, memory, channels_in and channels_out", error);
  CM_TRY_IF(limits != NULL, cm_json_known_fields(limits, where, fields, CM_BAD_OPTION, error));
  for (size_t l = 0; l < CM_TILE_LIMITS; l++) {
    limit[l] = UINT64_MAX;
    CM_TRY(cm_problem_whole(limits, where, cm_tile_limit_names[l], CM_NEED_MAX, &limit[l], error));
  }
  return CM_OK;
}

static cm_status read_circuits(cm_problem *p, const json_t *limits, cm_error *error)
{
  static const char *const names[] = {"link", "router_in", "router_out", NULL};
  p->circuits = limits != NULL;
  if (limits == NULL)
    return CM_OK;
  if (!json_is_object(limits))
    return cm_problem_bad("/array/circuits", "an object of link, router_in and router_out", error);
  CM_TRY(cm_json_known_fields(limits, "/array/circuits", names, CM_BAD_OPTION, error));
  for (size_t i = 0; i < CM_CIRCUIT_PLACES; i++) {
    p->circuit_limit[i] = UINT64_MAX;
    CM_TRY(cm_problem_whole(limits, "/array/circuits", names[i], CM_NEED_MAX, &p->circuit_limit[i], error));
  }
  return CM_OK;
}

cm_status cm_problem_read_array(cm_problem_reading *r, const json_t *array, cm_error *error)
{
  static const char *const fields[] = {"columns", "rows", "router", "chip", "router_limits", "chip_limits", "circuits", "tiles", "broken", NULL};
  cm_problem *p = r->p;
  const json_t *tiles = json_object_get(array, "tiles");
  if (!json_is_object(array))
    return cm_problem_bad("/array", "an object: columns, rows and tiles", error);
  CM_TRY(cm_json_known_fields(array, "/array", fields, CM_BAD_OPTION, error));
  CM_TRY(read_side(array, "columns", &p->width, error));
  CM_TRY(read_side(array, "rows", &p->height, error));
  p->router_x = p->router_y = 1;
  p->chip_x = p->width;
  p->chip_y = p->height;
  if (read_block(p, array, "router", &p->router_x, &p->router_y, error) != CM_OK || read_block(p, array, "chip", &p->chip_x, &p->chip_y, error) != CM_OK ||
      read_shared(array, "router_limits", p->router_limit, error) != CM_OK || read_shared(array, "chip_limits", p->chip_limit, error) != CM_OK || read_circuits(p, json_object_get(array, "circuits"), error) != CM_OK)
    return error->status;
  if (cm_problem_tiles(p) > CM_PROBLEM_TILES_MAX)
    return cm_json_fail(error, CM_TOO_LARGE, "/array", "an array of %u tiles: at most %d are solved", cm_problem_tiles(p), CM_PROBLEM_TILES_MAX);
  if (!json_is_array(tiles) || json_array_size(tiles) == 0)
    return cm_problem_bad("/array/tiles", "a list of objects: what tiles there are, later ones over earlier ones", error);
  cm_status status = CM_NEW(r->memory, p->tile, cm_problem_tiles(p), error);
  for (uint32_t t = 0; status == CM_OK && t < cm_problem_tiles(p); t++)
    p->tile[t].kind = CM_NO_KIND;
  for (size_t i = 0; status == CM_OK && i < json_array_size(tiles); i++) {
    char where[CM_JSON_PLACE_MAX];
    (void)cm_json_place(where, "/array/tiles/%zu", i);
    status = read_tiles(r, json_array_get(tiles, i), where, error);
  }
  return status == CM_OK ? read_broken(r, json_object_get(array, "broken"), error) : status;
}
