/* Pools, reductions and normalizations: sums along lines and windows, in double as core/operators/ops takes them. */
#include <inttypes.h>
#include <string.h>

#include "core/csource/pieces/products.h"

cm_status cm_c_kernel_on(cm_c_piece *piece, const char *kernel, const char *operands, const cm_c_word *words, cm_error *error)
{
  char at[CM_C_AT_MAX], arguments[8 * CM_C_AT_MAX] = "";
  bool in = true, asked = false;
  for (const char *c = operands; *c != '\0'; c++) {
    const uint32_t k = (uint32_t)(*c - '0');
    if (k > 9) {
      in = in && *c != '>';
      asked = *c == '?';
      continue;
    }
    if (!asked || (in ? cm_has(&piece->call, k) : cm_c_makes(piece, k))) {
      CM_TRY((in ? cm_c_input : cm_c_output)(piece, k, at, error));
      cm_c_add(arguments, sizeof arguments, arguments[0] != '\0' ? ", %s" : "%s", at);
    }
    asked = false;
  }
  return cm_c_kernel(piece, kernel, words, arguments, error);
}

/* An attribute as a double of C. */
static void attribute(const cm_c_piece *piece, const char *name, float otherwise, char text[48])
{
  cm_c_number((double)cm_node_number(piece->call.node, name, otherwise), false, text);
}

/* ---- pools ---- */

static const char *least_of(cm_type type)
{
  return type == CM_FLOAT ? "-INFINITY" : type == CM_INT8 ? "INT8_MIN" : type == CM_UINT8 ? "0" : NULL;
}

cm_status cm_c_pool(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  const bool mean = call->node->known->variant == CM_VARIANT_MEAN, all = cm_node_integer(call->node, "count_include_pad", 0) != 0;
  char sizes[CM_C_SIZES_MAX] = "", counts[2][80], fixed[40];
  cm_c_plane w;
  CM_TRY(cm_c_plane_read(piece, x, NULL, cm_node_integer(call->node, "ceil_mode", 0) != 0, &w, error));
  if (w.rank > 2 || cm_c_makes(piece, 1) || least_of(x->type) == NULL || (mean && x->type != CM_FLOAT))
    return cm_c_refuse(piece, error, "has a window of %u dimensions over %s, or makes indices, of which C is not written", w.rank, cm_type_name(x->type));
  cm_c_sizes(sizes, "PLANES", (const int64_t[]){x->dims[0] * x->dims[1]});
  for (uint32_t i = 0; i < 2; i++) {
    const char side = i == 0 ? 'H' : 'W', place = i == 0 ? 'y' : 'x';
    cm_c_sizes(sizes, i == 0 ? "IH KH PH DH OH SH" : mean ? "IW KW PW DW" : "IW KW PW DW OW",
               (const int64_t[]){w.in[i], w.kernel[i], w.before[i], w.dilation[i], w.out[i], w.stride[i]});
    if (all)
      (void)snprintf(counts[i], sizeof counts[i], "i%c < I%c + %" PRId64, place, side, w.after[i]);
    else
      (void)snprintf(counts[i], sizeof counts[i], "i%c >= 0 && i%c < I%c", place, place, side);
  }
  (void)snprintf(fixed, sizeof fixed, mean ? "SW = %d, OW = %d" : "SW = %d", (int)w.stride[1], (int)w.out[1]);
  return cm_c_kernel_on(piece, mean ? "mean_pool" : "max_pool", "0>0",
                     WORDS({"T", cm_c_type(x->type)}, {"SIZES", sizes}, {"FIXED", fixed}, {"LEAST", least_of(x->type)}, {"LINE_COUNTS", counts[0]},
                           {"NAN", x->type == CM_FLOAT ? " || isnan(v)" : ""}, {"CELL_COUNTS", counts[1]}), error);
}

/* ---- reductions ---- */

/* In double; and of whole numbers exactly, which wrap: NULL where they are counted in double too. */
typedef struct reduction {
  const char *begin, *step, *result;
} reduction;

