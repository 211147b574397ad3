/* Elements at places that come when it runs, sums of products of any dimensions, and numbers between others. */
#include <string.h>

#include "core/csource/text/writer.h"

/* ---- GatherElements, GatherND and what scatters ---- */

/* What becomes of *o and the update a, of floating point and of whole numbers. */
static const struct {
  const char *name, *real, *whole;
} reductions[] = {{"none", "a", "a"}, {"add", "*o + a", "(uint64_t)*o + (uint64_t)a"}, {"mul", "*o * a", "(uint64_t)*o * (uint64_t)a"},
                  {"max", "*o > a ? *o : a", "*o > a ? *o : a"}, {"min", "*o < a ? *o : a", "*o < a ? *o : a"}};

/* The dimensions that are gone through, what is skipped in x at each of them, and what the indices do. */
typedef struct indexed {
  uint32_t rank, count, first; /* indices that name a place together, of dimensions of x from `first` on; elements: 1 */
  int64_t dims[4 * CM_RANK_MAX], steps[CM_RANK_MAX], index_steps[CM_RANK_MAX];
} indexed;

/* Of tuples: batches, tuples of each, and elements of a block. */
static void read_tuples(const cm_call *call, bool gathers, indexed *n)
{
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  n->count = (uint32_t)k->dims[k->rank - 1];
  n->first = gathers ? (uint32_t)cm_node_integer(call->node, "batch_dims", 0) : 0;
  n->rank = 3;
  n->dims[0] = cm_dims_product(k->dims, 0, n->first);
  n->dims[1] = cm_dims_product(k->dims, n->first, k->rank - 1);
  n->dims[2] = cm_dims_product(x->dims, n->first + n->count, x->rank);
  n->steps[0] = cm_dims_product(x->dims, n->first, x->rank);
  n->steps[1] = 0;
  n->steps[2] = 1;
  n->index_steps[0] = n->dims[1] * n->count;
  n->index_steps[1] = n->count;
}

static cm_status read_elements(const cm_call *call, indexed *n, cm_error *error)
{
  const cm_shape *x = &call->input[0], *k = &call->input[1];
  CM_TRY(cm_call_axis(call, cm_node_integer(call->node, "axis", 0), x->rank, &n->first, error));
  n->rank = k->rank;
  n->count = 1;
  memcpy(n->dims, k->dims, k->rank * sizeof *k->dims);
  cm_strides(x->rank, x->dims, n->steps);
  n->steps[n->first] = 0;
  cm_strides(k->rank, k->dims, n->index_steps);
  return CM_OK;
}

cm_status cm_c_indexed(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_kernel_function family = call->node->known->kernel;
  const bool gathers = family == cm_kernel_gather_elements || family == cm_kernel_gather_nd, elements = family == cm_kernel_gather_elements || family == cm_kernel_scatter_elements;
  const cm_shape *x = &call->input[0], *y = &call->output[0];
  char place[600] = "", expression[700], at[2][CM_C_AT_MAX];
  int64_t strides[CM_RANK_MAX];
  indexed n = {0};
  if (elements)
    CM_TRY(read_elements(call, &n, error));
  else
    read_tuples(call, gathers, &n);
  cm_c_pointwise p = {.stem = call->node->op, .rank = n.rank, .input_count = n.count + 1, .output_count = 1, .expressions = {expression}};
  memcpy(p.dims, n.dims, sizeof p.dims);
  cm_strides(x->rank, x->dims, strides);
  CM_TRY(cm_c_input(piece, 1, at[0], error));
  for (uint32_t k = 0; k < n.count; k++) {
    cm_c_stream *index = &p.inputs[k + 1];
    index->type = call->input[1].type;
    memcpy(index->strides, n.index_steps, sizeof n.index_steps);
    (void)snprintf(index->at, sizeof index->at, k > 0 ? "%.70s + %u" : "%.70s", at[0], k);
    cm_c_add(place, sizeof place, "%snearest(%c, `%lld`) * `%lld`", k > 0 ? " + " : "", (char)('b' + k), (long long)x->dims[n.first + k], (long long)strides[n.first + k]);
  }
  cm_c_stream *other = &p.inputs[0], *moved = gathers ? other : &p.outputs[0], *dense = gathers ? &p.outputs[0] : other;
  CM_TRY(cm_c_output(piece, 0, p.outputs[0].at, error));
  CM_TRY(cm_c_input(piece, gathers ? 0 : 2, other->at, error));
  p.outputs[0].type = other->type = y->type;
  memcpy(moved->strides, n.steps, sizeof n.steps);
  cm_strides(n.rank, n.dims, dense->strides);
  if (gathers) {
    other->address = true;
    (void)snprintf(expression, sizeof expression, "a[%s]", place);
    return cm_c_pointwise_call(piece, &p, error);
  }
  size_t r = 0;
  while (strcmp(reductions[r].name, cm_node_text(call->node, "reduction", "none")) != 0)
    r++;
  CM_TRY(cm_c_input(piece, 0, at[1], error));
  if (strcmp(at[1], p.outputs[0].at) != 0)
    fprintf(piece->w->body[piece->lane].stream, "  memcpy(%s, %s, %zu);\n", p.outputs[0].at, at[1], (size_t)cm_c_count(x->rank, x->dims) * cm_type_bytes(x->type));
  (void)snprintf(expression, sizeof expression, "(%s)(%s)", cm_c_type(y->type), cm_type_is_integer(y->type) ? reductions[r].whole : reductions[r].real);
  p.place = place;
  return cm_c_pointwise_call(piece, &p, error);
}

