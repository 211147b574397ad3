/* Reads and prints the classes of a chip's cores. What can fail: fields that make no sense, cores of two classes, memory. */
#include "core/chip/classes.h"

#include <inttypes.h>

#include "core/chip/chip_read.h"
#include "core/chip/json.h"

enum { LABEL_MAX = 119 };

void cm_classes_free(cm_chip *chip)
{
  for (uint32_t k = 0; chip->classes != NULL && k < chip->class_count; k++) {
    for (uint32_t i = 0; chip->classes[k].label != NULL && i < chip->classes[k].label_count; i++)
      cm_free(chip->classes[k].label[i]);
    cm_free(chip->classes[k].label);
  }
  CM_FREE(chip->classes, chip->class_of);
}

const char *cm_chip_kind_name(const cm_chip *chip, uint32_t kind)
{
  return kind == 0 ? "other" : chip->classes[kind - 1].name;
}

bool cm_chip_kind_takes(const cm_chip *chip, uint32_t kind, const char *name, const char *model)
{
  if (kind == 0 || chip->classes[kind - 1].label_count == 0)
    return true;
  const cm_core_class *c = &chip->classes[kind - 1];
  for (uint32_t i = 0; i < c->label_count; i++)
    if (strcmp(c->label[i], name) == 0 || strcmp(c->label[i], model) == 0)
      return true;
  return false;
}

uint64_t cm_chip_pinned_kinds(const cm_chip *chip)
{
  uint64_t kinds = 0;
  for (uint32_t k = 1; k < cm_chip_kinds(chip); k++)
    kinds |= chip->classes[k - 1].pinned_only ? UINT64_C(1) << k : 0;
  return kinds;
}

static uint64_t wider(uint64_t a, uint64_t b)
{
  return a == 0 || b == 0 ? 0 : a > b ? a : b;
}

cm_limits cm_chip_widest_limits(const cm_chip *chip)
{
  cm_limits all = chip->limits;
  uint64_t others = chip->width * (uint64_t)chip->height;
  for (uint32_t core = 0; chip->class_of != NULL && core < cm_chip_cores(chip); core++)
    others -= chip->class_of[core] != 0;
  for (uint32_t kind = 1; kind < cm_chip_kinds(chip); kind++) {
    const cm_limits *l = cm_chip_kind_limits(chip, kind);
    if (kind == 1 && others == 0)
      all = *l;
    bool alike = all.neuron_bits == l->neuron_bits && all.synapse_bits == l->synapse_bits && all.axon_bits == l->axon_bits;
    all = (cm_limits){.neurons = wider(all.neurons, l->neurons), .synapses = wider(all.synapses, l->synapses),
                      .inbound_axons = wider(all.inbound_axons, l->inbound_axons),
                      .outbound_axons = wider(all.outbound_axons, l->outbound_axons),
                      .target_cores = wider(all.target_cores, l->target_cores), .source_cores = wider(all.source_cores, l->source_cores),
                      .memory_bits = alike ? wider(all.memory_bits, l->memory_bits) : 0, .neuron_bits = all.neuron_bits,
                      .synapse_bits = all.synapse_bits, .axon_bits = all.axon_bits,
                      .populations = wider(all.populations, l->populations)};
  }
  return all;
}

/* ---- reading ---- */

static cm_status read_name(const json_t *value, const char *where, const cm_chip *chip, cm_core_class *c, cm_error *error)
{
  char place[64];
  const char *text = json_string_value(value);
  (void)snprintf(place, sizeof place, "%s/name", where);
  if (text == NULL || text[0] == '\0' || json_string_length(value) >= sizeof c->name || strcmp(text, "other") == 0)
    return cm_chip_bad(error, place, "expected a name of 1 to 63 bytes, not \"other\": so cores of no class are called");
  for (const cm_core_class *before = chip->classes; before < c; before++)
    if (strcmp(before->name, text) == 0)
      return cm_chip_bad(error, place, "another class has this name");
  memcpy(c->name, text, json_string_length(value) + 1);
  return CM_OK;
}

static cm_status read_labels(const json_t *list, const char *where, cm_core_class *c, cm_error *error)
{
  char place[64];
  (void)snprintf(place, sizeof place, "%s/labels", where);
  if (list == NULL)
    return CM_OK;
  if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > CM_CLASS_LABELS_MAX)
    return cm_chip_bad(error, place, "expected a list of 1 to 4096 names or models of populations; leave it out to take all");
  CM_TRY(CM_NEW(NULL, c->label, json_array_size(list), error));
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *item = json_array_get(list, i);
    size_t length = json_string_length(item);
    char *copy;
    if (!json_is_string(item) || length == 0 || length > LABEL_MAX)
      return cm_chip_bad(error, place, "expected texts of 1 to 119 bytes");
    CM_TRY(CM_NEW(NULL, copy, length + 1, error));
    memcpy(copy, json_string_value(item), length + 1);
    c->label[c->label_count++] = copy;
  }
  return CM_OK;
}

