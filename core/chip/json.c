#include <inttypes.h>
#include <stdarg.h>

#include "base/json.h"
#include "core/chip/json.h"

cm_status cm_json_fail(cm_error *error, cm_status status, const char *where, const char *format, ...)
{
  char text[sizeof error->detail];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  cm_fail(error, status, "%s", text);
  return cm_fail_at(error, "%s", where);
}

const char *cm_json_place(char place[CM_JSON_PLACE_MAX], const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(place, CM_JSON_PLACE_MAX, format, arguments);
  va_end(arguments);
  return place;
}

cm_status cm_json_load(const char *text, size_t size, const cm_document *kind, json_t **object, cm_error *error)
{
  const char *what = kind->name;
  if (size > kind->size_max) {
    cm_fail(error, CM_TOO_LARGE, "the %s has %zu bytes; at most %zu are accepted", what, size, kind->size_max);
    cm_error_figure(error, "maximum", kind->size_max);
    return CM_TOO_LARGE;
  }
  json_error_t trouble;
  uint64_t refusals = cm_json_refusals();
  json_t *root = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, &trouble);
  if (root == NULL) {
    CM_TRY(cm_json_whole(refusals, what, error));
    cm_fail(error, kind->status, "the %s is not valid JSON: line %d, column %d: %s", what, trouble.line, trouble.column,
            trouble.text);
    return cm_fail_at(error, "line %d, column %d", trouble.line, trouble.column);
  }
  if (!json_is_object(root)) {
    json_decref(root);
    return cm_fail(error, kind->status, "the %s must be one JSON object", what);
  }
  *object = root;
  return CM_OK;
}

/* One reference token of a JSON pointer (RFC 6901), cut where the place would not hold it. */
static void pointer_token(char *token, size_t room, const char *name)
{
  size_t used = 0;
  for (; *name != '\0' && used + 3 < room; name++) {
    if (*name == '~' || *name == '/') {
      token[used++] = '~';
      token[used++] = *name == '~' ? '0' : '1';
    } else {
      token[used++] = *name;
    }
  }
  token[used] = '\0';
}

cm_status cm_json_known_fields(const json_t *object, const char *where, const char *const *names,
                               cm_status status, cm_error *error)
{
  /* jansson iterates over a table that it does not change. */
  json_t *fields = (json_t *)object;
  for (void *i = json_object_iter(fields); i != NULL; i = json_object_iter_next(fields, i)) {
    const char *key = json_object_iter_key(i);
    size_t n = 0;
    while (names[n] != NULL && strcmp(names[n], key) != 0)
      n++;
    if (names[n] != NULL)
      continue;
    char token[64], known[320];
    size_t used = 0;
    pointer_token(token, sizeof token, key);
    known[0] = '\0';
    for (n = 0; names[n] != NULL && used < sizeof known; n++)
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", n == 0 ? "" : ", ", names[n]);
    cm_fail(error, status, "unknown field \"%.60s\"; known here: %s", key, known);
    return cm_fail_at(error, "%s/%s", where, token);
  }
  return CM_OK;
}

cm_status cm_rectangle_read(const cm_rectangles *from, size_t index, cm_rectangle *rectangle, cm_error *error)
{
  const json_t *item = json_array_get(from->list, index);
  const cm_status status = from->status;
  char place[80];
  (void)snprintf(place, sizeof place, "%s/%zu", from->where, index);
  size_t count = json_is_array(item) ? json_array_size(item) : 0;
  if (count != 2 && count != 4)
    return cm_json_fail(error, status, place, "expected a core [x,y] or a rectangle [x0,y0,x1,y1]");
  json_int_t value[4];
  for (size_t i = 0; i < count; i++) {
    const json_t *number = json_array_get(item, i);
    uint32_t bound = i % 2 == 0 ? from->width : from->height;
    if (!json_is_integer(number))
      return cm_json_fail(error, status, place, "coordinates must be whole numbers");
    value[i] = json_integer_value(number);
    if (value[i] < 0 || value[i] >= bound)
      return cm_json_fail(error, status, place,
                          "%s = %" JSON_INTEGER_FORMAT " is outside the chip: 0 to %" PRIu32 " are inside",
                          i % 2 == 0 ? "x" : "y", value[i], bound - 1);
  }
  cm_rectangle r = {(uint32_t)value[0], (uint32_t)value[1], (uint32_t)value[0], (uint32_t)value[1]};
  if (count == 4) {
    r.x1 = (uint32_t)value[2];
    r.y1 = (uint32_t)value[3];
    if (r.x1 < r.x0 || r.y1 < r.y0)
      return cm_json_fail(error, status, place,
                          "the rectangle's second corner (%" PRIu32 ", %" PRIu32
                          ") lies before its first (%" PRIu32 ", %" PRIu32 ")",
                          r.x1, r.y1, r.x0, r.y0);
  }
  *rectangle = r;
  return CM_OK;
}
