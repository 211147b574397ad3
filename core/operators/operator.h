/* The operators that are understood: one row each, and what a row's functions are given. */
#pragma once

#include "base/product.h"
#include "core/operators/graph.h"
#include "core/operators/variant.h"

/* One node with what is known of its inputs; for a kernel everything is. */
typedef struct cm_call {
  const cm_node *node;
  int64_t opset;
  uint32_t input_count, output_count;
  const cm_shape *input;     /* input_count; of a left-out input: CM_TYPE_NONE and unknown rank */
  cm_tensor *const *value;   /* input_count; NULL where the value is not known, or the input is left out */
  cm_shape *output;          /* output_count: made by the shape function, read by the kernel */
  cm_tensor **result;        /* output_count: made from `output` before the kernel runs; NULL for left-out outputs */
  cm_memory *memory;
} cm_call;

/* Sets what it can say of the outputs; leaves unknown what depends on unknown inputs. Errors: CM_BAD_NETWORK when the
 * inputs cannot be right. */
typedef cm_status (*cm_shape_function)(cm_call *call, cm_error *error);

/* Computes the outputs of a call that cm_operator_check has passed. */
typedef cm_status (*cm_kernel_function)(cm_call *call, cm_error *error);

/* Refuses what the kernel does not compute though it is right: by attributes and by types and ranks, never by values, so
 * that the answer is known before anything runs. CM_BAD_NETWORK. */
typedef cm_status (*cm_check_function)(const cm_call *call, cm_error *error);

#define CM_OWN_DOMAIN "coremap"
#define CM_LEARNED_DOMAIN "ai.onnx.ml"

struct cm_crossing;

/* How an operator behaves towards a permutation of one of its inputs or outputs: cross.h. */
typedef bool (*cm_cross_function)(struct cm_crossing *crossing);
typedef cm_status (*cm_rewrite_function)(struct cm_crossing *crossing, cm_error *error);

enum {
  CM_OPERATOR_PROMOTES = 1,  /* 16-bit floats are computed in float32 */
  CM_OPERATOR_RANDOM = 2,    /* never folded */
  CM_OPERATOR_EXPANDS = 4,   /* makes much out of little: folded only when the result is small */
  CM_OPERATOR_SAME = 8,      /* all inputs are of one type */
  CM_OPERATOR_OWN = 32,      /* made by the compiler, of domain CM_OWN_DOMAIN: no model has it */
  CM_OPERATOR_LEARNED = 64,  /* of domain CM_LEARNED_DOMAIN */
  CM_OPERATOR_ANY_SCALE = 16, /* may be done on numbers in any unit: it chooses among them, and computes none */
};

/* Along which axes of its output an operator may be cut, and what a piece reads: the rows of splits.def. */
typedef enum cm_split_kind {
#define SPLIT(kind, along, reads, extent, axes) CM_SPLIT_##kind,
#include "core/operators/splits.def"
#undef SPLIT
} cm_split_kind;

enum { CM_OPERATOR_TYPED = 3 }; /* inputs whose types a row names; the last one stands for all further ones */

typedef struct cm_operator {
  const char *name;
  int since, until; /* opsets of ONNX's own domain in which this row holds */
  uint32_t needs;   /* inputs that have to be there, in front of those that may be left out */
  cm_shape_function shape;
  cm_kernel_function kernel; /* what tells families apart */
  cm_operator_variant variant;        /* which one of its family */
  cm_cross_function cross;     /* NULL: a wall */
  cm_rewrite_function rewrite; /* NULL: nothing to change */
  cm_split_kind split;
  cm_work_kind work;
  cm_runs_kind runs;
  cm_makes_kind makes;
  uint32_t types[CM_OPERATOR_TYPED]; /* bit t: input of cm_type t is computed */
  cm_check_function check;     /* NULL: what the types allow is computed */
  unsigned flags;
} cm_operator;

/* The row for an operator in an opset, or NULL: unknown. */
const cm_operator *cm_operator_find(const char *domain, const char *name, int64_t opset);

/* Whether a node is an operator of the family with this kernel. */
bool cm_node_is(const cm_node *node, cm_kernel_function kernel);

/* All rows, the last one without a name. */
const cm_operator *cm_operator_table(void);

/* Why an operator of ONNX that is not in the table is not supported, or NULL. */
const char *cm_operator_reason(const cm_node *node);

/* Whether the attributes that operators read are of the kinds that they have in ONNX. Errors: CM_BAD_NETWORK. */
cm_status cm_node_check_kinds(const cm_node *node, cm_error *error);

/* Whether the inputs are there that every call of the operator has, and attributes of their kinds; shape functions and kernels
 * count on those. Errors: CM_BAD_NETWORK. */
cm_status cm_operator_complete(const cm_call *call, cm_error *error);

/* Whether the kernel computes this call: types by the row, the rest by its check. What passes here runs, whatever the
 * values, unless they are wrong (an index out of range). Shapes have to be known; values need not be. Errors:
 * CM_BAD_NETWORK with the node's name. */
