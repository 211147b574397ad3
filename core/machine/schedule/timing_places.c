/* Memories of cores: where buffers lie, and what units take longer for what lies on other cores. */
#include <math.h>
#include <string.h>

#include "core/machine/schedule/timing.h"

cm_slot cm_timing_find_slot(const cm_timing *t, double ready, bool known)
{
  return cm_lanes_find(&t->lanes, t->ns, ready, (cm_at_stations){known ? t->arrive : NULL, t->more});
}

/* Bytes in memories at other stations, and the way to the farthest of them. */
static uint64_t elsewhere(const cm_timing *t, const uint64_t *moved, uint32_t station, bool reads, double *hop_ns)
{
  const cm_hop_times *hops = &t->plan->hops;
  uint64_t bytes = 0;
  double farthest = 0;
  for (uint32_t m = 0; m < t->plan->memory_count; m++) {
    const uint32_t at = hops->memory_station[m];
    if (moved[m] == 0 || at == station || at == CM_CORE_SHARED)
      continue;
    bytes += moved[m];
    farthest = fmax(farthest, reads ? hops->ns[(size_t)at * hops->stations + station] : hops->ns[(size_t)station * hops->stations + at]);
  }
  *hop_ns += farthest;
  return bytes;
}

static uint32_t memory_of(const cm_timing *t, uint32_t buffer)
{
  return cm_memory_at(t->plan->core_memory, t->plan->memory_count, t->buffer[buffer].address);
}

void cm_timing_piece_more(cm_timing *t, const cm_piece *piece, const uint32_t *use)
{
  const cm_plan *plan = t->plan;
  const uint32_t count = plan->memory_count;
  const cm_device *device = &t->target->device[piece->device];
  if (count == 0)
    return;
  memset(t->moved, 0, 2 * (size_t)count * sizeof *t->moved);
  for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++)
    if (use[i] != CM_NO_BUFFER)
      t->moved[(i < piece->input_count ? 0 : count) + memory_of(t, use[i])] += plan->piece_tile_bytes[piece->first_tile + i];
  for (uint32_t l = device->first_lane, last = CM_NONE; l < device->first_lane + device->units; l++) {
    const uint32_t station = plan->hops.station[l];
    cm_remote remote = {0};
    if (station == last)
      continue;
    last = station;
    remote.read_bytes = elsewhere(t, t->moved, station, true, &remote.hop_ns);
    remote.written_bytes = elsewhere(t, t->moved + count, station, false, &remote.hop_ns);
    t->more[station] = cm_compute_remote_ns(t->target, device, &piece->work, plan->ops[piece->op].rates[piece->device], &remote);
  }
}

void cm_timing_transfer_more(cm_timing *t, uint64_t address, uint64_t bytes)
{
  const cm_plan *plan = t->plan;
  const cm_hop_times *hops = &plan->hops;
  if (plan->memory_count == 0)
    return;
  const uint32_t at = hops->memory_station[cm_memory_at(plan->core_memory, plan->memory_count, address)];
  for (uint32_t d = 0; d < t->target->device_count; d++) {
    const cm_device *device = &t->target->device[d];
    for (uint32_t l = device->first_lane; device->moves && l < device->first_lane + device->units * device->ports; l += device->ports) {
      const uint32_t station = hops->station[l];
      const bool here = bytes == 0 || station == at || at == CM_CORE_SHARED;
      const cm_remote remote = {0, here ? 0 : bytes, here ? 0 : hops->ns[(size_t)station * hops->stations + at]};
      t->more[station] = cm_transfer_remote_ns(t->target, device, bytes, &remote);
    }
  }
}

void cm_timing_choose_home(cm_timing *t, const cm_piece *piece)
{
  const cm_plan *plan = t->plan;
  const cm_device *device = &t->target->device[piece->device];
  const uint32_t *inputs = cm_piece_inputs(plan, piece);
  uint32_t *use = t->use + piece->first_tile, best = device->first_lane;
  double least = HUGE_VAL, ready = 0;
  t->home = CM_NONE;
  if (plan->memory_count == 0)
    return;
  for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++)
    use[i] = t->buffer_of[inputs[i]] != 0 ? t->buffer_of[inputs[i]] - 1 : CM_NO_BUFFER;
  for (uint32_t i = 0; i < piece->input_count; i++)
    ready = use[i] != CM_NO_BUFFER ? fmax(ready, t->buffer[use[i]].ready) : ready;
  cm_timing_piece_more(t, piece, use);
  for (uint32_t l = device->first_lane; l < device->first_lane + device->units; l++) {
    const double end = fmax(ready, fmax(t->promised[l], t->lanes.lane[l].tail)) + t->ns[piece->device] + t->more[plan->hops.station[l]];
    if (end < least) {
      least = end;
      best = l;
    }
  }
  best = piece->lane != CM_NONE ? piece->lane : best;
  t->promised[best] = least;
  for (uint32_t m = 0; m < plan->memory_count && t->home == CM_NONE; m++)
    if (plan->hops.memory_station[m] == plan->hops.station[best])
      t->home = m;
}

bool cm_timing_find_room(const cm_timing *t, const cm_room_wish *wish, cm_window *window)
{
  const cm_plan *plan = t->plan;
  const uint32_t count = plan->memory_count > 0 ? plan->memory_count : 1;
  bool any = false;
  for (uint32_t k = 0, m = t->home == CM_NONE ? 0 : t->home; k < count; k++, m = (m + 1) % count) {
    cm_window found;
    const uint64_t from = m > 0 ? plan->core_memory[m - 1].to : 0;
    if (!cm_addresses_find(&t->addresses, from, plan->core_memory[m].to, wish, &found) ||
        (any && found.free_ns >= window->free_ns))
      continue;
    any = true;
    *window = found;
    if (found.free_ns <= wish->ready)
      break;
  }
  return any;
}
