/* Reads and prints the machine part of chip files. What can fail: unknown or missing fields, numbers out of range. */
#include "core/chip/target.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/chip/internal.h"

static const double RATE_MAX = 1e12;

static cm_status bad(cm_error *error, const char *where, const char *what)
{
  return cm_json_fail(error, CM_BAD_CHIP, where, "%s: %s", where, what);
}

/* A number of an object; `*number` keeps its value when the field is not there and not `needed`. */
static cm_status read_number(const json_t *object, const char *group, const char *name, bool needed, double least,
                             double most, bool whole, double *number, cm_error *error)
{
  char where[128];
  (void)snprintf(where, sizeof where, "%s/%s", group, name);
  const json_t *value = json_object_get(object, name);
  if (value == NULL)
    return needed ? bad(error, where, "missing") : CM_OK;
  double given = json_number_value(value);
  if (!json_is_number(value) || !isfinite(given) || (whole && given != floor(given)))
    return bad(error, where, whole ? "expected a whole number" : "expected a number");
  if (given < least || given > most)
    return cm_json_fail(error, CM_BAD_CHIP, where, "%s: %.15g is out of range; %g to %.15g are possible", where, given,
                        least, most);
  *number = given;
  return CM_OK;
}

static cm_status read_count(const json_t *object, const char *group, const char *name, bool needed, double least,
                            double most, uint32_t *count, cm_error *error)
{
  double number = *count;
  if (read_number(object, group, name, needed, least, most, true, &number, error) != CM_OK)
    return error->status;
  *count = (uint32_t)number;
  return CM_OK;
}

/* ---- units ---- */

