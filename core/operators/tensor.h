/* Element types and tensors of operator-level models. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"

enum { CM_RANK_MAX = 8 };

/* Element types with ONNX's own numbers (TensorProto.DataType), so that reading and writing need no table. */
typedef enum cm_type {
  CM_TYPE_NONE = 0, CM_FLOAT = 1, CM_UINT8 = 2, CM_INT8 = 3, CM_UINT16 = 4, CM_INT16 = 5, CM_INT32 = 6, CM_INT64 = 7,
  CM_STRING = 8, CM_BOOL = 9, CM_FLOAT16 = 10, CM_DOUBLE = 11, CM_UINT32 = 12, CM_UINT64 = 13, CM_COMPLEX64 = 14,
  CM_COMPLEX128 = 15, CM_BFLOAT16 = 16, CM_FLOAT8E4M3FN = 17, CM_FLOAT8E4M3FNUZ = 18, CM_FLOAT8E5M2 = 19, CM_FLOAT8E5M2FNUZ = 20,
  CM_UINT4 = 21, CM_INT4 = 22, CM_FLOAT4E2M1 = 23, CM_FLOAT8E8M0 = 24, CM_UINT2 = 25, CM_INT2 = 26, CM_TYPE_COUNT = 27,
  CM_SEQUENCE = 100, /* no element type: a list of tensors */
} cm_type;

/* Bytes of one element in memory: types narrower than a byte take one each. 0: not a numeric type. */
size_t cm_type_bytes(cm_type type);

/* Bits of one element in a file: 2, 4, 8, 16, ...; 0: not a numeric type. */
unsigned cm_type_bits(cm_type type);

/* True for whole numbers of any width, and bool. */
bool cm_type_is_integer(cm_type type);

/* "float32", "int64", ...; "unknown" for a number that is no type. */
const char *cm_type_name(cm_type type);

/* A dense tensor, row-major. Tensors are shared by reference count and never change once others may see them. */
typedef struct cm_tensor {
  uint32_t references;
  cm_type type;
  uint32_t rank;
  int64_t dims[CM_RANK_MAX];
  uint64_t count;            /* product of dims; items of a sequence */
  void *data;                /* count * cm_type_bytes(type) bytes; strings: the packed TensorProto; never NULL */
  uint64_t packed_bytes;     /* of a string tensor's data */
  struct cm_tensor **items;  /* of a sequence */
} cm_tensor;

/* Makes a zeroed tensor with one reference. Errors: CM_TOO_LARGE (the product of dims overflows), no memory. */
cm_status cm_tensor_new(cm_memory *memory, cm_type type, uint32_t rank, const int64_t *dims, cm_tensor **made, cm_error *error);

/* Fills it with random numbers: float32 from -1 to 1, any bytes, which are quantized numbers; other types, which may be indices, stay. */
void cm_tensor_fill_random(cm_tensor *tensor, cm_random *random);

/* Makes a tensor of the same elements with other dims (equal product); it shares nothing. */
cm_status cm_tensor_reshaped(cm_memory *memory, const cm_tensor *tensor, uint32_t rank, const int64_t *dims,
                             cm_tensor **made, cm_error *error);

/* Makes a sequence of `count` tensors; takes a reference on each. */
cm_status cm_tensor_sequence(cm_memory *memory, cm_tensor *const *items, uint64_t count, cm_tensor **made, cm_error *error);

/* One more reference; returns its argument. */
cm_tensor *cm_tensor_share(cm_tensor *tensor);

/* One reference less; the last one frees. NULL is allowed. */
void cm_tensor_free(cm_tensor *tensor);

/* Product of dims, or false when it exceeds 2^40 elements or a dim is negative. */
bool cm_dims_count(uint32_t rank, const int64_t *dims, uint64_t *count);

/* Element `index` of an integer (or bool) tensor. */
int64_t cm_tensor_integer(const cm_tensor *tensor, uint64_t index);

/* Element `index` of any numeric tensor as a double. */
double cm_tensor_number(const cm_tensor *tensor, uint64_t index);

/* Sets element `index` of an integer (or bool) tensor to the low bits of a number; narrow ones keep their sign. */
void cm_tensor_put_integer(cm_tensor *tensor, uint64_t index, int64_t number);

/* Sets element `index` of any numeric, not complex tensor. Whole numbers truncate; `saturate`: as cm_narrow_encode. */
void cm_tensor_put_number(cm_tensor *tensor, uint64_t index, double number, bool saturate);

/* True when both have one type, the same dims and the same bytes. */
bool cm_tensor_equal(const cm_tensor *a, const cm_tensor *b);

/* Largest deviation that numbers of a model may have: |a - b| <= absolute + relative * |b|, NaN equal to NaN; integers
 * equal. Returns the index of the first element that deviates, or -1; -2 when type or dims differ. */
int64_t cm_tensor_deviates(const cm_tensor *a, const cm_tensor *b, double relative, double absolute);

/* Narrow floating point: to and from float32, round to nearest even. `saturate`: what exceeds the largest finite number
 * becomes it, else infinity or NaN as the type has. */
float cm_narrow_decode(cm_type type, uint32_t bits);
uint32_t cm_narrow_encode(cm_type type, float value, bool saturate);
