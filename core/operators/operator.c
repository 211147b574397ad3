/* The table of operators and what their families share. */
#include "core/operators/permute/cross.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROW_IN(op, since, until, family, crossing, flags) \
  {op, since, until, cm_shape_##family, cm_kernel_##family, crossing, flags}
/* A row whose functions serve every opset. */
#define ROW(op, family, crossing, flags) \
  {op, 1, 99, cm_shape_##family, cm_kernel_##family, crossing, flags}
/* How permutations pass: a rule with its rewrite, a rule that needs none, or not at all. */
#define REWRITTEN(rule) cm_cross_##rule, cm_rewrite_##rule
#define PLAIN(rule) cm_cross_##rule, NULL
#define WALL NULL, NULL

static const cm_operator table[] = {
    ROW("Abs", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Add", binary, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("And", compare, REWRITTEN(broadcast), 0),
    ROW("ArgMax", arg_reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ArgMin", arg_reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("AveragePool", pool, REWRITTEN(pool), CM_OPERATOR_PROMOTES),
    ROW("BatchNormalization", batch_norm, REWRITTEN(channel_norm), CM_OPERATOR_PROMOTES),
    ROW("Cast", cast, PLAIN(unary), 0),
    ROW("CastLike", cast, PLAIN(unary), 0),
    ROW("Ceil", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Celu", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Clip", clip, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Concat", concat, REWRITTEN(concat), 0),
    ROW("Constant", constant, WALL, 0),
    ROW("ConstantOfShape", constant_of_shape, WALL, CM_OPERATOR_EXPANDS),
    ROW("Conv", conv, REWRITTEN(conv), CM_OPERATOR_PROMOTES),
    ROW("ConvTranspose", conv_transpose, REWRITTEN(conv_transpose), CM_OPERATOR_PROMOTES),
    ROW("Cos", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("DepthToSpace", depth_to_space, WALL, 0),
    ROW("DequantizeLinear", dequantize, REWRITTEN(quantize), 0),
    ROW("Div", binary, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Dropout", dropout, PLAIN(unary), CM_OPERATOR_RANDOM),
    ROW("Elu", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Equal", compare, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Erf", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Exp", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Expand", expand, WALL, CM_OPERATOR_EXPANDS),
    ROW("Flatten", flatten, REWRITTEN(reshape), 0),
    ROW("Floor", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("FusedConv", fused_conv, REWRITTEN(fused_conv), CM_OPERATOR_PROMOTES),
    ROW("Gather", gather, REWRITTEN(gather), 0),
    ROW("Gelu", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Gemm", gemm, REWRITTEN(gemm), CM_OPERATOR_PROMOTES),
    ROW("GlobalAveragePool", global_pool, PLAIN(global_pool), CM_OPERATOR_PROMOTES),
    ROW("GlobalMaxPool", global_pool, PLAIN(global_pool), CM_OPERATOR_PROMOTES),
    ROW("Greater", compare, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("GreaterOrEqual", compare, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("GroupNormalization", group_norm, WALL, CM_OPERATOR_PROMOTES),
    ROW("HardSigmoid", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("HardSwish", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Identity", identity, PLAIN(unary), 0),
    ROW("InstanceNormalization", instance_norm, REWRITTEN(channel_norm), CM_OPERATOR_PROMOTES),
    ROW("LayerNormalization", layer_norm, REWRITTEN(layer_norm), CM_OPERATOR_PROMOTES),
    ROW("LeakyRelu", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Less", compare, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("LessOrEqual", compare, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Log", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("LogSoftmax", softmax, REWRITTEN(softmax), CM_OPERATOR_PROMOTES),
    ROW("LRN", lrn, PLAIN(lrn), CM_OPERATOR_PROMOTES),
    ROW("MatMul", matmul, REWRITTEN(matmul), CM_OPERATOR_PROMOTES),
    ROW("Max", variadic, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("MaxPool", pool, REWRITTEN(pool), CM_OPERATOR_PROMOTES),
    ROW("Mean", variadic, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Min", variadic, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Mish", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Mod", binary, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Mul", binary, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Neg", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Not", logical_unary, PLAIN(unary), 0),
    ROW("Or", compare, REWRITTEN(broadcast), 0),
    ROW("PRelu", binary, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Pad", pad, REWRITTEN(pad), 0),
    ROW("Pow", binary, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("QuantizeLinear", quantize, REWRITTEN(quantize), 0),
    ROW("Range", range, WALL, CM_OPERATOR_EXPANDS),
    ROW("Reciprocal", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("ReduceL1", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceL2", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceLogSum", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceLogSumExp", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceMax", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceMean", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceMin", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceProd", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceSum", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("ReduceSumSquare", reduce, REWRITTEN(reduce), CM_OPERATOR_PROMOTES),
    ROW("Relu", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW_IN("Reshape", 5, 99, reshape, REWRITTEN(reshape), 0),
    ROW_IN("Resize", 10, 99, resize, REWRITTEN(resize), CM_OPERATOR_PROMOTES),
    ROW("Round", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Selu", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Shape", shape, WALL, 0),
    ROW("Sigmoid", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Sign", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Sin", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Size", size, WALL, 0),
    ROW("Slice", slice, REWRITTEN(slice), 0),
    ROW("Softmax", softmax, REWRITTEN(softmax), CM_OPERATOR_PROMOTES),
    ROW("Softplus", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Softsign", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("SpaceToDepth", space_to_depth, WALL, 0),
    ROW("Split", split, REWRITTEN(split), 0),
    ROW("Sqrt", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("Squeeze", squeeze, REWRITTEN(reshape), 0),
    ROW("Sub", binary, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Sum", variadic, REWRITTEN(broadcast), CM_OPERATOR_PROMOTES),
    ROW("Tanh", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW("ThresholdedRelu", unary, PLAIN(unary), CM_OPERATOR_PROMOTES),
    ROW_IN("Tile", 6, 99, tile, WALL, CM_OPERATOR_EXPANDS),
    ROW("Transpose", transpose, WALL, 0),
    ROW("Unsqueeze", unsqueeze, REWRITTEN(reshape), 0),
    ROW_IN("Upsample", 7, 9, resize, REWRITTEN(resize), CM_OPERATOR_PROMOTES),
    ROW("Where", where, REWRITTEN(broadcast), 0),
    ROW("Xor", compare, REWRITTEN(broadcast), 0),
    {0},
};

const cm_operator *cm_operator_find(const char *domain, const char *name, int64_t opset)
{
  /* ONNX Runtime's own domain: what its optimiser writes. Gelu came to ONNX's domain later, FusedConv never did. */
  bool contributed = strcmp(domain, "com.microsoft") == 0, fused = strcmp(name, "FusedConv") == 0;
  if (contributed ? !fused && strcmp(name, "Gelu") != 0 : domain[0] != '\0' || fused)
    return NULL;
  if (contributed)
    opset = 20;
  for (const cm_operator *o = table; o->name != NULL; o++)
    if (opset >= o->since && opset <= o->until && strcmp(o->name, name) == 0)
      return o;
  return NULL;
}

bool cm_has(const cm_call *call, uint32_t i)
{
  return i < call->input_count && call->node->inputs[i] != CM_NONE;
}

bool cm_shape_known(const cm_shape *shape)
{
  if (shape->rank == CM_UNKNOWN_RANK)
    return false;
  for (uint32_t i = 0; i < shape->rank; i++)
    if (shape->dims[i] < 0)
      return false;
  return true;
}

cm_shape cm_shape_of(const cm_tensor *tensor)
{
  cm_shape shape = {.type = tensor->type, .rank = tensor->rank};
  memcpy(shape.dims, tensor->dims, sizeof shape.dims);
  return shape;
}

cm_status cm_call_fail(const cm_call *call, cm_error *error, const char *format, ...)
{
  char label[160], text[320];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(text, sizeof text, format, list);
  va_end(list);
  (void)cm_fail(error, CM_BAD_NETWORK, "node %s: %s", cm_node_label(call->node, label, sizeof label), text);
  return cm_fail_at(error, "node %.80s", call->node->name);
}

cm_status cm_call_bad_type(const cm_call *call, cm_type type, cm_error *error)
{
  return cm_call_fail(call, error, "cannot be computed for %s", cm_type_name(type));
}

cm_status cm_call_need_elements(const cm_call *call, cm_error *error)
{
  cm_type type = call->value[0]->type;
  return cm_type_bytes(type) == 0 ? cm_call_bad_type(call, type, error) : CM_OK;
}

cm_status cm_call_axis(const cm_call *call, int64_t axis, uint32_t rank, uint32_t *normal, cm_error *error)
{
  if (axis < -(int64_t)rank || axis >= (int64_t)rank)
    return cm_call_fail(call, error, "axis %lld is not within a rank of %u", (long long)axis, rank);
  *normal = (uint32_t)(axis < 0 ? axis + rank : axis);
  return CM_OK;
}

cm_status cm_call_integers(const cm_call *call, const char *attribute, uint32_t input, int64_t *numbers, size_t maximum,
                           size_t *count, bool *known, cm_error *error)
{
  const cm_attribute *a = attribute != NULL ? cm_node_attribute(call->node, attribute) : NULL;
  *known = true;
  *count = 0;
  if (a != NULL && a->kind == CM_ATTRIBUTE_INTS) {
    if (a->count > maximum)
      return cm_call_fail(call, error, "%zu numbers in %s, at most %zu make sense", a->count, attribute, maximum);
    memcpy(numbers, a->integers, a->count * sizeof *numbers);
    *count = a->count;
    return CM_OK;
  }
  if (!cm_has(call, input))
    return CM_OK;
  const cm_tensor *t = call->value[input];
  if (t == NULL) {
    *known = false;
    return CM_OK;
  }
  if (t->count > maximum || t->rank > 1)
    return cm_call_fail(call, error, "input %u holds %llu numbers, at most %zu make sense", input,
                        (unsigned long long)t->count, maximum);
  for (uint64_t i = 0; i < t->count; i++)
    numbers[i] = cm_tensor_integer(t, i);
  *count = t->count;
  return CM_OK;
}

cm_status cm_call_broadcast(const cm_call *call, const cm_shape *a, const cm_shape *b, cm_shape *both, cm_error *error)
{
  if (a->rank == CM_UNKNOWN_RANK || b->rank == CM_UNKNOWN_RANK) {
    both->rank = CM_UNKNOWN_RANK;
    return CM_OK;
  }
  cm_shape made = *both;
  made.rank = a->rank > b->rank ? a->rank : b->rank;
  for (uint32_t i = 0; i < made.rank; i++) {
    int64_t x = i + a->rank >= made.rank ? a->dims[i + a->rank - made.rank] : 1,
            y = i + b->rank >= made.rank ? b->dims[i + b->rank - made.rank] : 1;
    if (x > 1 && y > 1 && x != y)
      return cm_call_fail(call, error, "inputs of %lld and %lld in one dimension do not broadcast", (long long)x,
                          (long long)y);
    /* An unknown dim beside one above 1 must be that or 1. */
    made.dims[i] = x == 1 ? y : y == 1 || x == y ? x : x < 0 ? y : y < 0 ? x : 0;
  }
  *both = made;
  return CM_OK;
}

void cm_strides(uint32_t rank, const int64_t *dims, int64_t *strides)
{
  int64_t step = 1;
  for (uint32_t i = rank; i-- > 0; step *= dims[i])
    strides[i] = step;
}

void cm_broadcast_strides(const cm_tensor *tensor, const cm_shape *wide, int64_t *strides)
{
  int64_t own[CM_RANK_MAX];
  cm_strides(tensor->rank, tensor->dims, own);
  for (uint32_t i = 0; i < wide->rank; i++) {
    bool there = i + tensor->rank >= wide->rank;
    uint32_t j = there ? i + tensor->rank - wide->rank : 0;
    strides[i] = there && tensor->dims[j] != 1 ? own[j] : 0;
  }
}

bool cm_next_index(uint32_t rank, const int64_t *dims, int64_t *index)
{
  for (uint32_t i = rank; i-- > 0;) {
    if (++index[i] < dims[i])
      return true;
    index[i] = 0;
  }
  return false;
}

/* One run along the last dimension. */
static void copy_run(uint8_t *out, const uint8_t *from, size_t width, int64_t count, int64_t stride)
{
  if (stride == 1) {
    memcpy(out, from, (size_t)count * width);
    return;
  }
  switch (width) {
  case 1:
    for (int64_t i = 0; i < count; i++)
      out[i] = from[i * stride];
    return;
  case 4:
    for (int64_t i = 0; i < count; i++)
      ((uint32_t *)out)[i] = ((const uint32_t *)from)[i * stride];
    return;
  case 8:
    for (int64_t i = 0; i < count; i++)
      ((uint64_t *)out)[i] = ((const uint64_t *)from)[i * stride];
    return;
  default:
    for (int64_t i = 0; i < count; i++)
      memcpy(out + (size_t)i * width, from + i * stride * (int64_t)width, width);
  }
}

void cm_copy_strided(void *out, const void *data, size_t width, uint32_t rank, const int64_t *dims, int64_t offset,
                     const int64_t *strides)
{
  int64_t index[CM_RANK_MAX] = {0}, last = rank > 0 ? dims[rank - 1] : 1,
          last_stride = rank > 0 ? strides[rank - 1] : 1;
  uint32_t outer = rank > 0 ? rank - 1 : 0;
  uint8_t *to = out;
  for (uint32_t i = 0; i < rank; i++)
    if (dims[i] == 0)
      return;
  do {
    int64_t at = offset;
    for (uint32_t i = 0; i < outer; i++)
      at += index[i] * strides[i];
    copy_run(to, (const uint8_t *)data + at * (int64_t)width, width, last, last_stride);
    to += (size_t)last * width;
  } while (cm_next_index(outer, dims, index));
}
