/* Reads placement problems. What can fail: unknown fields, numbers out of range, names that are not there or twice; memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/constraints/problem.h"

enum { SIDE_MAX = 4096 };
static const json_int_t NEED_MAX = (json_int_t)1 << 40, WEIGHT_MAX = (json_int_t)1 << 30; /* no sum passes 2^63 */

const char *const cm_tile_limit_names[CM_TILE_LIMITS] = {"nodes", "memory", "channels_in", "channels_out"};

typedef struct reading {
  cm_problem *p;
  cm_memory *memory;
  uint32_t *by_name; /* [nodes] in the order of their names */
  uint64_t pin_capacity;
} reading;

static cm_status bad(const char *where, const char *expected, cm_error *error)
{
  return cm_json_fail(error, CM_BAD_OPTION, where, "%s: expected %s", where, expected);
}

/* A member that is a whole number; `*number` keeps its value where it is not there. */
static cm_status read_whole(const json_t *object, const char *group, const char *name, json_int_t most, uint64_t *number, cm_error *error)
{
  const json_t *value = json_object_get(object, name);
  char where[CM_JSON_PLACE_MAX];
  if (value == NULL)
    return CM_OK;
  (void)cm_json_place(where, "%s/%s", group, name);
  if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > most)
    return cm_json_fail(error, CM_BAD_OPTION, where, "%s: expected a whole number, 0 to %" JSON_INTEGER_FORMAT, where, most);
  *number = (uint64_t)json_integer_value(value);
  return CM_OK;
}

/* Adds a name to a short list, or finds it there. */
typedef struct names {
  char ***list;
  uint32_t *count, most;
} names;

static cm_status intern(const reading *r, names of, const char *name, uint32_t *number, cm_error *error)
{
  for (*number = 0; *number < *of.count; ++*number)
    if (strcmp((*of.list)[*number], name) == 0)
      return CM_OK;
  if (*of.count == of.most)
    return cm_fail(error, CM_TOO_LARGE, "more than %u names of one sort", of.most);
  if (*of.list == NULL && CM_NEW(r->memory, *of.list, of.most, error) != CM_OK)
    return error->status;
  if (CM_NEW(r->memory, (*of.list)[*of.count], strlen(name) + 1, error) != CM_OK)
    return error->status;
  memcpy((*of.list)[*of.count], name, strlen(name) + 1);
  ++*of.count;
  return CM_OK;
}

/* ---- the array ---- */

static cm_status read_side(const json_t *array, const char *name, uint32_t *side, cm_error *error)
{
  const json_t *value = json_object_get(array, name);
  char where[CM_JSON_PLACE_MAX];
  (void)cm_json_place(where, "/array/%s", name);
  if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > SIDE_MAX)
    return bad(where, "a whole number, 1 to 4096", error);
  *side = (uint32_t)json_integer_value(value);
  return CM_OK;
}

/* Corners of the tiles that an entry is about; all where it does not say. */
static cm_status read_box(const reading *r, const json_t *entry, const char *where, uint32_t x[2], uint32_t y[2], cm_error *error)
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
      return bad(place, "[FIRST, LAST]", error);
    const json_int_t a = json_integer_value(from), b = json_integer_value(to);
    if (a < 0 || b < a || b >= (json_int_t)fields[i].bound)
      return cm_json_fail(error, CM_BAD_OPTION, place, "%s: no range of 0 to %u", place, fields[i].bound - 1);
    fields[i].span[0] = (uint32_t)a;
    fields[i].span[1] = (uint32_t)b;
  }
  return CM_OK;
}