/* ---- Einsum ---- */

cm_status cm_c_einsum(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_type type = call->output[0].type;
  char sum[200] = "";
  cm_einsum_walk w;
  CM_TRY(cm_einsum_walk_of(call, &w, error));
  if (w.count > CM_RANK_MAX || call->input_count > CM_C_STREAMS)
    return cm_c_refuse(piece, error, "has more than %d labels or %d inputs, of which C is not written", CM_RANK_MAX, CM_C_STREAMS);
  cm_c_pointwise p = {.stem = "Einsum", .rank = w.count, .input_count = call->input_count, .output_count = 1, .sum = sum};
  p.expressions[0] = type == CM_FLOAT ? "(float)s" : type == CM_DOUBLE ? "s" : NULL;
  if (p.expressions[0] == NULL)
    return cm_c_refuse(piece, error, "computes %s, of which C is not written", cm_type_name(type));
  memcpy(p.dims, w.dims, sizeof p.dims);
  CM_TRY(cm_c_output_stream(piece, 0, &p.outputs[0], error));
  for (uint32_t k = 0; k < call->input_count; k++) {
    p.inputs[k].type = call->input[k].type;
    memcpy(p.inputs[k].strides, w.step[k], sizeof p.inputs[k].strides);
    CM_TRY(cm_c_input(piece, k, p.inputs[k].at, error));
    cm_c_add(sum, sizeof sum, "%s(double)%c", k > 0 ? " * " : "", (char)('a' + k));
  }
  return cm_c_pointwise_call(piece, &p, error);
}

/* ---- Trilu ---- */

cm_status cm_c_trilu(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0];
  const bool comes = cm_has(call, 1) && call->value[1] == NULL;
  char sizes[CM_C_SIZES_MAX] = "", number[32];
  (void)snprintf(number, sizeof number, "%lld", cm_has(call, 1) && !comes ? (long long)cm_tensor_integer(call->value[1], 0) : 0);
  cm_c_sizes(sizes, "LINES ROWS SIZE", (const int64_t[]){cm_dims_product(x->dims, 0, x->rank - 1), x->dims[x->rank - 2], x->dims[x->rank - 1]});
  return cm_c_kernel_on(piece, "trilu", comes ? "01>0" : "0>0",
                        WORDS({"SIZES", sizes}, {"T", cm_c_type(x->type)}, {"MORE", comes ? "const int64_t *restrict k, " : ""}, {"NUMBER", comes ? "k[0]" : number},
                              {"KEEPS", cm_node_integer(call->node, "upper", 1) != 0 ? ">=" : "<="}), error);
}

/* ---- Resize between elements ---- */

