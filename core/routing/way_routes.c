/* Routes on interconnects: every flow takes the ways that metrics count, but for what hangs elsewhere so that short trees share
 * entries. Happy path: loads and the most virtual channels, then the channel dependency graph of all trees. What can fail: memory, a stop, dead links that cut a target off. */

#include "core/routing/walk.h"

enum { CHECK_EVERY = 1024, LINKS_SHORT = 8 };

static cm_status load_all(cm_routes *r, cm_walker *walker, cm_run *run, cm_error *error)
{
  cm_way_tree tree;
  double traffic = 0;
  r->links = r->load_max = r->virtual_channels = 0;
  memset(r->load, 0, r->chip->interconnect->link_count * sizeof *r->load);
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
  r->traffic = traffic / r->unit;
  return CM_OK;
}

/* Whether packets with so many virtual channels can wait for each other in a ring; counts channels and dependencies. */
static cm_status try_channels(cm_routes *r, cm_walker *walker, uint32_t channels, cm_run *run, bool *ring, cm_error *error)
{
  cm_channels graph;
  cm_way_tree tree;
  cm_status status = cm_channels_new(walker->ways, channels, run->memory, &graph, error);
  CM_TRY(status);
  for (uint32_t f = 0; f < r->flow_count && status == CM_OK; f++) {
    status = cm_walk_ways(walker, f, &tree, error);
    if (status == CM_OK)
      cm_channels_add(&graph, tree);
    CM_THEN_IF(status, f % CHECK_EVERY == 0, cm_run_check(run, error));
  }
  CM_THEN(status, cm_channels_ring(&graph, run->memory, ring, error));
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
    CM_TRY(try_channels(r, walker, channels, run, &ring, error));
  }
  return ring ? cm_fail(error, CM_INTERNAL, "the routes could block each other: a ring of links wait for each other") : CM_OK;
}

/* Whether trees are to share entries: short ones of parts with a key or two, on average. Keys of others lie by their ways as they are. */
static bool may_share(const cm_routes *r)
{
  cm_interconnect_kind kind = r->chip->interconnect->kind;
  return r->multicast && r->chip->table_entries != 0 && (kind == CM_GRID || kind == CM_HEXAGONAL) &&
         r->flow_count <= 2 * (uint64_t)r->parts && r->links <= (uint64_t)LINKS_SHORT * r->flow_count;
}

cm_status cm_routes_ways(cm_routes *routes, cm_walker *walker, cm_run *run, cm_error *error)
{
  cm_status status = load_all(routes, walker, run, error);
  routes->load_max_before = routes->load_max;
  if (status == CM_OK && may_share(routes)) {
    status = cm_routes_share(routes, walker, run, error);
    CM_THEN(status, load_all(routes, walker, run, error));
  }
  return status == CM_OK ? prove(routes, walker, run, error) : status;
}
