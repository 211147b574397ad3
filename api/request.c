/* Reading requests: headers, query arguments, JSON bodies. */
#include <math.h>
#include <time.h>

#include "api/internal.h"
#include "base/foreign.h"
#include "base/json.h"

const char *cm_request_header(const cm_request *request, const char *name)
{
  return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *cm_request_query(const cm_request *request, const char *name)
{
  return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

bool cm_text_is_sound(const char *text, size_t size)
{
  return strlen(text) < size && cm_foreign_is_plain(text, CM_FOREIGN_LINE);
}

json_t *cm_time_json(double seconds)
{
  if (seconds <= 0)
    return json_null();
  time_t whole = (time_t)floor(seconds);
  struct tm parts;
  char text[40];
  gmtime_r(&whole, &parts);
  size_t used = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  (void)snprintf(text + used, sizeof text - used, ".%03dZ", (int)((seconds - (double)whole) * 1000));
  return json_string(text);
}
