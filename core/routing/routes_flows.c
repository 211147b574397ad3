/* The flows that a mapping's routes carry: axons with their target parts, or pairs of parts. */
#include "core/network/nets_by_part.h"
#include "core/routing/walk.h"

typedef struct builder {
  cm_routes *r;
  cm_run *run;
  uint32_t *first, *net;      /* nets by part */
  uint32_t *seen, *used;      /* [part_count] last net that reached the part, plus 1; the parts reached */
  uint64_t *sum;              /* [part_count] packets to a part */
  /* One part's axons before they are ordered. */
  uint32_t *axon, *axon_target, *order;
  uint64_t *axon_first;
  size_t axon_target_room;
  uint64_t flow_room, target_room;
} builder;

static cm_status enlarge(builder *b, void *array, uint64_t count, size_t size, cm_error *error)
{
  void **pointer = array;
  void *more = cm_reallocate(b->run->memory, *pointer, count, size, error);
  if (more == NULL)
    return error->status;
  *pointer = more;
  return CM_OK;
}

static cm_status reserve(builder *b, uint64_t targets, cm_error *error)
{
  cm_routes *r = b->r;
  if ((uint64_t)r->flow_count + 1 >= b->flow_room) {
    uint64_t room = b->flow_room == 0 ? 1024 : b->flow_room * 2;
    if (r->flow_count == UINT32_MAX - 1)
      return cm_fail(error, CM_TOO_LARGE, "more than %u flows cannot be routed", UINT32_MAX - 1);
    if (enlarge(b, &r->first, room + 1, sizeof *r->first, error) != CM_OK ||
        enlarge(b, &r->source, room, sizeof *r->source, error) != CM_OK ||
        enlarge(b, &r->weight, room, sizeof *r->weight, error) != CM_OK ||
        (r->multicast && enlarge(b, &r->net, room, sizeof *r->net, error) != CM_OK))
      return error->status;
    b->flow_room = room;
    r->first[0] = 0;
  }
  uint64_t used = r->first[r->flow_count];
  if (used + targets <= b->target_room)
    return CM_OK;
  uint64_t room = b->target_room == 0 ? 4096 : b->target_room * 2;
  room = room < used + targets ? used + targets : room;
  cm_status status = enlarge(b, &r->target, room, sizeof *r->target, error);
  CM_END(status, b->target_room = room, );
}

/* What a part sends; `net` is that of an axon. */
typedef struct flow {
  uint32_t part, net;
  uint64_t weight;
} flow;

static cm_status put_flow(builder *b, flow put, const uint32_t *target, uint64_t count, cm_error *error)
{
  cm_routes *r = b->r;
  CM_TRY(reserve(b, count, error));
  uint32_t number = r->flow_count++;
  uint64_t at = r->first[number];
  memcpy(r->target + at, target, count * sizeof *target);
  r->first[number + 1] = at + count;
  r->source[number] = put.part;
  r->weight[number] = put.weight;
  if (r->multicast)
    r->net[number] = put.net;
  return CM_OK;
}

/* The parts that a net reaches, ascending, in b->used; their number. Its own is one of them where the chip has SpiNNaker's
 * routers, over which packets come back to their core too. */
static uint32_t reach(builder *b, uint32_t net, uint32_t own)
{
  const cm_topology *topology = b->r->demand->network;
  const uint32_t *part = b->r->part;
  uint32_t count = 0;
  for (uint64_t i = topology->net_first[net]; i < topology->net_first[net + 1]; i++) {
    uint32_t p = part[topology->pin[i]];
    if ((p == own && b->r->chip->table_entries == 0) || b->seen[p] == net + 1)
      continue;
    b->seen[p] = net + 1;
    b->used[count++] = p;
  }
  qsort(b->used, count, sizeof *b->used, cm_ascending);
  return count;
}

/* Equal sets of targets together, so that neighbouring keys share entries. */
static int by_targets(const void *a, const void *b, void *context)
{
  const builder *all = context;
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  uint64_t p = all->axon_first[i], q = all->axon_first[k], p_end = all->axon_first[i + 1],
           q_end = all->axon_first[k + 1];
  for (; p < p_end && q < q_end; p++, q++)
    if (all->axon_target[p] != all->axon_target[q])
      return all->axon_target[p] < all->axon_target[q] ? -1 : 1;
  if (p < p_end || q < q_end)
    return p < p_end ? 1 : -1;
  return i < k ? -1 : i > k;
}

