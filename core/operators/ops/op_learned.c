/* Operators of domain ai.onnx.ml that are sums or scales: Scaler, Normalizer, LinearClassifier, LinearRegressor; and what they share with
 * ensembles of trees (op_trees.c). Sources: ONNX, docs/Operators-ml.md. */
#include <math.h>
#include <string.h>

#include "core/operators/ops/learned.h"

/* ---- shared ---- */

cm_status cm_learned_rows(const cm_call *call, int64_t *rows, int64_t *columns, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  *rows = *columns = CM_UNKNOWN_DIM;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank < 1 || x->rank > 2)
    return cm_call_fail(call, error, "needs rows of features, of one or two dimensions");
  *rows = x->rank == 2 ? x->dims[0] : 1;
  *columns = x->dims[x->rank - 1];
  return CM_OK;
}

static cm_status find(const cm_call *call, const char *name, bool needed, size_t length, const cm_attribute **a, cm_error *error)
{
  *a = cm_node_attribute(call->node, name);
  if (*a == NULL && needed)
    return cm_call_fail(call, error, "has no attribute %s", name);
  if (*a != NULL && length > 0 && (*a)->count != length)
    return cm_call_fail(call, error, "its attribute %s has %zu numbers; it should have %zu", name, (*a)->count, length);
  return CM_OK;
}

cm_status cm_learned_integers(const cm_call *call, const char *name, bool needed, const int64_t **list, size_t *count, cm_error *error)
{
  const cm_attribute *a;
  CM_TRY(find(call, name, needed, *count, &a, error));
  *list = a != NULL ? a->integers : NULL;
  *count = a != NULL ? a->count : 0;
  return CM_OK;
}

cm_status cm_learned_numbers(const cm_call *call, const char *name, bool needed, const float **list, size_t *count, cm_error *error)
{
  const cm_attribute *a;
  CM_TRY(find(call, name, needed, *count, &a, error));
  *list = a != NULL ? a->numbers : NULL;
  *count = a != NULL ? a->count : 0;
  return CM_OK;
}

cm_status cm_learned_classes(cm_call *call, const char *labels, int64_t *classes, cm_error *error)
{
  const int64_t *list;
  size_t count = 0;
  int64_t rows, columns;
  if (cm_node_attribute(call->node, "classlabels_strings") != NULL)
    return cm_call_fail(call, error, "its labels are text; numbers are computed: %s", labels);
  CM_TRY(cm_learned_integers(call, labels, true, &list, &count, error));
  CM_TRY(cm_learned_rows(call, &rows, &columns, error));
  if (count < 2)
    return cm_call_fail(call, error, "has %zu labels; it needs two at least", count);
  *classes = (int64_t)count;
  call->output[0] = (cm_shape){.type = CM_INT64, .rank = 1, .dims = {rows}};
  if (call->output_count > 1)
    call->output[1] = (cm_shape){.type = CM_FLOAT, .rank = 2, .dims = {rows, *classes}};
  return cm_learned_check_post(call, error);
}

cm_status cm_learned_check_post(const cm_call *call, cm_error *error)
{
  static const char *const known[] = {"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"};
  const char *post = cm_node_text(call->node, "post_transform", "NONE");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(post, known[i]) == 0)
      return CM_OK;
  return cm_call_fail(call, error, "its attribute post_transform is %.40s; NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO and PROBIT are computed", post);
}

static float logistic(float x)
{
  const float v = 1 / (1 + expf(-fabsf(x)));
  return x < 0 ? 1 - v : v;
}

/* The inverse of the normal distribution, by Winitzki's approximation of that of erf, as ONNX Runtime has it. */
static float probit(float x)
{
  const float y = 2 * x - 1, log = logf((1 - y) * (1 + y)), v = 2 / (3.14159f * 0.147f) + 0.5f * log;
  return 1.41421356f * copysignf(sqrtf(-v + sqrtf(v * v - 1 / 0.147f * log)), y);
}