/* Weights and places of an axis, or of none, as arrays of the code; *taps of them for each element that is made. */
static cm_status add_taps(cm_c_piece *piece, uint32_t axis, uint32_t *count, char *arguments, cm_error *error)
{
  const int64_t made = axis == CM_NONE ? 1 : piece->call.output[0].dims[axis];
  cm_taps taps = {.count = 1, .weights = {1}};
  cm_tensor *w = NULL, *p = NULL;
  char at[2][CM_C_AT_MAX];
  cm_status status = CM_OK;
  for (int64_t x = 0; status == CM_OK && x < made; x++) {
    if (axis != CM_NONE && !cm_resize_weights(&piece->call, axis, x, &taps))
      status = cm_c_refuse(piece, error, "takes more than %d elements for one, of which C is not written", CM_TAPS_MOST);
    const int64_t all = made * taps.count;
    CM_THEN_IF(status, w == NULL, cm_tensor_new(piece->w->memory, CM_DOUBLE, 1, &all, &w, error));
    CM_THEN_IF(status, p == NULL, cm_tensor_new(piece->w->memory, CM_INT32, 1, &all, &p, error));
    for (uint32_t k = 0; status == CM_OK && k < taps.count; k++) {
      ((double *)w->data)[x * taps.count + k] = taps.weights[k];
      ((int32_t *)p->data)[x * taps.count + k] = (int32_t)taps.places[k];
    }
  }
  *count = taps.count;
  CM_THEN(status, cm_c_array(piece->w, w, at[0], error));
  CM_THEN(status, cm_c_array(piece->w, p, at[1], error));
  if (status == CM_OK)
    cm_c_add(arguments, 6 * CM_C_AT_MAX, ", %s, %s", at[0], at[1]);
  cm_tensor_free(w);
  cm_tensor_free(p);
  return status;
}

cm_status cm_c_resize(cm_c_piece *piece, cm_error *error)
{
  const cm_call *call = &piece->call;
  const cm_shape *x = &call->input[0], *y = &call->output[0];
  uint32_t axes[2] = {CM_NONE, CM_NONE}, count = 0, taps[2];
  char sizes[CM_C_SIZES_MAX] = "", arguments[6 * CM_C_AT_MAX] = "", at[CM_C_AT_MAX];
  const uint32_t place = call->opset < 11 ? 1 : 2;
  if (strcmp(cm_node_text(call->node, "mode", "nearest"), "nearest") == 0)
    return cm_c_moved(piece, error);
  if (strcmp(cm_node_text(call->node, "coordinate_transformation_mode", ""), "tf_crop_and_resize") == 0)
    return cm_c_refuse(piece, error, "resizes a region, of which C is not written");
  for (uint32_t k = place; k < call->input_count; k++)
    if (cm_has(call, k) && call->value[k] == NULL)
      return cm_c_refuse(piece, error, "has scales or sizes that are no constants, of which C is not written");
  for (uint32_t d = 0; d < x->rank; d++)
    if (cm_resize_taps(call, d) > 0 && count++ < 2)
      axes[count - 1] = d;
  if (count > 2)
    return cm_c_refuse(piece, error, "interpolates along %u axes, of at most 2 are written", count);
  const uint32_t a = count > 0 ? axes[0] : 0, b = count > 1 ? axes[1] : a;
  CM_TRY(cm_c_input(piece, 0, arguments, error));
  for (uint32_t k = 0; k < 2; k++)
    CM_TRY(add_taps(piece, axes[k], &taps[k], arguments, error));
  CM_TRY(cm_c_output(piece, 0, at, error));
  cm_c_add(arguments, sizeof arguments, ", %s", at);
  cm_c_sizes(sizes, "OUTER HEIGHT ROWS TAPS MIDDLE WIDTH COLUMNS OTHERS INNER",
             (const int64_t[]){cm_dims_product(x->dims, 0, a), count > 0 ? x->dims[a] : 1, count > 0 ? y->dims[a] : 1, taps[0],
                               count > 1 ? cm_dims_product(x->dims, a + 1, b) : 1, count > 1 ? x->dims[b] : 1, count > 1 ? y->dims[b] : 1, taps[1],
                               cm_dims_product(x->dims, count > 0 ? b + 1 : 0, x->rank)});
  return cm_c_kernel(piece, "interpolate", WORDS({"SIZES", sizes}), arguments, error);
}
