/* images.json as rows of numbers. */
#include <stdlib.h>
#include <string.h>

#include "core/chip/json.h"
#include "core/verify/images_read.h"
#include "core/verify/images_source.h"

enum { FILE_MAX = 1 << 30 };

static const char *const kinds[CM_READ_KINDS] = {"neuron", "input", "copy", "relay", "bias"};
static const char *const lists[CM_LISTS] = {"neurons", "pool", "routes", "inputs"};
const size_t cm_image_columns[CM_LISTS] = {CM_IMAGE_COLUMNS, 3, 2, 2};

typedef struct json_source {
  cm_images_source base;
  json_t *root;
  const json_t *cores, *inputs;
} json_source;

const char *cm_image_place(char place[CM_IMAGE_PLACE_MAX], cm_image_list list, size_t core, size_t number)
{
  return list == CM_LIST_INPUTS ? cm_json_place(place, "/inputs/%zu", number) : cm_json_place(place, "/cores/%zu/%s/%zu", core, lists[list], number);
}

static cm_status refuse(const char *where, const char *what, cm_error *error)
{
  return cm_json_fail(error, CM_BAD_MAPPING, where, "%s: %s", where, what);
}

static cm_status member(const json_t *object, const char *where, const char *name, int64_t most, int64_t *value, cm_error *error)
{
  char place[CM_JSON_PLACE_MAX];
  const json_t *number = json_object_get(object, name);
  if (!json_is_integer(number) || json_integer_value(number) < 0 || json_integer_value(number) > most)
    return refuse(cm_json_place(place, "%s/%s", where, name), "expected a whole number that is not negative", error);
  *value = json_integer_value(number);
  return CM_OK;
}

/* A list at `name` of an object; an empty one is fine. */
static cm_status list_of(const json_t *object, const char *where, const char *name, const json_t **list, cm_error *error)
{
  char place[CM_JSON_PLACE_MAX];
  *list = json_object_get(object, name);
  return json_is_array(*list) ? CM_OK : refuse(cm_json_place(place, "%s/%s", where, name), "expected a list", error);
}

static cm_status core_at(const cm_images_source *source, size_t core, cm_image_core *found, cm_error *error)
{
  const json_source *s = (const json_source *)source;
  const json_t *object = json_array_get(s->cores, core), *list;
  char where[CM_JSON_PLACE_MAX];
  CM_TRY(member(object, cm_json_place(where, "/cores/%zu", core), "core", INT32_MAX, &found->number, error));
  for (int k = 0; k < CM_LIST_INPUTS; k++) {
    CM_TRY(list_of(object, where, lists[k], &list, error));
    found->rows[k] = json_array_size(list);
  }
  return CM_OK;
}

/* Words of a neuron's row as their numbers. */
static cm_status read_words(const json_t *row, const char *where, int64_t *value, cm_error *error)
{
  const char *kind = json_string_value(json_array_get(row, CM_IMAGE_COLUMN_KIND)), *model = json_string_value(json_array_get(row, CM_IMAGE_COLUMN_MODEL));
  int64_t k = 0;
  while (k < CM_READ_KINDS && (kind == NULL || strcmp(kinds[k], kind) != 0))
    k++;
  const cm_chip_neuron found = model != NULL ? cm_chip_neuron_find(model) : CM_CHIP_NEURONS;
  if (k == CM_READ_KINDS)
    return refuse(where, "expected a kind: neuron, input, copy, relay or bias", error);
  if (found == CM_CHIP_NEURONS)
    return refuse(where, "expected a model of neurons: catalyst-lif, catalyst-cuba or loihi-cuba", error);
  value[CM_IMAGE_COLUMN_KIND] = k;
  value[CM_IMAGE_COLUMN_MODEL] = found;
  return CM_OK;
}

static cm_status row_at(const cm_images_source *source, cm_image_list list, size_t core, size_t number, int64_t *value, cm_error *error)
{
  const json_source *s = (const json_source *)source;
  const json_t *rows = list == CM_LIST_INPUTS ? s->inputs : json_object_get(json_array_get(s->cores, core), lists[list]), *row = json_array_get(rows, number);
  char where[CM_IMAGE_PLACE_MAX];
  if (json_array_size(row) != cm_image_columns[list])
    return cm_json_fail(error, CM_BAD_MAPPING, cm_image_place(where, list, core, number), "%s: expected a row of %zu columns", where, cm_image_columns[list]);
  for (size_t k = 0; k < cm_image_columns[list]; k++) {
    const json_t *cell = json_array_get(row, k);
    if (list == CM_LIST_NEURONS && (k == CM_IMAGE_COLUMN_KIND || k == CM_IMAGE_COLUMN_MODEL))
      continue;
    if (!json_is_integer(cell))
      return cm_json_fail(error, CM_BAD_MAPPING, cm_image_place(where, list, core, number), "%s/%zu: expected a whole number", where, k);
    value[k] = json_integer_value(cell);
  }
  return list == CM_LIST_NEURONS ? read_words(row, cm_image_place(where, list, core, number), value, error) : CM_OK;
}

static void close_json(cm_images_source *source)
{
  json_source *s = (json_source *)source;
  json_decref(s->root);
  free(s);
}

cm_status cm_images_json_open(const char *text, size_t size, cm_images_source **source, cm_error *error)
{
  static const cm_document kind = {"images of cores", FILE_MAX, CM_BAD_MAPPING};
  int64_t version;
  json_source *s = calloc(1, sizeof *s);
  if (s == NULL)
    return cm_whole(false, "images of cores", error);
  s->base = (cm_images_source){.core = core_at, .row = row_at, .close = close_json};
  cm_status status = cm_json_load(text, size, &kind, &s->root, error);
  if (status == CM_OK && (member(s->root, "", "version", 1, &version, error) != CM_OK ||
                          member(s->root, "", "network_neurons", INT32_MAX, &s->base.network_neurons, error) != CM_OK ||
                          member(s->root, "", "network_synapses", INT64_MAX, &s->base.network_synapses, error) != CM_OK ||
                          member(s->root, "", "network_steps", INT32_MAX, &s->base.network_steps, error) != CM_OK ||
                          member(s->root, "", "steps", INT32_MAX, &s->base.steps, error) != CM_OK || list_of(s->root, "", "cores", &s->cores, error) != CM_OK ||
                          list_of(s->root, "", "inputs", &s->inputs, error) != CM_OK))
    status = error->status;
  s->base.cores = json_array_size(s->cores);
  s->base.inputs = json_array_size(s->inputs);
  CM_END(status, *source = &s->base, close_json(&s->base));
}
