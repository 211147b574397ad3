/* Control flow and functions, unrolled: what is left is one graph without subgraphs. */
#pragma once

#include "core/operators/graph.h"

enum { CM_UNROLL_ITERATIONS_MAX = 4096, CM_UNROLL_NODES_MAX = 1 << 18 };

/* Infers shapes as cm_infer does, and puts in place of every If, Loop, Scan and call of a model's own function what it
 * computes. An If with a condition that is known is its branch; else both branches are computed and one result is chosen. A
 * Loop or Scan becomes its iterations, whose number has to be known; a Loop's condition need not be. Linear in the graph
 * that is made. Errors: as cm_infer; CM_BAD_NETWORK for a loop whose iterations are not known, CM_TOO_LARGE for one of too
 * many or for too many nodes, each with the node's name. */
cm_status cm_model_unroll(cm_model *model, cm_run *run, cm_error *error);
