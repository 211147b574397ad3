/* Reads constraints. What can fail: unknown fields and words, names that match nothing, places outside; memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/constraints/constraints.h"

/* A constraint as it is read. */
typedef struct reading {
  const cm_constraint_world *world;
  cm_memory *memory;
  cm_constraint *made;
  uint8_t *seen;    /* [members] bit 1: is in `of`, bit 2: in `to` */
  uint32_t *list;   /* [members] the list that grows */
  uint32_t count;
  uint8_t bit;
  uint64_t at_capacity;
} reading;

static cm_status bad(const reading *r, const char *where, const char *expected, cm_error *error)
{
  return cm_json_fail(error, r->world->status, where, "%s: expected %s", where, expected);
}

/* ---- who ---- */

static void take(void *user, uint32_t member)
{
  reading *r = user;
  if ((r->seen[member] & r->bit) == 0) {
    r->seen[member] |= r->bit;
    r->list[r->count++] = member;
  }
}

static cm_status take_pattern(reading *r, const char *pattern, const char *where, cm_error *error)
{
  bool found = false;
  for (uint32_t i = 0; i < r->world->count; i++) {
    const char *name = r->world->name(r->world->context, i);
    if (name == NULL || !cm_name_matches(pattern, name))
      continue;
    found = true;
    take(r, i);
  }
  return found ? CM_OK : cm_json_fail(error, r->world->status, where, "%s: no %s is called \"%.60s\"", where, r->world->what, pattern);
}

/* {"population": "V1"} */
static cm_status take_group(reading *r, const json_t *group, const char *where, cm_error *error)
{
  const cm_constraint_world *w = r->world;
  CM_TRY(cm_json_known_fields(group, where, w->groups, w->status, error));
  if (json_object_size(group) != 1)
    return bad(r, where, "one group", error);
  for (size_t i = 0; w->groups[i] != NULL; i++) {
    const json_t *name = json_object_get(group, w->groups[i]);
    if (name == NULL || w->group(w->context, w->groups[i], name, take, r))
      continue;
    char *text = json_is_string(name) ? NULL : cm_json_dumps(name, JSON_COMPACT | JSON_ENCODE_ANY);
    cm_json_fail(error, w->status, where, "%s: there is no %s \"%.60s\"", where, w->groups[i],
                 json_is_string(name) ? json_string_value(name) : text != NULL ? text : "");
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    if (text != NULL)
      release(text);
    return error->status;
  }
  return CM_OK;
}

static cm_status take_one(reading *r, const json_t *one, const char *where, cm_error *error)
{
  if (json_is_string(one))
    return take_pattern(r, json_string_value(one), where, error);
  if (json_is_object(one))
    return take_group(r, one, where, error);
  if (!json_is_integer(one))
    return bad(r, where, "a name, a number, or a group as an object", error);
  const json_int_t number = json_integer_value(one);
  if (number < 0 || number >= (json_int_t)r->world->numbered)
    return cm_json_fail(error, r->world->status, where, "%s: there is no %s %" JSON_INTEGER_FORMAT ": 0 to %u are there", where,
                        r->world->what, number, r->world->numbered - 1);
  take(r, (uint32_t)number);
  return CM_OK;
}

static cm_status read_members(reading *r, const json_t *from, const char *where, bool second, cm_error *error)
{
  size_t i;
  const json_t *one;
  cm_status status = CM_OK;
  uint32_t **members = second ? &r->made->to : &r->made->of;
  r->count = 0;
  r->bit = second ? 2 : 1;
  if (json_is_array(from)) {
    if (json_array_size(from) == 0)
      return bad(r, where, "at least one member", error);
    json_array_foreach(from, i, one) {
      char place[CM_JSON_PLACE_MAX];
      (void)cm_json_place(place, "%s/%zu", where, i);
      CM_THEN(status, take_one(r, one, place, error));
    }
  } else {
    status = take_one(r, from, where, error);
  }
  for (uint32_t m = 0; m < r->count; m++)
    r->seen[r->list[m]] &= (uint8_t)~r->bit;
  CM_THEN(status, CM_NEW(r->memory, *members, r->count, error));
  if (status != CM_OK)
    return status;
  if (r->count > 0)
    memcpy(*members, r->list, r->count * sizeof **members);
  *(second ? &r->made->to_count : &r->made->of_count) = r->count;
  return CM_OK;
}

