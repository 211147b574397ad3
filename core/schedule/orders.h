/* Searching the order in which the operators of a graph are executed.
 *
 * A graph is cut at its key nodes, which are on every way from a source to a sink, so that what lies between two of
 * them is ordered on its own. Of each subgraph all topological orders are scored where they are few, else some that are
 * drawn with a bias to high nodes or found by Monte-Carlo tree search. The score is the caller's: a cost model that
 * simulates the instruction stream, or a measured run (target_command.h). */
#pragma once

#include "base/run.h"
#include "core/schedule/dag.h"

/* Subgraphs in the order of execution: subgraph s holds node[first[s]] .. node[first[s + 1] - 1], in the order that was
 * given. */
typedef struct cm_subgraphs {
  uint32_t count;
  uint32_t *first; /* count + 1 */
  uint32_t *node;  /* all nodes */
  uint32_t key_count;
  uint32_t *key; /* nodes on every way from a source to a sink, in the order of execution */
} cm_subgraphs;

/* Finds key nodes and subgraphs. `order` (a topological order, NULL: the graph's own) stays inside the subgraphs. A
 * subgraph begins with a key node, but for the first where several sources begin the graph; what has fewer than
 * `nodes_min` nodes, or only one order, joins what follows it, and what is left at the end joins what is before it. So
 * only a graph with one order in all has a subgraph with one order. The caller's: cm_subgraphs_free. O(n + m). Errors:
 * CM_BAD_OPTION when `order` is none; memory. */
cm_status cm_subgraphs_find(const cm_dag *dag, const uint32_t *order, uint32_t nodes_min, cm_memory *memory,
                            cm_subgraphs *subgraphs, cm_error *error);
void cm_subgraphs_free(cm_subgraphs *subgraphs);

/* How many topological orders the nodes of a subgraph have: exact up to `limit`, else limit + 1. O(limit * (n + m))
 * time at most. Errors: memory. */
cm_status cm_orders_count(const cm_dag *dag, const uint32_t *node, uint32_t count, uint64_t limit, cm_memory *memory,
                          uint64_t *orders, cm_error *error);

enum { CM_WHOLE_GRAPH = UINT32_MAX };

/* Scores an execution order: less is better. `subgraph` says which one `order` (its `count` nodes) belongs to, or is
 * CM_WHOLE_GRAPH when `order` holds every node. With run->threads > 1 it is called from several threads at once, for
 * different subgraphs. */
typedef cm_status (*cm_order_score)(void *context, uint32_t subgraph, const uint32_t *order, uint32_t count,
                                    uint64_t *score, cm_error *error);

typedef enum cm_order_method {
  CM_ORDER_AUTO,   /* every order where there are at most enumerate_max, else tree search, then descent from the best */
  CM_ORDER_SAMPLE, /* the same with random sampling biased by height in place of tree search and descent */
  CM_ORDER_HEIGHT, /* no search: of each subgraph the queue by height, unless the given order is better */
  CM_ORDER_GIVEN,  /* no search: the order that was given */
} cm_order_method;

typedef struct cm_order_options {
  cm_order_method method;
  uint32_t nodes_min;     /* smaller subgraphs join their neighbour (4) */
  uint64_t enumerate_max; /* up to so many orders of a subgraph are all scored (120) */
  uint64_t scores;        /* of a subgraph with more orders, at most so many are scored (400) */
  uint64_t scores_total;  /* of all such subgraphs together, shared out by their nodes (4000) */
} cm_order_options;

/* The defaults in brackets above. */
cm_order_options cm_order_defaults(void);

/* What became of one subgraph. */
typedef struct cm_order_outcome {
  uint32_t node_count;
  uint64_t orders;      /* topological orders that it has: exact up to enumerate_max, else above it */
  bool exhausted;       /* all of them were scored */
  uint64_t scored;      /* orders that were scored */
  uint64_t given_score; /* of the order that was given */
  uint64_t best_score;
} cm_order_outcome;

typedef struct cm_order_result {
  uint32_t node_count;
  uint32_t *order; /* every node; as a whole it never scores worse than the order that was given */
  uint64_t given_score, score; /* as a whole */
  cm_subgraphs subgraphs;
  cm_order_outcome *outcome; /* one a subgraph */
} cm_order_result;

/* What is searched. */
typedef struct cm_order_task {
  const cm_dag *dag;
  const uint64_t *latency; /* one a node: its least time, which makes the heights that bias the search */
  const uint32_t *given;   /* the order of the file; NULL: the graph's own */
  cm_order_score score;
  void *context; /* of `score` */
} cm_order_task;

/* Searches. Same input, options and run->seed give the same order for any number of threads; a
 * deadline of the run only cuts the search short: what was found by then is the result. The caller's:
 * cm_order_result_free. Scores each subgraph's given order and queue besides what the options allow, and two orders of
 * the whole. Errors: those of `score`, CM_CANCELLED, CM_BAD_OPTION when `given` is no order of the graph;
 * memory. */
cm_status cm_orders_search(const cm_order_task *task, const cm_order_options *options, cm_run *run, cm_order_result *result,
                           cm_error *error);
void cm_order_result_free(cm_order_result *result);
