/* What can fail: limits that are broken; memory. */
#include "core/limits/shared.h"

#include <inttypes.h>

enum { SHARED = 3 };
static const cm_resource shared[SHARED] = {CM_SYNAPSES, CM_INBOUND_AXONS, CM_OUTBOUND_AXONS};

enum { ROUTERS, DIES, SCOPES };
static const char *const scope_names[SCOPES] = {"router", "die"};
static const char *const scope_fields[SCOPES] = {"router_limits", "die_limits"};

static const cm_limits *limits_of(const cm_chip *chip, int scope)
{
  return scope == ROUTERS ? &chip->router_limits : &chip->die_limits;
}

static uint32_t across(const cm_chip *chip, int scope)
{
  return scope == ROUTERS ? cm_chip_routers_x(chip) : chip->dies_x;
}

/* The number of a core's router, or die. */
static uint32_t place_of(const cm_chip *chip, int scope, uint32_t core)
{
  const uint32_t x = scope == ROUTERS ? chip->router_x : chip->die_width, y = scope == ROUTERS ? chip->router_y : chip->die_height;
  return core / chip->width / y * across(chip, scope) + core % chip->width / x;
}

static bool is_limited(const cm_chip *chip, int scope)
{
  bool limited = false;
  for (int k = 0; k < SHARED; k++)
    limited = limited || cm_limit(limits_of(chip, scope), shared[k]) != 0;
  return limited;
}

bool cm_limits_are_shared(const cm_chip *chip)
{
  return is_limited(chip, ROUTERS) || is_limited(chip, DIES);
}

static cm_status refuse(const cm_chip *chip, int scope, uint32_t place, cm_resource r, uint64_t use, cm_error *error)
{
  const uint64_t limit = cm_limit(limits_of(chip, scope), r);
  cm_fail(error, CM_LIMIT_BROKEN, "the cores of %s (%" PRIu32 ", %" PRIu32 ") take %" PRIu64 " %s together, and %s allows %" PRIu64, scope_names[scope],
          place % across(chip, scope), place / across(chip, scope), use, cm_resource_name(r), scope_fields[scope], limit);
  error->limit_name = cm_resource_field(r);
  cm_error_figure(error, "use", use);
  cm_error_figure(error, "limit", limit);
  return CM_LIMIT_BROKEN;
}

cm_status cm_refuse_shared(const cm_chip *chip, const uint64_t *use, const uint32_t *core, uint32_t parts, cm_memory *memory, cm_error *error)
{
  uint64_t *sum;
  cm_status status = CM_OK;
  if (!cm_limits_are_shared(chip))
    return CM_OK;
  CM_TRY(CM_NEW(memory, sum, cm_chip_cores(chip), error));
  for (int scope = 0; scope < SCOPES; scope++)
    for (int k = 0; k < SHARED && status == CM_OK; k++) {
      const cm_resource r = shared[k];
      const uint64_t limit = cm_limit(limits_of(chip, scope), r);
      uint32_t worst = 0;
      for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
        sum[c] = 0;
      for (uint32_t p = 0; p < parts; p++)
        sum[place_of(chip, scope, core[p])] += use[(size_t)p * CM_RESOURCES + r];
      for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
        worst = sum[c] > sum[worst] ? c : worst;
      if (limit != 0 && sum[worst] > limit)
        status = refuse(chip, scope, worst, r, sum[worst], error);
    }
  cm_free(sum);
  return status;
}

cm_status cm_prove_shared(const cm_demand *demand, const cm_chip *chip, const cm_occupancy *occupancy, cm_memory *memory, cm_error *error)
{
  const uint64_t synapses = demand->network->pin_count;
  uint8_t *open;
  if (chip == NULL || !cm_limits_are_shared(chip))
    return CM_OK;
  for (int scope = 0; scope < SCOPES; scope++) {
    const uint64_t limit = cm_limit(limits_of(chip, scope), CM_SYNAPSES);
    uint32_t places = 0;
    CM_TRY(CM_NEW(memory, open, cm_chip_cores(chip), error));
    for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
      if (occupancy == NULL || occupancy->state[c] == CM_CORE_FREE) {
        places += open[place_of(chip, scope, c)] == 0;
        open[place_of(chip, scope, c)] = 1;
      }
    cm_free(open);
    if (limit == 0 || synapses <= places * limit)
      continue;
    cm_fail(error, CM_LIMIT_BROKEN, "the network has %" PRIu64 " synapses, and %" PRIu32 " %ss with a free core hold %" PRIu64 " at most (%s; proved): it takes at least %" PRIu64
            " of them, or %" PRIu64 " synapses in each", synapses, places, scope_names[scope], places * limit, scope_fields[scope], (synapses - 1) / limit + 1,
            places > 0 ? (synapses - 1) / places + 1 : synapses);
    error->limit_name = "synapses";
    cm_error_figure(error, "use", synapses);
    cm_error_figure(error, "limit", places * limit);
    return CM_LIMIT_BROKEN;
  }
  return CM_OK;
}