/* ---- where ---- */

static cm_status add_rectangle(reading *r, cm_rectangle one, cm_error *error)
{
  CM_TRY(CM_ROOM(r->memory, r->made->at, &r->at_capacity, r->made->at_count + 1, error));
  r->made->at[r->made->at_count++] = one;
  return CM_OK;
}

/* A number, or two: from and to, corners included; below `bound`. */
static cm_status read_span(const reading *r, const json_t *value, const char *where, uint32_t bound, uint32_t span[2], cm_error *error)
{
  const json_t *first = json_is_array(value) ? json_array_get(value, 0) : value;
  const json_t *last = json_is_array(value) ? json_array_get(value, 1) : value;
  if ((json_is_array(value) && json_array_size(value) != 2) || !json_is_integer(first) || !json_is_integer(last))
    return bad(r, where, "a number or [FIRST, LAST]", error);
  const json_int_t a = json_integer_value(first), b = json_integer_value(last);
  if (a < 0 || b < a || b >= (json_int_t)bound)
    return cm_json_fail(error, r->world->status, where, "%s: %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT " is no range of 0 to %u", where, a, b,
                        bound - 1);
  span[0] = (uint32_t)a;
  span[1] = (uint32_t)b;
  return CM_OK;
}

/* {"column": 0}, {"columns": [0, 3], "row": 2} */
static cm_status read_band(reading *r, const json_t *at, const char *where, cm_error *error)
{
  uint32_t x[2] = {0, r->world->width - 1}, y[2] = {0, r->world->height - 1};
  const struct {
    const char *name;
    uint32_t *span, bound;
  } fields[] = {{"column", x, r->world->width}, {"columns", x, r->world->width}, {"row", y, r->world->height}, {"rows", y, r->world->height}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const json_t *value = json_object_get(at, fields[i].name);
    char place[CM_JSON_PLACE_MAX];
    (void)cm_json_place(place, "%s/%s", where, fields[i].name);
    CM_TRY_IF(value != NULL, read_span(r, value, place, fields[i].bound, fields[i].span, error));
  }
  return add_rectangle(r, (cm_rectangle){x[0], y[0], x[1], y[1]}, error);
}

/* {"router": [2, 1]}, {"chip": [0, 1]}: a block of cores by its place among its like. */
static cm_status read_block(reading *r, const json_t *block, const char *where, uint32_t wide, uint32_t high, cm_error *error)
{
  const json_t *x = json_array_get(block, 0), *y = json_array_get(block, 1);
  const uint32_t across = r->world->width / wide, down = r->world->height / high;
  if (json_array_size(block) != 2 || !json_is_integer(x) || !json_is_integer(y))
    return bad(r, where, "[X, Y]", error);
  const json_int_t at_x = json_integer_value(x), at_y = json_integer_value(y);
  if (at_x < 0 || at_y < 0 || at_x >= (json_int_t)across || at_y >= (json_int_t)down)
    return cm_json_fail(error, r->world->status, where, "%s: there are %u by %u of them, numbered from 0", where, across, down);
  const uint32_t x0 = (uint32_t)at_x * wide, y0 = (uint32_t)at_y * high;
  return add_rectangle(r, (cm_rectangle){x0, y0, x0 + wide - 1, y0 + high - 1}, error);
}

static cm_status read_at(reading *r, const json_t *at, const char *where, cm_error *error)
{
  static const char *const fields[] = {"column", "columns", "row", "rows", "router", "chip", NULL};
  const cm_constraint_world *w = r->world;
  char place[CM_JSON_PLACE_MAX];
  if (json_is_object(at)) {
    CM_TRY(cm_json_known_fields(at, where, fields, w->status, error));
    const json_t *router = json_object_get(at, "router"), *chip = json_object_get(at, "chip");
    if (json_object_size(at) == 0 || ((router != NULL || chip != NULL) && json_object_size(at) > 1))
      return bad(r, where, "columns and rows, or a router, or a chip", error);
    (void)cm_json_place(place, "%s/%s", where, router != NULL ? "router" : "chip");
    if (router != NULL)
      return read_block(r, router, place, w->router_x, w->router_y, error);
    return chip != NULL ? read_block(r, chip, place, w->chip_x, w->chip_y, error) : read_band(r, at, where, error);
  }
  if (!json_is_array(at) || json_array_size(at) == 0)
    return bad(r, where, "[X, Y], [X0, Y0, X1, Y1], a list of them, or an object of columns and rows", error);
  const bool one = json_is_integer(json_array_get(at, 0));
  json_t *wrapped = one ? json_pack("[O]", at) : NULL;
  if (one && wrapped == NULL)
    return cm_whole(false, "a place", error);
  const cm_rectangles from = {one ? wrapped : at, where, w->width, w->height, w->status};
  cm_status status = CM_OK;
  for (size_t i = 0; i < json_array_size(from.list) && status == CM_OK; i++) {
    cm_rectangle rectangle;
    status = cm_rectangle_read(&from, i, &rectangle, error);
    CM_THEN(status, add_rectangle(r, rectangle, error));
  }
  json_decref(wrapped);
  return status;
}