static void softmax(float *scores, size_t count, bool zeros_stay)
{
  const float most = scores[cm_learned_best(scores, count)];
  float sum = 0;
  for (size_t i = 0; i < count; i++) {
    const bool stays = zeros_stay && fabsf(scores[i]) <= 1e-7f;
    scores[i] = stays ? 0 : expf(scores[i] - most);
    sum += scores[i];
  }
  for (size_t i = 0; i < count && sum > 0; i++)
    scores[i] /= sum;
}

void cm_learned_post(const cm_node *node, float *scores, size_t count)
{
  const char *post = cm_node_text(node, "post_transform", "NONE");
  for (size_t i = 0; i < count; i++)
    if (strcmp(post, "LOGISTIC") == 0)
      scores[i] = logistic(scores[i]);
    else if (strcmp(post, "PROBIT") == 0)
      scores[i] = probit(scores[i]);
  if (strncmp(post, "SOFTMAX", 7) == 0 && count > 0)
    softmax(scores, count, strcmp(post, "SOFTMAX_ZERO") == 0);
}

size_t cm_learned_best(const float *scores, size_t count)
{
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    best = scores[i] > scores[best] ? i : best;
  return best;
}

/* ---- Scaler and Normalizer ---- */

/* The list has a number for all features, or one for each. */
static cm_status scale_list(const cm_call *call, const char *name, int64_t columns, const float **list, size_t *count, cm_error *error)
{
  *count = 0;
  CM_TRY(cm_learned_numbers(call, name, false, list, count, error));
  if (*count > 1 && columns >= 0 && *count != (size_t)columns)
    return cm_call_fail(call, error, "its attribute %s has %zu numbers for %lld features", name, *count, (long long)columns);
  return CM_OK;
}

cm_status cm_shape_scaler(cm_call *call, cm_error *error)
{
  int64_t rows, columns;
  const float *list;
  size_t count;
  call->output[0] = call->input[0];
  call->output[0].type = CM_FLOAT;
  CM_TRY(cm_learned_rows(call, &rows, &columns, error));
  CM_TRY(scale_list(call, "offset", columns, &list, &count, error));
  return scale_list(call, "scale", columns, &list, &count, error);
}

cm_status cm_kernel_scaler(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  const uint64_t columns = x->rank > 0 ? (uint64_t)x->dims[x->rank - 1] : 1;
  const float *offset, *scale;
  size_t offsets, scales;
  CM_TRY(scale_list(call, "offset", (int64_t)columns, &offset, &offsets, error));
  CM_TRY(scale_list(call, "scale", (int64_t)columns, &scale, &scales, error));
  for (uint64_t i = 0; i < x->count; i++) {
    const float o = offsets > 0 ? offset[offsets > 1 ? i % columns : 0] : 0, s = scales > 0 ? scale[scales > 1 ? i % columns : 0] : 1;
    ((float *)call->result[0]->data)[i] = ((float)cm_tensor_number(x, i) - o) * s;
  }
  return CM_OK;
}

cm_status cm_shape_normalizer(cm_call *call, cm_error *error)
{
  const char *norm = cm_node_text(call->node, "norm", "MAX");
  int64_t rows, columns;
  call->output[0] = call->input[0];
  call->output[0].type = CM_FLOAT;
  if (strcmp(norm, "MAX") != 0 && strcmp(norm, "L1") != 0 && strcmp(norm, "L2") != 0)
    return cm_call_fail(call, error, "its attribute norm is %.40s; MAX, L1 and L2 are computed", norm);
  return cm_learned_rows(call, &rows, &columns, error);
}

/* A row without a norm stays as it is. */
cm_status cm_kernel_normalizer(cm_call *call, CM_UNUSED cm_error *error)
{
  const char *norm = cm_node_text(call->node, "norm", "MAX");
  const cm_tensor *x = call->value[0];
  const uint64_t columns = x->rank > 0 ? (uint64_t)x->dims[x->rank - 1] : 1;
  float *y = call->result[0]->data;
  for (uint64_t from = 0; columns > 0 && from < x->count; from += columns) {
    float by = strcmp(norm, "MAX") == 0 ? -HUGE_VALF : 0;
    for (uint64_t i = from; i < from + columns; i++) {
      const float number = y[i] = (float)cm_tensor_number(x, i);
      by = strcmp(norm, "MAX") == 0 ? fmaxf(by, number) : by + (strcmp(norm, "L1") == 0 ? fabsf(number) : number * number);
    }
    by = strcmp(norm, "L2") == 0 ? sqrtf(by) : by;
    for (uint64_t i = from; i < from + columns; i++)
      y[i] = by < 0 || by > 0 ? y[i] / by : y[i];
  }
  return CM_OK;
}

