/* Trades of sites between the nodes of an environment. */
#pragma once

#include "core/learning/agent/environment.h"

#define CM_NOBODY UINT32_MAX /* of a site: no node is on it */

/* Change of the hops, weighted, when v goes to site `to`, where `other` comes from (CM_NOBODY: from nowhere);
 * at [nodes] is the site of each node. O(neighbours of v). */
static inline int64_t cm_move_change(const cm_environment *environment, const uint32_t *at, uint32_t v, uint32_t to, uint32_t other)
{
  const cm_graph *g = environment->graph;
  const cm_axes *x = environment->axes;
  uint32_t from = at[v];
  const uint32_t *to_x = x->dx + (size_t)x->column[to] * x->columns, *to_y = x->dy + (size_t)x->row[to] * x->rows;
  const uint32_t *from_x = x->dx + (size_t)x->column[from] * x->columns;
  const uint32_t *from_y = x->dy + (size_t)x->row[from] * x->rows;
  int64_t change = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i], site = at[u], column = x->column[site], row = x->row[site];
    int64_t further = (int64_t)to_x[column] + to_y[row] - from_x[column] - from_y[row];
    change += u == other ? 0 : (int64_t)g->weight[i] * further;
  }
  return change;
}

/* The same when v and who is at `to` change places; on [sites] is the node on each site, CM_NOBODY: none. */
static inline int64_t cm_trade_change(const cm_environment *environment, const uint32_t *at, const uint32_t *on, uint32_t v, uint32_t to)
{
  uint32_t other = on[to];
  return cm_move_change(environment, at, v, to, other) + (other == CM_NOBODY ? 0 : cm_move_change(environment, at, other, at[v], v));
}
