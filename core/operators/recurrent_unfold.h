/* LSTM, GRU and RNN as products and cells: the input's products of all steps first, as one matrix product, then of each step the
 * product of the state, and its gates, which are cut along units and sequences as any operator is. */
#pragma once

#include "base/run.h"
#include "core/operators/graph.h"

/* Whether a node is a recurrent operator in float32 whose shapes are known and have elements. */
bool cm_recurrent_unfolds(const cm_model *model, const cm_node *node);

/* Takes the node out of its model and puts what it computes in its place: of `steps` * directions some four nodes each. All directions,
 * layouts, lengths and initial states. The model is to be sorted when all are unfolded. Errors: memory, cancel. */
cm_status cm_recurrent_unfold(cm_model *model, uint32_t node, cm_run *run, cm_error *error);
