/* How many of each neuron its core holds where a chip lets a neuron reach few cores: parts that it reaches, sorted. Nothing is
 * shared with what partitions. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/verify/check_measure.h"
#include "core/verify/check_parts.h"
#include "core/verify/check_read.h"
#include "core/verify/check_report.h"

cm_status cm_check_reached(const cm_topology *topology, const uint32_t *part, uint32_t net, uint32_t end, cm_run *run, uint32_t **reached,
                           uint64_t *room, uint64_t *count, cm_error *error)
{
  const uint64_t first = topology->net_first[net], pins = topology->net_first[end] - first;
  uint64_t distinct = 0;
  if (CM_ROOM(run->memory, *reached, room, pins, error) != CM_OK)
    return error->status;
  uint32_t *list = *reached;
  for (uint64_t i = 0; i < pins; i++)
    list[i] = part[topology->pin[first + i]];
  if (pins > 0)
    qsort(list, pins, sizeof *list, cm_ascending);
  for (uint64_t i = 0; i < pins; i++)
    if (i == 0 || list[i] != list[distinct - 1])
      list[distinct++] = list[i];
  *count = distinct;
  return CM_OK;
}

cm_status cm_check_copies(const cm_topology *topology, const uint32_t *part, cm_run *run, uint32_t *copies, cm_error *error)
{
  uint32_t *reached = NULL, most = topology->target_cores_max;
  uint64_t room = 0;
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    copies[v] = 1;
  for (uint32_t e = 0, end; most != 0 && status == CM_OK && e < topology->net_count; e = end) {
    const uint32_t source = cm_topology_source(topology, e);
    uint64_t count = 0;
    for (end = e; end < topology->net_count && cm_topology_source(topology, end) == source; end++)
      ;
    status = cm_check_reached(topology, part, e, end, run, &reached, &room, &count, error);
    while (status == CM_OK && (uint64_t)copies[source] * most < count)
      copies[source]++;
  }
  cm_free(reached);
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

static void compare(const json_t *stated, const char *name, uint64_t truth, cm_check_result *result, bool *out_of_memory)
{
  const json_t *value = json_object_get(stated, name);
  if (!json_is_integer(value) || json_integer_value(value) != (json_int_t)truth)
    cm_check_violation(result, out_of_memory, "report: neurons: %s is %s, but there are %" PRIu64, name,
                       json_is_integer(value) ? "another number" : "missing", truth);
}

cm_status cm_check_added_neurons(const cm_check_file *file, const cm_topology *t, const cm_chip *chip, cm_run *run,
                                 cm_check_result *result, bool *out_of_memory, cm_error *error)
{
  const json_t *stated = json_object_get(json_object_get(file->rest, "report"), "neurons");
  uint32_t *copies, *inputs = NULL;
  uint64_t given = 0, relays = 0, copied = 0, more = 0;
  if (chip->limits.fan_in == 0 && chip->limits.neuron_target_cores == 0)
    return CM_OK;
  if (CM_NEW(run->memory, copies, t->vertex_count, error) != CM_OK)
    return error->status;
  cm_status status = CM_NEW(run->memory, inputs, t->vertex_count, error);
  if (status == CM_OK)
    status = cm_check_copies(t, file->neuron, run, copies, error);
  for (uint64_t i = 0; status == CM_OK && i < t->pin_count; i++)
    inputs[t->pin[i]]++;
  for (uint32_t v = 0; status == CM_OK && v < t->vertex_count; v++) {
    uint64_t size = cm_topology_size(t, v), added = relays_of(inputs[v], chip->limits.fan_in), own = size / (1 + added);
    if (own * (1 + added) != size)
      cm_check_violation(result, out_of_memory, "neuron %" PRIu32 " is counted as %" PRIu64 " neurons, which its %" PRIu64 " relays and itself do not divide",
                         v, size, added);
    given += own;
    relays += own * added;
    copied += copies[v] > 1;
    more += (copies[v] - 1) * size;
  }
  if (status == CM_OK) {
    if (given != t->size_given)
      cm_check_violation(result, out_of_memory, "without relays there are %" PRIu64 " neurons, and the network has %" PRIu64, given, t->size_given);
    compare(stated, "relays", relays, result, out_of_memory);
    compare(stated, "copied", copied, result, out_of_memory);
    compare(stated, "copies", more, result, out_of_memory);
  }
  cm_free(inputs);
  cm_free(copies);
  return status;
}
