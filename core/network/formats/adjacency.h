/* Whether a text is an adjacency list. */
#pragma once

#include "core/network/formats/source.h"

/* *fits: it reads as one, and every neuron that is named has a row. *repeats: a neighbour stands twice in a row, or a neuron beside
 * itself, as in a list of edges with weights. Leaves the source where it began. */
cm_status cm_adjacency_fits(cm_source *source, cm_memory *memory, bool *fits, bool *repeats, cm_error *error);
