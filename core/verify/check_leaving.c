/* What leaves each neuron, by the coordinates of cores. Nothing is shared with what partitions and places. */
#include <inttypes.h>
#include <string.h>

#include "core/verify/checker.h"

/* Where a synapse goes: 0 stays on its core, 1 in its cluster, 2 leaves it. */
static int way_of(const cm_chip *chip, uint32_t from, uint32_t to)
{
  const uint32_t x0 = from % chip->width, y0 = from / chip->width, x1 = to % chip->width, y1 = to / chip->width;
  if (from == to)
    return 0;
  if (chip->cluster_x == 0 || chip->cluster_y == 0)
    return 1;
  return x0 / chip->cluster_x == x1 / chip->cluster_x && y0 / chip->cluster_y == y1 / chip->cluster_y ? 1 : 2;
}

static void note(cm_leaving_way *way, uint32_t neuron, uint64_t count, uint64_t limit)
{
  way->broken += limit != 0 && count > limit;
  if (count > way->most) {
    way->most = count;
    way->neuron = neuron;
  }
}

void cm_check_measure_leaving(const cm_mapped *m, cm_check_leaving *found)
{
  const cm_topology *t = m->demand->network;
  const cm_limits *limits = &m->chip->limits;
  memset(found, 0, sizeof *found);
  for (uint32_t e = 0, end; e < t->net_count; e = end) {
    const uint32_t source = cm_topology_source(t, e);
    uint64_t count[3] = {0, 0, 0};
    for (end = e; end < t->net_count && cm_topology_source(t, end) == source; end++)
      for (uint64_t i = t->net_first[end]; i < t->net_first[end + 1]; i++)
        count[way_of(m->chip, m->core[m->part[source]], m->core[m->part[t->pin[i]]])]++;
    if (cm_demand_is_outside(m->demand, source))
      continue;
    note(&found->near, source, count[1], limits->near_synapses);
    note(&found->far, source, count[2], limits->far_synapses);
  }
}

static void judge(cm_checker *c, const cm_leaving_way *way, uint64_t limit, const char *where, const char *field)
{
  const json_t *stated = json_object_get(json_object_get(json_object_get(c->file.rest, "report"), "leaving"), field);
  if (way->broken > 0)
    violation(c, "neuron %" PRIu32 " has %" PRIu64 " synapses %s, and at most %" PRIu64 " may leave a neuron so; %" PRIu64 " neurons have too many", way->neuron,
              way->most, where, limit, way->broken);
  if (!json_is_integer(stated) || json_integer_value(stated) != (json_int_t)way->most)
    violation(c, "report: leaving: %s is %s, but it is %" PRIu64, field, json_is_integer(stated) ? "another number" : "missing", way->most);
}

void cm_checker_leaving(cm_checker *c)
{
  const cm_limits *limits = &c->given->chip->limits;
  cm_check_leaving found;
  if (limits->near_synapses == 0 && limits->far_synapses == 0)
    return;
  cm_check_measure_leaving(&c->mapped, &found);
  judge(c, &found.near, limits->near_synapses, "to other cores of its cluster", "near_synapses_most");
  judge(c, &found.far, limits->far_synapses, "to cores beyond its cluster", "far_synapses_most");
}
