/* The table of operators: a row an operator, complete. docs/operators.md is printed from it. */
#include <string.h>

#include "core/operators/permute/cross.h"

/* Element types of inputs, as bits. Halves are not named where a row promotes: their kernels see float32. */
#define BIT(type) (UINT32_C(1) << (type))
#define FLOAT BIT(CM_FLOAT)
#define REAL (FLOAT | BIT(CM_DOUBLE))
#define INT8 BIT(CM_INT8)
#define UINT8 BIT(CM_UINT8)
#define INT16 BIT(CM_INT16)
#define INT32 BIT(CM_INT32)
#define INDEX (INT32 | BIT(CM_INT64))
#define SIGNED (INT8 | INT16 | INDEX)
#define UNSIGNED (UINT8 | BIT(CM_UINT16) | BIT(CM_UINT32) | BIT(CM_UINT64))
#define INTEGER (SIGNED | UNSIGNED)
#define NUMBER (INTEGER | REAL)
#define BOOLEAN BIT(CM_BOOL)
#define ANY_COMPLEX (BIT(CM_COMPLEX64) | BIT(CM_COMPLEX128))
#define ANY (UINT32_MAX & ~BIT(CM_TYPE_NONE) & ~BIT(CM_STRING)) /* whatever has elements of a fixed size */
#define ANY_REAL (ANY & ~ANY_COMPLEX)
/* Types of the first input, the second, and all others. */
#define EACH(first, second, others) {first, second, others}
#define ALL(types) {types, types, types}

/* How permutations pass: a rule with its rewrite, a rule that needs none, or not at all. */
#define REWRITTEN(rule) cm_cross_##rule, cm_rewrite_##rule
#define PLAIN(rule) cm_cross_##rule, NULL
#define WALL NULL, NULL

