/* Between the files that optimise permutations.
 *
 * While they work, every permutation of the graph, however it was written, is one node with a `layout`: marked, put where
 * it costs least, merged and folded, and at the end written as operators again. */
#pragma once

#include <jansson.h>

#include "core/operators/permute/cross.h"

typedef struct cm_permute {
  cm_model *model;
  cm_maps *maps;
  cm_run *run;
  json_t *moves; /* array; what is done goes here */
} cm_permute;

/* Bytes of a value as stored; unknown dims count as 1. */
uint64_t cm_value_bytes(const cm_value *value);

/* Whether a node of an ordinary graph is a permutation, of which value and with what layout. */
bool cm_permutation_of(cm_permute *p, uint32_t node, uint32_t *source, cm_layout *layout);

/* Bytes that one node moves as a permutation of an ordinary graph, 0 when it is none. */
uint64_t cm_node_permutation_bytes(const cm_model *model, uint32_t node);

/* Bytes that a layout node moves. */
uint64_t cm_layout_bytes(const cm_permute *p, const cm_layout *layout, const cm_value *input);

/* Turns every permutation of the graph into a layout node. */
cm_status cm_permute_mark(cm_permute *p, cm_error *error);

/* Composes chains, folds into constants, removes identities, merges equal ones, sweeps. */
cm_status cm_permute_normalise(cm_permute *p, cm_error *error);

/* Adds a layout node that makes `output` from `input`. */
cm_status cm_permute_add(cm_permute *p, uint32_t input, const cm_layout *layout, uint32_t output, cm_error *error);

/* Looks for a better place for the permutation at `seed` and all that it meets, decided at once by a minimum cut;
 * *gain: bytes saved, 0 when nothing is better (the model is untouched then). */
cm_status cm_permute_region(cm_permute *p, uint32_t seed, uint64_t *gain, cm_error *error);

/* A new value named and typed like another, of a shape. */
cm_status cm_permute_shaped(cm_permute *p, uint32_t like, uint32_t rank, const int64_t *dims, uint32_t *value, cm_error *error);

/* Adds a Reshape, a Transpose, that makes `output`. */
cm_status cm_permute_reshape(cm_permute *p, uint32_t input, uint32_t rank, const int64_t *dims, uint32_t output, cm_error *error);
cm_status cm_permute_transpose(cm_permute *p, uint32_t input, uint32_t rank, const uint32_t *perm, uint32_t output,
                               cm_error *error);

/* Concatenations of strided slices that are blocks of an image put into channels (patch merging, focus layers) become a
 * Transpose between two Reshapes: every element is copied once, not twice or three times. */
cm_status cm_permute_patches(cm_permute *p, cm_error *error);

/* Zeros that a Pad puts around an image become pads of the Conv or AveragePool that alone reads it. */
cm_status cm_permute_pads(cm_permute *p, cm_error *error);

/* Writes layout nodes as Transpose, Reshape and Gather. */
cm_status cm_permute_emit(cm_permute *p, cm_error *error);

/* A MatMul that is one product of two matrices: [rows, inner] x [inner, columns]. */
typedef struct cm_matrix_product {
  int64_t rows, inner, columns;
} cm_matrix_product;

/* Whether a node is such a MatMul: the right operand is one matrix, all axes but the last of the left one are rows. */
bool cm_product_of(const cm_model *m, const cm_node *n, cm_matrix_product *product);

/* Whether the permutation at a node is made along by the product before it. */
bool cm_product_made_turned(cm_permute *p, const cm_node *n);

/* Whether a MatMul that is one product of matrices can read operand `slot`, which `layout` makes of a tensor of `dims`, from before
 * that permutation. */
bool cm_product_reads_turned(cm_permute *p, uint32_t node, uint32_t slot, const cm_layout *layout, const int64_t *dims);

/* Whether the maker of a value is such a MatMul, and can make what `layout` makes of the value instead. */
bool cm_product_makes_turned(cm_permute *p, uint32_t value, const cm_layout *layout);

/* Whether cm_permute_absorb will take the permutation at a node along: it costs nothing. O(nodes). */
bool cm_permute_is_free(cm_permute *p, uint32_t node);

/* Absorbs exchanges of rows and columns, before or behind, into products of single matrices (Gemm has flags for them). */
cm_status cm_permute_absorb(cm_permute *p, cm_error *error);

/* Bytes that one node of an ordinary graph copies: what it makes, where it only moves elements; permutations as
 * cm_node_permutation_bytes has them. */
uint64_t cm_node_copy_bytes(const cm_model *model, uint32_t node);

/* Total bytes of all layout nodes that are not free, and of all else that copies. */
uint64_t cm_permute_total(cm_permute *p);