static const struct {
  reduction real;
  const char *type;
  reduction whole;
} reductions[CM_VARIANT_COUNT] = {
  [CM_VARIANT_SUM] = {{"0", "sum += v", "sum"}, "uint64_t", {"0", "sum += v", "sum"}},
  [CM_VARIANT_MEAN] = {{"0", "sum += v", "sum / (double)COUNT"}, NULL, {0}},
  [CM_VARIANT_MAX] = {{"-HUGE_VAL", "sum = v > sum || isnan(v) ? v : sum", "sum"}, "int64_t", {"INT64_MIN", "sum = v > sum ? v : sum", "sum"}},
  [CM_VARIANT_MIN] = {{"HUGE_VAL", "sum = v < sum || isnan(v) ? v : sum", "sum"}, "int64_t", {"INT64_MAX", "sum = v < sum ? v : sum", "sum"}},
  [CM_VARIANT_PRODUCT] = {{"1", "sum *= v", "sum"}, "uint64_t", {"1", "sum *= v", "sum"}},
  [CM_VARIANT_L1] = {{"0", "sum += fabs(v)", "sum"}, "uint64_t", {"0", "sum += (int64_t)v < 0 ? 0 - v : v", "sum"}},
  [CM_VARIANT_L2] = {{"0", "sum += v * v", "sqrt(sum)"}, NULL, {0}},
  [CM_VARIANT_SUM_SQUARE] = {{"0", "sum += v * v", "sum"}, "uint64_t", {"0", "sum += v * v", "sum"}},
  [CM_VARIANT_LOG_SUM] = {{"0", "sum += v", "log(sum)"}, NULL, {0}},
  [CM_VARIANT_LOG_SUM_EXP] = {{"0", "sum += isinf(largest) ? 0 : exp(v - largest)", "largest + (isinf(largest) ? 0 : log(sum))"}, NULL, {0}},
};

/* Which dimensions go: those that the output has not, or has as one. */
static cm_status gone_axes(const cm_c_piece *piece, bool gone[CM_RANK_MAX], cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  cm_integers axes;
  memset(gone, 0, CM_RANK_MAX * sizeof *gone);
  if (call->node->known->kernel == cm_kernel_global_pool) {
    for (uint32_t d = 2; d < x->rank; d++)
      gone[d] = true;
    return CM_OK;
  }
  CM_TRY(cm_call_integers(call, "axes", 1, CM_RANK_MAX, &axes, error));
  if (!axes.known)
    return cm_c_refuse(piece, error, "has axes that are no constants");
  for (uint32_t d = 0; d < x->rank; d++)
    gone[d] = axes.count == 0 && cm_node_integer(call->node, "noop_with_empty_axes", 0) == 0;
  for (size_t i = 0; i < axes.count; i++)
    gone[axes.at[i] < 0 ? axes.at[i] + x->rank : axes.at[i]] = true;
  return CM_OK;
}

/* At most three dimensions of one kind as sizes: extents and steps. */
static bool add_dims(const cm_shape *x, const bool *gone, bool which, const char *const names[3], char sizes[CM_C_SIZES_MAX])
{
  int64_t strides[CM_RANK_MAX];
  cm_c_pointwise p = {.input_count = 1};
  cm_strides(x->rank, x->dims, strides);
  for (uint32_t d = 0; d < x->rank; d++)
    if (gone[d] == which) {
      p.dims[p.rank] = x->dims[d];
      p.inputs[0].strides[p.rank++] = strides[d];
    }
  cm_c_join_dims(&p);
  for (uint32_t i = 0; i < 3; i++)
    cm_c_sizes(sizes, names[i], (const int64_t[]){i < p.rank ? p.dims[i] : 1, i < p.rank ? p.inputs[0].strides[i] : 0});
  return p.rank <= 3;
}

