/* Prints the machine part of chip files. What can fail: memory. */
#include "base/json.h"
#include "core/chip/json.h"

static json_t *rates_json(const cm_device *device)
{
  json_t *kinds = json_object();
  for (cm_unit_kind k = CM_UNIT_MATRIX; k < CM_UNIT_KINDS; k++) {
    json_t *rates = device->rate_count[k] > 0 ? json_object() : NULL;
    for (uint32_t i = 0; i < device->rate_count[k]; i++)
      (void)json_object_set_new(rates, device->rate[k][i].type, json_real(device->rate[k][i].per_ns));
    if (rates != NULL)
      (void)json_object_set_new(kinds, cm_unit_name(k), rates);
  }
  return kinds;
}

/* The cores of a device, each once, in the order of its units. */
static json_t *cores_json(const cm_target *target, const cm_device *device)
{
  json_t *list = json_array();
  for (uint32_t u = 0; u < device->units; u++) {
    uint32_t core = target->core[device->first_unit + u];
    if (u == 0 || core != target->core[device->first_unit + u - 1])
      (void)json_array_append_new(list, json_pack("[i,i]", (int)(core % target->grid.width),
                                                  (int)(core / target->grid.width)));
  }
  return list;
}

static json_t *device_json(const cm_target *target, const cm_device *d)
{
  json_t *made = json_pack("{s:s, s:o, s:i}", "name", d->name, "cores", cores_json(target, d), "units", (int)d->units);
  if (made == NULL)
    return NULL;
  if (d->moves)
    (void)json_object_set_new(made, "ports", json_integer(d->ports));
  else
    (void)json_object_set_new(made, "operations_per_ns", rates_json(d));
  if (d->bytes_per_ns > 0)
    (void)json_object_set_new(made, "bytes_per_ns", json_real(d->bytes_per_ns));
  (void)json_object_set_new(made, "latency_ns", json_real(d->latency_ns));
  if (!d->pipelined)
    (void)json_object_set_new(made, "pipelined", json_false());
  if (d->memory_bytes > 0)
    (void)json_object_set_new(made, "memory_bytes", json_integer((json_int_t)d->memory_bytes));
  return made;
}

json_t *cm_target_json(const cm_target *target)
{
  json_t *devices = json_array();
  for (uint32_t i = 0; i < target->device_count; i++)
    if (json_array_append_new(devices, device_json(target, &target->device[i])) != 0) {
      json_decref(devices);
      return NULL;
    }
  json_t *made = json_pack("{s:I, s:f, s:o}", "memory_bytes", (json_int_t)target->memory_bytes, "issue_ns", target->issue_ns,
                           "devices", devices);
  if (made != NULL && target->window > 0)
    (void)json_object_set_new(made, "window", json_integer(target->window));
  if (made != NULL && target->code_bytes > 0)
    (void)json_object_set_new(made, "code_bytes", json_integer(target->code_bytes));
  const uint32_t count = target->memory_count;
  if (made == NULL || count == 0)
    return made;
  (void)json_object_set_new(made, "link_bytes_per_ns", json_real(target->link_bytes_per_ns));
  const uint64_t of_cores = target->memory[count - 1].core == CM_CORE_SHARED ? target->memory[count - 2].to : target->memory_bytes;
  if (of_cores < target->memory_bytes)
    (void)json_object_set_new(made, "memory_bytes", json_integer((json_int_t)(target->memory_bytes - of_cores)));
  else
    (void)json_object_del(made, "memory_bytes");
  return made;
}
