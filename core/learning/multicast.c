#include "core/learning/multicast.h"

#include "core/network/nets_by_part.h"

/* What one part after another is gathered in. */
typedef struct gatherer {
  uint32_t *first, *net; /* nets by the part of their source */
  uint32_t *by_net;      /* [parts] last net + 1 that reached it */
  uint32_t *by_part;     /* [parts] last part + 1 that reached it */
  uint32_t *reached;     /* [parts] */
  uint64_t room;         /* of the targets under way */
} gatherer;

static void gatherer_free(gatherer *g)
{
  CM_FREE(g->first, g->net, g->by_net, g->by_part, g->reached);
}

/* Fills g->reached with the other parts that p reaches, returns how many; *most is what one axon reaches. */
static uint32_t reach(gatherer *g, const cm_demand *demand, const uint32_t *part, uint32_t p, uint32_t *most)
{
  const cm_topology *topology = demand->network;
  uint32_t count = 0;
  *most = 0;
  for (uint32_t j = g->first[p]; j < g->first[p + 1]; j++) {
    uint32_t e = g->net[j], targets = 0;
    if (cm_demand_net_weight(demand, e) == 0)
      continue; /* carries nothing */
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++) {
      uint32_t q = part[topology->pin[i]];
      if (q == p || g->by_net[q] == e + 1)
        continue;
      g->by_net[q] = e + 1;
      targets++;
      if (g->by_part[q] != p + 1)
        g->reached[count++] = q;
      g->by_part[q] = p + 1;
    }
    *most = targets > *most ? targets : *most;
  }
  return count;
}

static cm_status append(gatherer *g, cm_multicast *m, uint64_t used, uint32_t count, cm_memory *memory,
                        cm_error *error)
{
  if (used + count > g->room) {
    uint64_t room = 2 * g->room + count + 1024;
    uint32_t *larger = cm_reallocate(memory, m->target, room, sizeof *larger, error);
    if (larger == NULL)
      return error->status;
    m->target = larger;
    g->room = room;
  }
  qsort(g->reached, count, sizeof *g->reached, cm_ascending);
  memcpy(m->target + used, g->reached, count * sizeof *g->reached);
  return CM_OK;
}

static cm_status collect(gatherer *g, const cm_demand *demand, const uint32_t *part, cm_run *run, cm_multicast *m,
                         cm_error *error)
{
  CM_TRY(cm_nets_by_part(demand->network, part, m->nodes, run, &g->first, &g->net, error));
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(g->by_net, m->nodes), CM_ARRAY(g->by_part, m->nodes),
                    CM_ARRAY(g->reached, m->nodes)));
  for (uint32_t p = 0; p < m->nodes; p++) {
    uint32_t most, count = reach(g, demand, part, p, &most);
    m->first[p + 1] = m->first[p];
    if (most < 2)
      continue;
    CM_TRY(append(g, m, m->first[p], count, run->memory, error));
    CM_TRY(cm_run_check(run, error));
    m->first[p + 1] += count;
    m->trees++;
  }
  return CM_OK;
}

cm_status cm_multicast_from_topology(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                                     cm_multicast *multicast, cm_error *error)
{
  cm_multicast made = {.nodes = parts};
  gatherer g = {0};
  cm_status status = CM_NEW(run->memory, made.first, (size_t)parts + 1, error);
  CM_THEN_IF(status, demand->network->directed, collect(&g, demand, part, run, &made, error));
  gatherer_free(&g);
  CM_END(status, *multicast = made, cm_multicast_free(&made));
}

void cm_multicast_free(cm_multicast *multicast)
{
  CM_FREE(multicast->first, multicast->target);
  *multicast = (cm_multicast){0};
}
