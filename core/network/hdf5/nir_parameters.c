/* The parameters of a NIR node, by its kind. What can fail: one that is missing, of another shape or out of range. */
#include <math.h>
#include <string.h>

#include "core/network/hdf5/nir.h"

cm_status nir_read_weight(const cm_h5 *h5, hid_t group, const char *name, nir_node *n, cm_error *error)
{
  cm_h5_extents is;
  CM_TRY(cm_h5_reals(h5, group, name, &n->weight, &is, error));
  if (is.rank > NIR_RANK_MAX)
    return cm_h5_bad(h5, group, name, "it has more than 6 dimensions", error);
  n->weight_shape = (nir_shape){.rank = is.rank, .count = 1};
  for (int i = 0; i < is.rank; i++) {
    n->weight_shape.dim[i] = is.dim[i];
    n->weight_shape.count *= is.dim[i];
  }
  for (uint64_t i = 0; i < n->weight_shape.count; i++)
    if (!isfinite(n->weight[i]))
      return cm_h5_bad(h5, group, name, "a number is infinite or undefined", error);
  return n->weight_shape.count > 0 ? CM_OK : cm_h5_bad(h5, group, name, "it is empty", error);
}

/* Numbers of a parameter, such as the model allows; of a bias, finite. */
static cm_status read_numbers(const cm_h5 *h5, hid_t group, const char *name, nir_node *n, cm_neuron_parameter parameter, cm_error *error)
{
  nir_node read = {0};
  cm_status status = nir_read_weight(h5, group, name, &read, error);
  float *value = NULL;
  CM_THEN(status, CM_NEW(h5->memory, value, read.weight_shape.count, error));
  for (uint64_t i = 0; status == CM_OK && i < read.weight_shape.count; i++) {
    value[i] = (float)read.weight[i];
    if (cm_neuron_allows(n->model, parameter, value[i]))
      continue;
    status = cm_h5_bad(h5, group, name, cm_say("number %llu is %g; %s is expected", (unsigned long long)i, read.weight[i],
                                               isfinite(value[i]) ? "a number above 0" : "a number of 32 bits").text, error);
  }
  cm_free(read.weight);
  CM_TRY_OR(status, cm_free(value));
  n->parameter[parameter] = (nir_numbers){value, read.weight_shape};
  return CM_OK;
}

static cm_status read_neurons(const cm_h5 *h5, hid_t group, nir_node *n, cm_error *error)
{
  n->model = cm_neuron_model_find(n->type, strlen(n->type));
  for (cm_neuron_parameter p = 0; p < CM_PARAMETER_BIAS; p++) {
    const cm_neuron_parameter_row *row = &cm_neuron_parameters[p];
    const char *name = cm_h5_has(group, row->name) || row->nir_name == NULL ? row->name : row->nir_name;
    if (!cm_neuron_has(n->model, p) || !cm_h5_has(group, name))
      continue;
    CM_TRY(read_numbers(h5, group, name, n, p, error));
    const nir_shape *shape = &n->parameter[p].shape;
    if (shape->count > n->own.count || (shape->count == n->own.count && shape->rank > n->own.rank))
      n->own = *shape;
  }
  return CM_OK;
}

static cm_status read_bias(const cm_h5 *h5, hid_t group, nir_node *n, cm_error *error)
{
  const nir_numbers *bias = &n->parameter[CM_PARAMETER_BIAS];
  if (!cm_h5_has(group, "bias"))
    return CM_OK;
  CM_TRY(read_numbers(h5, group, "bias", n, CM_PARAMETER_BIAS, error));
  if (bias->shape.count == n->weight_shape.dim[0])
    return CM_OK;
  return cm_h5_bad(h5, group, "bias", cm_say("it has %llu numbers; one for each of the %llu outputs is expected",
                                             (unsigned long long)bias->shape.count, (unsigned long long)n->weight_shape.dim[0]).text, error);
}

