/* How many of each neuron its core holds where a chip lets a neuron reach few cores: parts that it reaches, sorted. Nothing is
 * shared with what partitions. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/verify/checker.h"

cm_status cm_check_reached(const cm_topology *topology, const uint32_t *part, const uint32_t nets[2], cm_run *run, cm_reached *reached,
                           cm_error *error)
{
  const uint64_t first = topology->net_first[nets[0]], pins = topology->net_first[nets[1]] - first;
  uint64_t distinct = 0;
  CM_TRY(CM_ROOM(run->memory, reached->part, &reached->room, pins, error));
  uint32_t *list = reached->part;
  for (uint64_t i = 0; i < pins; i++)
    list[i] = part[topology->pin[first + i]];
  if (pins > 0)
    qsort(list, pins, sizeof *list, cm_ascending);
  for (uint64_t i = 0; i < pins; i++)
    if (i == 0 || list[i] != list[distinct - 1])
      list[distinct++] = list[i];
  reached->count = distinct;
  return CM_OK;
}

cm_status cm_check_copies(const cm_demand *demand, const uint32_t *part, cm_run *run, uint32_t *copies, cm_error *error)
{
  const cm_topology *topology = demand->network;
  uint32_t most = demand->target_cores_max;
  cm_reached reached = {0};
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    copies[v] = 1;
  for (uint32_t e = 0, end; most != 0 && status == CM_OK && e < topology->net_count; e = end) {
    const uint32_t source = cm_topology_source(topology, e);
    for (end = e; end < topology->net_count && cm_topology_source(topology, end) == source; end++)
      ;
    status = cm_check_reached(topology, part, (const uint32_t[2]){e, end}, run, &reached, error);
    while (status == CM_OK && (uint64_t)copies[source] * most < reached.count)
      copies[source]++;
  }
  cm_free(reached.part);
  return status;
}

/* Relays of a neuron, by building the tree: each takes up to a fan-in of what is open, and is open itself. */
static uint64_t relays_of(uint64_t inputs, uint64_t fan_in)
{
  uint64_t relays = 0;
  for (uint64_t open = inputs, takes; fan_in > 1 && open > fan_in; open -= takes - 1, relays++)
    takes = open - fan_in + 1 < fan_in ? open - fan_in + 1 : fan_in;
  return relays;
}

static void compare(cm_checker *c, const json_t *stated, const char *name, uint64_t truth)
{
  const json_t *value = json_object_get(stated, name);
  if (!json_is_integer(value) || json_integer_value(value) != (json_int_t)truth)
    violation(c, "report: neurons: %s is %s, but there are %" PRIu64, name,
              json_is_integer(value) ? "another number" : "missing", truth);
}

cm_status cm_checker_added_neurons(cm_checker *c, cm_error *error)
{
  const cm_topology *t = c->given->demand->network;
  const cm_limits *limits = &c->given->chip->limits;
  cm_run *run = c->given->run;
  const json_t *stated = json_object_get(json_object_get(c->file.rest, "report"), "neurons");
  uint32_t *copies, *inputs = NULL;
  uint64_t given = 0, relays = 0, copied = 0, more = 0;
  if (limits->fan_in == 0 && limits->neuron_target_cores == 0)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, copies, t->vertex_count, error));
  cm_status status = CM_NEW(run->memory, inputs, t->vertex_count, error);
  CM_THEN(status, cm_check_copies(c->given->demand, c->file.neuron, run, copies, error));
  for (uint64_t i = 0; status == CM_OK && i < t->pin_count; i++)
    inputs[t->pin[i]]++;
  for (uint32_t v = 0; status == CM_OK && v < t->vertex_count; v++) {
    uint64_t size = cm_demand_size(c->given->demand, v), added = relays_of(inputs[v], limits->fan_in), own = size / (1 + added);
    if (own * (1 + added) != size)
      violation(c, "neuron %" PRIu32 " is counted as %" PRIu64 " neurons, which its %" PRIu64 " relays and itself do not divide", v, size,
                added);
    given += own;
    relays += own * added;
    copied += copies[v] > 1;
    more += (copies[v] - 1) * size;
  }
  if (status == CM_OK) {
    if (given != c->given->demand->size_total - c->given->demand->relay_count)
      violation(c, "without relays there are %" PRIu64 " neurons, and the network has %" PRIu64, given,
                c->given->demand->size_total - c->given->demand->relay_count);
    compare(c, stated, "relays", relays);
    compare(c, stated, "copied", copied);
    compare(c, stated, "copies", more);
  }
  CM_FREE(inputs, copies);
  return status;
}
