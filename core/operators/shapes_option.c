/* Shapes that are stated, as an option. */
#include "core/operators/shapes.h"

/* Text, or an object with text or numbers by name. */
static cm_status read_shapes(const char *option, const json_t *value, void *field, cm_error *error)
{
  cm_stated_shapes *shapes = field;
  static const char expected[] = "text like \"input=1x3x224x224\", or {\"input\": [1, 3, 224, 224]}";
  const char *name;
  json_t *item;
  *shapes = (cm_stated_shapes){.count = 0};
  if (json_is_string(value))
    return cm_stated_shapes_parse(json_string_value(value), shapes, error);
  if (!json_is_object(value))
    return cm_option_refuse(error, option, expected);
  json_object_foreach((json_t *)(uintptr_t)value, name, item)
  {
    int64_t dims[CM_RANK_MAX];
    size_t rank = json_array_size(item);
    bool numbers = json_is_array(item) && rank > 0 && rank <= CM_RANK_MAX;
    for (size_t k = 0; numbers && k < rank; k++) {
      numbers = json_is_integer(json_array_get(item, k));
      dims[k] = json_integer_value(json_array_get(item, k));
    }
    if (!numbers)
      return cm_option_refuse(error, option, expected);
    CM_TRY(cm_stated_shapes_add(shapes, name, dims, (uint32_t)rank, error));
  }
  return CM_OK;
}

static json_t *shapes_schema(void)
{
  return json_pack("{s:[{s:s, s:[s]}, {s:s, s:{s:s, s:{s:s, s:i}}}]}", "anyOf", "type", "string", "examples",
                   "input=1x3x224x224", "type", "object", "additionalProperties", "type", "array", "items", "type", "integer",
                   "minimum", 0);
}

const cm_option_own cm_stated_shapes_option = {"NAME=DIMS", read_shapes, shapes_schema};
