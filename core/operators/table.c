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

/* A row has all of its entries, or does not compile. ANY_CALL: what the types allow is computed. */
#define ROW(op, since, until, family, variant, crossing, split, work, runs, makes, types, flags, check) \
  {op, since, until, cm_shape_##family, cm_kernel_##family, CM_VARIANT_##variant, crossing, CM_SPLIT_##split, \
   CM_WORK_##work, CM_RUNS_##runs, CM_MAKES_##makes, types, check, flags}
#define ANY_CALL NULL

enum {
  PROMOTES = CM_OPERATOR_PROMOTES,
  RANDOM = CM_OPERATOR_RANDOM,
  EXPANDS = CM_OPERATOR_EXPANDS,
  SAME = CM_OPERATOR_SAME,
  ANY_SCALE = CM_OPERATOR_ANY_SCALE,
};

static const cm_operator table[] = {
    /* name, opsets, family, which of it, permutations, cut, work, runs, makes, types, flags, what is computed of it */
    ROW("Abs", 1, 99, unary, ABS, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES, ANY_CALL),
    ROW("Acos", 7, 99, unary, ACOS, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Acosh", 9, 99, unary, ACOSH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Add", 1, 99, binary, SUM, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("AffineGrid", 20, 99, affine_grid, ONLY, WALL, AFFINE_GRID, TOUCHED, VECTOR, NEW, EACH(REAL, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("And", 1, 99, compare, AND, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(BOOLEAN), SAME, ANY_CALL),
    ROW("ArgMax", 1, 99, arg_reduce, MAX, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, ALL(NUMBER), PROMOTES, ANY_CALL),
    ROW("ArgMin", 1, 99, arg_reduce, MIN, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, ALL(NUMBER), PROMOTES, ANY_CALL),
    ROW("Asin", 7, 99, unary, ASIN, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Asinh", 9, 99, unary, ASINH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Atan", 7, 99, unary, ATAN, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Atanh", 9, 99, unary, ATANH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("AveragePool", 1, 99, pool, MEAN, REWRITTEN(pool), POOL, WINDOW, VECTOR, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("BatchNormalization", 1, 99, batch_norm, ONLY, REWRITTEN(channel_norm), CHANNEL_NORM, TOUCHED, IN_PLACE, NEW, ALL(FLOAT), PROMOTES, cm_check_batch_norm),
    ROW("BitShift", 11, 99, binary, BIT_SHIFT, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(UNSIGNED), SAME, ANY_CALL),
    ROW("BitwiseAnd", 18, 99, binary, BIT_AND, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(INTEGER), SAME, ANY_CALL),
    ROW("BitwiseNot", 18, 99, unary, BIT_NOT, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(INTEGER), 0, ANY_CALL),
    ROW("BitwiseOr", 18, 99, binary, BIT_OR, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(INTEGER), SAME, ANY_CALL),
    ROW("BitwiseXor", 18, 99, binary, BIT_XOR, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(INTEGER), SAME, ANY_CALL),
    ROW("BlackmanWindow", 17, 99, window, BLACKMAN, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(INDEX), EXPANDS, cm_check_made_number),
    ROW("Cast", 1, 99, cast, TO_TYPE, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(ANY_REAL), 0, cm_check_cast),
    ROW("CastLike", 1, 99, cast, LIKE_INPUT, PLAIN(unary), UNTOUCHED, TOUCHED, VECTOR, NEW, ALL(ANY_REAL), 0, cm_check_cast),
    ROW("Ceil", 1, 99, unary, CEIL, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Celu", 1, 99, unary, CELU, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Clip", 1, 99, clip, ONLY, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES, ANY_CALL),
    ROW("Col2Im", 18, 99, col2im, ONLY, WALL, COLUMNS, TOUCHED, VECTOR, NEW, EACH(REAL, INDEX, INDEX), PROMOTES, ANY_CALL),
    ROW("Compress", 9, 99, compress, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, EACH(ANY, BOOLEAN, ANY), 0, ANY_CALL),
    ROW("Concat", 1, 99, concat, ONLY, REWRITTEN(concat), WHOLE, TOUCHED, VECTOR, JOINED, ALL(ANY), SAME, ANY_CALL),
    ROW("Constant", 1, 99, constant, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(ANY), 0, ANY_CALL),
    ROW("ConstantOfShape", 1, 99, constant_of_shape, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(INDEX), EXPANDS, ANY_CALL),
    ROW("Conv", 1, 99, conv, ONLY, REWRITTEN(conv), CONVOLUTION, FILTER, MATRIX, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("ConvInteger", 10, 99, conv_integer, ONLY, WALL, CONVOLUTION, FILTER, MATRIX, NEW, ALL(INT8 | UINT8), 0, ANY_CALL),
    ROW("ConvTranspose", 1, 99, conv_transpose, ONLY, REWRITTEN(conv_transpose), TRANSPOSED, SPREAD, MATRIX, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("Cos", 1, 99, unary, COS, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Cosh", 9, 99, unary, COSH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("CumSum", 11, 99, cum_sum, ONLY, WALL, LINES, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("DeformConv", 19, 99, deform_conv, ONLY, WALL, DEFORM, DEFORM, VECTOR, NEW, ALL(FLOAT), PROMOTES, cm_check_deform_conv),
    ROW("DepthToSpace", 1, 99, depth_to_space, ONLY, WALL, DEPTH_TO_SPACE, TOUCHED, VECTOR, MOVED, ALL(ANY), ANY_SCALE, ANY_CALL),
    ROW("DequantizeLinear", 1, 99, dequantize, ONLY, REWRITTEN(quantize), QUANTIZE, TOUCHED, VECTOR, NEW, EACH(ANY_REAL, FLOAT, ANY), 0, cm_check_dequantize),
    ROW("Det", 11, 99, det, ONLY, WALL, MATRICES, TOUCHED, VECTOR, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("DFT", 17, 99, dft, ONLY, WALL, DFT, SIGNAL, VECTOR, NEW, EACH(REAL, INDEX, INDEX), PROMOTES, cm_check_dft),
    ROW("Div", 1, 99, binary, QUOTIENT, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("Dropout", 1, 99, dropout, ONLY, PLAIN(unary), WHOLE, TOUCHED, VECTOR, SAME, EACH(ANY, ANY, ANY), RANDOM, ANY_CALL),
    ROW("DynamicQuantizeLinear", 11, 99, dynamic_quantize, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(FLOAT), 0, ANY_CALL),
    ROW("Einsum", 12, 99, einsum, ONLY, WALL, EINSUM, SUMS, VECTOR, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("Elu", 1, 99, unary, ELU, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Equal", 1, 99, compare, EQUAL, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER | BOOLEAN), PROMOTES | SAME, ANY_CALL),
    ROW("Erf", 1, 99, unary, ERF, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Exp", 1, 99, unary, EXP, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Expand", 1, 99, expand, ONLY, WALL, EXPAND, TOUCHED, VECTOR, MOVED, EACH(ANY, INDEX, ANY), EXPANDS | ANY_SCALE, ANY_CALL),
    ROW("EyeLike", 9, 99, eye_like, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(ANY), EXPANDS, cm_check_eye_like),
    ROW("Flatten", 1, 99, flatten, ONLY, REWRITTEN(reshape), WHOLE, TOUCHED, VECTOR, RESHAPED, ALL(ANY), ANY_SCALE, ANY_CALL),
    ROW("Floor", 1, 99, unary, FLOOR, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("FusedConv", 1, 99, fused_conv, ONLY, REWRITTEN(fused_conv), CONVOLUTION, FILTER, MATRIX, NEW, ALL(FLOAT), PROMOTES, cm_check_fused_conv),
    ROW("Gather", 1, 99, gather, ONLY, REWRITTEN(gather), GATHER, TOUCHED, VECTOR, MOVED, EACH(ANY, INDEX, ANY), ANY_SCALE, ANY_CALL),
    ROW("GatherElements", 11, 99, gather_elements, ONLY, WALL, GATHER_ELEMENTS, TOUCHED, VECTOR, MOVED, EACH(ANY, INDEX, ANY), 0, ANY_CALL),
    ROW("GatherND", 11, 99, gather_nd, ONLY, WALL, GATHER_ND, TOUCHED, VECTOR, MOVED, EACH(ANY, INDEX, ANY), 0, ANY_CALL),
    ROW("Gelu", 1, 99, unary, GELU, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Gemm", 1, 99, gemm, ONLY, REWRITTEN(gemm), GEMM, GEMM, MATRIX, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("GlobalAveragePool", 1, 99, global_pool, MEAN, PLAIN(global_pool), CHANNELWISE, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("GlobalLpPool", 2, 99, global_lp_pool, ONLY, WALL, CHANNELWISE, TOUCHED, VECTOR, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("GlobalMaxPool", 1, 99, global_pool, MAX, PLAIN(global_pool), CHANNELWISE, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("Greater", 1, 99, compare, GREATER, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("GreaterOrEqual", 1, 99, compare, GREATER_OR_EQUAL, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("GridSample", 16, 99, grid_sample, ONLY, WALL, GRID_SAMPLE, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, cm_check_grid_sample),
    ROW("GroupNormalization", 1, 99, group_norm, ONLY, WALL, FRAMEWISE, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("GRU", 7, 99, recurrent, GRU, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(FLOAT | INT32), PROMOTES, cm_check_recurrent),
    ROW("HammingWindow", 17, 99, window, HAMMING, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(INDEX), EXPANDS, cm_check_made_number),
    ROW("HannWindow", 17, 99, window, HANN, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(INDEX), EXPANDS, cm_check_made_number),
    ROW("Hardmax", 1, 99, hardmax, ONLY, WALL, SOFTMAX, TOUCHED, VECTOR, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("HardSigmoid", 1, 99, unary, HARD_SIGMOID, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("HardSwish", 1, 99, unary, HARD_SWISH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Identity", 1, 99, identity, ONLY, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, SAME, ALL(ANY), 0, ANY_CALL),
    ROW("If", 1, 99, choose, ONLY, WALL, POINTWISE, TOUCHED, IN_PLACE, NEW, EACH(BOOLEAN, ANY, ANY), 0, ANY_CALL),
    ROW("InstanceNormalization", 1, 99, instance_norm, ONLY, REWRITTEN(channel_norm), CHANNELWISE, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("IsInf", 10, 99, float_test, INFINITE, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("IsNaN", 9, 99, float_test, NOT_A_NUMBER, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("LayerNormalization", 1, 99, layer_norm, ONLY, REWRITTEN(layer_norm), LAYER_NORM, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("LeakyRelu", 1, 99, unary, LEAKY_RELU, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Less", 1, 99, compare, LESS, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("LessOrEqual", 1, 99, compare, LESS_OR_EQUAL, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("Log", 1, 99, unary, LOG, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("LogSoftmax", 1, 99, softmax, LOG, REWRITTEN(softmax), SOFTMAX, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("LpNormalization", 1, 99, lp_norm, ONLY, WALL, LINES, TOUCHED, VECTOR, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("LpPool", 2, 99, lp_pool, ONLY, WALL, POOL, WINDOW, VECTOR, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("LRN", 1, 99, lrn, ONLY, PLAIN(lrn), LRN, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("LSTM", 7, 99, recurrent, LSTM, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(FLOAT | INT32), PROMOTES, cm_check_recurrent),
    ROW("MatMul", 1, 99, matmul, ONLY, REWRITTEN(matmul), MATMUL, INNER, MATRIX, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("MatMulInteger", 10, 99, matmul_integer, ONLY, WALL, MATMUL, INNER, MATRIX, NEW, ALL(INT8 | UINT8), 0, ANY_CALL),
    ROW("Max", 1, 99, variadic, MAX, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("MaxPool", 1, 99, pool, MAX, REWRITTEN(pool), POOL, WINDOW, VECTOR, NEW, ALL(REAL | INT8 | UINT8), PROMOTES | ANY_SCALE, ANY_CALL),
    ROW("MaxRoiPool", 1, 99, max_roi_pool, ONLY, WALL, REGIONS, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("MaxUnpool", 9, 99, max_unpool, ONLY, WALL, UNPOOL, TOUCHED, VECTOR, NEW, EACH(REAL, INDEX, INDEX), PROMOTES, ANY_CALL),
    ROW("Mean", 1, 99, variadic, MEAN, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("MeanVarianceNormalization", 9, 99, mean_variance, ONLY, WALL, STATISTICS, TOUCHED, VECTOR, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("MelWeightMatrix", 17, 99, mel_weights, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(INDEX | REAL), EXPANDS, cm_check_made_number),
    ROW("Min", 1, 99, variadic, MIN, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("Mish", 1, 99, unary, MISH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Mod", 1, 99, binary, MODULO, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("Mul", 1, 99, binary, PRODUCT, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("Neg", 1, 99, unary, NEG, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(SIGNED | REAL), PROMOTES, ANY_CALL),
    ROW("NonMaxSuppression", 10, 99, nms, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, EACH(FLOAT, FLOAT, REAL | INTEGER), 0, ANY_CALL),
    ROW("NonZero", 9, 99, non_zero, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(ANY_REAL), 0, ANY_CALL),
    ROW("Not", 1, 99, logical_unary, ONLY, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(BOOLEAN), 0, ANY_CALL),
    ROW("OneHot", 9, 99, one_hot, ONLY, WALL, ONE_HOT, TOUCHED, VECTOR, NEW, EACH(NUMBER, NUMBER, ANY), EXPANDS, ANY_CALL),
    ROW("Or", 1, 99, compare, OR, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(BOOLEAN), SAME, ANY_CALL),
    ROW("Pad", 1, 99, pad, ONLY, REWRITTEN(pad), UNTOUCHED, TOUCHED, VECTOR, MOVED, EACH(ANY, INDEX, ANY), 0, ANY_CALL),
    ROW("Pow", 1, 99, binary, POWER, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES, ANY_CALL),
    ROW("PRelu", 1, 99, binary, PRELU, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("QLinearConv", 10, 99, qlinear_conv, ONLY, WALL, CONVOLUTION, FILTER, MATRIX, NEW, ALL(INT8 | UINT8 | FLOAT | INT32), 0, cm_check_qlinear),
    ROW("QLinearMatMul", 10, 99, qlinear_matmul, ONLY, WALL, MATMUL, INNER, MATRIX, NEW, ALL(INT8 | UINT8 | FLOAT), 0, cm_check_qlinear),
    ROW("QuantizeLinear", 1, 99, quantize, ONLY, REWRITTEN(quantize), QUANTIZE, TOUCHED, VECTOR, NEW, EACH(FLOAT | INT32, FLOAT, ANY), 0, cm_check_quantize),
    ROW("Range", 1, 99, range, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(REAL | INT16 | INDEX), EXPANDS | PROMOTES | SAME, ANY_CALL),
    ROW("Reciprocal", 1, 99, unary, RECIPROCAL, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("ReduceL1", 1, 99, reduce, L1, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceL2", 1, 99, reduce, L2, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceLogSum", 1, 99, reduce, LOG_SUM, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceLogSumExp", 1, 99, reduce, LOG_SUM_EXP, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceMax", 1, 99, reduce, MAX, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER | BOOLEAN, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceMean", 1, 99, reduce, MEAN, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceMin", 1, 99, reduce, MIN, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER | BOOLEAN, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceProd", 1, 99, reduce, PRODUCT, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceSum", 1, 99, reduce, SUM, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("ReduceSumSquare", 1, 99, reduce, SUM_SQUARE, REWRITTEN(reduce), REDUCE, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("Relu", 1, 99, unary, RELU, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(SIGNED | REAL), PROMOTES, ANY_CALL),
    ROW("Reshape", 5, 99, reshape, ONLY, REWRITTEN(reshape), WHOLE, TOUCHED, VECTOR, RESHAPED, EACH(ANY, INDEX, ANY), ANY_SCALE, ANY_CALL),
    ROW("Resize", 10, 99, resize, ONLY, REWRITTEN(resize), RESIZE, TOUCHED, VECTOR, NEW, EACH(FLOAT, ANY, ANY), PROMOTES, ANY_CALL),
    ROW("ReverseSequence", 10, 99, reverse_sequence, ONLY, WALL, REVERSE_SEQUENCE, TOUCHED, VECTOR, MOVED, EACH(ANY, INDEX, ANY), 0, ANY_CALL),
    ROW("RMSNormalization", 23, 99, rms_norm, ONLY, WALL, LAYER_NORM, TOUCHED, VECTOR, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("RNN", 7, 99, recurrent, RNN, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(FLOAT | INT32), PROMOTES, cm_check_recurrent),
    ROW("RoiAlign", 10, 99, roi_align, ONLY, WALL, REGIONS, TOUCHED, VECTOR, NEW, EACH(FLOAT, FLOAT, INDEX), PROMOTES, ANY_CALL),
    ROW("Round", 1, 99, unary, ROUND, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Scatter", 9, 10, scatter_elements, ONLY, WALL, SCATTER_ELEMENTS, TOUCHED, VECTOR, NEW, EACH(ANY, INDEX, ANY), 0, cm_check_scatter),
    ROW("ScatterElements", 11, 99, scatter_elements, ONLY, WALL, SCATTER_ELEMENTS, TOUCHED, VECTOR, NEW, EACH(ANY, INDEX, ANY), 0, cm_check_scatter),
    ROW("ScatterND", 11, 99, scatter_nd, ONLY, WALL, SCATTER_ND, TOUCHED, VECTOR, NEW, EACH(ANY, INDEX, ANY), 0, cm_check_scatter),
    ROW("Selu", 1, 99, unary, SELU, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Shape", 1, 99, shape, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(ANY), 0, ANY_CALL),
    ROW("Shrink", 9, 99, unary, SHRINK, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Sigmoid", 1, 99, unary, SIGMOID, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Sign", 1, 99, unary, SIGN, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES, ANY_CALL),
    ROW("Sin", 1, 99, unary, SIN, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Sinh", 9, 99, unary, SINH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Size", 1, 99, size, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(ANY), 0, ANY_CALL),
    ROW("Slice", 1, 99, slice, ONLY, REWRITTEN(slice), UNTOUCHED, TOUCHED, VECTOR, PART, EACH(ANY, INDEX, INDEX), ANY_SCALE, ANY_CALL),
    ROW("Softmax", 1, 99, softmax, EXP, REWRITTEN(softmax), SOFTMAX, TOUCHED, VECTOR, NEW, ALL(FLOAT), PROMOTES, ANY_CALL),
    ROW("Softplus", 1, 99, unary, SOFTPLUS, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Softsign", 1, 99, unary, SOFTSIGN, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("SpaceToDepth", 1, 99, space_to_depth, ONLY, WALL, SPACE_TO_DEPTH, TOUCHED, VECTOR, MOVED, ALL(ANY), ANY_SCALE, ANY_CALL),
    ROW("Split", 1, 99, split, ONLY, REWRITTEN(split), WHOLE, TOUCHED, VECTOR, PART, EACH(ANY, INDEX, ANY), 0, ANY_CALL),
    ROW("Sqrt", 1, 99, unary, SQRT, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Squeeze", 1, 99, squeeze, ONLY, REWRITTEN(reshape), WHOLE, TOUCHED, VECTOR, RESHAPED, EACH(ANY, INDEX, ANY), ANY_SCALE, ANY_CALL),
    ROW("STFT", 17, 99, stft, ONLY, WALL, STFT, SIGNAL, VECTOR, NEW, EACH(REAL, INDEX | REAL, REAL | INDEX), PROMOTES, ANY_CALL),
    ROW("Sub", 1, 99, binary, DIFFERENCE, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("Sum", 1, 99, variadic, SUM, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(NUMBER), PROMOTES | SAME, ANY_CALL),
    ROW("Swish", 24, 99, unary, SWISH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Tan", 7, 99, unary, TAN, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Tanh", 1, 99, unary, TANH, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("ThresholdedRelu", 1, 99, unary, THRESHOLDED_RELU, PLAIN(unary), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(REAL), PROMOTES, ANY_CALL),
    ROW("Tile", 6, 99, tile, ONLY, WALL, UNTOUCHED, TOUCHED, VECTOR, MOVED, EACH(ANY, INDEX, INDEX), EXPANDS | ANY_SCALE, ANY_CALL),
    ROW("TopK", 1, 99, top_k, ONLY, WALL, LINES, TOUCHED, VECTOR, NEW, EACH(NUMBER, INDEX, ANY), PROMOTES, ANY_CALL),
    ROW("Transpose", 1, 99, transpose, ONLY, WALL, TRANSPOSE, TOUCHED, VECTOR, PERMUTED, ALL(ANY), ANY_SCALE, ANY_CALL),
    ROW("Trilu", 14, 99, trilu, ONLY, WALL, MATRICES, TOUCHED, VECTOR, NEW, EACH(ANY, INDEX, ANY), 0, ANY_CALL),
    ROW("Unique", 11, 99, unique, ONLY, WALL, WHOLE, TOUCHED, VECTOR, NEW, ALL(ANY_REAL), 0, ANY_CALL),
    ROW("Unsqueeze", 1, 99, unsqueeze, ONLY, REWRITTEN(reshape), WHOLE, TOUCHED, VECTOR, RESHAPED, EACH(ANY, INDEX, ANY), ANY_SCALE, ANY_CALL),
    ROW("Upsample", 7, 9, resize, ONLY, REWRITTEN(resize), RESIZE, TOUCHED, VECTOR, NEW, EACH(FLOAT, ANY, ANY), PROMOTES, ANY_CALL),
    ROW("Where", 1, 99, where, ONLY, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, EACH(BOOLEAN, ANY, ANY), 0, ANY_CALL),
    ROW("Xor", 1, 99, compare, XOR, REWRITTEN(broadcast), POINTWISE, TOUCHED, IN_PLACE, NEW, ALL(BOOLEAN), SAME, ANY_CALL),
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
