/* Reads the machine part of chip files. What can fail: unknown or missing fields, numbers out of range, cores
 * that are dead or not there, the form that chip files had when programs and tiles were two models of a chip. */
#include <math.h>

#include "base/json.h"
#include "core/chip/json.h"

static const double RATE_MAX = 1e12;
enum { WHERE = 128 };

static cm_status bad(cm_error *error, const char *where, const char *what)
{
  return cm_json_fail(error, CM_BAD_CHIP, where, "%s: %s", where, what);
}

/* What a number may be. */
typedef struct range {
  double min, max;
  bool whole, needed;
} range;

/* A number of an object; `*number` keeps its value when the field is not there and not needed. */
static cm_status read_number(const json_t *object, const char *group, const char *name, range r, double *number, cm_error *error)
{
  char where[WHERE];
  (void)snprintf(where, sizeof where, "%s/%s", group, name);
  const json_t *value = json_object_get(object, name);
  if (value == NULL)
    return r.needed ? bad(error, where, "missing") : CM_OK;
  double given = json_number_value(value);
  if (!json_is_number(value) || !isfinite(given) || (r.whole && given != floor(given)))
    return bad(error, where, r.whole ? "expected a whole number" : "expected a number");
  if (given < r.min || given > r.max)
    return cm_json_fail(error, CM_BAD_CHIP, where, "%s: %.15g is out of range; %g to %.15g are possible", where, given, r.min,
                        r.max);
  *number = given;
  return CM_OK;
}

static cm_status read_count(const json_t *object, const char *group, const char *name, uint32_t *count, cm_error *error)
{
  double number = *count;
  CM_TRY(read_number(object, group, name, (range){.min = 1, .max = CM_TARGET_LANES_MAX, .whole = true}, &number, error));
  *count = (uint32_t)number;
  return CM_OK;
}

/* ---- throughput ---- */

static cm_status read_kind(const json_t *rates, const char *where, cm_unit_kind kind, cm_device *device, cm_error *error)
{
  const char *type;
  json_t *value;
  if (!json_is_object(rates) || json_object_size(rates) == 0)
    return bad(error, where, "expected an object of data types with their operations a nanosecond, such as "
                             "{\"float32\": 64, \"int8\": 256}: a unit without throughput computes nothing");
  if (json_object_size(rates) > CM_TARGET_RATES_MAX)
    return bad(error, where, "too many data types");
  json_object_foreach((json_t *)(uintptr_t)rates, type, value)
  {
    cm_rate *rate = &device->rate[kind][device->rate_count[kind]++];
    if (strlen(type) == 0 || strlen(type) >= sizeof rate->type)
      return bad(error, where, "a data type's name is too long");
    memcpy(rate->type, type, strlen(type) + 1);
    CM_TRY(read_number(rates, where, type, (range){.min = 1e-9, .max = RATE_MAX, .needed = true}, &rate->per_ns, error));
  }
  return CM_OK;
}

