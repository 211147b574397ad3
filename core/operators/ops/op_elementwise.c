/* Elementwise operators of several inputs, with broadcasting: binary, comparisons, variadic, Where, Clip. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

/* ---- shapes ---- */

cm_status cm_shape_clip(cm_call *call, cm_error *error)
{
  return cm_shape_unary(call, error);
}

cm_status cm_shape_binary(cm_call *call, cm_error *error)
{
  call->output[0].type = call->input[0].type;
  return cm_call_broadcast(call, &call->input[0], &call->input[1], &call->output[0], error);
}

cm_status cm_shape_compare(cm_call *call, cm_error *error)
{
  CM_TRY(cm_shape_binary(call, error));
  call->output[0].type = CM_BOOL;
  return CM_OK;
}

cm_status cm_shape_variadic(cm_call *call, cm_error *error)
{
  cm_shape wide = call->input[0];
  for (uint32_t i = 1; i < call->input_count; i++) {
    cm_shape next = wide;
    CM_TRY(cm_call_broadcast(call, &wide, &call->input[i], &next, error));
    wide = next;
  }
  call->output[0] = wide;
  return CM_OK;
}

cm_status cm_shape_where(cm_call *call, cm_error *error)
{
  cm_shape wide = {0};
  if (call->input_count != 3)
    return cm_call_fail(call, error, "needs three inputs");
  CM_TRY(cm_call_broadcast(call, &call->input[0], &call->input[1], &wide, error));
  CM_TRY(cm_call_broadcast(call, &wide, &call->input[2], &call->output[0], error));
  call->output[0].type = call->input[1].type;
  cm_type yes = call->input[1].type, no = call->input[2].type;
  return yes != CM_TYPE_NONE && no != CM_TYPE_NONE && yes != no
           ? cm_call_fail(call, error, "chooses between %s and %s, which should be of one type", cm_type_name(yes),
                          cm_type_name(no))
           : CM_OK;
}

/* If without its branches: both have been computed, one result is chosen (control.c). */
cm_status cm_shape_choose(cm_call *call, cm_error *error)
{
  if (call->input_count != 3)
    return cm_call_fail(call, error, "has branches that have not been unrolled");
  const cm_shape *a = &call->input[1], *b = &call->input[2];
  call->output[0] = *a;
  if (!cm_shape_known(a) || !cm_shape_known(b))
    return CM_OK;
  if (a->type != b->type || a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0)
    return cm_call_fail(call, error, "its branches make tensors of other shapes or types, and which one runs is not known "
                        "before the model does");
  return CM_OK;
}

/* ---- binary ---- */

enum {
  ADD = CM_VARIANT_SUM, SUB = CM_VARIANT_DIFFERENCE, MUL = CM_VARIANT_PRODUCT, DIV = CM_VARIANT_QUOTIENT, MAX = CM_VARIANT_MAX,
  MIN = CM_VARIANT_MIN, MOD = CM_VARIANT_MODULO, PRELU = CM_VARIANT_PRELU, EQUAL = CM_VARIANT_EQUAL, LESS = CM_VARIANT_LESS,
  LESS_EQUAL = CM_VARIANT_LESS_OR_EQUAL, GREATER = CM_VARIANT_GREATER, GREATER_EQUAL = CM_VARIANT_GREATER_OR_EQUAL,
  AND = CM_VARIANT_AND, OR = CM_VARIANT_OR, XOR = CM_VARIANT_XOR, POW = CM_VARIANT_POWER, BIT_AND = CM_VARIANT_BIT_AND,
  BIT_OR = CM_VARIANT_BIT_OR, BIT_XOR = CM_VARIANT_BIT_XOR, SHIFT_LEFT = CM_VARIANT_BIT_SHIFT,
  /* what attributes make of them */
  SHIFT_RIGHT = CM_VARIANT_COUNT,
  FMOD
};

/* x < 0 that compiles for unsigned types too. */
#define BELOW_ZERO(x) ((x) != 0 && !((x) >= 1))

