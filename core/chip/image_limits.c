#include "core/chip/image_limits.h"

#include "core/chip/chip_read.h"
#include "core/chip/json.h"

static const int64_t most = INT64_C(1) << 40;

/* Fields of numbers, in the order of cm_image_limits. */
static const char *const fields[] = {"spikes_per_step", "packets_per_step", "delayed_per_step", "pool_entries", "router_queue"};
enum { FIELDS = sizeof fields / sizeof *fields, QUEUE_MAX = 4096 };

cm_status cm_image_limits_read(const json_t *object, cm_image_limits *limits, cm_error *error)
{
  static const char *const names[] = {"format", "spikes_per_step", "packets_per_step", "delayed_per_step", "pool_entries", "router_queue", NULL};
  cm_image_limits l = {.format = ""};
  uint64_t *const value[FIELDS] = {&l.spikes_per_step, &l.packets_per_step, &l.delayed_per_step, &l.pool_entries, &l.router_queue};
  if (object == NULL)
    return CM_OK;
  if (!json_is_object(object))
    return cm_chip_bad(error, "/images", "expected an object");
  CM_TRY(cm_json_known_fields(object, "/images", names, CM_BAD_CHIP, error));
  const char *format = json_string_value(json_object_get(object, "format"));
  if (format == NULL || format[0] == '\0' || strlen(format) >= sizeof l.format)
    return cm_chip_bad(error, "/images/format", "expected the name of a format of images, as coremap help deploy has them");
  (void)snprintf(l.format, sizeof l.format, "%s", format);
  for (size_t i = 0; i < FIELDS; i++) {
    char where[64];
    int64_t number = 0;
    const json_t *given = json_object_get(object, fields[i]);
    (void)snprintf(where, sizeof where, "/images/%s", fields[i]);
    if (given != NULL && cm_chip_read_whole(given, where, 1, value[i] == &l.router_queue ? QUEUE_MAX : most, &number, error) != CM_OK)
      return error->status;
    *value[i] = (uint64_t)number;
  }
  *limits = l;
  return CM_OK;
}

json_t *cm_image_limits_json(const cm_image_limits *l)
{
  const uint64_t value[FIELDS] = {l->spikes_per_step, l->packets_per_step, l->delayed_per_step, l->pool_entries, l->router_queue};
  if (l->format[0] == '\0')
    return NULL;
  json_t *object = json_pack("{s:s}", "format", l->format);
  for (size_t i = 0; i < FIELDS && object != NULL; i++)
    if (value[i] != 0 && json_object_set_new(object, fields[i], json_integer((json_int_t)value[i])) != 0) {
      json_decref(object);
      object = NULL;
    }
  return object;
}
