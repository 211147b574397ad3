/* Routes on interconnects: every flow takes the ways that metrics count, so nothing is chosen. Happy path: loads and the most
 * virtual channels, then the channel dependency graph of all trees. What can fail: memory, a stop, dead links that cut a target off. */
#include "core/mapping/routes/routes_internal.h"

enum { CHECK_EVERY = 1024 };

static cm_status load_all(cm_routes *r, cm_walker *walker, cm_run *run, cm_error *error)
{
  cm_way_tree tree;
  double traffic = 0;
  for (uint32_t f = 0; f < r->flow_count; f++) {
    if (cm_walk_ways(walker, f, &tree, error) != CM_OK || (f % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK))
      return error->status;
    for (uint32_t i = 1; i < tree.count; i++) {
      uint64_t *load = &r->load[tree.node[i].link];
      *load += r->weight[f];
      r->load_max = *load > r->load_max ? *load : r->load_max;
      r->virtual_channels = tree.node[i].channel >= r->virtual_channels ? tree.node[i].channel + 1u : r->virtual_channels;
    }
    r->links += tree.count - 1;
    traffic += (double)r->weight[f] * (double)(tree.count - 1);
  }
  r->load_max_before = r->load_max;
  r->traffic = traffic / r->unit;
  return CM_OK;
}

/* Whether packets with so many virtual channels can wait for each other in a ring; counts channels and dependencies. */
static cm_status try_channels(cm_routes *r, cm_walker *walker, uint32_t channels, cm_run *run, bool *ring, cm_error *error)
{
  cm_channels graph;
  cm_way_tree tree;
  cm_status status = cm_channels_new(walker->ways, channels, run->memory, &graph, error);
  if (status != CM_OK)
    return status;
  for (uint32_t f = 0; f < r->flow_count && status == CM_OK; f++) {
    status = cm_walk_ways(walker, f, &tree, error);
    if (status == CM_OK)
      cm_channels_add(&graph, tree);
    if (status == CM_OK && f % CHECK_EVERY == 0)
      status = cm_run_check(run, error);
  }
  if (status == CM_OK)
    status = cm_channels_ring(&graph, run->memory, ring, error);
  cm_channels_count(&graph, &r->channels, &r->dependencies);
  cm_channels_free(&graph);
  return status;
}

/* The fewest virtual channels that leave no ring: one for every turn up always does. */
static cm_status prove(cm_routes *r, cm_walker *walker, cm_run *run, cm_error *error)
{
  uint32_t enough = r->virtual_channels;
  bool ring = enough > 0;
  for (uint32_t channels = 1; ring && channels <= enough; channels++) {
    r->virtual_channels = channels;
    cm_status status = try_channels(r, walker, channels, run, &ring, error);
    if (status != CM_OK)
      return status;
  }
  return ring ? cm_fail(error, CM_INTERNAL, "the routes could block each other: a ring of links wait for each other") : CM_OK;
}

cm_status cm_routes_ways(cm_routes *routes, cm_walker *walker, cm_run *run, cm_error *error)
{
  cm_status status = load_all(routes, walker, run, error);
  return status == CM_OK ? prove(routes, walker, run, error) : status;
}