/* ---- how ---- */

static cm_status read_word(const reading *r, const json_t *value, const char *where, const char *const *words, uint32_t *number, cm_error *error)
{
  char all[160] = "";
  for (uint32_t i = 0; json_is_string(value) && words[i] != NULL; i++)
    if (strcmp(json_string_value(value), words[i]) == 0) {
      *number = i;
      return CM_OK;
    }
  for (uint32_t i = 0; words[i] != NULL; i++)
    (void)snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i == 0 ? "" : words[i + 1] != NULL ? ", " : " or ", words[i]);
  return bad(r, where, all, error);
}

static cm_status read_offsets(reading *r, const json_t *list, const char *where, cm_error *error)
{
  static const cm_place_offset around[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  cm_constraint *c = r->made;
  if (list == NULL) {
    memcpy(c->offset, around, sizeof around);
    c->offset_count = sizeof around / sizeof *around;
    return CM_OK;
  }
  if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > CM_OFFSETS_MAX)
    return bad(r, where, "a list of 1 to 64 offsets [X, Y]", error);
  size_t i;
  const json_t *one;
  json_array_foreach(list, i, one) {
    const json_t *x = json_array_get(one, 0), *y = json_array_get(one, 1);
    char place[CM_JSON_PLACE_MAX];
    (void)cm_json_place(place, "%s/%zu", where, i);
    if (json_array_size(one) != 2 || !json_is_integer(x) || !json_is_integer(y) || json_integer_value(x) < -65535 || json_integer_value(x) > 65535 ||
        json_integer_value(y) < -65535 || json_integer_value(y) > 65535)
      return bad(r, place, "an offset [X, Y] of the first from the second", error);
    c->offset[c->offset_count++] = (cm_place_offset){(int32_t)json_integer_value(x), (int32_t)json_integer_value(y)};
  }
  return CM_OK;
}

static cm_status read_order(reading *r, const json_t *object, const char *where, cm_error *error)
{
  static const char *const sides[] = {"left_of", "right_of", "above", "below", NULL};
  const json_t *is = json_object_get(object, "is"), *hops = json_object_get(object, "hops");
  char place[CM_JSON_PLACE_MAX];
  uint32_t side = CM_WITHIN_HOPS;
  if ((is == NULL) == (hops == NULL))
    return bad(r, where, "either \"is\": left_of, right_of, above or below, or \"hops\": the most", error);
  if (is != NULL) {
    (void)cm_json_place(place, "%s/is", where);
    CM_TRY(read_word(r, is, place, sides, &side, error));
  } else if (!json_is_integer(hops) || json_integer_value(hops) < 0 || json_integer_value(hops) > 1 << 20) {
    (void)cm_json_place(place, "%s/hops", where);
    return bad(r, place, "a whole number of hops", error);
  }
  r->made->side = (cm_side)side;
  r->made->hops = (uint32_t)json_integer_value(hops);
  return CM_OK;
}

/* What each kind has beside kind, name and of. */
static const char *const fields_of[CM_CONSTRAINT_KINDS][8] = {
  {"kind", "name", "of", "at", NULL},         {"kind", "name", "of", "at", NULL},           {"kind", "name", "of", "same", NULL},
  {"kind", "name", "of", "to", "same", NULL}, {"kind", "name", "of", "to", "offsets", NULL}, {"kind", "name", "of", NULL},
  {"kind", "name", "of", "to", "is", "hops", NULL}};

