/* What the makers of hypergraphs share. */
#pragma once

#include "core/partition/axon/hypergraph.h"

/* The arrays by vertex and by net that every level has, zeroed, but those of targets. */
cm_status cm_hypergraph_arrays(cm_hypergraph *graph, cm_run *run, cm_error *error);

/* The nets by source, by counting sort. O(vertices + nets). */
cm_status cm_hypergraph_list_outbound(cm_hypergraph *graph, cm_run *run, cm_error *error);
