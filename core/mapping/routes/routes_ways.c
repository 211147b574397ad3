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

static cm_status prove(cm_routes *r, cm_walker *walker, cm_run *run, cm_error *error)
{
  cm_channels graph;
  cm_way_tree tree;
  cm_status status = cm_channels_new(walker->ways, r->virtual_channels, run->memory, &graph, error);
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
    status = cm_channels_check(&graph, run->memory, error);
  cm_channels_count(&graph, &r->channels, &r->dependencies);
  cm_channels_free(&graph);
  return status;
}

cm_status cm_routes_ways(cm_routes *routes, cm_walker *walker, cm_run *run, cm_error *error)
{
  cm_status status = load_all(routes, walker, run, error);
  return status == CM_OK ? prove(routes, walker, run, error) : status;
}