/* Whole numbers: division truncates (by zero: 0), Mod has the divisor's sign unless fmod. */
#define INTEGER_RUN(type, unsigned_type)                                                                               \
  static void run_##type(int kind, const void *first, int64_t sa, const void *second, int64_t sb, void *out,           \
                         int64_t n)                                                                                    \
  {                                                                                                                    \
    const type *a = first, *b = second;                                                                                \
    for (int64_t i = 0; i < n; i++, a += sa, b += sb) {                                                                \
      type x = *a, y = *b, r = 0;                                                                                      \
      switch (kind) {                                                                                                  \
      case ADD: r = (type)((unsigned_type)x + (unsigned_type)y); break;                                                \
      case SUB: r = (type)((unsigned_type)x - (unsigned_type)y); break;                                                \
      case MUL: r = (type)((uint64_t)x * (uint64_t)y); break;                                                          \
      case DIV: r = (type)(y == 0                                  ? 0                                                 \
                           : BELOW_ZERO((type)-1) && y == (type)-1 ? (type)(0 - (uint64_t)x)                           \
                                                                   : x / y);                                           \
          break;                                                                                                       \
      case MAX: r = x > y ? x : y; break;                                                                              \
      case MIN: r = x < y ? x : y; break;                                                                              \
      case MOD:                                                                                                        \
        r = (type)(y == 0 || (BELOW_ZERO((type)-1) && y == (type)-1) ? 0 : x % y);                                     \
        r = (type)(r != 0 && BELOW_ZERO(r) != BELOW_ZERO(y) ? r + y : r);                                              \
        break;                                                                                                         \
      case FMOD: r = (type)(y == 0 || (BELOW_ZERO((type)-1) && y == (type)-1) ? 0 : x % y); break;                     \
      case PRELU: r = (type)(BELOW_ZERO(x) ? (type)((uint64_t)x * (uint64_t)y) : x); break;                            \
      case POW: r = (type)(int64_t)fmax(-9.2e18, fmin(9.2e18, pow((double)x, (double)y))); break;                      \
      case BIT_AND: r = (type)(x & y); break;                                                                          \
      case BIT_OR: r = (type)(x | y); break;                                                                           \
      case BIT_XOR: r = (type)(x ^ y); break;                                                                          \
      case SHIFT_LEFT: r = (type)((uint64_t)y < 8 * sizeof x ? (uint64_t)x << y : 0); break;                           \
      case SHIFT_RIGHT: r = (type)((uint64_t)y < 8 * sizeof x ? (uint64_t)x >> y : 0); break;                          \
      default:                                                                                                         \
        ((uint8_t *)out)[i] = kind == EQUAL           ? x == y                                                         \
                              : kind == LESS          ? x < y                                                          \
                              : kind == LESS_EQUAL    ? x <= y                                                         \
                              : kind == GREATER       ? x > y                                                          \
                              : kind == GREATER_EQUAL ? x >= y                                                         \
                              : kind == AND           ? x && y                                                         \
                              : kind == OR            ? x || y                                                         \
                                                      : !x != !y;                                                      \
        continue;                                                                                                      \
      }                                                                                                                \
      ((type *)out)[i] = r;                                                                                            \
    }                                                                                                                  \
  }
INTEGER_RUN(int8_t, uint32_t)
INTEGER_RUN(int16_t, uint32_t)
INTEGER_RUN(int32_t, uint32_t)
INTEGER_RUN(int64_t, uint64_t)
INTEGER_RUN(uint8_t, uint32_t)
INTEGER_RUN(uint16_t, uint32_t)
INTEGER_RUN(uint32_t, uint32_t)
INTEGER_RUN(uint64_t, uint64_t)

/* A kind of FLOAT_RUN: x and y become an element of `to`. */
#define EACH(what, type, to, result)                                                                                   \
  case what:                                                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      const type x = a[i * sa], y = b[i * sb];                                                                         \
      (to)[i] = result;                                                                                                \
    }                                                                                                                  \
    return;

