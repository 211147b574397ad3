#include "core/simulate/traffic.h"

#include <stdlib.h>

#include "base/members.h"
#include "base/order.h"
#include "core/chip/geometry.h"
#include "core/limits/copies.h"
#include "core/network/net_order.h"

/* The order of a packet's targets on a mesh: what leaves a router together stands in a row. */
CM_ORDER(by_x, cm_packet_target, CM_RISING(x) CM_RISING(y) CM_RISING(core))
CM_ORDER(by_y, cm_packet_target, CM_RISING(y) CM_RISING(x) CM_RISING(core))

/* The targets of one net behind those that are there. */
static cm_status add_targets(cm_traffic *t, const uint32_t *part, uint32_t net, uint32_t *scratch, cm_memory *memory,
                             cm_error *error)
{
  const cm_topology *topology = t->demand->network;
  uint64_t first = topology->net_first[net], pins = topology->net_first[net + 1] - first;
  uint32_t home = t->core[part[cm_topology_source(topology, net)]];
  for (uint64_t i = 0; i < pins; i++)
    scratch[i] = part[topology->pin[first + i]];
  qsort(scratch, pins, sizeof *scratch, cm_ascending);
  for (uint64_t i = 0; i < pins;) {
    uint64_t end = i;
    while (end < pins && scratch[end] == scratch[i])
      end++;
    CM_TRY(CM_ROOM(memory, t->target, &t->target_capacity, t->target_count + 1, error));
    cm_packet_target *to = &t->target[t->target_count++];
    *to = (cm_packet_target){.core = t->core[scratch[i]], .synapses = (uint32_t)(end - i)};
    if (cm_chip_distance(t->chip, home, to->core) == CM_NO_WAY)
      return cm_fail(error, CM_NO_ROUTE, "dead links leave no way from core (%u, %u) to core (%u, %u)", home % t->chip->width,
                     home / t->chip->width, to->core % t->chip->width, to->core / t->chip->width);
    cm_chip_steps(t->chip, home, to->core, &to->x, &to->y);
    i = end;
  }
  return CM_OK;
}

/* Packets out of nets and their targets. */
static cm_status cut_packets(cm_traffic *t, const uint64_t *target_first, cm_memory *memory, cm_error *error)
{
  uint32_t nets = t->demand->network->net_count;
  t->packet_count = t->multicast ? nets : target_first[nets];
  CM_TRY(CM_NEW(memory, t->first, t->packet_count + 1, error));
  CM_TRY(CM_NEW(memory, t->net_first, (size_t)nets + 1, error));
  for (uint32_t e = 0; e <= nets; e++)
    t->net_first[e] = t->multicast ? e : target_first[e];
  for (uint64_t f = 0; f <= t->packet_count; f++)
    t->first[f] = t->multicast ? target_first[f] : f;
  return CM_OK;
}

static cm_status list_members(cm_traffic *t, const uint32_t *part, cm_memory *memory, cm_error *error)
{
  const cm_topology *topology = t->demand->network;
  uint32_t n = topology->vertex_count;
  CM_TRY(CM_NEW(memory, t->member_first, (size_t)t->parts + 2, error));
  CM_TRY(CM_NEW(memory, t->member, n, error));
  CM_TRY(CM_NEW(memory, t->out_first, (size_t)n + 1, error));
  CM_TRY(CM_NEW(memory, t->part_on, cm_chip_cores(t->chip), error));
  for (uint32_t p = 0; p < t->parts; p++)
    t->part_on[t->core[p]] = p;
  cm_sort_members(part, n, t->parts, t->member_first, t->member);
  cm_topology_nets_from(topology, t->out_first);
  return CM_OK;
}

cm_status cm_traffic_new(const cm_mapped *mapped, bool multicast, cm_run *run, cm_traffic *traffic, cm_error *error)
{
  const cm_topology *topology = mapped->demand->network;
  const uint32_t *part = mapped->part;
  cm_traffic t = {
    .demand = mapped->demand, .chip = mapped->chip, .parts = mapped->parts, .multicast = multicast, .core = mapped->core,
    .pacing = mapped->pacing};
  cm_memory *memory = run->memory;
  uint64_t *target_first = NULL, longest = 0;
  uint32_t *scratch = NULL;
  for (uint32_t e = 0; e < topology->net_count; e++)
    if (topology->net_first[e + 1] - topology->net_first[e] > longest)
      longest = topology->net_first[e + 1] - topology->net_first[e];
  cm_status status = CM_NEW(memory, target_first, (size_t)topology->net_count + 1, error);
  CM_THEN(status, CM_NEW(memory, scratch, longest, error));
  for (uint32_t e = 0; e < topology->net_count && status == CM_OK; e++) {
    status = add_targets(&t, part, e, scratch, memory, error);
    target_first[e + 1] = t.target_count;
    if (multicast && t.target_count > target_first[e])
      qsort(t.target + target_first[e], t.target_count - target_first[e], sizeof *t.target, mapped->chip->routing == CM_ROUTING_XY ? by_x : by_y);
    CM_THEN_IF(status, e % 4096 == 0, cm_run_check(run, error));
  }
  CM_THEN(status, cut_packets(&t, target_first, memory, error));
  CM_THEN(status, list_members(&t, part, memory, error));
  if (status == CM_OK && mapped->demand->target_cores_max != 0 && (status = CM_NEW(memory, t.copies, topology->vertex_count, error)) == CM_OK)
    status = cm_count_copies(mapped->demand, part, t.parts, run, t.copies, error);
  CM_FREE(target_first, scratch);
  CM_END(status, *traffic = t, cm_traffic_free(&t));
}

void cm_traffic_free(cm_traffic *t)
{
  CM_FREE(t->first, t->target, t->net_first, t->member_first, t->member, t->out_first, t->part_on, t->copies);
  *t = (cm_traffic){0};
}