cm_status cm_c_reduce(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  const cm_operator_variant kind = call->node->known->variant;
  char sizes[CM_C_SIZES_MAX] = "";
  static const char *const kept[] = {"K0 X0", "K1 X1", "K2 X2"}, *const summed[] = {"G0 S0", "G1 S1", "G2 S2"};
  bool gone[CM_RANK_MAX];
  int64_t count = 1;
  CM_TRY(gone_axes(piece, gone, error));
  for (uint32_t d = 0; d < x->rank; d++)
    count *= gone[d] ? x->dims[d] : 1;
  const bool fits = add_dims(x, gone, false, kept, sizes) && add_dims(x, gone, true, summed, sizes);
  const bool exact = cm_type_is_integer(x->type) && x->type != CM_UINT64 && reductions[kind].type != NULL;
  const reduction *r = exact ? &reductions[kind].whole : &reductions[kind].real;
  char result[80];
  if (!fits || count == 0)
    return cm_c_refuse(piece, error, "reduces %s, of which C is not written", count == 0 ? "no numbers" : "dimensions that lie too far apart");
  if (kind == CM_VARIANT_MEAN)
    cm_c_sizes(sizes, "COUNT", &count);
  (void)snprintf(result, sizeof result, !exact && cm_type_is_integer(x->type) ? "whole(%s)" : "%s", r->result);
  return cm_c_kernel_on(piece, "reduce", "0>0",
                     WORDS({"SIZES", sizes}, {"SUM", exact ? reductions[kind].type : "double"}, {"BEGIN", r->begin}, {"STEP", r->step}, {"RESULT", result},
                           {"T", cm_c_type(x->type)}, {"AHEAD", kind == CM_VARIANT_LOG_SUM_EXP ? cm_c_kernel_find("largest") : ""}), error);
}

/* ---- normalizations ---- */

/* Dimensions [axis, end) as lines. */
static void add_lines(const cm_shape *x, uint32_t axis, uint32_t end, char sizes[CM_C_SIZES_MAX])
{
  const int64_t inner = cm_dims_product(x->dims, end, x->rank);
  cm_c_sizes(sizes, "LINES SIZE INNER", (const int64_t[]){cm_dims_product(x->dims, 0, axis) * inner, cm_dims_product(x->dims, axis, end), inner});
}

/* Families that go along lines, a row each: their kernel, what axis they take where none is said, and whether everything from it on is one
 * dimension before opset 13. */
static const struct {
  cm_kernel_function family;
  const char *kernel;
  int64_t axis;
  bool soft;
} lines[] = {{cm_kernel_softmax, "softmax", -1, true}, {cm_kernel_hardmax, "place", -1, true}, {cm_kernel_arg_reduce, "place", 0, false},
             {cm_kernel_lp_norm, "lp_norm", -1, false}, {cm_kernel_cum_sum, "cumulate", 0, false}};

cm_status cm_c_line(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  const cm_operator_variant kind = call->node->known->variant;
  const bool whole = cm_type_is_integer(x->type), sums = call->node->known->kernel == cm_kernel_cum_sum, hard = call->node->known->kernel == cm_kernel_hardmax;
  char sizes[CM_C_SIZES_MAX] = "", power[48];
  uint32_t axis;
  size_t k = 0;
  while (lines[k].family != call->node->known->kernel)
    k++;
  const bool flat = lines[k].soft && call->opset < 13;
  if (sums && call->value[1] == NULL)
    return cm_c_refuse(piece, error, "has an axis that is no constant, of which C is not written");
  CM_TRY(cm_call_axis(call, sums ? cm_tensor_integer(call->value[1], 0) : cm_node_integer(call->node, "axis", flat ? 1 : lines[k].axis), x->rank, &axis, error));
  add_lines(x, axis, flat ? x->rank : axis + 1, sizes);
  cm_c_number((double)cm_node_integer(call->node, "p", 2), false, power);
  const char *result = sums ? cm_node_integer(call->node, "exclusive", 0) != 0 ? "sum" : "sum + v" : kind == CM_VARIANT_LOG ? "d - log(sum)" : "exp(d) / sum";
  return cm_c_kernel_on(piece, lines[k].kernel, "0>0",
                     WORDS({"EACH_LINE", cm_c_kernel_find("each_line")}, {"SIZES", sizes}, {"T", cm_c_type(x->type)}, {"Y", cm_c_type(call->output[0].type)},
                           {"RESULT", result}, {"SUM", whole ? "uint64_t" : "double"}, {"BACK", cm_node_integer(call->node, "reverse", 0) != 0 ? "SIZE - 1 - " : ""},
                           {"POWER", power}, {"BETTER", kind == CM_VARIANT_MIN ? "<" : ">"},
                           {"LAST", cm_node_integer(call->node, "select_last_index", 0) != 0 ? " || v == best" : ""},
                           {"PLACED", hard ? "for (int i = 0; i < SIZE; i++)\n      y[from - x + i * INNER] = i == place;" : "y[r] = place;"}), error);
}