cm_status nir_read_axes(const cm_h5 *h5, hid_t group, const char *name, int64_t least, int64_t value[2], bool *found,
                           cm_error *error)
{
  double *read;
  cm_h5_extents is;
  *found = cm_h5_has(group, name);
  if (!*found)
    return CM_OK;
  CM_TRY(cm_h5_reals(h5, group, name, &read, &is, error));
  uint64_t count = is.rank == 0 ? 1 : is.rank == 1 ? is.dim[0] : 0;
  bool good = count == 1 || count == 2;
  for (uint64_t i = 0; i < 2 && good; i++) {
    double number = read[count == 1 ? 0 : i];
    good = number >= (double)least && number <= 1 << 20 && number == trunc(number);
    value[i] = good ? (int64_t)number : 0;
  }
  cm_free(read);
  return good ? CM_OK : cm_h5_bad(h5, group, name, "one or two whole numbers in range are expected", error);
}

static cm_status read_padding(const cm_h5 *h5, hid_t group, nir_node *n, cm_error *error)
{
  int64_t padding[2] = {0, 0};
  bool found;
  char text[16];
  hid_t data;
  if (!cm_h5_has(group, "padding"))
    return CM_OK;
  CM_TRY(cm_h5_object(h5, group, "padding", &data, error));
  hid_t type = H5Iget_type(data) == H5I_DATASET ? H5Dget_type(data) : -1;
  bool is_text = type >= 0 && H5Tget_class(type) == H5T_STRING;
  (void)H5Tclose(type);
  (void)H5Oclose(data);
  if (is_text) {
    CM_TRY(cm_h5_string(h5, group, "padding", text, sizeof text, error));
    n->same = strcmp(text, "same") == 0;
    return n->same || strcmp(text, "valid") == 0 ? CM_OK
                                                 : cm_h5_bad(h5, group, "padding", "numbers, same or valid is expected", error);
  }
  CM_TRY(nir_read_axes(h5, group, "padding", 0, padding, &found, error));
  for (int i = 0; i < 2; i++)
    n->axis[i].before = n->axis[i].after = padding[i];
  return CM_OK;
}

/* A parameter of every node that has a window: "stride" and so on of the right axis. */
static cm_status read_window(const cm_h5 *h5, hid_t group, nir_node *n, cm_error *error)
{
  int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, kernel[2] = {1, 1}, groups[2] = {1, 1}, size[2];
  bool found, sized = false;
  if (n->kind == NIR_POOL) {
    CM_TRY(nir_read_axes(h5, group, "kernel_size", 1, kernel, &found, error));
    if (!found)
      return cm_h5_bad(h5, group, "kernel_size", "it is missing", error);
    memcpy(stride, kernel, sizeof stride);
    n->average = strcmp(n->type, "AvgPool2d") == 0;
  } else {
    int expected = strcmp(n->type, "Conv1d") == 0 ? 3 : 4;
    CM_TRY(nir_read_weight(h5, group, "weight", n, error));
    if (n->weight_shape.rank != expected)
      return cm_h5_bad(h5, group, "weight", expected == 3 ? "outputs x inputs x width is expected"
                                                          : "outputs x inputs x height x width is expected", error);
    kernel[0] = expected == 3 ? 1 : (int64_t)n->weight_shape.dim[2];
    kernel[1] = (int64_t)n->weight_shape.dim[expected - 1];
    CM_TRY(nir_read_axes(h5, group, "groups", 1, groups, &found, error));
    n->groups = groups[0];
    if (n->weight_shape.dim[0] % (uint64_t)n->groups != 0)
      return cm_h5_bad(h5, group, "groups", "the outputs cannot be divided in as many groups", error);
    CM_TRY(nir_read_axes(h5, group, "input_shape", 1, size, &sized, error));
  }
  CM_TRY(nir_read_axes(h5, group, "stride", 1, stride, &found, error));
  CM_TRY(nir_read_axes(h5, group, "dilation", 1, dilation, &found, error));
  CM_TRY(read_padding(h5, group, n, error));
  for (int i = 0; i < 2; i++) {
    bool flat = n->weight_shape.rank == 3 && i == 0; /* the axis that a Conv1d has not */
    n->axis[i].kernel = kernel[i];
    n->axis[i].stride = flat ? 1 : stride[i];
    n->axis[i].dilation = flat ? 1 : dilation[i];
    if (flat)
      n->axis[i].before = n->axis[i].after = 0;
    if (n->same) {
      int64_t all = n->axis[i].dilation * (kernel[i] - 1);
      n->axis[i].before = all / 2;
      n->axis[i].after = all - all / 2;
    }
  }
  if (sized && n->kind == NIR_CONV) {
    bool flat = n->weight_shape.rank == 3;
    uint64_t channels = n->weight_shape.dim[1] * (uint64_t)n->groups;
    n->own = flat ? (nir_shape){2, {channels, (uint64_t)size[1]}, channels * (uint64_t)size[1]}
                  : (nir_shape){3, {channels, (uint64_t)size[0], (uint64_t)size[1]},
                                channels * (uint64_t)size[0] * (uint64_t)size[1]};
  }
  return CM_OK;
}