#define FLOAT_RUN(type, power, modulo)                                                                                 \
  static void run_##type(int kind, const void *first, int64_t sa, const void *second, int64_t sb, void *out,           \
                         int64_t n)                                                                                    \
  {                                                                                                                    \
    const type *a = first, *b = second;                                                                                \
    type *o = out;                                                                                                     \
    uint8_t *flag = out;                                                                                               \
    switch (kind) {                                                                                                    \
      EACH(ADD, type, o, x + y)                                                                                        \
      EACH(SUB, type, o, x - y)                                                                                        \
      EACH(MUL, type, o, x * y)                                                                                         \
      EACH(DIV, type, o, x / y)                                                                                        \
      EACH(MAX, type, o, x > y || isnan(x) ? x : y)                                                                    \
      EACH(MIN, type, o, x < y || isnan(x) ? x : y)                                                                    \
      EACH(MOD, type, o, modulo(x, y))                                                                                 \
      EACH(FMOD, type, o, modulo(x, y))                                                                                \
      EACH(PRELU, type, o, x < 0 ? x * y : x)                                                                          \
      EACH(POW, type, o, power(x, y))                                                                                  \
      EACH(EQUAL, type, flag, x == y)                                                                                  \
      EACH(LESS, type, flag, x < y)                                                                                    \
      EACH(LESS_EQUAL, type, flag, x <= y)                                                                             \
      EACH(GREATER, type, flag, x > y)                                                                                 \
      EACH(GREATER_EQUAL, type, flag, x >= y)                                                                          \
    }                                                                                                                  \
  }
FLOAT_RUN(float, powf, fmodf)
FLOAT_RUN(double, pow, fmod)

typedef void (*run_function)(int kind, const void *a, int64_t sa, const void *b, int64_t sb, void *out, int64_t n);

static run_function run_of(cm_type type)
{
  switch ((int)type) {
  case CM_FLOAT:
    return run_float;
  case CM_DOUBLE:
    return run_double;
  case CM_INT8:
    return run_int8_t;
  case CM_INT16:
    return run_int16_t;
  case CM_INT32:
    return run_int32_t;
  case CM_INT64:
    return run_int64_t;
  case CM_UINT8:
  case CM_BOOL:
    return run_uint8_t;
  case CM_UINT16:
    return run_uint16_t;
  case CM_UINT32:
    return run_uint32_t;
  case CM_UINT64:
    return run_uint64_t;
  default:
    return NULL;
  }
}