static cm_status read_tiles(reading *r, const json_t *entry, const char *where, cm_error *error)
{
  static const char *const fields[] = {"kind", "columns", "rows", "nodes", "memory", "channels_in", "channels_out", NULL};
  cm_problem *p = r->p;
  const char *kind = json_string_value(json_object_get(entry, "kind"));
  uint32_t x[2] = {0, p->width - 1}, y[2] = {0, p->height - 1}, number;
  cm_problem_tile tile = {.limit = {1, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
  if (!json_is_object(entry))
    return bad(where, "an object: kind, columns, rows and limits of tiles", error);
  if (cm_json_known_fields(entry, where, fields, CM_BAD_OPTION, error) != CM_OK || read_box(r, entry, where, x, y, error) != CM_OK)
    return error->status;
  for (size_t l = 0; l < CM_TILE_LIMITS; l++)
    if (read_whole(entry, where, cm_tile_limit_names[l], NEED_MAX, &tile.limit[l], error) != CM_OK)
      return error->status;
  if (json_object_get(entry, "kind") != NULL && kind == NULL)
    return bad(where, "\"kind\" to be text", error);
  if (intern(r, (names){&p->kind, &p->kind_count, CM_PROBLEM_KINDS_MAX}, kind != NULL ? kind : "core", &number, error) != CM_OK)
    return error->status;
  tile.kind = (uint16_t)number;
  for (uint32_t row = y[0]; row <= y[1]; row++)
    for (uint32_t column = x[0]; column <= x[1]; column++)
      p->tile[row * p->width + column] = tile;
  return CM_OK;
}

static cm_status read_broken(reading *r, const json_t *list, cm_error *error)
{
  const cm_rectangles from = {list, "/array/broken", r->p->width, r->p->height, CM_BAD_OPTION};
  if (list != NULL && !json_is_array(list))
    return bad(from.where, "a list of [X, Y] and [X0, Y0, X1, Y1]", error);
  for (size_t i = 0; i < json_array_size(list); i++) {
    cm_rectangle one;
    if (cm_rectangle_read(&from, i, &one, error) != CM_OK)
      return error->status;
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
    return bad(where, "[COLUMNS, ROWS] in tiles, of which whole ones make the array", error);
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
    return bad(where, "an object of nodes, memory, channels_in and channels_out", error);
  if (limits != NULL && cm_json_known_fields(limits, where, fields, CM_BAD_OPTION, error) != CM_OK)
    return error->status;
  for (size_t l = 0; l < CM_TILE_LIMITS; l++) {
    limit[l] = UINT64_MAX;
    if (read_whole(limits, where, cm_tile_limit_names[l], NEED_MAX, &limit[l], error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status read_array(reading *r, const json_t *array, cm_error *error)
{
  static const char *const fields[] = {"columns", "rows", "router", "chip", "router_limits", "chip_limits", "tiles", "broken", NULL};
  cm_problem *p = r->p;
  const json_t *tiles = json_object_get(array, "tiles");
  if (!json_is_object(array))
    return bad("/array", "an object: columns, rows and tiles", error);
  if (cm_json_known_fields(array, "/array", fields, CM_BAD_OPTION, error) != CM_OK || read_side(array, "columns", &p->width, error) != CM_OK ||
      read_side(array, "rows", &p->height, error) != CM_OK)
    return error->status;
  p->router_x = p->router_y = 1;
  p->chip_x = p->width;
  p->chip_y = p->height;
  if (read_block(p, array, "router", &p->router_x, &p->router_y, error) != CM_OK || read_block(p, array, "chip", &p->chip_x, &p->chip_y, error) != CM_OK ||
      read_shared(array, "router_limits", p->router_limit, error) != CM_OK || read_shared(array, "chip_limits", p->chip_limit, error) != CM_OK)
    return error->status;
  if (cm_problem_tiles(p) > CM_PROBLEM_TILES_MAX)
    return cm_json_fail(error, CM_TOO_LARGE, "/array", "an array of %u tiles: at most %d are solved", cm_problem_tiles(p), CM_PROBLEM_TILES_MAX);
  if (!json_is_array(tiles) || json_array_size(tiles) == 0)
    return bad("/array/tiles", "a list of objects: what tiles there are, later ones over earlier ones", error);
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

/* ---- nodes ---- */

/* What a node is: its tiles' kind, which has to be there. */
static cm_status read_node_kind(const cm_problem *p, const json_t *kind, const char *where, uint16_t *number, cm_error *error)
{
  *number = CM_NO_KIND;
  if (kind == NULL)
    return CM_OK;
  if (!json_is_string(kind))
    return bad(where, "\"kind\" to be text", error);
  for (uint32_t k = 0; k < p->kind_count; k++)
    if (strcmp(p->kind[k], json_string_value(kind)) == 0)
      *number = (uint16_t)k;
  return *number != CM_NO_KIND ? CM_OK : cm_json_fail(error, CM_BAD_OPTION, where, "%s/kind: the array has no tiles of kind \"%.60s\"", where,
                                                      json_string_value(kind));
}

static cm_status read_node(reading *r, uint32_t number, const json_t *object, cm_error *error)
{
  static const char *const fields[] = {"name", "kind", "group", "memory", "channels_in", "channels_out", NULL};
  cm_problem *p = r->p;
  cm_problem_node *node = &p->node[number];
  char where[CM_JSON_PLACE_MAX];
  (void)cm_json_place(where, "/nodes/%u", number);
  const char *name = json_string_value(json_object_get(object, "name"));
  const json_t *group = json_object_get(object, "group");
  if (name == NULL || name[0] == '\0')
    return bad(where, "an object with a \"name\"", error);
  if (cm_json_known_fields(object, where, fields, CM_BAD_OPTION, error) != CM_OK ||
      read_node_kind(p, json_object_get(object, "kind"), where, &node->kind, error) != CM_OK || CM_NEW(r->memory, node->name, strlen(name) + 1, error) != CM_OK)
    return error->status;
  memcpy(node->name, name, strlen(name) + 1);
  node->need[CM_TILE_NODES] = 1;
  for (size_t l = CM_TILE_MEMORY; l < CM_TILE_LIMITS; l++)
    if (read_whole(object, where, cm_tile_limit_names[l], NEED_MAX, &node->need[l], error) != CM_OK)
      return error->status;
  if (group == NULL)
    return CM_OK;
  if (!json_is_string(group))
    return bad(where, "\"group\" to be text", error);
  uint32_t at;
  if (intern(r, (names){&p->group, &p->group_count, CM_PROBLEM_NODES_MAX}, json_string_value(group), &at, error) != CM_OK)
    return error->status;
  p->group_of[number] = at + 1;
  return CM_OK;
}

static int by_name(const void *a, const void *b, void *context)
{
  const cm_problem *p = context;
  return strcmp(p->node[*(const uint32_t *)a].name, p->node[*(const uint32_t *)b].name);
}

static cm_status read_nodes(reading *r, const json_t *list, cm_error *error)
{
  cm_problem *p = r->p;
  if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > CM_PROBLEM_NODES_MAX)
    return bad("/nodes", "a list of 1 to 4096 nodes", error);
  p->node_count = (uint32_t)json_array_size(list);
  cm_status status = CM_NEW(r->memory, p->node, p->node_count, error);
  if (status == CM_OK)
    status = CM_NEW(r->memory, p->group_of, p->node_count, error);
  if (status == CM_OK)
    status = CM_NEW(r->memory, r->by_name, p->node_count, error);
  for (uint32_t i = 0; status == CM_OK && i < p->node_count; i++) {
    r->by_name[i] = i;
    status = read_node(r, i, json_array_get(list, i), error);
  }
  if (status != CM_OK)
    return status;
  qsort_r(r->by_name, p->node_count, sizeof *r->by_name, by_name, p);
  for (uint32_t i = 0; i + 1 < p->node_count; i++) {
    const uint32_t a = r->by_name[i], b = r->by_name[i + 1];
    char where[CM_JSON_PLACE_MAX];
    (void)cm_json_place(where, "/nodes/%u/name", a > b ? a : b);
    if (strcmp(p->node[a].name, p->node[b].name) == 0)
      return cm_json_fail(error, CM_BAD_OPTION, where, "%s: another node is called \"%.60s\" too", where, p->node[a].name);
  }
  return CM_OK;
}

/* ---- nets ---- */

static cm_status add_pin(reading *r, const json_t *name, const char *where, cm_error *error)
{
  cm_problem *p = r->p;
  if (!json_is_string(name))
    return bad(where, "the name of a node", error);
  uint32_t from = 0, to = p->node_count;
  while (from + 1 < to) {
    const uint32_t middle = from + (to - from) / 2;
    if (strcmp(p->node[r->by_name[middle]].name, json_string_value(name)) <= 0)
      from = middle;
    else
      to = middle;
  }
  const uint32_t node = r->by_name[from];
  if (strcmp(p->node[node].name, json_string_value(name)) != 0)
    return cm_json_fail(error, CM_BAD_OPTION, where, "%s: no node is called \"%.60s\"", where, json_string_value(name));
  for (uint32_t i = p->first[p->net_count]; i < p->first[p->net_count + 1]; i++)
    if (p->pin[i] == node)
      return CM_OK;
  if (CM_ROOM(r->memory, p->pin, &r->pin_capacity, p->first[p->net_count + 1] + 1, error) != CM_OK)
    return error->status;
  p->pin[p->first[p->net_count + 1]++] = node;
  return CM_OK;
}

static cm_status read_net(reading *r, const json_t *object, const char *where, bool edge, cm_error *error)
{
  static const char *const fields_of_edges[] = {"from", "to", "weight", NULL}, *const fields_of_nets[] = {"nodes", "weight", NULL};
  cm_problem *p = r->p;
  const json_t *nodes = json_object_get(object, "nodes");
  char place[CM_JSON_PLACE_MAX];
  if (!json_is_object(object))
    return bad(where, edge ? "an object: from, to and weight" : "an object: nodes and weight", error);
  if (cm_json_known_fields(object, where, edge ? fields_of_edges : fields_of_nets, CM_BAD_OPTION, error) != CM_OK)
    return error->status;
  p->weight[p->net_count] = 1;
  p->first[p->net_count + 1] = p->first[p->net_count];
  cm_status status = read_whole(object, where, "weight", WEIGHT_MAX, &p->weight[p->net_count], error);
  (void)cm_json_place(place, "%s/nodes", where);
  if (status == CM_OK && !edge && (!json_is_array(nodes) || json_array_size(nodes) < 2))
    return bad(place, "a list of at least two names", error);
  for (size_t i = 0; status == CM_OK && i < (edge ? 2 : json_array_size(nodes)); i++) {
    if (edge)
      (void)cm_json_place(place, "%s/%s", where, i == 0 ? "from" : "to");
    else
      (void)cm_json_place(place, "%s/nodes/%zu", where, i);
    status = add_pin(r, edge ? json_object_get(object, i == 0 ? "from" : "to") : json_array_get(nodes, i), place, error);
  }
  p->net_count++;
  return status;
}

static cm_status read_nets(reading *r, const json_t *edges, const json_t *nets, cm_error *error)
{
  cm_problem *p = r->p;
  const size_t count = json_array_size(edges) + json_array_size(nets);
  if ((edges != NULL && !json_is_array(edges)) || (nets != NULL && !json_is_array(nets)))
    return bad(edges != NULL && !json_is_array(edges) ? "/edges" : "/nets", "a list", error);
  cm_status status = CM_NEW(r->memory, p->first, count + 1, error);
  if (status == CM_OK)
    status = CM_NEW(r->memory, p->weight, count, error);
  for (size_t i = 0; status == CM_OK && i < count; i++) {
    const bool edge = i < json_array_size(edges);
    const size_t number = edge ? i : i - json_array_size(edges);
    char where[CM_JSON_PLACE_MAX];
    (void)cm_json_place(where, "/%s/%zu", edge ? "edges" : "nets", number);
    status = read_net(r, json_array_get(edge ? edges : nets, number), where, edge, error);
  }
  return status;
}

/* ---- constraints ---- */

static const char *name_of(const void *context, uint32_t node)
{
  return ((const cm_problem *)context)->node[node].name;
}

static bool group_named(const void *context, const char *kind, const json_t *name, void (*take)(void *user, uint32_t member), void *user)
{
  const cm_problem *p = context;
  uint32_t group = 0;
  (void)kind;
  while (group < p->group_count && json_is_string(name) && strcmp(p->group[group], json_string_value(name)) != 0)
    group++;
  if (!json_is_string(name) || group == p->group_count)
    return false;
  for (uint32_t i = 0; i < p->node_count; i++)
    if (p->group_of[i] == group + 1)
      take(user, i);
  return true;
}

static cm_status read_constraints(reading *r, const json_t *list, cm_error *error)
{
  static const char *const groups[] = {"group", NULL};
  cm_problem *p = r->p;
  const cm_constraint_world world = {.what = "node", .count = p->node_count, .numbered = p->node_count, .name = name_of, .group = group_named, .groups = groups, .context = p,
                                     .width = p->width, .height = p->height, .router_x = p->router_x, .router_y = p->router_y, .chip_x = p->chip_x,
                                     .chip_y = p->chip_y, .status = CM_BAD_OPTION};
  return list == NULL ? CM_OK : cm_constraints_read(list, "/constraints", &world, r->memory, &p->constraints, error);
}

cm_status cm_problem_read(const json_t *root, cm_memory *memory, cm_problem **problem, cm_error *error)
{
  static const char *const fields[] = {"array", "nodes", "edges", "nets", "constraints", NULL};
  reading r = {.memory = memory};
  if (!json_is_object(root))
    return bad("/", "an object: array, nodes, edges, nets and constraints", error);
  if (cm_json_known_fields(root, "", fields, CM_BAD_OPTION, error) != CM_OK || CM_NEW(memory, r.p, 1, error) != CM_OK)
    return error->status;
  cm_status status = read_array(&r, json_object_get(root, "array"), error);
  if (status == CM_OK)
    status = read_nodes(&r, json_object_get(root, "nodes"), error);
  if (status == CM_OK)
    status = read_nets(&r, json_object_get(root, "edges"), json_object_get(root, "nets"), error);
  if (status == CM_OK)
    status = read_constraints(&r, json_object_get(root, "constraints"), error);
  cm_free(r.by_name);
  if (status == CM_OK)
    *problem = r.p;
  else
    cm_problem_free(r.p);
  return status;
}

cm_status cm_problem_parse(const char *text, size_t size, cm_memory *memory, cm_problem **problem, cm_error *error)
{
  json_t *root;
  if (cm_json_load(text, size, &(cm_document){"problem", CM_PROBLEM_BYTES_MAX, CM_BAD_OPTION}, &root, error) != CM_OK)
    return error->status;
  cm_status status = cm_problem_read(root, memory, problem, error);
  json_decref(root);
  return status;
}