static cm_status read_input(const cm_h5 *h5, hid_t group, nir_node *n, cm_error *error)
{
  double *shape;
  uint64_t all = 1;
  cm_h5_extents is;
  CM_TRY(cm_h5_reals(h5, group, "shape", &shape, &is, error));
  bool good = is.rank <= 1 && (is.rank == 0 || (is.dim[0] > 0 && is.dim[0] <= NIR_RANK_MAX));
  n->own = (nir_shape){.rank = good && is.rank == 1 ? (int)is.dim[0] : 1, .count = 0};
  for (int i = 0; i < n->own.rank && good; i++) {
    good = shape[i] >= 1 && shape[i] <= UINT32_MAX && shape[i] == trunc(shape[i]);
    n->own.dim[i] = good ? (uint64_t)shape[i] : 1;
    good = good && !__builtin_mul_overflow(all, n->own.dim[i], &all) && all <= CM_VERTICES_MAX;
  }
  n->own.count = all;
  cm_free(shape);
  return good ? CM_OK : cm_h5_bad(h5, group, "shape", "one to six extents of at least 1 are expected", error);
}

cm_status nir_read_parameters(const cm_h5 *h5, hid_t group, nir_node *n, cm_error *error)
{
  int64_t first[2] = {0, 0}, last[2] = {-1, -1};
  bool found;
  switch (n->kind) {
    case NIR_UNIT: return read_neurons(h5, group, n, error);
    case NIR_AFFINE:
      CM_TRY(nir_read_weight(h5, group, "weight", n, error));
      return n->weight_shape.rank == 2 ? read_bias(h5, group, n, error)
                                       : cm_h5_bad(h5, group, "weight", "outputs x inputs is expected", error);
    case NIR_CONV: case NIR_POOL:
      CM_TRY(read_window(h5, group, n, error));
      return n->kind == NIR_CONV ? read_bias(h5, group, n, error) : CM_OK;
    case NIR_SCALE: return nir_read_weight(h5, group, "scale", n, error);
    case NIR_DELAY:
      CM_TRY(nir_read_weight(h5, group, "delay", n, error));
      for (uint64_t i = 0; i < n->weight_shape.count; i++)
        if (n->weight[i] < 0)
          return cm_h5_bad(h5, group, "delay", "a delay is negative", error);
      return CM_OK;
    case NIR_IDENTITY: break;
  }
  n->flatten = strcmp(n->type, "Flatten") == 0;
  if (n->flatten) {
    n->flatten_last = -1;
    CM_TRY(nir_read_axes(h5, group, "start_dim", -NIR_RANK_MAX, first, &found, error));
    CM_TRY(nir_read_axes(h5, group, "end_dim", -NIR_RANK_MAX, last, &found, error));
    n->flatten_first = first[0];
    n->flatten_last = last[0];
  }
  return strcmp(n->type, "Input") == 0 ? read_input(h5, group, n, error) : CM_OK;
}
