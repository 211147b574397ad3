/* What targets say of their devices: rates, lanes, cores, hops. target_read.c reads and prints them. */
#include "core/chip/target.h"

#include "core/chip/chip.h"

const char *cm_unit_name(cm_unit_kind kind)
{
  static const char *const names[] = {"data", "matrix", "vector", "host"};
  return names[kind];
}

bool cm_device_does(const cm_device *device, cm_unit_kind kind)
{
  return kind == CM_UNIT_DATA ? device->moves : !device->moves && device->rate_count[kind] > 0;
}

uint32_t cm_target_lanes(const cm_target *target, cm_unit_kind kind)
{
  uint32_t lanes = 0;
  for (uint32_t d = 0; d < target->device_count; d++)
    lanes += cm_device_does(&target->device[d], kind) ? target->device[d].units * target->device[d].ports : 0;
  return lanes;
}

double cm_target_bandwidth(const cm_target *target)
{
  double sum = 0;
  for (uint32_t d = 0; d < target->device_count; d++)
    if (target->device[d].moves)
      sum += target->device[d].bytes_per_ns * target->device[d].units * target->device[d].ports;
  return sum;
}

/* How well a stated rate suits what is asked for: the operator before its type, the type before one that counts like it. */
static int suits(const char *stated, const char *asked)
{
  const char *slash = strchr(asked, '/'), *type = slash != NULL ? slash + 1 : asked;
  const size_t before = (size_t)(type - asked);
  const bool bytes = strcmp(type, "uint8") == 0; /* where only one kind of bytes is named, units compute both alike */
  if (strcmp(stated, asked) == 0)
    return 5;
  if (slash != NULL && bytes && strncmp(stated, asked, before) == 0 && strcmp(stated + before, "int8") == 0)
    return 4;
  return strcmp(stated, type) == 0 ? 3 : bytes && strcmp(stated, "int8") == 0 ? 2 : strcmp(stated, "other") == 0;
}

double cm_device_rate(const cm_device *device, cm_unit_kind kind, const char *type)
{
  double rate = 0;
  int best = 0;
  for (uint32_t i = 0; i < device->rate_count[kind]; i++) {
    const int fit = suits(device->rate[kind][i].type, type);
    if (fit > best) {
      best = fit;
      rate = device->rate[kind][i].per_ns;
    }
  }
  return rate;
}

uint32_t cm_lane_device(const cm_target *target, uint32_t lane)
{
  uint32_t device = 0;
  while (device + 1 < target->device_count && target->device[device + 1].first_lane <= lane)
    device++;
  return device;
}

uint32_t cm_lane_core(const cm_target *target, uint32_t lane)
{
  const cm_device *d = &target->device[cm_lane_device(target, lane)];
  return target->core[d->first_unit + (lane - d->first_lane) / d->ports];
}

double cm_grid_ns(const cm_core_grid *f, uint32_t from, uint32_t to)
{
  const cm_chip grid = {.width = f->width, .height = f->height, .die_width = f->die_width, .die_height = f->die_height,
                        .router_x = f->router_x, .router_y = f->router_y, .torus_x = f->torus_x, .torus_y = f->torus_y};
  if (from == to)
    return 0;
  cm_hops hops = cm_chip_hops(&grid, from, to);
  return hops.east_west * f->east_west_ns + hops.north_south * f->north_south_ns + hops.die_to_die * f->die_to_die_ns +
         (hops.east_west + hops.north_south + hops.die_to_die + 1.0) * f->router_ns;
}

void cm_target_copy(cm_target *to, const cm_target *from)
{
  memcpy(to, from, offsetof(cm_target, device));
  memcpy(to->device, from->device, from->device_count * sizeof *to->device);
  memcpy(to->core, from->core, from->lane_count * sizeof *to->core);
  to->grid = from->grid;
  to->memory_count = from->memory_count;
  memcpy(to->memory, from->memory, from->memory_count * sizeof *to->memory);
}

uint32_t cm_memory_at(const cm_core_memory *memory, uint32_t count, uint64_t address)
{
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    *(memory[middle - 1].to <= address ? &low : &high) = middle;
  }
  return low;
}

void cm_memories_scale(const cm_target *target, uint64_t bytes, uint64_t unit, cm_core_memory *made)
{
  const double share = (double)bytes / (double)target->memory_bytes;
  for (uint32_t m = 0; m < target->memory_count; m++) {
    const uint64_t to = bytes == target->memory_bytes ? target->memory[m].to : (uint64_t)((double)target->memory[m].to * share);
    made[m] = (cm_core_memory){target->memory[m].core, to / unit * unit};
  }
}

uint64_t cm_target_memory_least(const cm_target *target)
{
  uint64_t least = target->memory_bytes;
  for (uint32_t m = 0; m < target->memory_count; m++) {
    const uint64_t bytes = target->memory[m].to - (m > 0 ? target->memory[m - 1].to : 0);
    least = bytes < least ? bytes : least;
  }
  return least;
}

cm_status cm_target_number(cm_target *target, cm_error *error)
{
  uint64_t lanes = 0, units = 0;
  for (uint32_t d = 0; d < target->device_count; d++) {
    target->device[d].first_lane = (uint32_t)lanes;
    target->device[d].first_unit = (uint32_t)units;
    units += target->device[d].units;
    lanes += (uint64_t)target->device[d].units * target->device[d].ports;
    if (lanes > CM_TARGET_LANES_MAX)
      return cm_fail(error, CM_BAD_CHIP, "the devices have more than %d units and ports together; that many are possible",
                     CM_TARGET_LANES_MAX);
  }
  target->lane_count = (uint32_t)lanes;
  return CM_OK;
}
