/* The graph whose topological orders are searched: what is left of a model when it is cut. Internal to core/machine. */
#pragma once

#include "core/machine/plan/plan.h"
#include "core/schedule/dag.h"

/* Operators, and views of several values, where ways meet. Nodes that make constants alone are none; neither are views of
 * one value, which stand behind what makes it. Numbered in the order of the plan. */
typedef struct cm_order_graph {
  const cm_model *model;
  cm_dag *dag;
  uint64_t *latency;    /* least time: its work on one unit */
  uint32_t node_count;
  uint32_t *first_op;   /* node_count + 1: its operators in the plan; none of a view */
  uint32_t *host;       /* by node of the model: the graph's node that it is or stands behind; CM_NONE: before all */
  uint32_t *node;       /* of the model */
} cm_order_graph;

/* For a plan in the model's order. The caller's: cm_order_graph_free, also after a failure. Errors: memory. */
cm_status cm_order_graph_make(const cm_plan *plan, cm_run *run, cm_order_graph *graph, cm_error *error);
void cm_order_graph_free(cm_order_graph *graph);

/* The plan's operators for an order of `count` nodes, in a new block. Errors: memory. */
cm_status cm_order_graph_ops(const cm_order_graph *graph, const uint32_t *order, uint32_t count, cm_memory *memory, uint32_t **ops,
                             cm_error *error);

/* All nodes of the model for an order of all nodes of the graph. Errors: memory. */
cm_status cm_order_graph_nodes(const cm_order_graph *graph, const uint32_t *order, cm_memory *memory, uint32_t *nodes,
                               cm_error *error);