/* Applies one two-input function with broadcasting to all of `out`. */
static cm_status apply(const cm_call *call, int kind, const cm_tensor *a, const cm_tensor *b, cm_tensor *out, cm_error *error)
{
  run_function run = run_of(a->type);
  cm_shape wide = cm_shape_of(out);
  int64_t sa[CM_RANK_MAX], sb[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  if (run == NULL || a->type != b->type)
    return cm_call_bad_type(call, run == NULL ? a->type : b->type, error);
  cm_broadcast_strides(a, &wide, sa);
  cm_broadcast_strides(b, &wide, sb);
  uint32_t outer = out->rank > 0 ? out->rank - 1 : 0;
  int64_t last = out->rank > 0 ? out->dims[outer] : 1, la = out->rank > 0 ? sa[outer] : 0, lb = out->rank > 0 ? sb[outer] : 0;
  size_t width = cm_type_bytes(a->type), out_width = cm_type_bytes(out->type);
  uint8_t *to = out->data;
  if (out->count == 0)
    return CM_OK;
  do {
    int64_t at = 0, bt = 0;
    for (uint32_t i = 0; i < outer; i++) {
      at += index[i] * sa[i];
      bt += index[i] * sb[i];
    }
    run(kind, (const uint8_t *)a->data + at * (int64_t)width, la, (const uint8_t *)b->data + bt * (int64_t)width, lb, to, last);
    to += (size_t)last * out_width;
  } while (cm_next_index(outer, out->dims, index));
  return CM_OK;
}

/* Pow may mix types: computed in double. */
static cm_status mixed_power(const cm_call *call)
{
  const cm_tensor *a = call->value[0], *b = call->value[1];
  cm_tensor *out = call->result[0];
  cm_shape wide = cm_shape_of(out);
  int64_t sa[CM_RANK_MAX], sb[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  cm_broadcast_strides(a, &wide, sa);
  cm_broadcast_strides(b, &wide, sb);
  for (uint64_t k = 0; k < out->count; k++) {
    int64_t at = 0, bt = 0;
    for (uint32_t i = 0; i < out->rank; i++) {
      at += index[i] * sa[i];
      bt += index[i] * sb[i];
    }
    double r = pow(cm_tensor_number(a, (uint64_t)at), cm_tensor_number(b, (uint64_t)bt));
    cm_tensor_put_number(out, k, r, false);
    (void)cm_next_index(out->rank, out->dims, index);
  }
  return CM_OK;
}

cm_status cm_kernel_binary(cm_call *call, cm_error *error)
{
  int kind = (int)call->node->known->variant;
  if (kind == MOD && cm_node_integer(call->node, "fmod", 0) != 0)
    kind = FMOD;
  if (kind == SHIFT_LEFT && strcmp(cm_node_text(call->node, "direction", "LEFT"), "RIGHT") == 0)
    kind = SHIFT_RIGHT;
  if (kind == POW && call->value[0]->type != call->value[1]->type)
    return mixed_power(call);
  return apply(call, kind, call->value[0], call->value[1], call->result[0], error);
}

cm_status cm_kernel_compare(cm_call *call, cm_error *error)
{
  return apply(call, (int)call->node->known->variant, call->value[0], call->value[1], call->result[0], error);
}

cm_status cm_kernel_variadic(cm_call *call, cm_error *error)
{
  const bool mean = call->node->known->variant == CM_VARIANT_MEAN;
  const int kind = mean ? ADD : (int)call->node->known->variant;
  cm_tensor *out = call->result[0];
  if (run_of(out->type) == NULL)
    return cm_call_bad_type(call, out->type, error);
  cm_shape wide = cm_shape_of(out);
  int64_t strides[CM_RANK_MAX];
  cm_broadcast_strides(call->value[0], &wide, strides);
  cm_copy_strided(out->data, call->value[0]->data, cm_type_bytes(out->type), out->rank, out->dims, 0, strides);
  for (uint32_t i = 1; i < call->input_count; i++)
    CM_TRY(apply(call, kind, out, call->value[i], out, error));
  for (uint64_t i = 0; mean && i < out->count; i++)
    if (out->type == CM_FLOAT)
      ((float *)out->data)[i] /= (float)call->input_count;
    else
      cm_tensor_put_number(out, i, cm_tensor_number(out, i) / call->input_count, false);
  return CM_OK;
}

cm_status cm_kernel_choose(cm_call *call, cm_error *error)
{
  return cm_kernel_where(call, error);
}

cm_status cm_kernel_where(cm_call *call, cm_error *error)
{
  const cm_tensor *choice = call->value[0];
  cm_tensor *out = call->result[0];
  cm_shape wide = cm_shape_of(out);
  int64_t strides[3][CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  size_t width = cm_type_bytes(out->type);
  (void)error;
  for (int k = 0; k < 3; k++)
    cm_broadcast_strides(call->value[k], &wide, strides[k]);
  for (uint64_t k = 0; k < out->count; k++) {
    int64_t at[3] = {0};
    for (uint32_t i = 0; i < out->rank; i++)
      for (int j = 0; j < 3; j++)
        at[j] += index[i] * strides[j][i];
    int from = ((const uint8_t *)choice->data)[at[0]] ? 1 : 2;
    memcpy((uint8_t *)out->data + k * width, (const uint8_t *)call->value[from]->data + at[from] * (int64_t)width, width);
    (void)cm_next_index(out->rank, out->dims, index);
  }
  return CM_OK;
}

/* Bounds are attributes before opset 11, then inputs; the upper one wins. */
cm_status cm_kernel_clip(cm_call *call, cm_error *error)
{
  const cm_tensor *in = call->value[0];
  cm_tensor *out = call->result[0];
  if (in->type == CM_FLOAT || in->type == CM_DOUBLE) {
    double low = cm_has(call, 1) ? cm_tensor_number(call->value[1], 0) : (double)cm_node_number(call->node, "min", -INFINITY),
           high = cm_has(call, 2) ? cm_tensor_number(call->value[2], 0) : (double)cm_node_number(call->node, "max", INFINITY);
    for (uint64_t i = 0; i < in->count; i++) {
      double x = cm_tensor_number(in, i);
      x = x < low ? low : x;
      x = x > high ? high : x;
      if (in->type == CM_FLOAT)
        ((float *)out->data)[i] = (float)x;
      else
        ((double *)out->data)[i] = x;
    }
    return CM_OK;
  }
  if (run_of(in->type) == NULL)
    return cm_call_bad_type(call, in->type, error);
  memcpy(out->data, in->data, in->count * cm_type_bytes(in->type));
  CM_TRY_IF(cm_has(call, 1), apply(call, MAX, out, call->value[1], out, error));
  CM_TRY_IF(cm_has(call, 2), apply(call, MIN, out, call->value[2], out, error));
  return CM_OK;
}
