/* Tensors and what is known of their element types. */
#include "core/operators/tensor.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *name;
  unsigned bits;
} types[CM_TYPE_COUNT] = {
    [CM_FLOAT] = {"float32", 32}, [CM_UINT8] = {"uint8", 8}, [CM_INT8] = {"int8", 8}, [CM_UINT16] = {"uint16", 16},
    [CM_INT16] = {"int16", 16}, [CM_INT32] = {"int32", 32}, [CM_INT64] = {"int64", 64}, [CM_STRING] = {"string", 0},
    [CM_BOOL] = {"bool", 8}, [CM_FLOAT16] = {"float16", 16}, [CM_DOUBLE] = {"float64", 64}, [CM_UINT32] = {"uint32", 32},
    [CM_UINT64] = {"uint64", 64}, [CM_COMPLEX64] = {"complex64", 64}, [CM_COMPLEX128] = {"complex128", 128},
    [CM_BFLOAT16] = {"bfloat16", 16}, [CM_FLOAT8E4M3FN] = {"float8e4m3fn", 8}, [CM_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8},
    [CM_FLOAT8E5M2] = {"float8e5m2", 8}, [CM_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8}, [CM_UINT4] = {"uint4", 4},
    [CM_INT4] = {"int4", 4}, [CM_FLOAT4E2M1] = {"float4e2m1", 4}, [CM_FLOAT8E8M0] = {"float8e8m0", 8}, [CM_UINT2] = {"uint2", 2},
    [CM_INT2] = {"int2", 2},
};

unsigned cm_type_bits(cm_type type)
{
  return (unsigned)type < CM_TYPE_COUNT ? types[type].bits : 0;
}

size_t cm_type_bytes(cm_type type)
{
  return (cm_type_bits(type) + 7) / 8;
}

const char *cm_type_name(cm_type type)
{
  if (type == CM_SEQUENCE)
    return "sequence";
  return (unsigned)type < CM_TYPE_COUNT && types[type].name != NULL ? types[type].name : "unknown";
}

bool cm_type_is_integer(cm_type type)
{
  return (type >= CM_UINT8 && type <= CM_INT64) || type == CM_UINT32 || type == CM_UINT64 || type == CM_BOOL ||
         type == CM_UINT4 || type == CM_INT4 || type == CM_UINT2 || type == CM_INT2;
}

bool cm_dims_count(uint32_t rank, const int64_t *dims, uint64_t *count)
{
  uint64_t product = 1;
  bool empty = false;
  for (uint32_t i = 0; i < rank; i++) {
    if (dims[i] < 0)
      return false;
    empty = empty || dims[i] == 0;
  }
  for (uint32_t i = 0; i < rank && !empty; i++)
    if (__builtin_mul_overflow(product, (uint64_t)dims[i], &product) || product > (UINT64_C(1) << 40))
      return false;
  *count = empty ? 0 : product;
  return true;
}

cm_status cm_tensor_new(cm_memory *memory, cm_type type, uint32_t rank, const int64_t *dims, cm_tensor **made, cm_error *error)
{
  cm_tensor *t = NULL;
  uint64_t count;
  size_t bytes = cm_type_bytes(type);
  if (rank > CM_RANK_MAX || !cm_dims_count(rank, dims, &count))
    return cm_fail(error, CM_TOO_LARGE, "a tensor of rank %u is too large: at most %d dimensions and 2^40 elements",
                   rank, CM_RANK_MAX);
  CM_TRY(CM_NEW(memory, t, 1, error));
  t->data = cm_allocate(memory, count, bytes > 0 ? bytes : 1, error);
  if (t->data == NULL) {
    cm_free(t);
    return error->status;
  }
  t->references = 1;
  t->type = type;
  t->rank = rank;
  t->count = count;
  for (uint32_t i = 0; i < rank; i++)
    t->dims[i] = dims[i];
  *made = t;
  return CM_OK;
}

void cm_tensor_fill_random(cm_tensor *tensor, cm_random *random)
{
  for (uint64_t k = 0; k < tensor->count; k++)
    if (tensor->type == CM_FLOAT)
      ((float *)tensor->data)[k] = (float)(2 * cm_random_unit(random) - 1);
    else if (tensor->type == CM_UINT8 || tensor->type == CM_INT8)
      ((uint8_t *)tensor->data)[k] = (uint8_t)cm_random_below(random, 256);
}

