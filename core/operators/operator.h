/* The operators that are understood: one row each, and what a row's functions are given. */
#ifndef CM_OPERATORS_OPERATOR_H
#define CM_OPERATORS_OPERATOR_H

#include "core/operators/graph.h"

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

/* Computes the outputs. Types that it does not compute are CM_BAD_NETWORK with the type's name. */
typedef cm_status (*cm_kernel_function)(cm_call *call, cm_error *error);

struct cm_crossing;

/* How an operator behaves towards a permutation of one of its inputs or outputs: cross.h. */
typedef bool (*cm_cross_function)(struct cm_crossing *crossing);
typedef cm_status (*cm_rewrite_function)(struct cm_crossing *crossing, cm_error *error);

enum {
  CM_OPERATOR_PROMOTES = 1,  /* 16-bit floats are computed in float32 */
  CM_OPERATOR_RANDOM = 2,    /* never folded */
  CM_OPERATOR_EXPANDS = 4,   /* makes much out of little: folded only when the result is small */
};

typedef struct cm_operator {
  const char *name;
  int since, until; /* opsets of ONNX's own domain in which this row holds */
  cm_shape_function shape;
  cm_kernel_function kernel;
  cm_cross_function cross;     /* NULL: a wall */
  cm_rewrite_function rewrite; /* NULL: nothing to change */
  unsigned flags;
} cm_operator;

/* The row for an operator in an opset, or NULL: unknown. */
const cm_operator *cm_operator_find(const char *domain, const char *name, int64_t opset);

/* ---- helpers of the families ---- */

/* True when input i is there. */
bool cm_has(const cm_call *call, uint32_t i);

/* True when rank and all dims of a shape are known. */
bool cm_shape_known(const cm_shape *shape);

/* The shape of a tensor. */
cm_shape cm_shape_of(const cm_tensor *tensor);

/* A failure of this call: CM_BAD_NETWORK, "Conv 'name': ...". */
cm_status cm_call_fail(const cm_call *call, cm_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The kernel does not compute this type. */
cm_status cm_call_bad_type(const cm_call *call, cm_type type, cm_error *error);

/* Fails when the first input has no elements of a fixed size (strings, sequences). */
cm_status cm_call_need_elements(const cm_call *call, cm_error *error);

/* Brings an axis into 0 .. rank-1. */
cm_status cm_call_axis(const cm_call *call, int64_t axis, uint32_t rank, uint32_t *normal, cm_error *error);

/* Integers that are an attribute in some opsets and an input in others. *known is false when the input's value is not
 * known; then nothing else is set. *count is 0 and *known true when they are left out. At most `maximum` of them. */
cm_status cm_call_integers(const cm_call *call, const char *attribute, uint32_t input, int64_t *numbers, size_t maximum,
                           size_t *count, bool *known, cm_error *error);

/* The shape that two shapes broadcast to. */
cm_status cm_call_broadcast(const cm_call *call, const cm_shape *a, const cm_shape *b, cm_shape *both, cm_error *error);

/* Strides in elements of `shape` seen as `rank` dims of `wide` (0 where it is broadcast); row-major. */
void cm_broadcast_strides(const cm_tensor *tensor, const cm_shape *wide, int64_t *strides);

/* Row-major strides of a tensor, in elements. */
void cm_strides(uint32_t rank, const int64_t *dims, int64_t *strides);

/* Goes to the next index of an odometer over `dims`; false at the end. */
bool cm_next_index(uint32_t rank, const int64_t *dims, int64_t *index);

/* Copies elements of any width: out[i] for all indices of `dims`, from data + offset + sum(index * strides). */
void cm_copy_strided(void *out, const void *data, size_t width, uint32_t rank, const int64_t *dims, int64_t offset,
                     const int64_t *strides);

/* ---- the families: shape functions and kernels, one file each ---- */

#define CM_OPERATOR(name) \
  cm_status cm_shape_##name(cm_call *call, cm_error *error); \
  cm_status cm_kernel_##name(cm_call *call, cm_error *error)

CM_OPERATOR(unary);
CM_OPERATOR(logical_unary);
CM_OPERATOR(binary);
CM_OPERATOR(compare);
CM_OPERATOR(variadic);
CM_OPERATOR(where);
CM_OPERATOR(clip);
CM_OPERATOR(cast);
CM_OPERATOR(dropout);
CM_OPERATOR(identity);
CM_OPERATOR(conv);
CM_OPERATOR(fused_conv);
CM_OPERATOR(conv_transpose);
CM_OPERATOR(pool);
CM_OPERATOR(global_pool);
CM_OPERATOR(batch_norm);
CM_OPERATOR(instance_norm);
CM_OPERATOR(layer_norm);
CM_OPERATOR(group_norm);
CM_OPERATOR(lrn);
CM_OPERATOR(softmax);
CM_OPERATOR(reduce);
CM_OPERATOR(arg_reduce);
CM_OPERATOR(matmul);
CM_OPERATOR(gemm);
CM_OPERATOR(constant);
CM_OPERATOR(constant_of_shape);
CM_OPERATOR(shape);
CM_OPERATOR(size);
CM_OPERATOR(range);
CM_OPERATOR(reshape);
CM_OPERATOR(flatten);
CM_OPERATOR(squeeze);
CM_OPERATOR(unsqueeze);
CM_OPERATOR(expand);
CM_OPERATOR(tile);
CM_OPERATOR(transpose);
CM_OPERATOR(concat);
CM_OPERATOR(split);
CM_OPERATOR(slice);
CM_OPERATOR(gather);
CM_OPERATOR(pad);
CM_OPERATOR(depth_to_space);
CM_OPERATOR(space_to_depth);
CM_OPERATOR(resize);
CM_OPERATOR(quantize);
CM_OPERATOR(dequantize);

/* How each family lets permutations pass; cross_*.c. */
bool cm_cross_unary(struct cm_crossing *crossing);
bool cm_cross_broadcast(struct cm_crossing *crossing);
bool cm_cross_conv(struct cm_crossing *crossing);
bool cm_cross_fused_conv(struct cm_crossing *crossing);
bool cm_cross_conv_transpose(struct cm_crossing *crossing);
bool cm_cross_pool(struct cm_crossing *crossing);
bool cm_cross_global_pool(struct cm_crossing *crossing);
bool cm_cross_channel_norm(struct cm_crossing *crossing);
bool cm_cross_layer_norm(struct cm_crossing *crossing);
bool cm_cross_lrn(struct cm_crossing *crossing);
bool cm_cross_softmax(struct cm_crossing *crossing);
bool cm_cross_reduce(struct cm_crossing *crossing);
bool cm_cross_matmul(struct cm_crossing *crossing);
bool cm_cross_gemm(struct cm_crossing *crossing);
bool cm_cross_reshape(struct cm_crossing *crossing);
bool cm_cross_concat(struct cm_crossing *crossing);
bool cm_cross_split(struct cm_crossing *crossing);
bool cm_cross_slice(struct cm_crossing *crossing);
bool cm_cross_gather(struct cm_crossing *crossing);
bool cm_cross_pad(struct cm_crossing *crossing);
bool cm_cross_resize(struct cm_crossing *crossing);
bool cm_cross_quantize(struct cm_crossing *crossing);

#endif