static cm_status put_axons(builder *b, uint32_t part, cm_error *error)
{
  uint32_t nets = b->first[part + 1] - b->first[part], axons = 0;
  CM_TRY(enlarge(b, &b->axon, nets + 1, sizeof *b->axon, error));
  CM_TRY(enlarge(b, &b->order, nets + 1, sizeof *b->order, error));
  CM_TRY(enlarge(b, &b->axon_first, (uint64_t)nets + 1, sizeof *b->axon_first, error));
  b->axon_first[0] = 0;
  for (uint32_t i = 0; i < nets; i++) {
    uint32_t net = b->net[b->first[part] + i], count = reach(b, net, part);
    if (count == 0)
      continue;
    uint64_t at = b->axon_first[axons];
    if (at + count > b->axon_target_room) {
      b->axon_target_room = 2 * (at + count);
      CM_TRY(enlarge(b, &b->axon_target, b->axon_target_room, sizeof *b->axon_target, error));
    }
    memcpy(b->axon_target + at, b->used, count * sizeof *b->used);
    b->axon[axons] = net;
    b->order[axons] = axons;
    b->axon_first[++axons] = at + count;
  }
  qsort_r(b->order, axons, sizeof *b->order, by_targets, b);
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < axons && status == CM_OK; i++) {
    uint32_t k = b->order[i];
    uint64_t at = b->axon_first[k];
    const flow put = {part, b->axon[k], cm_demand_net_weight(b->r->demand, b->axon[k])};
    status = put_flow(b, put, b->axon_target + at, b->axon_first[k + 1] - at, error);
  }
  return status;
}

/* All packets from a part to each other one. */
static cm_status put_pairs(builder *b, uint32_t part, cm_error *error)
{
  const cm_topology *topology = b->r->demand->network;
  uint32_t reached = 0;
  for (uint32_t i = b->first[part]; i < b->first[part + 1]; i++) {
    uint32_t net = b->net[i], own = part;
    bool directed = topology->directed;
    for (uint64_t k = topology->net_first[net]; k < topology->net_first[net + 1]; k++) {
      uint32_t p = b->r->part[topology->pin[k]];
      if (p == own || (directed && b->seen[p] == net + 1))
        continue;
      b->seen[p] = net + 1;
      if (b->axon[p] != part + 1) {
        b->axon[p] = part + 1;
        b->sum[p] = 0;
        b->used[reached++] = p;
      }
      b->sum[p] += directed ? cm_demand_net_weight(b->r->demand, net) : cm_demand_pin_weight(b->r->demand, net, k);
    }
  }
  qsort(b->used, reached, sizeof *b->used, cm_ascending);
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < reached && status == CM_OK; i++)
    status = put_flow(b, (flow){part, 0, b->sum[b->used[i]]}, &b->used[i], 1, error);
  return status;
}

static unsigned bits_for(uint64_t numbers)
{
  unsigned bits = 0;
  while (bits < 63 && UINT64_C(1) << bits < numbers)
    bits++;
  return bits;
}

cm_status cm_routes_flows(cm_routes *routes, cm_run *run, cm_error *error)
{
  builder b = {.r = routes, .run = run};
  cm_memory *memory = run->memory;
  uint32_t parts = routes->parts, largest = 1;
  cm_status status = cm_nets_by_part(routes->demand->network, routes->part, parts, run, &b.first, &b.net, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(b.seen, parts), CM_ARRAY(b.used, parts), CM_ARRAY(b.sum, parts),
                             CM_ARRAY(b.axon, parts + 1), CM_ARRAY(routes->part_first, (size_t)parts + 1)));
  CM_THEN(status, reserve(&b, 0, error));
  for (uint32_t p = 0; p < parts && status == CM_OK; p++) {
    status = routes->multicast ? put_axons(&b, p, error) : put_pairs(&b, p, error);
    routes->part_first[p + 1] = routes->flow_count;
    uint32_t flows = routes->part_first[p + 1] - routes->part_first[p];
    largest = flows > largest ? flows : largest;
    CM_THEN_IF(status, p % 64 == 0, cm_run_check(run, error));
  }
  CM_THEN(status, CM_NEW(memory, routes->shapes, routes->flow_count, error));
  routes->rank_bits = bits_for(largest);
  routes->key_bits = routes->rank_bits + bits_for(parts);
  CM_FREE(b.first, b.net, b.seen, b.used, b.sum, b.axon, b.axon_target, b.order, b.axon_first);
  return status;
}