static cm_status read_rates(const json_t *unit, const char *group, cm_unit *made, cm_error *error)
{
  char where[128];
  const json_t *rates = json_object_get(unit, "operations_per_ns");
  const char *type;
  json_t *value;
  (void)snprintf(where, sizeof where, "%s/operations_per_ns", group);
  if (!json_is_object(rates) || json_object_size(rates) == 0)
    return bad(error, where, "expected an object of data types with their operations a nanosecond, such as "
                             "{\"float32\": 64, \"int8\": 256}: a unit without throughput computes nothing");
  if (json_object_size(rates) > CM_TARGET_RATES_MAX)
    return bad(error, where, "too many data types");
  json_object_foreach((json_t *)(uintptr_t)rates, type, value)
  {
    cm_rate *rate = &made->rate[made->rate_count++];
    if (strlen(type) == 0 || strlen(type) >= sizeof rate->type)
      return bad(error, where, "a data type's name is too long");
    memcpy(rate->type, type, strlen(type) + 1);
    if (read_number(rates, where, type, true, 1e-9, RATE_MAX, false, &rate->per_ns, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status read_unit(const json_t *units, cm_unit_kind kind, cm_unit *unit, cm_error *error)
{
  static const char *const data_fields[] = {"count", "ports", "bytes_per_ns", "latency_ns", NULL};
  static const char *const fields[] = {"count", "operations_per_ns", NULL};
  char where[64];
  const json_t *object = json_object_get(units, cm_unit_name(kind));
  (void)snprintf(where, sizeof where, "/machine/units/%s", cm_unit_name(kind));
  *unit = (cm_unit){.count = 1, .ports = 1};
  if (!json_is_object(object))
    return bad(error, where, "expected an object");
  if (cm_json_known_fields(object, where, kind == CM_UNIT_DATA ? data_fields : fields, CM_BAD_CHIP, error) != CM_OK ||
      read_count(object, where, "count", false, 1, CM_TARGET_LANES_MAX, &unit->count, error) != CM_OK)
    return error->status;
  if (kind != CM_UNIT_DATA)
    return read_rates(object, where, unit, error);
  if (read_count(object, where, "ports", false, 1, CM_TARGET_LANES_MAX, &unit->ports, error) != CM_OK ||
      read_number(object, where, "bytes_per_ns", true, 1e-9, RATE_MAX, false, &unit->bytes_per_ns, error) != CM_OK)
    return error->status;
  return read_number(object, where, "latency_ns", false, 0, RATE_MAX, false, &unit->latency_ns, error);
}

/* ---- devices ---- */

static cm_status read_device(const json_t *object, size_t index, cm_device *device, cm_error *error)
{
  static const char *const fields[] = {"name", "cores", "length", "transfer_ns", "compute_ns", "pipelined", NULL};
  char where[64];
  double length = 0;
  (void)snprintf(where, sizeof where, "/machine/devices/%zu", index);
  if (!json_is_object(object))
    return bad(error, where, "expected an object");
  if (cm_json_known_fields(object, where, fields, CM_BAD_CHIP, error) != CM_OK)
    return error->status;
  const char *name = json_string_value(json_object_get(object, "name"));
  if (name == NULL || strlen(name) == 0 || strlen(name) >= sizeof device->name)
    return bad(error, where, "its name should be 1 to 31 bytes of text");
  memcpy(device->name, name, strlen(name) + 1);
  if (read_count(object, where, "cores", true, 1, 1 << 24, &device->cores, error) != CM_OK ||
      read_number(object, where, "length", true, 1, 9007199254740992.0, true, &length, error) != CM_OK ||
      read_number(object, where, "transfer_ns", true, 0, RATE_MAX, false, &device->transfer_ns, error) != CM_OK ||
      read_number(object, where, "compute_ns", true, 0, RATE_MAX, false, &device->compute_ns, error) != CM_OK)
    return error->status;
  device->length = (uint64_t)length;
  const json_t *pipelined = json_object_get(object, "pipelined");
  if (pipelined != NULL && !json_is_boolean(pipelined))
    return bad(error, where, "pipelined should be true or false");
  device->pipelined = json_is_true(pipelined);
  if (device->transfer_ns + device->compute_ns <= 0)
    return bad(error, where, "it has no throughput: transfer_ns and compute_ns are both 0");
  return CM_OK;
}

static cm_status read_devices(const json_t *machine, cm_target *target, cm_error *error)
{
  const json_t *list = json_object_get(machine, "devices");
  if (list == NULL)
    return CM_OK;
  if (!json_is_array(list) || json_array_size(list) > CM_TARGET_DEVICES_MAX)
    return bad(error, "/machine/devices", "expected a list of at most 64 devices");
  for (size_t i = 0; i < json_array_size(list); i++)
    if (read_device(json_array_get(list, i), i, &target->device[target->device_count++], error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* ---- the whole ---- */

static cm_status read_machine(const json_t *object, cm_target *target, cm_error *error)
{
  static const char *const fields[] = {"memory_bytes", "issue_ns", "units", "devices", NULL};
  static const char *const kinds[] = {"data", "matrix", "vector", NULL};
  double memory = 0;
  if (!json_is_object(object))
    return bad(error, "/machine", "expected an object");
  if (cm_json_known_fields(object, "/machine", fields, CM_BAD_CHIP, error) != CM_OK ||
      read_number(object, "/machine", "memory_bytes", true, 1, (double)CM_TARGET_MEMORY_MAX, true, &memory, error) !=
          CM_OK ||
      read_number(object, "/machine", "issue_ns", false, 0, RATE_MAX, false, &target->issue_ns, error) != CM_OK)
    return error->status;
  target->memory_bytes = (uint64_t)memory;
  const json_t *units = json_object_get(object, "units");
  if (!json_is_object(units))
    return bad(error, "/machine/units", "expected an object with data, matrix and vector");
  if (cm_json_known_fields(units, "/machine/units", kinds, CM_BAD_CHIP, error) != CM_OK)
    return error->status;
  uint64_t lanes = 0;
  for (int k = 0; k < CM_UNIT_KINDS; k++) {
    if (read_unit(units, (cm_unit_kind)k, &target->unit[k], error) != CM_OK)
      return error->status;
    lanes += (uint64_t)target->unit[k].count * target->unit[k].ports;
  }
  if (lanes > CM_TARGET_LANES_MAX)
    return cm_json_fail(error, CM_BAD_CHIP, "/machine/units",
                        "/machine/units: %llu units and ports are too many; at most %d are possible",
                        (unsigned long long)lanes, CM_TARGET_LANES_MAX);
  return read_devices(object, target, error);
}

cm_status cm_target_read(const json_t *object, cm_target **target, cm_error *error)
{
  cm_target *made;
  if (CM_NEW(NULL, made, 1, error) != CM_OK)
    return error->status;
  if (read_machine(object, made, error) != CM_OK) {
    cm_free(made);
    return error->status;
  }
  *target = made;
  return CM_OK;
}

const char *cm_unit_name(cm_unit_kind kind)
{
  static const char *const names[] = {"data", "matrix", "vector"};
  return names[kind];
}

uint32_t cm_target_lanes(const cm_target *target, cm_unit_kind kind)
{
  return target->unit[kind].count * target->unit[kind].ports;
}

double cm_unit_rate(const cm_unit *unit, const char *type)
{
  double other = 0;
  bool bytes = false;
  for (uint32_t i = 0; i < unit->rate_count; i++) {
    if (strcmp(unit->rate[i].type, type) == 0)
      return unit->rate[i].per_ns;
    /* Where only one kind of bytes is named, units compute both alike. */
    if (strcmp(unit->rate[i].type, "int8") == 0 && strcmp(type, "uint8") == 0) {
      other = unit->rate[i].per_ns;
      bytes = true;
    }
    if (!bytes && strcmp(unit->rate[i].type, "other") == 0)
      other = unit->rate[i].per_ns;
  }
  return other;
}

static json_t *unit_json(const cm_unit *unit, cm_unit_kind kind)
{
  if (kind == CM_UNIT_DATA)
    return json_pack("{s:i, s:i, s:f, s:f}", "count", (int)unit->count, "ports", (int)unit->ports, "bytes_per_ns",
                     unit->bytes_per_ns, "latency_ns", unit->latency_ns);
  json_t *rates = json_object();
  for (uint32_t i = 0; i < unit->rate_count; i++)
    if (json_object_set_new(rates, unit->rate[i].type, json_real(unit->rate[i].per_ns)) != 0) {
      json_decref(rates);
      return NULL;
    }
  return json_pack("{s:i, s:o}", "count", (int)unit->count, "operations_per_ns", rates);
}

json_t *cm_target_json(const cm_target *target)
{
  json_t *devices = json_array();
  for (uint32_t i = 0; i < target->device_count; i++) {
    const cm_device *d = &target->device[i];
    if (json_array_append_new(devices, json_pack("{s:s, s:i, s:I, s:f, s:f, s:b}", "name", d->name, "cores",
                                                 (int)d->cores, "length", (json_int_t)d->length, "transfer_ns",
                                                 d->transfer_ns, "compute_ns", d->compute_ns, "pipelined",
                                                 d->pipelined)) != 0) {
      json_decref(devices);
      return NULL;
    }
  }
  return json_pack("{s:I, s:f, s:{s:o, s:o, s:o}, s:o}", "memory_bytes", (json_int_t)target->memory_bytes, "issue_ns",
                   target->issue_ns, "units", "data", unit_json(&target->unit[CM_UNIT_DATA], CM_UNIT_DATA), "matrix",
                   unit_json(&target->unit[CM_UNIT_MATRIX], CM_UNIT_MATRIX), "vector",
                   unit_json(&target->unit[CM_UNIT_VECTOR], CM_UNIT_VECTOR), "devices", devices);
}