static cm_status read_rates(const json_t *rates, const char *group, cm_device *device, cm_error *error)
{
  static const char *const kinds[] = {"matrix", "vector", "host", NULL};
  char where[2 * WHERE];
  (void)snprintf(where, sizeof where, "%s/operations_per_ns", group);
  if (!json_is_object(rates) || json_object_size(rates) == 0)
    return bad(error, where, "expected an object of kinds of operation, such as {\"matrix\": {\"float32\": 64}, "
                             "\"vector\": {\"float32\": 8, \"other\": 4}}: a device without throughput computes nothing");
  CM_TRY(cm_json_known_fields(rates, where, kinds, CM_BAD_CHIP, error));
  for (cm_unit_kind k = CM_UNIT_MATRIX; k < CM_UNIT_KINDS; k++) {
    const json_t *of = json_object_get(rates, cm_unit_name(k));
    char kind[3 * WHERE];
    (void)snprintf(kind, sizeof kind, "%s/%s", where, cm_unit_name(k));
    if (of != NULL && read_kind(of, kind, k, device, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* ---- cores ---- */

static bool is_dead(const cm_chip *chip, uint32_t core)
{
  for (uint32_t i = 0; i < chip->dead_core_count; i++)
    if (chip->dead_cores[i] == core)
      return true;
  return false;
}

/* Cores of a device's units, and how many there is room for. */
typedef struct unit_cores {
  uint32_t *core, most, count;
} unit_cores;

/* The cores that a device names, up to as many as it may have units. */
static cm_status list_cores(const cm_rectangles *from, const cm_chip *chip, unit_cores *of, cm_error *error)
{
  const char *where = from->where;
  for (size_t i = 0; i < json_array_size(from->list); i++) {
    cm_rectangle r;
    CM_TRY(cm_rectangle_read(from, i, &r, error));
    for (uint32_t y = r.y0; y <= r.y1; y++)
      for (uint32_t x = r.x0; x <= r.x1; x++) {
        if (is_dead(chip, y * chip->width + x))
          return cm_json_fail(error, CM_BAD_CHIP, where, "%s: core (%u, %u) is dead", where, x, y);
        if (of->count == of->most)
          return cm_json_fail(error, CM_BAD_CHIP, where, "%s: more than %u cores, which is as many units as there can be", where,
                              of->most);
        of->core[of->count++] = y * chip->width + x;
      }
  }
  return CM_OK;
}

/* Its units lie on its cores one by one, as many on each. */
static cm_status read_cores(const json_t *object, const char *group, const cm_chip *chip, cm_device *device, unit_cores of,
                            cm_error *error)
{
  const json_t *list = json_object_get(object, "cores");
  char where[2 * WHERE];
  (void)snprintf(where, sizeof where, "%s/cores", group);
  const cm_rectangles from = {list, where, chip->width, chip->height, CM_BAD_CHIP};
  if (list == NULL && cm_chip_cores(chip) == 1)
    of.core[of.count++] = 0;
  else if (!json_is_array(list) || json_array_size(list) == 0)
    return bad(error, where, "expected the cores that its units lie on, a list of [x, y] or [x0, y0, x1, y1], such as "
                             "[[0, 0, 3, 0]] for four in a row");
  else if (list_cores(&from, chip, &of, error) != CM_OK)
    return error->status;
  device->units = of.count;
  CM_TRY(read_count(object, group, "units", &device->units, error));
  if (device->units > of.most)
    return cm_json_fail(error, CM_BAD_CHIP, group, "%s: there is room for %u more units, not %u", group, of.most, device->units);
  if (device->units % of.count != 0)
    return cm_json_fail(error, CM_BAD_CHIP, where, "%s: %u units do not lie evenly on %u cores: name as many cores as units, "
                        "or a number that divides them", where, device->units, of.count);
  for (uint32_t u = device->units, each = device->units / of.count; u-- > 0;)
    of.core[u] = of.core[u / each];
  return CM_OK;
}

/* ---- devices ---- */

static cm_status read_name(const json_t *object, const char *where, const cm_target *target, cm_device *device,
                           cm_error *error)
{
  const char *name = json_string_value(json_object_get(object, "name"));
  if (name == NULL || strlen(name) == 0 || strlen(name) >= sizeof device->name)
    return bad(error, where, "its name should be 1 to 31 bytes of text");
  for (const cm_device *other = target->device; other < device; other++)
    if (strcmp(other->name, name) == 0)
      return cm_json_fail(error, CM_BAD_CHIP, where, "%s: there is a device \"%s\" already", where, name);
  memcpy(device->name, name, strlen(name) + 1);
  return CM_OK;
}

static cm_status read_device(const json_t *object, const cm_chip *chip, cm_target *target, uint32_t units, cm_error *error)
{
  static const char *const data_fields[] = {"name", "cores", "units", "ports", "bytes_per_ns", "latency_ns", "memory_bytes", NULL};
  static const char *const fields[] = {"name", "cores", "units", "operations_per_ns", "bytes_per_ns", "latency_ns",
                                       "pipelined", "memory_bytes", NULL};
  cm_device *device = &target->device[target->device_count];
  char where[WHERE];
  (void)snprintf(where, sizeof where, "/machine/devices/%u", target->device_count);
  *device = (cm_device){.ports = 1, .pipelined = true};
  if (!json_is_object(object))
    return bad(error, where, "expected an object");
  if (json_object_get(object, "length") != NULL || json_object_get(object, "transfer_ns") != NULL)
    return bad(error, where, "\"length\", \"transfer_ns\" and \"compute_ns\" are no more: a device states what its units do, "
                             "such as {\"name\": \"vector\", \"cores\": [[0, 0, 3, 0]], \"operations_per_ns\": {\"vector\": "
                             "{\"float32\": 16}}, \"bytes_per_ns\": 32}");
  const json_t *rates = json_object_get(object, "operations_per_ns"), *pipelined = json_object_get(object, "pipelined");
  device->moves = rates == NULL;
  if (cm_json_known_fields(object, where, device->moves ? data_fields : fields, CM_BAD_CHIP, error) != CM_OK ||
      read_name(object, where, target, device, error) != CM_OK ||
      read_cores(object, where, chip, device, (unit_cores){target->core + units, CM_TARGET_LANES_MAX - units, 0}, error) !=
        CM_OK ||
      (!device->moves && read_rates(rates, where, device, error) != CM_OK) ||
      (device->moves && read_count(object, where, "ports", &device->ports, error) != CM_OK) ||
      read_number(object, where, "bytes_per_ns", (range){.min = 1e-9, .max = RATE_MAX, .needed = device->moves},
                  &device->bytes_per_ns, error) != CM_OK ||
      read_number(object, where, "latency_ns", (range){.max = RATE_MAX}, &device->latency_ns, error) != CM_OK)
    return error->status;
  if (pipelined != NULL && !json_is_boolean(pipelined))
    return bad(error, where, "pipelined should be true or false");
  if (pipelined != NULL && !json_is_true(pipelined) && device->bytes_per_ns <= 0)
    return bad(error, where, "a device that is not pipelined needs bytes_per_ns: what its units read and write in");
  device->pipelined = pipelined == NULL || json_is_true(pipelined);
  if (device->rate_count[CM_UNIT_HOST] > 0 && device->bytes_per_ns <= 0)
    return bad(error, where, "a host needs bytes_per_ns: what it reads of the chip and writes there in");
  target->device_count++;
  return CM_OK;
}

static cm_status need_kinds(const cm_target *target, cm_error *error)
{
  static const char *const what[] = {
      "moves data: it needs one with \"ports\" and \"bytes_per_ns\" and without \"operations_per_ns\"",
      "does matrix operations: one needs \"operations_per_ns\" with \"matrix\"",
      "does vector operations: one needs \"operations_per_ns\" with \"vector\""};
  for (cm_unit_kind k = CM_UNIT_DATA; k <= CM_UNIT_VECTOR; k++)
    if (cm_target_lanes(target, k) == 0)
      return cm_json_fail(error, CM_BAD_CHIP, "/machine/devices", "/machine/devices: no device %s", what[k]);
  return CM_OK;
}

static cm_status read_devices(const json_t *machine, const cm_chip *chip, cm_target *target, cm_error *error)
{
  const json_t *list = json_object_get(machine, "devices");
  uint32_t units = 0;
  if (!json_is_array(list) || json_array_size(list) > CM_TARGET_DEVICES_MAX)
    return bad(error, "/machine/devices", "expected a list of at most 64 devices");
  for (size_t i = 0; i < json_array_size(list); i++) {
    CM_TRY(read_device(json_array_get(list, i), chip, target, units, error));
    units += target->device[i].units;
  }
  if (cm_target_number(target, error) != CM_OK)
    return cm_fail_at(error, "/machine/devices");
  return need_kinds(target, error);
}

/* ---- memories of cores ---- */

/* Gives every core of a device a memory. */
static cm_status add_memories(const json_t *list, uint32_t number, cm_target *target, cm_error *error)
{
  cm_device *device = &target->device[number];
  char where[WHERE];
  double bytes = 0;
  (void)snprintf(where, sizeof where, "/machine/devices/%u", number);
  CM_TRY(read_number(json_array_get(list, number), where, "memory_bytes",
                     (range){.min = 64, .max = (double)CM_TARGET_MEMORY_MAX, .whole = true}, &bytes, error));
  if (fmod(bytes, 64) > 0)
    return bad(error, where, "memory_bytes should be a multiple of 64");
  device->memory_bytes = (uint64_t)bytes;
  for (uint32_t u = 0; bytes > 0 && u < device->units; u++) {
    const uint32_t core = target->core[device->first_unit + u];
    if (u > 0 && core == target->core[device->first_unit + u - 1])
      continue; /* units on one core share its memory */
    for (uint32_t m = 0; m < target->memory_count; m++)
      if (target->memory[m].core == core)
        return cm_json_fail(error, CM_BAD_CHIP, where, "%s/memory_bytes: core (%u, %u) has a memory already; of devices that share "
                            "cores one states it", where, core % target->grid.width, core / target->grid.width);
    if (target->memory_count == CM_TARGET_MEMORIES_MAX)
      return bad(error, where, "more than 1024 cores have memories of their own");
    target->memory_bytes += (uint64_t)bytes;
    target->memory[target->memory_count++] = (cm_core_memory){core, target->memory_bytes};
  }
  return CM_OK;
}

/* The memory that all cores share, which there has to be where no device states its own; links, where one does. */
static cm_status read_shared(const json_t *machine, cm_target *target, cm_error *error)
{
  bool own = false;
  double shared = 0;
  size_t at;
  json_t *device;
  json_array_foreach(json_object_get(machine, "devices"), at, device) own = own || json_object_get(device, "memory_bytes") != NULL;
  const range link = {.min = 1e-9, .max = RATE_MAX, .needed = own},
              memory = {.min = 1, .max = (double)CM_TARGET_MEMORY_MAX, .whole = true, .needed = !own};
  CM_TRY(read_number(machine, "/machine", "memory_bytes", memory, &shared, error));
  CM_TRY(read_number(machine, "/machine", "link_bytes_per_ns", link, &target->link_bytes_per_ns, error));
  target->memory_bytes = (uint64_t)shared;
  return CM_OK;
}

/* Memories of cores come first, then what all share. */
static cm_status read_memories(const json_t *machine, cm_target *target, cm_error *error)
{
  const json_t *list = json_object_get(machine, "devices");
  const uint64_t shared = target->memory_bytes;
  target->memory_bytes = 0;
  for (uint32_t d = 0; d < target->device_count; d++)
    CM_TRY(add_memories(list, d, target, error));
  target->memory_bytes += shared;
  if (target->memory_bytes > CM_TARGET_MEMORY_MAX)
    return bad(error, "/machine", "all memories together have more than 2^40 bytes");
  if (target->memory_count == 0 || shared == 0)
    return CM_OK;
  if (target->memory_count == CM_TARGET_MEMORIES_MAX)
    return bad(error, "/machine", "1024 memories of cores leave no place for one that all share");
  target->memory[target->memory_count++] = (cm_core_memory){CM_CORE_SHARED, target->memory_bytes};
  return CM_OK;
}

/* ---- the form of old ---- */

/* The devices that do what an old file's units did. */
static json_t *rewritten(const json_t *units, const cm_chip *chip)
{
  json_t *devices = json_array();
  for (cm_unit_kind k = CM_UNIT_DATA; k <= CM_UNIT_VECTOR; k++) {
    json_t *old = json_object_get(units, cm_unit_name(k)), *made = json_pack("{s:s}", "name", cm_unit_name(k));
    json_int_t count = json_integer_value(json_object_get(old, "count"));
    bool row = count > 1 && count <= (json_int_t)chip->width;
    count = count > 0 ? count : 1;
    if (cm_chip_cores(chip) > 1)
      json_object_set_new(made, "cores", row ? json_pack("[[i,i,i,i]]", 0, 0, (int)count - 1, 0) : json_pack("[[i,i]]", 0, 0));
    if (count > 1 && (!row || cm_chip_cores(chip) == 1))
      json_object_set_new(made, "units", json_integer(count));
    static const char *const kept[] = {"ports", "bytes_per_ns", "latency_ns"};
    for (size_t i = 0; i < 3; i++)
      if (json_object_get(old, kept[i]) != NULL)
        json_object_set(made, kept[i], json_object_get(old, kept[i]));
    if (k != CM_UNIT_DATA)
      json_object_set_new(made, "operations_per_ns",
                          json_pack("{s:O}", cm_unit_name(k), json_object_get(old, "operations_per_ns")));
    json_array_append_new(devices, made);
  }
  return devices;
}

static cm_status refuse_old(const json_t *machine, const cm_chip *chip, cm_error *error)
{
  json_t *devices = rewritten(json_object_get(machine, "units"), chip);
  char *text = devices == NULL ? NULL : cm_json_dumps(devices, JSON_REAL_PRECISION(12));
  json_decref(devices);
  cm_status status = cm_json_fail(error, CM_BAD_CHIP, "/machine/units",
                                  "/machine/units: units and devices are one list now. Instead of both write \"devices\": %s "
                                  "(docs/reference/chip-file.md; put the units on the cores where they lie)",
                                  text != NULL ? text : "[...]");
  free(text);
  return status;
}

/* ---- the whole ---- */

/* How instructions come. */
static cm_status read_issue(const json_t *object, cm_target *target, cm_error *error)
{
  double window = 0, code = 0;
  CM_TRY(read_number(object, "/machine", "window", (range){.min = 1, .max = CM_TARGET_WINDOW_MAX, .whole = true}, &window, error));
  CM_TRY(read_number(object, "/machine", "code_bytes", (range){.max = CM_TARGET_CODE_MAX, .whole = true}, &code, error));
  if (code > 0 && window < 1)
    return bad(error, "/machine/code_bytes", "says what an instruction of one stream takes: \"window\" should say how many of it wait for their lane");
  target->window = (uint32_t)window;
  target->code_bytes = (uint32_t)code;
  return CM_OK;
}

static cm_status read_machine(const json_t *object, const cm_chip *chip, cm_target *target, cm_error *error)
{
  static const char *const fields[] = {"memory_bytes", "link_bytes_per_ns", "issue_ns", "window", "code_bytes", "devices", NULL};
  if (!json_is_object(object))
    return bad(error, "/machine", "expected an object");
  if (json_object_get(object, "units") != NULL)
    return refuse_old(object, chip, error);
  CM_TRY(cm_json_known_fields(object, "/machine", fields, CM_BAD_CHIP, error));
  CM_TRY(read_shared(object, target, error));
  CM_TRY(read_number(object, "/machine", "issue_ns", (range){.max = RATE_MAX}, &target->issue_ns, error));
  CM_TRY(read_issue(object, target, error));
  target->grid = (cm_core_grid){chip->width, chip->height, chip->die_width, chip->die_height, chip->router_x, chip->router_y,
                               chip->torus_x, chip->torus_y, chip->latency_ns.router, chip->latency_ns.east_west,
                               chip->latency_ns.north_south, chip->latency_ns.die_to_die};
  return read_devices(object, chip, target, error) == CM_OK ? read_memories(object, target, error) : error->status;
}

cm_status cm_target_read(const json_t *object, const cm_chip *chip, cm_target **target, cm_error *error)
{
  cm_target *made;
  CM_TRY(CM_NEW(NULL, made, 1, error));
  CM_END(read_machine(object, chip, made, error), *target = made, cm_free(made));
}