#define CHECKED(op, since, until, family, crossing, split, types, flags, check) \
  {op, since, until, cm_shape_##family, cm_kernel_##family, crossing, CM_SPLIT_##split, types, check, flags}
#define ROW(op, since, until, family, crossing, split, types, flags) \
  {op, since, until, cm_shape_##family, cm_kernel_##family, crossing, CM_SPLIT_##split, types, NULL, flags}

enum {
  PROMOTES = CM_OPERATOR_PROMOTES,
  RANDOM = CM_OPERATOR_RANDOM,
  EXPANDS = CM_OPERATOR_EXPANDS,
  SAME = CM_OPERATOR_SAME,
};

static const cm_operator table[] = {
    /* name, opsets, family, permutations, cut, types, flags */
    ROW("Abs", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(NUMBER), PROMOTES),
    ROW("Acos", 7, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Acosh", 9, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Add", 1, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("AffineGrid", 20, 99, affine_grid, WALL, AFFINE_GRID, EACH(REAL, INDEX, ANY), PROMOTES),
    ROW("And", 1, 99, compare, REWRITTEN(broadcast), POINTWISE, ALL(BOOLEAN), SAME),
    ROW("ArgMax", 1, 99, arg_reduce, REWRITTEN(reduce), REDUCE, ALL(NUMBER), PROMOTES),
    ROW("ArgMin", 1, 99, arg_reduce, REWRITTEN(reduce), REDUCE, ALL(NUMBER), PROMOTES),
    ROW("Asin", 7, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Asinh", 9, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Atan", 7, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Atanh", 9, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("AveragePool", 1, 99, pool, REWRITTEN(pool), POOL, ALL(REAL), PROMOTES),
    CHECKED("BatchNormalization", 1, 99, batch_norm, REWRITTEN(channel_norm), CHANNEL_NORM, ALL(FLOAT), PROMOTES, cm_check_batch_norm),
    ROW("BitShift", 11, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(UNSIGNED), SAME),
    ROW("BitwiseAnd", 18, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(INTEGER), SAME),
    ROW("BitwiseNot", 18, 99, unary, PLAIN(unary), POINTWISE, ALL(INTEGER), 0),
    ROW("BitwiseOr", 18, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(INTEGER), SAME),
    ROW("BitwiseXor", 18, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(INTEGER), SAME),
    CHECKED("BlackmanWindow", 17, 99, window, WALL, WHOLE, ALL(INDEX), EXPANDS, cm_check_made_number),
    CHECKED("Cast", 1, 99, cast, PLAIN(unary), POINTWISE, ALL(ANY_REAL), 0, cm_check_cast),
    CHECKED("CastLike", 1, 99, cast, PLAIN(unary), UNTOUCHED, ALL(ANY_REAL), 0, cm_check_cast),
    ROW("Ceil", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Celu", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Clip", 1, 99, clip, PLAIN(unary), POINTWISE, ALL(NUMBER), PROMOTES),
    ROW("Col2Im", 18, 99, col2im, WALL, COLUMNS, EACH(REAL, INDEX, INDEX), PROMOTES),
    ROW("Compress", 9, 99, compress, WALL, WHOLE, EACH(ANY, BOOLEAN, ANY), 0),
    ROW("Concat", 1, 99, concat, REWRITTEN(concat), WHOLE, ALL(ANY), SAME),
    ROW("Constant", 1, 99, constant, WALL, WHOLE, ALL(ANY), 0),
    ROW("ConstantOfShape", 1, 99, constant_of_shape, WALL, WHOLE, ALL(INDEX), EXPANDS),
    ROW("Conv", 1, 99, conv, REWRITTEN(conv), CONVOLUTION, ALL(FLOAT), PROMOTES),
    ROW("ConvInteger", 10, 99, conv_integer, WALL, CONVOLUTION, ALL(INT8 | UINT8), 0),
    ROW("ConvTranspose", 1, 99, conv_transpose, REWRITTEN(conv_transpose), TRANSPOSED, ALL(FLOAT), PROMOTES),
    ROW("Cos", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Cosh", 9, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("CumSum", 11, 99, cum_sum, WALL, LINES, EACH(NUMBER, INDEX, ANY), PROMOTES),
    CHECKED("DeformConv", 19, 99, deform_conv, WALL, DEFORM, ALL(FLOAT), PROMOTES, cm_check_deform_conv),
    ROW("DepthToSpace", 1, 99, depth_to_space, WALL, DEPTH_TO_SPACE, ALL(ANY), 0),
    CHECKED("DequantizeLinear", 1, 99, dequantize, REWRITTEN(quantize), QUANTIZE, EACH(ANY_REAL, FLOAT, ANY), 0, cm_check_dequantize),
    ROW("Det", 11, 99, det, WALL, MATRICES, ALL(REAL), PROMOTES),
    CHECKED("DFT", 17, 99, dft, WALL, DFT, EACH(REAL, INDEX, INDEX), PROMOTES, cm_check_dft),
    ROW("Div", 1, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("Dropout", 1, 99, dropout, PLAIN(unary), WHOLE, EACH(ANY, ANY, ANY), RANDOM),
    ROW("DynamicQuantizeLinear", 11, 99, dynamic_quantize, WALL, WHOLE, ALL(FLOAT), 0),
    ROW("Einsum", 12, 99, einsum, WALL, EINSUM, ALL(NUMBER), PROMOTES | SAME),
    ROW("Elu", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Equal", 1, 99, compare, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER | BOOLEAN), PROMOTES | SAME),
    ROW("Erf", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Exp", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Expand", 1, 99, expand, WALL, EXPAND, EACH(ANY, INDEX, ANY), EXPANDS),
    CHECKED("EyeLike", 9, 99, eye_like, WALL, WHOLE, ALL(ANY), EXPANDS, cm_check_eye_like),
    ROW("Flatten", 1, 99, flatten, REWRITTEN(reshape), WHOLE, ALL(ANY), 0),
    ROW("Floor", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    CHECKED("FusedConv", 1, 99, fused_conv, REWRITTEN(fused_conv), CONVOLUTION, ALL(FLOAT), PROMOTES, cm_check_fused_conv),
    ROW("Gather", 1, 99, gather, REWRITTEN(gather), GATHER, EACH(ANY, INDEX, ANY), 0),
    ROW("GatherElements", 11, 99, gather_elements, WALL, GATHER_ELEMENTS, EACH(ANY, INDEX, ANY), 0),
    ROW("GatherND", 11, 99, gather_nd, WALL, GATHER_ND, EACH(ANY, INDEX, ANY), 0),
    ROW("Gelu", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Gemm", 1, 99, gemm, REWRITTEN(gemm), GEMM, ALL(FLOAT), PROMOTES),
    ROW("GlobalAveragePool", 1, 99, global_pool, PLAIN(global_pool), CHANNELWISE, ALL(FLOAT), PROMOTES),
    ROW("GlobalLpPool", 2, 99, global_lp_pool, WALL, CHANNELWISE, ALL(REAL), PROMOTES),
    ROW("GlobalMaxPool", 1, 99, global_pool, PLAIN(global_pool), CHANNELWISE, ALL(FLOAT), PROMOTES),
    ROW("Greater", 1, 99, compare, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("GreaterOrEqual", 1, 99, compare, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    CHECKED("GridSample", 16, 99, grid_sample, WALL, GRID_SAMPLE, ALL(FLOAT), PROMOTES, cm_check_grid_sample),
    ROW("GroupNormalization", 1, 99, group_norm, WALL, FRAMEWISE, ALL(FLOAT), PROMOTES),
    CHECKED("GRU", 7, 99, recurrent, WALL, WHOLE, ALL(FLOAT | INT32), PROMOTES, cm_check_recurrent),
    CHECKED("HammingWindow", 17, 99, window, WALL, WHOLE, ALL(INDEX), EXPANDS, cm_check_made_number),
    CHECKED("HannWindow", 17, 99, window, WALL, WHOLE, ALL(INDEX), EXPANDS, cm_check_made_number),
    ROW("Hardmax", 1, 99, hardmax, WALL, SOFTMAX, ALL(REAL), PROMOTES),
    ROW("HardSigmoid", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("HardSwish", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Identity", 1, 99, identity, PLAIN(unary), POINTWISE, ALL(ANY), 0),
    ROW("If", 1, 99, choose, WALL, POINTWISE, EACH(BOOLEAN, ANY, ANY), 0),
    ROW("InstanceNormalization", 1, 99, instance_norm, REWRITTEN(channel_norm), CHANNELWISE, ALL(FLOAT), PROMOTES),
    ROW("IsInf", 10, 99, float_test, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("IsNaN", 9, 99, float_test, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("LayerNormalization", 1, 99, layer_norm, REWRITTEN(layer_norm), LAYER_NORM, ALL(FLOAT), PROMOTES),
    ROW("LeakyRelu", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Less", 1, 99, compare, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("LessOrEqual", 1, 99, compare, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("Log", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("LogSoftmax", 1, 99, softmax, REWRITTEN(softmax), SOFTMAX, ALL(FLOAT), PROMOTES),
    ROW("LpNormalization", 1, 99, lp_norm, WALL, LINES, ALL(REAL), PROMOTES),
    ROW("LpPool", 2, 99, lp_pool, WALL, POOL, ALL(REAL), PROMOTES),
    ROW("LRN", 1, 99, lrn, PLAIN(lrn), LRN, ALL(FLOAT), PROMOTES),
    CHECKED("LSTM", 7, 99, recurrent, WALL, WHOLE, ALL(FLOAT | INT32), PROMOTES, cm_check_recurrent),
    ROW("MatMul", 1, 99, matmul, REWRITTEN(matmul), MATMUL, ALL(FLOAT), PROMOTES),
    ROW("MatMulInteger", 10, 99, matmul_integer, WALL, MATMUL, ALL(INT8 | UINT8), 0),
    ROW("Max", 1, 99, variadic, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("MaxPool", 1, 99, pool, REWRITTEN(pool), POOL, ALL(REAL | INT8 | UINT8), PROMOTES),
    ROW("MaxRoiPool", 1, 99, max_roi_pool, WALL, REGIONS, ALL(FLOAT), PROMOTES),
    ROW("MaxUnpool", 9, 99, max_unpool, WALL, UNPOOL, EACH(REAL, INDEX, INDEX), PROMOTES),
    ROW("Mean", 1, 99, variadic, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("MeanVarianceNormalization", 9, 99, mean_variance, WALL, STATISTICS, ALL(REAL), PROMOTES),
    CHECKED("MelWeightMatrix", 17, 99, mel_weights, WALL, WHOLE, ALL(INDEX | REAL), EXPANDS, cm_check_made_number),
    ROW("Min", 1, 99, variadic, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("Mish", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Mod", 1, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("Mul", 1, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("Neg", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(SIGNED | REAL), PROMOTES),
    ROW("NonMaxSuppression", 10, 99, nms, WALL, WHOLE, EACH(FLOAT, FLOAT, REAL | INTEGER), 0),
    ROW("NonZero", 9, 99, non_zero, WALL, WHOLE, ALL(ANY_REAL), 0),
    ROW("Not", 1, 99, logical_unary, PLAIN(unary), POINTWISE, ALL(BOOLEAN), 0),
    ROW("OneHot", 9, 99, one_hot, WALL, ONE_HOT, EACH(NUMBER, NUMBER, ANY), EXPANDS),
    ROW("Or", 1, 99, compare, REWRITTEN(broadcast), POINTWISE, ALL(BOOLEAN), SAME),
    ROW("Pad", 1, 99, pad, REWRITTEN(pad), UNTOUCHED, EACH(ANY, INDEX, ANY), 0),
    ROW("Pow", 1, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES),
    ROW("PRelu", 1, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    CHECKED("QLinearConv", 10, 99, qlinear_conv, WALL, CONVOLUTION, ALL(INT8 | UINT8 | FLOAT | INT32), 0, cm_check_qlinear),
    CHECKED("QLinearMatMul", 10, 99, qlinear_matmul, WALL, MATMUL, ALL(INT8 | UINT8 | FLOAT), 0, cm_check_qlinear),
    CHECKED("QuantizeLinear", 1, 99, quantize, REWRITTEN(quantize), QUANTIZE, EACH(FLOAT | INT32, FLOAT, ANY), 0, cm_check_quantize),
    ROW("Range", 1, 99, range, WALL, WHOLE, ALL(REAL | INT16 | INDEX), EXPANDS | PROMOTES | SAME),
    ROW("Reciprocal", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("ReduceL1", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("ReduceL2", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("ReduceLogSum", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("ReduceLogSumExp", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("ReduceMax", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER | BOOLEAN, INDEX, ANY), PROMOTES),
    ROW("ReduceMean", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("ReduceMin", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER | BOOLEAN, INDEX, ANY), PROMOTES),
    ROW("ReduceProd", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("ReduceSum", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("ReduceSumSquare", 1, 99, reduce, REWRITTEN(reduce), REDUCE, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("Relu", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(SIGNED | REAL), PROMOTES),
    ROW("Reshape", 5, 99, reshape, REWRITTEN(reshape), WHOLE, EACH(ANY, INDEX, ANY), 0),
    ROW("Resize", 10, 99, resize, REWRITTEN(resize), RESIZE, EACH(FLOAT, ANY, ANY), PROMOTES),
    ROW("ReverseSequence", 10, 99, reverse_sequence, WALL, REVERSE_SEQUENCE, EACH(ANY, INDEX, ANY), 0),
    ROW("RMSNormalization", 23, 99, rms_norm, WALL, LAYER_NORM, ALL(REAL), PROMOTES),
    CHECKED("RNN", 7, 99, recurrent, WALL, WHOLE, ALL(FLOAT | INT32), PROMOTES, cm_check_recurrent),
    ROW("RoiAlign", 10, 99, roi_align, WALL, REGIONS, EACH(FLOAT, FLOAT, INDEX), PROMOTES),
    ROW("Round", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    CHECKED("Scatter", 9, 10, scatter_elements, WALL, SCATTER_ELEMENTS, EACH(ANY, INDEX, ANY), 0, cm_check_scatter),
    CHECKED("ScatterElements", 11, 99, scatter_elements, WALL, SCATTER_ELEMENTS, EACH(ANY, INDEX, ANY), 0, cm_check_scatter),
    CHECKED("ScatterND", 11, 99, scatter_nd, WALL, SCATTER_ND, EACH(ANY, INDEX, ANY), 0, cm_check_scatter),
    ROW("Selu", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Shape", 1, 99, shape, WALL, WHOLE, ALL(ANY), 0),
    ROW("Shrink", 9, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Sigmoid", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Sign", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(NUMBER), PROMOTES),
    ROW("Sin", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Sinh", 9, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Size", 1, 99, size, WALL, WHOLE, ALL(ANY), 0),
    ROW("Slice", 1, 99, slice, REWRITTEN(slice), UNTOUCHED, EACH(ANY, INDEX, INDEX), 0),
    ROW("Softmax", 1, 99, softmax, REWRITTEN(softmax), SOFTMAX, ALL(FLOAT), PROMOTES),
    ROW("Softplus", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Softsign", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("SpaceToDepth", 1, 99, space_to_depth, WALL, SPACE_TO_DEPTH, ALL(ANY), 0),
    ROW("Split", 1, 99, split, REWRITTEN(split), WHOLE, EACH(ANY, INDEX, ANY), 0),
    ROW("Sqrt", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Squeeze", 1, 99, squeeze, REWRITTEN(reshape), WHOLE, EACH(ANY, INDEX, ANY), 0),
    ROW("STFT", 17, 99, stft, WALL, STFT, EACH(REAL, INDEX | REAL, REAL | INDEX), PROMOTES),
    ROW("Sub", 1, 99, binary, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("Sum", 1, 99, variadic, REWRITTEN(broadcast), POINTWISE, ALL(NUMBER), PROMOTES | SAME),
    ROW("Swish", 24, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Tan", 7, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Tanh", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("ThresholdedRelu", 1, 99, unary, PLAIN(unary), POINTWISE, ALL(REAL), PROMOTES),
    ROW("Tile", 6, 99, tile, WALL, UNTOUCHED, EACH(ANY, INDEX, INDEX), EXPANDS),
    ROW("TopK", 1, 99, top_k, WALL, LINES, EACH(NUMBER, INDEX, ANY), PROMOTES),
    ROW("Transpose", 1, 99, transpose, WALL, TRANSPOSE, ALL(ANY), 0),
    ROW("Trilu", 14, 99, trilu, WALL, MATRICES, EACH(ANY, INDEX, ANY), 0),
    ROW("Unique", 11, 99, unique, WALL, WHOLE, ALL(ANY_REAL), 0),
    ROW("Unsqueeze", 1, 99, unsqueeze, REWRITTEN(reshape), WHOLE, EACH(ANY, INDEX, ANY), 0),
    ROW("Upsample", 7, 9, resize, REWRITTEN(resize), RESIZE, EACH(FLOAT, ANY, ANY), PROMOTES),
    ROW("Where", 1, 99, where, REWRITTEN(broadcast), POINTWISE, EACH(BOOLEAN, ANY, ANY), 0),
    ROW("Xor", 1, 99, compare, REWRITTEN(broadcast), POINTWISE, ALL(BOOLEAN), SAME),
    {0},
};

const cm_operator *cm_operator_table(void)
{
  return table;
}

const char *cm_operator_reason(const cm_node *node)
{
  static const struct {
    const char *prefix, *why;
  } reasons[] = {
      {"Random", "its numbers differ in every run"},
      {"Bernoulli", "its numbers differ in every run"},
      {"Multinomial", "its numbers differ in every run"},
      {"Sequence", "sequences have no size that is known before the model runs"},
      {"SplitToSequence", "sequences have no size that is known before the model runs"},
      {"ConcatFromSequence", "sequences have no size that is known before the model runs"},
      {"Optional", "optional values are not known before the model runs"},
      {"String", "text is not computed on a chip"},
      {"Regex", "text is not computed on a chip"},
      {"TfIdf", "text is not computed on a chip"},
      {"ImageDecoder", "files are not decoded on a chip"},
  };
  for (size_t i = 0; node->domain[0] == '\0' && i < sizeof reasons / sizeof *reasons; i++)
    if (strncmp(node->op, reasons[i].prefix, strlen(reasons[i].prefix)) == 0)
      return reasons[i].why;
  return NULL;
}

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