cm_status cm_operator_check(const cm_call *call, cm_error *error);

/* ---- helpers of the families ---- */

/* True when input i is there. */
bool cm_has(const cm_call *call, uint32_t i);

/* True when rank and all dims of a shape are known. */
bool cm_shape_known(const cm_shape *shape);

/* The shape of a tensor. */
cm_shape cm_shape_of(const cm_tensor *tensor);

/* A failure of this call: CM_BAD_NETWORK, "Conv 'name': ...". */
cm_status cm_call_fail(const cm_call *call, cm_error *error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The kernel does not compute this type. */
cm_status cm_call_bad_type(const cm_call *call, cm_type type, cm_error *error);

/* Fails when the first input has no elements of a fixed size (strings, sequences). */
cm_status cm_call_need_elements(const cm_call *call, cm_error *error);

/* Brings an axis into 0 .. rank-1. */
cm_status cm_call_axis(const cm_call *call, int64_t axis, uint32_t rank, uint32_t *normal, cm_error *error);

/* The same for attribute axis (`otherwise` where it is not there) of an operator whose first input it is within; nothing is said
 * while that has no known rank. What a kernel would refuse by shapes, the shape function has to. */
cm_status cm_call_own_axis(const cm_call *call, int64_t otherwise, cm_error *error);

/* Inputs [from, to) of a normalization, as far as they are there, hold a number for each element from its axis on, or for those at
 * their end; the axis is within its first input. */
cm_status cm_call_need_scale(const cm_call *call, uint32_t from, uint32_t to, cm_error *error);

/* The numbers of an input, as far as they are known, are indices within an extent (negative: not known), the negative ones from its
 * end. */
cm_status cm_call_need_indices(const cm_call *call, uint32_t input, int64_t extent, cm_error *error);

/* The numbers of an input, as far as they are known, are lengths of up to an extent (negative: not known). */
cm_status cm_call_need_lengths(const cm_call *call, uint32_t input, int64_t extent, cm_error *error);

/* Inputs [from, to), as far as they are there and known, have to be lists of `count` numbers (negative: not known). */
cm_status cm_call_need_lists(const cm_call *call, uint32_t from, uint32_t to, int64_t count, cm_error *error);

/* Integers that are an attribute (NULL: never) in some opsets and an input in others. `known` is false when the input's value is not
 * known, `count` 0 when they are left out. At most `maximum` of them, which are at most 2 CM_RANK_MAX. */
typedef struct cm_integers {
  bool known;
  size_t count;
  int64_t at[2 * CM_RANK_MAX];
} cm_integers;
cm_status cm_call_integers(const cm_call *call, const char *attribute, uint32_t input, size_t maximum, cm_integers *list, cm_error *error);

/* Where a piece of an operator lies whose numbers depend on places: the dims of the whole first input, where the piece of it
 * begins, and where its output begins and how large it is. In programs it stands in an attribute of the piece. */
#define CM_PLACE_ATTRIBUTE "coremap_piece"
typedef struct cm_piece_place {
  uint32_t rank;
  int64_t whole[CM_RANK_MAX], from[CM_RANK_MAX], out_from[CM_RANK_MAX], extent[CM_RANK_MAX];
} cm_piece_place;

/* The place of a call's node; false, and the whole of its first input, when it is no piece. Extents are 0 then. */
bool cm_call_place(const cm_call *call, cm_piece_place *place);

/* The rows [reads[0], reads[1]) of an axis that a Resize reads for rows [from, to) of its output; false when its sizes are
 * not known. */
bool cm_resize_reads(const cm_call *call, uint32_t axis, int64_t from, int64_t to, int64_t reads[2]);

/* What one element x of an axis of a piece's output is the sum of: weights, and places in the piece's input, as many at each x. False too where
 * they are more than there is room for, or a region is cropped. */
enum { CM_TAPS_MOST = 32 };
typedef struct cm_taps {
  uint32_t count;
  double weights[CM_TAPS_MOST];
  int64_t places[CM_TAPS_MOST];
} cm_taps;
bool cm_resize_weights(const cm_call *call, uint32_t axis, int64_t x, cm_taps *taps);

/* Elements of the input that one element of a resized axis is made of; 0 where an axis stays as it is, or sizes are not known. */
uint64_t cm_resize_taps(const cm_call *call, uint32_t axis);

/* The shape that two shapes broadcast to. */
cm_status cm_call_broadcast(const cm_call *call, const cm_shape *a, const cm_shape *b, cm_shape *both, cm_error *error);

/* Extents of an axis: of the dimensions before it, its own, of those after it. */
typedef struct cm_lines {
  int64_t outer, extent, inner;
} cm_lines;
cm_status cm_call_lines(const cm_call *call, const cm_tensor *tensor, int64_t axis, cm_lines *lines, cm_error *error);

/* The same of attribute `axis` of a Softmax: before opset 13 all from the axis on are one. */
cm_status cm_call_soft_lines(const cm_call *call, const cm_tensor *tensor, cm_lines *lines, cm_error *error);

/* The first element of line number `line`; the next ones are `inner` apart. */
static inline int64_t cm_line_start(const cm_lines *l, int64_t line)
{
  return line / l->inner * l->extent * l->inner + line % l->inner;
}

/* The product of extents [from, to). */
int64_t cm_dims_product(const int64_t *dims, uint32_t from, uint32_t to);

/* Copies `count` elements of a tensor of the same type. */
void cm_tensor_copy(cm_tensor *to, int64_t at, const cm_tensor *from, int64_t first, int64_t count);

/* Strides in elements of `shape` seen as `rank` dims of `wide` (0 where it is broadcast); row-major. */
void cm_broadcast_strides(const cm_tensor *tensor, const cm_shape *wide, int64_t *strides);

/* Row-major strides of a tensor, in elements. */
void cm_strides(uint32_t rank, const int64_t *dims, int64_t *strides);

/* Goes to the next index of an odometer over `dims`; false at the end. */
bool cm_next_index(uint32_t rank, const int64_t *dims, int64_t *index);

/* The element at an index. */
int64_t cm_offset(uint32_t rank, const int64_t *index, const int64_t *strides);

/* Goes over `dims` with the elements of up to three tensors that stand at each index. */
typedef struct cm_walk {
  uint32_t rank, tensors;
  const int64_t *dims;
  int64_t index[CM_RANK_MAX], strides[3][CM_RANK_MAX], at[3];
} cm_walk;

/* A walk over all elements of `out`, of tensors that broadcast to it. */
cm_walk cm_walk_over(const cm_tensor *out, cm_tensor *const *tensors, uint32_t count);
bool cm_walk_next(cm_walk *walk);

/* The product that a matrix or vector times another is, and the walk over its batches. */
cm_product cm_batched_product(const cm_tensor *a, const cm_tensor *b, const cm_tensor *out, cm_walk *batches);

/* Copies elements of any width: out[i] for all indices of `dims`, from data + offset + sum(index * strides). */
void cm_copy_strided(void *out, const void *data, size_t width, uint32_t rank, const int64_t *dims, int64_t offset,
                     const int64_t *strides);

/* ---- what families share with those who cut them ---- */

/* The step between the frames of an STFT, and their length; false while they are not known. */
bool cm_stft_frames(const cm_call *call, int64_t *step, int64_t *length);

/* Of an Einsum whose shapes are known: the axis of the output that each dimension of an input follows, CM_NONE where it is
 * summed over or broadcast; false when its equation is wrong. */
bool cm_einsum_axes(const cm_call *call, uint32_t input, uint32_t axes[CM_RANK_MAX]);

/* Whether it is a product of two matrices of floating-point numbers, or of batches of them: every dimension but what is summed over, in
 * both, is one of the output's. */
bool cm_einsum_is_product(const cm_call *call);

/* Steps of every input when a label counts up: labels of the output first, then those that are summed. */
enum { CM_EINSUM_LABELS = 52 + CM_RANK_MAX, CM_EINSUM_INPUTS = 16 };
typedef struct cm_einsum_walk {
  uint32_t count, kept;
  int64_t dims[CM_EINSUM_LABELS], step[CM_EINSUM_INPUTS][CM_EINSUM_LABELS];
} cm_einsum_walk;
cm_status cm_einsum_walk_of(const cm_call *call, cm_einsum_walk *walk, cm_error *error);

/* Products that are summed for one element of its output; 0 when one extent is. */
uint64_t cm_einsum_sums(const cm_call *call);

/* Comparisons of one row that goes down all trees of an ensemble, of even depth. O(nodes). */
uint64_t cm_trees_work(const cm_call *call);

/* Operations of an LSTM, GRU or RNN on its whole input: products with the weights of every step, and its gates. */
uint64_t cm_recurrent_work(const cm_call *call);

/* ---- the functions that rows name: shape functions and kernels of the families (ops), checks, and how permutations pass
 * (permute/cross_*.c); each row declares those of its family ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define REWRITTEN(rule) \
  bool cm_cross_##rule(struct cm_crossing *crossing); \
  cm_status cm_rewrite_##rule(struct cm_crossing *crossing, cm_error *error);
#define PLAIN(rule) bool cm_cross_##rule(struct cm_crossing *crossing);
#define WALL
#define ANY_CALL
#define CHECK(name) cm_status cm_check_##name(const cm_call *call, cm_error *error);
#define ROW(op, since, until, needs, shape, family, variant, crossing, split, work, runs, makes, types, flags, check) \
  cm_status cm_shape_##shape(cm_call *call, cm_error *error); \
  cm_status cm_kernel_##family(cm_call *call, cm_error *error); \
  crossing check
#include "core/operators/operators.def"
#undef REWRITTEN
#undef PLAIN
#undef WALL
#undef ANY_CALL
#undef CHECK
#undef ROW
#pragma GCC diagnostic pop
