/* What the packets of a mapping come to.
 *
 * Nets are grouped by the part of their source. One task takes every n-th part: it walks the part's nets once
 * and gathers per target part what flows there (packets, synapses, axons), then books the flows: totals, link
 * loads as differences at the ends of each straight run, congestion as cm_spread_add does. All sums are of integers,
 * so any order and number of tasks gives the same figures.
 *
 * Undirected networks: a row lists a vertex's neighbours, every edge stands in two rows. Each of its two pins is a
 * flow of its own of half the edge's weight; the unit of the sums is then half a weight. */
#include "core/measure/metrics_tally.h"

#include "base/threads.h"
#include "core/measure/link_tally.h"
#include "core/measure/spread.h"

typedef cm_metrics_work work;
typedef cm_metrics_tally tally;
typedef cm_metrics_totals totals;
typedef cm_wide wide;

/* What one source part sends to one target part. */
typedef struct lane {
  uint64_t flow;     /* packets */
  uint64_t weight;   /* of synapses */
  uint64_t synapses; /* 0: the lane is not in use */
  uint32_t axons;    /* distinct source neurons */
  uint32_t net, source; /* last net and source vertex seen, plus 1 */
  cm_offset to;
} lane;
/* Scratch of one task. */
typedef struct scratch {
  lane *lane;         /* [part_count] */
  uint32_t *used;     /* [part_count] lanes in use, in order of first use */
  cm_offset *reached; /* [part_count] ways to the parts that the net under way reaches */
  cm_flow *flow;      /* [part_count] */
  cm_tree_scratch tree;
} scratch;

static void scratch_free(scratch *s)
{
  CM_FREE(s->lane, s->used, s->reached, s->flow);
  cm_tree_scratch_free(&s->tree);
}

static cm_status scratch_new(const work *w, scratch *s, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  *s = (scratch){0};
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(s->lane, w->part_count), CM_ARRAY(s->used, w->part_count),
                       CM_ARRAY(s->reached, w->part_count), CM_ARRAY(s->flow, w->part_count)), scratch_free(s));
  CM_TRY_OR(cm_tree_scratch_new(w->chip, memory, &s->tree, error), scratch_free(s));
  return CM_OK;
}

/* The lane from the source part to `target`, opened on first use. */
static lane *open_lane(const work *w, scratch *s, uint32_t source, uint32_t target, uint32_t *used)
{
  lane *l = &s->lane[target];
  if (l->synapses == 0) {
    l->to = w->links->way_to(w->chip, w->core[source], w->core[target]);
    s->used[(*used)++] = target;
  }
  return l;
}

/* One axon: a packet per other part that holds a target. */
static void walk_axon(const work *w, scratch *s, uint32_t net, uint32_t source_part, uint32_t *used, tally *sum)
{
  const cm_topology *topology = w->demand->network;
  uint64_t rate = cm_demand_net_weight(w->demand, net);
  uint32_t source = cm_topology_source(topology, net), reached = 0;
  for (uint64_t i = topology->net_first[net]; i < topology->net_first[net + 1]; i++) {
    uint32_t target = w->part[topology->pin[i]];
    lane *l = open_lane(w, s, source_part, target, used);
    l->synapses++;
    l->weight += cm_demand_pin_weight(w->demand, net, i);
    if (l->source != source + 1) {
      l->source = source + 1;
      l->axons++;
    }
    if (l->net == net + 1)
      continue;
    l->net = net + 1;
    if (target != source_part) {
      l->flow += rate;
      s->reached[reached++] = l->to;
    }
  }
  if (reached > 0) {
    sum->total.cut_net += rate;
    sum->total.tree_packets += rate;
    w->casts[source_part] += rate;
    const cm_cast cast = {net, w->core[source_part], rate};
    w->links->book_cast(w, sum, &s->tree, &cast, s->reached, reached);
  }
}

/* One row of an undirected network: every pin to another part is a packet of half its edge's weight. */
static void walk_row(const work *w, scratch *s, uint32_t net, uint32_t source_part, uint32_t *used)
{
  const cm_topology *topology = w->demand->network;
  for (uint64_t i = topology->net_first[net]; i < topology->net_first[net + 1]; i++) {
    uint32_t target = w->part[topology->pin[i]];
    uint64_t weight = cm_demand_pin_weight(w->demand, net, i);
    lane *l = open_lane(w, s, source_part, target, used);
    l->synapses++;
    l->weight += weight;
    if (l->source != net + 1) {
      l->source = net + 1;
      l->axons++;
    }
    if (target != source_part)
      l->flow += weight;
  }
}

static cm_status book_lane(const work *w, uint32_t source, uint32_t target, const lane *l, tally *sum, cm_error *error)
{
  totals *all = &sum->total;
  cm_passage way;
  sum->synapses[target] += l->synapses;
  sum->inbound[target] += l->axons;
  if (source == target)
    return CM_OK;
  CM_TRY(w->links->book_lane(w, sum, &(cm_lane){source, target, l->to, l->flow}, &way, error));
  all->packets += l->flow;
  all->edge_cut += l->weight;
  all->edge_hops += (wide)l->weight * way.hops;
  all->latency_max_ns = way.ns > all->latency_max_ns ? way.ns : all->latency_max_ns;
  sum->incoming[target] += l->flow;
  w->outgoing[source] += l->flow;
  w->outbound[source] += l->axons;
  w->targets[source]++;
  sum->sources[target]++;
  return CM_OK;
}

static cm_status take_part(work *w, scratch *s, uint32_t part, tally *sum, cm_spread_part *spread, cm_error *error)
{
  cm_status status = CM_OK;
  uint32_t used = 0;
  for (uint32_t i = w->net_first[part]; i < w->net_first[part + 1]; i++)
    if (w->demand->network->directed)
      walk_axon(w, s, w->net[i], part, &used, sum);
    else
      walk_row(w, s, w->net[i], part, &used);
  uint32_t x = w->core[part] % w->chip->width / w->chip->router_x, y = w->core[part] / w->chip->width / w->chip->router_y;
  for (unsigned quadrant = 0; spread->spread != NULL && quadrant < CM_QUADRANTS; quadrant++) {
    size_t flows = 0;
    for (uint32_t k = 0; k < used; k++) {
      const lane *l = &s->lane[s->used[k]];
      if (s->used[k] != part && (unsigned)(l->to.x < 0) + 2 * (unsigned)(l->to.y < 0) == quadrant)
        s->flow[flows++] = (cm_flow){l->to, l->flow};
    }
    if (flows > 0)
      cm_spread_add(spread, x, y, quadrant, s->flow, flows);
  }
  for (uint32_t k = 0; k < used; k++) {
    CM_THEN(status, book_lane(w, part, s->used[k], &s->lane[s->used[k]], sum, error));
    s->lane[s->used[k]] = (lane){0};
  }
  return status;
}

static cm_status run_task(void *context, size_t index, cm_error *error)
{
  work *w = context;
  scratch s;
  CM_TRY(scratch_new(w, &s, error));
  cm_status status = CM_OK;
  for (uint32_t part = (uint32_t)index; status == CM_OK && part < w->part_count; part += w->tasks) {
    status = take_part(w, &s, part, &w->tally[index], &w->spread_part[index], error);
    CM_THEN(status, cm_run_check(w->run, error));
  }
  scratch_free(&s);
  return status;
}

cm_status cm_metrics_count(work *w, cm_error *error)
{
  return cm_parallel(w->run, w->tasks, run_task, w, error);
}
