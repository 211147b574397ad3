#include "core/machine/schedule/subchips.h"

#include <stdio.h>
#include <string.h>

enum { MEMORY_MIN = 4096 }; /* bytes of a part that has less than the whole */

static uint32_t halved(uint32_t count, uint32_t times)
{
  for (; times > 0; times--)
    count = (count + 1) / 2;
  return count;
}

/* The cores of the units that follow move up. */
static void keep_units(cm_target *t, uint32_t device, uint32_t units)
{
  cm_device *d = &t->device[device];
  uint32_t first = 0, all = 0;
  for (uint32_t i = 0; i < t->device_count; i++) {
    first += i < device ? t->device[i].units : 0;
    all += t->device[i].units;
  }
  memmove(t->core + first + units, t->core + first + d->units, (all - first - d->units) * sizeof *t->core);
  d->units = units;
  if (units > 0)
    return;
  memset(d->rate_count, 0, sizeof d->rate_count);
  d->moves = false;
}

static void halve_ports(cm_target *t, uint32_t device, uint32_t times)
{
  cm_device *d = &t->device[device];
  for (; times > 0; times--)
    if (d->ports % 2 == 0)
      d->ports /= 2;
    else
      keep_units(t, device, halved(d->units, 1));
}

/* True when something is left that moves data, or that computes. */
static bool can_do_without(const cm_target *t, uint32_t device)
{
  bool left = false;
  for (uint32_t o = 0; o < t->device_count; o++)
    left = left || (o != device && t->device[o].units > 0 && t->device[o].moves == t->device[device].moves);
  return left && t->device[device].units > 0;
}

bool cm_subchip_make(const cm_subchip *part, cm_target *target, uint64_t *memory_bytes)
{
  const uint32_t lanes = target->lane_count;
  cm_error ignored; /* there are no more lanes than before */
  for (uint32_t d = 0; d < target->device_count; d++) {
    if (target->device[d].moves)
      halve_ports(target, d, part->ports);
    else
      keep_units(target, d, halved(target->device[d].units, part->units));
    if ((part->without >> d & 1) != 0 && !can_do_without(target, d))
      return false;
    if ((part->without >> d & 1) != 0)
      keep_units(target, d, 0);
  }
  (void)cm_target_number(target, &ignored);
  *memory_bytes >>= part->memory;
  if (part->memory > 0 && *memory_bytes < MEMORY_MIN)
    return false;
  return part->memory > 0 || target->lane_count < lanes;
}

bool cm_subchip_step(const cm_subchip *part, const cm_target *target, uint32_t step, cm_subchip *smaller)
{
  uint32_t ports = 0, units = 0;
  for (uint32_t d = 0; d < target->device_count; d++) {
    const cm_device *device = &target->device[d];
    ports = device->moves && device->units * device->ports > ports ? device->units * device->ports : ports;
    units = !device->moves && device->units > units ? device->units : units;
  }
  *smaller = *part;
  switch (step) {
  case 0: smaller->memory++; return true;
  case 1: smaller->units++; return units > 1;
  case 2: smaller->ports++; return ports > 1;
  case 3:
    smaller->memory++;
    smaller->units++;
    smaller->ports++;
    return units > 1 || ports > 1;
  default: break;
  }
  const uint32_t device = step - 4;
  if (device >= target->device_count || !can_do_without(target, device))
    return false;
  smaller->without |= UINT64_C(1) << device;
  return true;
}

static void add(char *name, size_t size, const char *how, const char *what)
{
  const size_t at = strlen(name);
  if (at + 1 < size)
    (void)snprintf(name + at, size - at, "%s%s%s", at > 0 ? ", " : "", how, what);
}

void cm_subchip_name(const cm_subchip *part, const cm_target *whole, char *name, size_t size)
{
  static const char *const what[] = {"memory", "units", "ports"};
  const uint32_t times[] = {part->memory, part->units, part->ports};
  name[0] = '\0';
  for (int i = 0; i < 3; i++) {
    char share[32];
    (void)snprintf(share, sizeof share, "1/%llu of the ", 1ULL << times[i]);
    if (times[i] > 0)
      add(name, size, share, what[i]);
  }
  for (uint32_t d = 0; d < whole->device_count; d++)
    if ((part->without >> d & 1) != 0)
      add(name, size, "without ", whole->device[d].name);
  if (name[0] == '\0')
    (void)snprintf(name, size, "whole");
}

uint32_t cm_subchip_lane(const cm_target *part, const cm_target *whole, uint32_t lane)
{
  const uint32_t d = cm_lane_device(part, lane), at = lane - part->device[d].first_lane, ports = part->device[d].ports;
  return whole->device[d].first_lane + at / ports * whole->device[d].ports + at % ports;
}