static cm_status read_cores(const json_t *list, const char *where, cm_chip *chip, uint8_t number, cm_error *error)
{
  char place[64];
  uint64_t named = 0;
  (void)snprintf(place, sizeof place, "%s/cores", where);
  if (!json_is_array(list) || json_array_size(list) == 0)
    return cm_chip_bad(error, place, "expected a list of cores [x,y] and rectangles [x0,y0,x1,y1]");
  const cm_rectangles from = {list, place, chip->width, chip->height, CM_BAD_CHIP};
  for (size_t i = 0; i < json_array_size(list); i++) {
    cm_rectangle r;
    CM_TRY(cm_rectangle_read(&from, i, &r, error));
    named += (uint64_t)(r.x1 - r.x0 + 1) * (r.y1 - r.y0 + 1);
    if (named > cm_named_cores_max(chip->width, chip->height))
      return cm_chip_bad(error, place, "the rectangles repeat the chip's cores too often");
    for (uint32_t y = r.y0; y <= r.y1; y++)
      for (uint32_t x = r.x0; x <= r.x1; x++) {
        uint8_t *of = &chip->class_of[(size_t)y * chip->width + x];
        if (*of != 0 && *of != number)
          return cm_json_fail(error, CM_BAD_CHIP, place, "%s: core (%" PRIu32 ", %" PRIu32 ") is of class \"%s\" already", place, x,
                              y, chip->classes[*of - 1].name);
        *of = number;
      }
  }
  return CM_OK;
}

static cm_status read_class(const json_t *object, size_t index, cm_chip *chip, cm_error *error)
{
  static const char *const names[] = {"name", "cores", "labels", "limits", "pinned_only", NULL};
  cm_core_class *c = &chip->classes[index];
  const json_t *limits = json_object_get(object, "limits"), *pinned = json_object_get(object, "pinned_only");
  char where[40], place[64];
  (void)snprintf(where, sizeof where, "/core_classes/%zu", index);
  (void)snprintf(place, sizeof place, "%s/limits", where);
  if (!json_is_object(object))
    return cm_chip_bad(error, where, "expected {\"name\", \"cores\", \"labels\", \"limits\", \"pinned_only\"}");
  chip->class_count = (uint32_t)index + 1;
  c->own_limits = limits != NULL;
  c->pinned_only = json_is_true(pinned);
  if (pinned != NULL && !json_is_boolean(pinned)) {
    (void)snprintf(place, sizeof place, "%s/pinned_only", where);
    return cm_chip_bad(error, place, "expected true or false");
  }
  CM_TRY(cm_json_known_fields(object, where, names, CM_BAD_CHIP, error));
  CM_TRY(read_name(json_object_get(object, "name"), where, chip, c, error));
  CM_TRY(read_labels(json_object_get(object, "labels"), where, c, error));
  CM_TRY(cm_limits_read(limits, place, &c->limits, &c->bits_per_synapse, error));
  if (c->limits.fan_in != 0 || c->limits.neuron_target_cores != 0 || c->limits.near_synapses != 0 || c->limits.far_synapses != 0)
    return cm_chip_bad(error, place, "limits per neuron are limits of the whole chip: give them there");
  return read_cores(json_object_get(object, "cores"), where, chip, (uint8_t)(index + 1), error);
}

cm_status cm_classes_read(const json_t *list, cm_chip *chip, cm_error *error)
{
  if (list == NULL)
    return CM_OK;
  if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > CM_CORE_CLASSES_MAX)
    return cm_chip_bad(error, "/core_classes", "expected a list of 1 to 32 classes");
  CM_TRY(CM_NEW_ALL(NULL, error, CM_ARRAY(chip->classes, json_array_size(list)), CM_ARRAY(chip->class_of, cm_chip_cores(chip))));
  for (size_t i = 0; i < json_array_size(list); i++)
    CM_TRY(read_class(json_array_get(list, i), i, chip, error));
  return CM_OK;
}

/* ---- printing ---- */

/* Runs along rows. */
static json_t *cores_json(const cm_chip *chip, uint8_t number)
{
  json_t *list = json_array();
  for (uint32_t y = 0; list != NULL && y < chip->height; y++) {
    const uint8_t *row = chip->class_of + (size_t)y * chip->width;
    for (uint32_t x = 0, end; x < chip->width; x = end) {
      for (end = x + 1; end < chip->width && row[end] == row[x]; end++)
        ;
      if (row[x] == number && json_array_append_new(list, json_pack("[i, i, i, i]", (int)x, (int)y, (int)end - 1, (int)y)) != 0) {
        json_decref(list);
        return NULL;
      }
    }
  }
  return list;
}

static json_t *labels_json(const cm_core_class *c)
{
  json_t *list = c->label_count == 0 ? NULL : json_array();
  for (uint32_t i = 0; list != NULL && i < c->label_count; i++)
    (void)json_array_append_new(list, json_string(c->label[i]));
  return list;
}

json_t *cm_classes_json(const cm_chip *chip)
{
  json_t *list = chip->class_count == 0 ? NULL : json_array();
  for (uint32_t k = 0; list != NULL && k < chip->class_count; k++) {
    const cm_core_class *c = &chip->classes[k];
    json_t *row = json_pack("{s:s, s:o, s:o*, s:o*, s:o*}", "name", c->name, "cores", cores_json(chip, (uint8_t)(k + 1)), "labels",
                            labels_json(c), "limits", c->own_limits ? cm_limits_json(&c->limits, c->bits_per_synapse) : NULL, "pinned_only", c->pinned_only ? json_true() : NULL);
    if (json_array_append_new(list, row) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}
