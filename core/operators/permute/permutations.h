/* The permutation pass (source 3). */
#pragma once

#include <jansson.h>

#include "core/operators/graph.h"

/* Bytes that a model's permutations move: the outputs of every Transpose that changes the order of elements, of every
 * Gather that permutes one axis, and of Slice/Split and the Concat that only put an axis together in another order. A
 * permutation of constants costs nothing, an unknown dim counts as 1. The model must have been through cm_infer. Linear
 * in the graph. */
uint64_t cm_permutation_bytes(const cm_model *model);

/* Bytes that all operators copy which only move elements: permutations, and what Concat, Slice, Split, Gather, Pad, Tile,
 * Expand and their likes make; Reshape and views of one dimension more or less copy nothing. Linear in the graph. */
uint64_t cm_copy_bytes(const cm_model *model);

/* Rewrites a model (after cm_infer) so that it copies the fewest bytes, never more than before; the result computes the
 * same. `given` stays as it is. *report:
 * {"copy_bytes": {"before", "after"}, "permutation_bytes": {"before", "after"}, "operators": {"before", "after"}, "moves": [...], "permutations": [what is
 * left]}. Time: a minimum cut per permutation of the graph. Errors: memory, CM_CANCELLED, CM_TIME_LIMIT. */
cm_status cm_permutations_optimise(const cm_model *given, cm_run *run, cm_model **made, json_t **report, cm_error *error);
