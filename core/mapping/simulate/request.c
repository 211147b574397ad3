#include "core/mapping/simulate/request.h"

#include <stdio.h>
#include <string.h>

#include "core/base/number.h"
#include "core/base/option.h"
#include "core/mapping/simulate/frames.h"

enum { THREADS_MAX = 1024, BUFFERS_MAX = 1 << 20 };

static cm_status read_whole(const char *name, const json_t *value, uint64_t least, uint64_t most, uint64_t *number,
                            cm_error *error)
{
  char expected[80];
  json_int_t whole = json_integer_value(value);
  if (json_is_integer(value) && whole >= 0 && (uint64_t)whole >= least && (uint64_t)whole <= most) {
    *number = (uint64_t)whole;
    return CM_OK;
  }
  (void)snprintf(expected, sizeof expected, "a whole number from %llu to %llu", (unsigned long long)least,
                 (unsigned long long)most);
  return cm_option_refuse(error, name, expected);
}

static cm_status read_real(const char *name, const json_t *value, double most, double *number, cm_error *error)
{
  char expected[80];
  double x = json_number_value(value);
  if (json_is_number(value) && x > 0 && x <= most) {
    *number = x;
    return CM_OK;
  }
  (void)snprintf(expected, sizeof expected, "a number above 0 and up to %g", most);
  return cm_option_refuse(error, name, expected);
}

static cm_status read_mapping(const json_t *value, cm_simulate_request *r, cm_error *error)
{
  const char *text = json_string_value(value);
  if (text == NULL || text[0] == '\0' || strlen(text) >= sizeof r->mapping)
    return cm_option_refuse(error, "mapping", "the id of a mapping, whose packets are to move");
  (void)snprintf(r->mapping, sizeof r->mapping, "%s", text);
  return CM_OK;
}

static cm_status read_communication(const json_t *value, cm_simulate_options *o, cm_error *error)
{
  const char *text = json_string_value(value);
  if (text == NULL || (strcmp(text, "unicast") != 0 && strcmp(text, "multicast") != 0))
    return cm_option_refuse(error, "communication", "\"unicast\" or \"multicast\"");
  o->multicast = strcmp(text, "multicast") == 0;
  return CM_OK;
}

static cm_status read_bytes(const json_t *value, uint64_t *bytes, cm_error *error)
{
  if (json_is_string(value) && cm_bytes_parse(json_string_value(value), bytes))
    return CM_OK;
  return json_is_string(value) ? cm_option_refuse(error, "memory_limit", "bytes, as a number or text like \"512M\"")
                               : read_whole("memory_limit", value, 0, UINT64_C(1) << 60, bytes, error);
}

static cm_status unknown(cm_error *error, const char *name)
{
  (void)cm_fail(error, CM_BAD_OPTION,
                "there is no option %.40s: a simulation takes mapping, steps, load, saturation, communication, buffers, packets, "
                "frames, seed, threads, memory_limit and time_limit",
                name);
  return cm_fail_at(error, "/options/%.40s", name);
}

static cm_status read_member(const char *name, const json_t *value, cm_simulate_request *r, cm_error *error)
{
  cm_simulate_options *o = &r->options;
  uint64_t number = 0;
  cm_status status = CM_OK;
  if (strcmp(name, "mapping") == 0)
    return read_mapping(value, r, error);
  if (strcmp(name, "communication") == 0)
    return read_communication(value, o, error);
  if (strcmp(name, "load") == 0)
    return read_real(name, value, 1e9, &o->load, error);
  if (strcmp(name, "time_limit") == 0)
    return read_real(name, value, 1e9, &r->time_limit, error);
  if (strcmp(name, "memory_limit") == 0)
    return read_bytes(value, &r->memory_limit, error);
  if (strcmp(name, "packets") == 0)
    return read_whole(name, value, 1000, UINT64_C(1) << 40, &o->packets, error);
  if (strcmp(name, "seed") == 0)
    return read_whole(name, value, 0, INT64_MAX, &o->seed, error);
  if (strcmp(name, "saturation") == 0)
    return cm_option_flag(name, value, &o->saturation, error);
  if (strcmp(name, "steps") == 0) {
    status = read_whole(name, value, 1, 100000, &number, error);
    o->steps = (uint32_t)number;
  } else if (strcmp(name, "buffers") == 0) {
    status = read_whole(name, value, 1, BUFFERS_MAX, &number, error);
    o->buffers = (uint32_t)number;
  } else if (strcmp(name, "frames") == 0) {
    status = read_whole(name, value, 0, CM_FRAMES_MAX, &number, error);
    o->frames = (uint32_t)number;
  } else if (strcmp(name, "threads") == 0) {
    status = read_whole(name, value, 1, THREADS_MAX, &number, error);
    r->threads = (unsigned)number;
  } else
    status = unknown(error, name);
  return status;
}

cm_status cm_simulate_request_read(const json_t *options, cm_simulate_request *request, cm_error *error)
{
  cm_simulate_request r = {.options = cm_simulate_defaults, .threads = THREADS_MAX};
  const char *name;
  json_t *value;
  r.options.frames = 32;
  json_object_foreach((json_t *)(uintptr_t)options, name, value)
  {
    if (read_member(name, value, &r, error) != CM_OK)
      return error->status;
  }
  if (r.mapping[0] == '\0')
    return cm_option_refuse(error, "mapping", "the id of a mapping, whose packets are to move");
  if (json_object_get(options, "steps") == NULL && (r.options.load > 0 || r.options.saturation))
    r.options.steps = 0;
  *request = r;
  return CM_OK;
}