/* A kernel on the first input that makes outputs of these types, CM_TYPE_NONE behind the last; one that is left out has room nevertheless. */
static cm_status call_with_room(cm_c_piece *piece, const char *kernel, const cm_type *types, const cm_c_word *words, cm_error *error)
{
  const cm_shape *x = &piece->call.input[0];
  char at[CM_C_AT_MAX], arguments[4 * CM_C_AT_MAX] = "";
  CM_TRY(cm_c_input(piece, 0, arguments, error));
  for (uint32_t o = 0; types[o] != CM_TYPE_NONE; o++) {
    if (!cm_c_makes(piece, o))
      cm_c_scratch(piece, types[o], cm_c_count(x->rank, x->dims), at);
    else
      CM_TRY(cm_c_output(piece, o, at, error));
    cm_c_add(arguments, sizeof arguments, ", %s", at);
  }
  return cm_c_kernel(piece, kernel, words, arguments, error);
}

cm_status cm_c_top_k(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0], *y = &call->output[cm_c_makes(piece, 0) ? 0 : 1];
  char sizes[CM_C_SIZES_MAX] = "";
  uint32_t axis;
  if (call->opset >= 10 && call->value[1] == NULL)
    return cm_c_refuse(piece, error, "has a number of elements that is no constant, of which C is not written");
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", -1), x->rank, &axis, error));
  add_lines(x, axis, axis + 1, sizes);
  cm_c_sizes(sizes, "COUNT", &y->dims[axis]);
  return call_with_room(piece, "top_k", (const cm_type[]){x->type, CM_INT64, CM_TYPE_NONE},
                        WORDS({"EACH_LINE", cm_c_kernel_find("each_line")}, {"SIZES", sizes}, {"T", cm_c_type(x->type)},
                              {"BETTER", cm_node_integer(call->node, "largest", 1) != 0 ? ">" : "<"}), error);
}

cm_status cm_c_one_hot(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0], *y = &call->output[0];
  char sizes[CM_C_SIZES_MAX] = "";
  uint32_t axis;
  if (call->value[1] == NULL)
    return cm_c_refuse(piece, error, "has a depth that is no constant, of which C is not written");
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", -1), y->rank, &axis, error));
  add_lines(y, axis, axis + 1, sizes);
  return cm_c_kernel_on(piece, "one_hot", "02>0", WORDS({"SIZES", sizes}, {"T", cm_c_type(x->type)}, {"Y", cm_c_type(y->type)},
                                                        {"INDEX", cm_type_is_integer(x->type) ? "(int64_t)x[r]" : "whole((double)x[r])"}), error);
}

cm_status cm_c_dynamic_quantize(cm_c_piece *piece, cm_error *error)
{
  const int64_t count = cm_dims_product(piece->call.input[0].dims, 0, piece->call.input[0].rank);
  char sizes[CM_C_SIZES_MAX] = "";
  cm_c_sizes(sizes, "COUNT", &count);
  return call_with_room(piece, "dynamic_quantize", (const cm_type[]){CM_UINT8, CM_FLOAT, CM_UINT8, CM_TYPE_NONE}, WORDS({"SIZES", sizes}), error);
}