cm_status cm_tensor_reshaped(cm_memory *memory, const cm_tensor *tensor, uint32_t rank, const int64_t *dims,
                             cm_tensor **made, cm_error *error)
{
  cm_tensor *t;
  CM_TRY(cm_tensor_new(memory, tensor->type, rank, dims, &t, error));
  if (t->count != tensor->count) {
    uint64_t count = t->count;
    cm_tensor_free(t);
    return cm_fail(error, CM_BAD_NETWORK, "%llu elements cannot take a shape of %llu",
                   (unsigned long long)tensor->count, (unsigned long long)count);
  }
  memcpy(t->data, tensor->data, t->count * cm_type_bytes(t->type));
  *made = t;
  return CM_OK;
}

cm_status cm_tensor_sequence(cm_memory *memory, cm_tensor *const *items, uint64_t count, cm_tensor **made, cm_error *error)
{
  cm_tensor *t;
  int64_t dims[1] = {0};
  CM_TRY(cm_tensor_new(memory, CM_SEQUENCE, 1, dims, &t, error));
  if (CM_NEW(memory, t->items, count, error) != CM_OK) {
    cm_tensor_free(t);
    return error->status;
  }
  t->count = count;
  t->dims[0] = (int64_t)count;
  for (uint64_t i = 0; i < count; i++)
    t->items[i] = cm_tensor_share(items[i]);
  *made = t;
  return CM_OK;
}

cm_tensor *cm_tensor_share(cm_tensor *tensor)
{
  if (tensor != NULL)
    tensor->references++;
  return tensor;
}

void cm_tensor_free(cm_tensor *tensor)
{
  if (tensor == NULL || --tensor->references > 0)
    return;
  for (uint64_t i = 0; tensor->items != NULL && i < tensor->count; i++)
    cm_tensor_free(tensor->items[i]);
  CM_FREE(tensor->items, tensor->data, tensor);
}

int64_t cm_tensor_integer(const cm_tensor *t, uint64_t i)
{
  switch ((int)t->type) {
  case CM_INT64:
    return ((const int64_t *)t->data)[i];
  case CM_INT32:
    return ((const int32_t *)t->data)[i];
  case CM_INT16:
    return ((const int16_t *)t->data)[i];
  case CM_INT8:
  case CM_INT4:
  case CM_INT2:
    return ((const int8_t *)t->data)[i];
  case CM_UINT8:
  case CM_BOOL:
  case CM_UINT4:
  case CM_UINT2:
    return ((const uint8_t *)t->data)[i];
  case CM_UINT16:
    return ((const uint16_t *)t->data)[i];
  case CM_UINT32:
    return ((const uint32_t *)t->data)[i];
  case CM_UINT64:
    return (int64_t)((const uint64_t *)t->data)[i];
  default: {
    double number = cm_tensor_number(t, i);
    return number >= -9e18 && number <= 9e18 ? (int64_t)number : 0;
  }
  }
}

double cm_tensor_number(const cm_tensor *t, uint64_t i)
{
  switch ((int)t->type) {
  case CM_FLOAT:
    return (double)((const float *)t->data)[i];
  case CM_DOUBLE:
    return ((const double *)t->data)[i];
  case CM_UINT64:
    return (double)((const uint64_t *)t->data)[i];
  case CM_FLOAT16:
  case CM_BFLOAT16:
    return (double)cm_narrow_decode(t->type, ((const uint16_t *)t->data)[i]);
  case CM_FLOAT8E4M3FN:
  case CM_FLOAT8E4M3FNUZ:
  case CM_FLOAT8E5M2:
  case CM_FLOAT8E5M2FNUZ:
  case CM_FLOAT8E8M0:
  case CM_FLOAT4E2M1:
    return (double)cm_narrow_decode(t->type, ((const uint8_t *)t->data)[i]);
  case CM_STRING:
  case CM_SEQUENCE:
    return 0;
  default:
    return (double)cm_tensor_integer(t, i);
  }
}