/* ---- LinearClassifier and LinearRegressor ---- */

/* Weights and what is added, for so many results of each row. */
typedef struct linear {
  const float *weight, *bias;
  size_t weights, biases;
} linear;

static cm_status read_linear(const cm_call *call, int64_t columns, size_t results, linear *l, cm_error *error)
{
  *l = (linear){.weights = columns >= 0 ? (size_t)columns * results : 0, .biases = results};
  CM_TRY(cm_learned_numbers(call, "coefficients", true, &l->weight, &l->weights, error));
  return cm_learned_numbers(call, "intercepts", false, &l->bias, &l->biases, error);
}

static void compute_row(const cm_tensor *x, uint64_t row, uint64_t columns, const linear *l, float *scores, size_t results)
{
  for (size_t r = 0; r < results; r++) {
    scores[r] = l->biases > 0 ? l->bias[r] : 0;
    for (uint64_t i = 0; i < columns; i++)
      scores[r] += (float)cm_tensor_number(x, row * columns + i) * l->weight[r * columns + i];
  }
}

static size_t targets_of(const cm_call *call)
{
  const int64_t targets = cm_node_integer(call->node, "targets", 1);
  return targets > 0 && targets < INT32_MAX ? (size_t)targets : 1;
}

cm_status cm_shape_linear_regressor(cm_call *call, cm_error *error)
{
  linear l;
  int64_t rows, columns;
  CM_TRY(cm_learned_rows(call, &rows, &columns, error));
  CM_TRY(read_linear(call, columns, targets_of(call), &l, error));
  call->output[0] = (cm_shape){.type = CM_FLOAT, .rank = 2, .dims = {rows, (int64_t)targets_of(call)}};
  return cm_learned_check_post(call, error);
}

cm_status cm_kernel_linear_regressor(cm_call *call, cm_error *error)
{
  const size_t targets = targets_of(call);
  const uint64_t rows = (uint64_t)call->output[0].dims[0], columns = rows > 0 ? call->value[0]->count / rows : 0;
  float *y = call->result[0]->data;
  linear l;
  CM_TRY(read_linear(call, (int64_t)columns, targets, &l, error));
  for (uint64_t r = 0; r < rows; r++) {
    compute_row(call->value[0], r, columns, &l, y + r * targets, targets);
    cm_learned_post(call->node, y + r * targets, targets);
  }
  return CM_OK;
}

cm_status cm_shape_linear_classifier(cm_call *call, cm_error *error)
{
  linear l;
  int64_t rows, columns, classes;
  CM_TRY(cm_learned_classes(call, "classlabels_ints", &classes, error));
  CM_TRY(cm_learned_rows(call, &rows, &columns, error));
  return read_linear(call, columns, (size_t)classes, &l, error);
}

cm_status cm_kernel_linear_classifier(cm_call *call, cm_error *error)
{
  const cm_attribute *labels = cm_node_attribute(call->node, "classlabels_ints");
  const size_t classes = labels->count;
  const uint64_t rows = (uint64_t)call->output[0].dims[0], columns = rows > 0 ? call->value[0]->count / rows : 0;
  float *scores;
  linear l;
  CM_TRY(read_linear(call, (int64_t)columns, classes, &l, error));
  CM_TRY(CM_NEW(call->memory, scores, classes, error));
  for (uint64_t r = 0; r < rows; r++) {
    compute_row(call->value[0], r, columns, &l, scores, classes);
    if (call->result[0] != NULL)
      ((int64_t *)call->result[0]->data)[r] = labels->integers[cm_learned_best(scores, classes)];
    cm_learned_post(call->node, scores, classes);
    if (call->output_count > 1 && call->result[1] != NULL)
      memcpy((float *)call->result[1]->data + r * classes, scores, classes * sizeof *scores);
  }
  cm_free(scores);
  return CM_OK;
}
