/* What a bound says, to people and in files. */
#include <stdio.h>

#include "core/limits/bound.h"

const char *cm_bound_field(const cm_bound *bound)
{
  if (bound->argument == CM_ARGUMENT_NONE)
    return NULL;
  return bound->argument == CM_ARGUMENT_POPULATIONS ? "populations_per_core" : cm_resource_field(bound->resource);
}

const char *cm_bound_reason(const cm_bound *bound, char *text, size_t size)
{
  unsigned long long total = bound->total, limit = bound->limit;
  const char *name = cm_resource_name(bound->resource);
  switch (bound->argument) {
    case CM_ARGUMENT_TOTAL:
      (void)snprintf(text, size, "%s%llu %s in all, at most %llu in a core",
                     bound->resource == CM_NEURONS || bound->resource == CM_SYNAPSES ? "" : "at least ", total, name,
                     limit);
      break;
    case CM_ARGUMENT_GAPS:
      (void)snprintf(text, size, "neurons that fill more than half of %llu %s leave gaps", limit, name);
      break;
    case CM_ARGUMENT_APART:
      (void)snprintf(text, size, "no two of %u neurons fit a core together, the last pair for its %llu %s",
                     bound->parts, limit, name);
      break;
    case CM_ARGUMENT_POPULATIONS:
      (void)snprintf(text, size, "%llu populations, at most %llu in a core", total, limit);
      break;
    default: (void)snprintf(text, size, "no limit asks for more"); break;
  }
  return text;
}

json_t *cm_bound_json(const cm_bound *bound)
{
  char reason[160];
  const char *field = cm_bound_field(bound);
  return json_pack("{s:I, s:s?, s:o, s:s}", "parts", (json_int_t)bound->parts, "limit",
                   field, "per_core",
                   field == NULL ? json_null() : json_integer((json_int_t)bound->limit), "reason",
                   cm_bound_reason(bound, reason, sizeof reason));
}