void cm_tensor_put_integer(cm_tensor *out, uint64_t i, int64_t x)
{
  switch ((int)out->type) {
  case CM_BOOL:
    ((uint8_t *)out->data)[i] = x != 0;
    return;
  case CM_UINT4:
    ((uint8_t *)out->data)[i] = (uint8_t)(x & 15);
    return;
  case CM_INT4:
    ((int8_t *)out->data)[i] = (int8_t)((x & 15) > 7 ? (x & 15) - 16 : x & 15);
    return;
  case CM_UINT2:
    ((uint8_t *)out->data)[i] = (uint8_t)(x & 3);
    return;
  case CM_INT2:
    ((int8_t *)out->data)[i] = (int8_t)((x & 3) > 1 ? (x & 3) - 4 : x & 3);
    return;
  default:
    break;
  }
  switch (cm_type_bytes(out->type)) {
  case 1:
    ((uint8_t *)out->data)[i] = (uint8_t)x;
    return;
  case 2:
    ((uint16_t *)out->data)[i] = (uint16_t)x;
    return;
  case 4:
    ((uint32_t *)out->data)[i] = (uint32_t)x;
    return;
  default:
    ((uint64_t *)out->data)[i] = (uint64_t)x;
  }
}

static int64_t whole(double x)
{
  /* Out of range is undefined in ONNX: the nearest representable here. */
  return isnan(x) ? 0 : x <= -9.223372036854775e18 ? INT64_MIN : x >= 9.223372036854775e18 ? INT64_MAX : (int64_t)x;
}

void cm_tensor_put_number(cm_tensor *out, uint64_t i, double x, bool saturate)
{
  if (out->type == CM_BOOL) {
    ((uint8_t *)out->data)[i] = x != 0;
    return;
  }
  if (cm_type_is_integer(out->type)) {
    cm_tensor_put_integer(out, i, whole(x));
    return;
  }
  switch ((int)out->type) {
  case CM_FLOAT:
    ((float *)out->data)[i] = (float)x;
    return;
  case CM_DOUBLE:
    ((double *)out->data)[i] = x;
    return;
  case CM_FLOAT16:
  case CM_BFLOAT16:
    ((uint16_t *)out->data)[i] = (uint16_t)cm_narrow_encode(out->type, (float)x, false);
    return;
  default:
    ((uint8_t *)out->data)[i] = (uint8_t)cm_narrow_encode(out->type, (float)x, saturate);
  }
}

bool cm_tensor_equal(const cm_tensor *a, const cm_tensor *b)
{
  if (a == b)
    return true;
  if (a->type != b->type || a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0 ||
      a->items != NULL || b->items != NULL)
    return false;
  if (a->type == CM_STRING)
    return a->packed_bytes == b->packed_bytes && memcmp(a->data, b->data, a->packed_bytes) == 0;
  return memcmp(a->data, b->data, a->count * cm_type_bytes(a->type)) == 0;
}

static bool is_floating(cm_type type)
{
  return type == CM_FLOAT || type == CM_DOUBLE || type == CM_FLOAT16 || type == CM_BFLOAT16 ||
         (type >= CM_FLOAT8E4M3FN && type <= CM_FLOAT8E5M2FNUZ) || type == CM_FLOAT4E2M1 || type == CM_FLOAT8E8M0;
}

int64_t cm_tensor_deviates(const cm_tensor *a, const cm_tensor *b, double relative, double absolute)
{
  if (a->type != b->type || a->rank != b->rank || a->count != b->count ||
      memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0)
    return -2;
  for (uint64_t i = 0; i < a->count; i++) {
    if (a->type == CM_SEQUENCE) {
      if (cm_tensor_deviates(a->items[i], b->items[i], relative, absolute) != -1)
        return (int64_t)i;
    } else if (!is_floating(a->type)) {
      if (cm_tensor_integer(a, i) != cm_tensor_integer(b, i))
        return (int64_t)i;
    } else {
      double x = cm_tensor_number(a, i), y = cm_tensor_number(b, i);
      if (x == y || (isnan(x) && isnan(y)))
        continue;
      if (!(fabs(x - y) <= absolute + relative * fabs(y)))
        return (int64_t)i;
    }
  }
  return -1;
}