static cm_status read_kind(reading *r, const json_t *object, const char *where, cm_error *error)
{
  static const char *const scopes[] = {"core", "router", "chip", "column", "row", NULL};
  cm_constraint *c = r->made;
  char place[CM_JSON_PLACE_MAX];
  uint32_t scope = CM_SCOPE_CORE;
  const json_t *same = json_object_get(object, "same");
  (void)cm_json_place(place, "%s/same", where);
  CM_TRY_IF(same != NULL, read_word(r, same, place, scopes, &scope, error));
  c->scope = (cm_scope)scope;
  switch (c->kind) {
    case CM_PIN:
    case CM_NOT_HERE:
      (void)cm_json_place(place, "%s/at", where);
      return read_at(r, json_object_get(object, "at"), place, error);
    case CM_ADJACENT:
      (void)cm_json_place(place, "%s/offsets", where);
      return read_offsets(r, json_object_get(object, "offsets"), place, error);
    case CM_ORDER: return read_order(r, object, where, error);
    default: return CM_OK;
  }
}

/* Relations between two need two, and nothing stands in a relation to itself. */
static cm_status check_sides(const reading *r, const char *where, cm_error *error)
{
  const cm_constraint *c = r->made;
  const bool pairs = c->kind == CM_APART || c->kind == CM_ADJACENT || c->kind == CM_ORDER;
  if (pairs && c->to_count == 0 && c->of_count < 2)
    return bad(r, where, "two members in \"of\", or \"to\"", error);
  for (uint32_t i = 0; i < c->of_count && c->to_count > 0; i++)
    r->seen[c->of[i]] = 1;
  bool both = false;
  for (uint32_t i = 0; i < c->to_count; i++)
    both = both || r->seen[c->to[i]] != 0;
  for (uint32_t i = 0; i < c->of_count; i++)
    r->seen[c->of[i]] = 0;
  return both ? bad(r, where, "no member that is both in \"of\" and in \"to\"", error) : CM_OK;
}

static cm_status read_constraint(reading *r, const json_t *object, const char *where, cm_error *error)
{
  char place[CM_JSON_PLACE_MAX];
  uint32_t kind;
  if (!json_is_object(object))
    return bad(r, where, "an object with \"kind\" and \"of\"", error);
  (void)cm_json_place(place, "%s/kind", where);
  CM_TRY(read_word(r, json_object_get(object, "kind"), place, cm_constraint_kind_names, &kind, error));
  CM_TRY(cm_json_known_fields(object, where, fields_of[kind], r->world->status, error));
  r->made->kind = (cm_constraint_kind)kind;
  const json_t *name = json_object_get(object, "name"), *to = json_object_get(object, "to");
  (void)cm_json_place(place, "%s/name", where);
  if (name != NULL && (!json_is_string(name) || strlen(json_string_value(name)) >= CM_CONSTRAINT_NAME_MAX))
    return bad(r, place, "text of at most 79 bytes", error);
  (void)snprintf(r->made->name, sizeof r->made->name, "%s", name != NULL ? json_string_value(name) : "");
  (void)cm_json_place(place, "%s/of", where);
  cm_status status = read_members(r, json_object_get(object, "of"), place, false, error);
  (void)cm_json_place(place, "%s/to", where);
  CM_THEN_IF(status, to != NULL, read_members(r, to, place, true, error));
  CM_THEN(status, read_kind(r, object, where, error));
  return status == CM_OK ? check_sides(r, where, error) : status;
}

cm_status cm_constraints_read(const json_t *list, const char *where, const cm_constraint_world *world, cm_memory *memory,
                              cm_constraints *constraints, cm_error *error)
{
  cm_constraints made = {0};
  reading r = {.world = world, .memory = memory};
  if (!json_is_array(list) || json_array_size(list) > CM_CONSTRAINTS_MAX)
    return cm_json_fail(error, world->status, where, "%s: expected a list of at most %d constraints", where, CM_CONSTRAINTS_MAX);
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(made.constraint, json_array_size(list)), CM_ARRAY(r.seen, world->count), CM_ARRAY(r.list, world->count));
  while (status == CM_OK && made.count < json_array_size(list)) {
    char place[CM_JSON_PLACE_MAX];
    (void)cm_json_place(place, "%s/%u", where, made.count);
    r.at_capacity = 0;
    r.made = &made.constraint[made.count];
    status = read_constraint(&r, json_array_get(list, made.count++), place, error);
  }
  CM_FREE(r.seen, r.list);
  CM_END(status, *constraints = made, cm_constraints_clear(&made));
}