/* InstanceNormalization, LayerNormalization and RMSNormalization. */
cm_status cm_c_normalize(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  const bool instance = call->node->known->kernel == cm_kernel_instance_norm, bias = cm_has(call, 2);
  char sizes[CM_C_SIZES_MAX] = "", place[40], epsilon[48], kernel_bias[80] = "", made[80] = "", kept[120] = "";
  static const char *const more[] = {"mean", "deviation"};
  uint32_t axis = 2;
  if (!instance && cm_call_axis(call, cm_node_integer(call->node, "axis", -1), x->rank, &axis, error) != CM_OK)
    return error->status;
  for (uint32_t o = 1; o < 3; o++)
    if (cm_c_makes(piece, o)) {
      cm_c_add(made, sizeof made, ", float *restrict %ss", more[o - 1]);
      cm_c_add(kept, sizeof kept, "    %ss[r] = (float)%s;\n", more[o - 1], more[o - 1]);
    }
  const int64_t scales = cm_c_count(call->input[1].rank, call->input[1].dims), size = cm_dims_product(x->dims, axis, x->rank);
  if (instance)
    (void)snprintf(place, sizeof place, "r %% %" PRId64, x->dims[1]);
  else
    (void)snprintf(place, sizeof place, scales == size ? "i" : "i %% %" PRId64, scales);
  attribute(piece, "epsilon", 1e-5F, epsilon);
  cm_c_sizes(sizes, "LINES SIZE", (const int64_t[]){cm_dims_product(x->dims, 0, axis), size});
  if (bias)
    (void)snprintf(kernel_bias, sizeof kernel_bias, " + (double)bias[%s]", place);
  return cm_c_kernel_on(piece, call->node->known->kernel == cm_kernel_rms_norm ? "rms" : "normalize", "01?2>0?1?2",
                     WORDS({"SIZES", sizes}, {"MORE", bias ? "const float *restrict bias, " : ""}, {"EPSILON", epsilon}, {"PLACE", place}, {"BIAS", kernel_bias},
                           {"MADE", made}, {"KEPT", kept}, {"T", cm_c_type(x->type)}), error);
}

cm_status cm_c_lrn(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  const int64_t size = cm_node_integer(call->node, "size", 1);
  char sizes[CM_C_SIZES_MAX] = "", alpha[48], beta[48], base[48];
  cm_c_number((double)cm_node_number(call->node, "alpha", 1e-4F) / (double)size, false, alpha);
  attribute(piece, "beta", 0.75F, beta);
  attribute(piece, "bias", 1, base);
  cm_c_sizes(sizes, "COUNT PLANE CHANNELS BEFORE AFTER",
             (const int64_t[]){cm_dims_product(x->dims, 0, x->rank), cm_dims_product(x->dims, 2, x->rank), x->dims[1], (size - 1) / 2, size - 1 - (size - 1) / 2});
  return cm_c_kernel_on(piece, "lrn", "0>0", WORDS({"SIZES", sizes}, {"BASE", base}, {"ALPHA", alpha}, {"BETA", beta}), error);
}

/* ---- tables ---- */

cm_status cm_c_gather(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  uint32_t axis;
  char sizes[CM_C_SIZES_MAX] = "";
  if (call->value[1] != NULL)
    return cm_c_moved(piece, error);
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &axis, error));
  if (x->dims[axis] == 0 || cm_c_type(x->type) == NULL)
    return cm_c_refuse(piece, error, "reads a table without rows or of %s, of which C is not written", cm_type_name(x->type));
  cm_c_sizes(sizes, "OUTER EXTENT COUNT BYTES", (const int64_t[]){cm_dims_product(x->dims, 0, axis), x->dims[axis], cm_c_count(k->rank, k->dims),
                                                                  cm_dims_product(x->dims, axis + 1, x->rank) * (int64_t)cm_type_bytes(x->type)});
  return cm_c_kernel_on(piece, "gather", "01>0", WORDS({"SIZES", sizes}, {"INDEX", cm_c_type(k->type)}), error);
}
