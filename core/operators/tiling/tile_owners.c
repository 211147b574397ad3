/* Who computes each element of a value: boxes of micro-operators, or what operators that only rename make of them. */
#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/tiling/tile_internal.h"

bool cm_tile_is_view(const cm_model *model, const cm_node *node)
{
  const cm_kernel_function k = node->known->kernel;
  for (uint32_t o = 1; k == cm_kernel_dropout && o < node->output_count; o++)
    if (node->outputs[o] != CM_NONE && model->values[node->outputs[o]].use_count > 0)
      return false; /* a mask that is read */
  if (k == cm_kernel_dropout)
    return node->input_count < 3 || node->inputs[2] == CM_NONE; /* else it may be in training mode */
  return k == cm_kernel_identity || k == cm_kernel_reshape || k == cm_kernel_flatten || k == cm_kernel_squeeze ||
         k == cm_kernel_unsqueeze || k == cm_kernel_concat || k == cm_kernel_split || k == cm_kernel_slice;
}

/* ---- rows of a box ---- */

void cm_tile_rows(const cm_shape *shape, const cm_box *box, cm_tile_visit visit, void *user)
{
  int64_t strides[CM_RANK_MAX], extent[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  uint32_t outer = shape->rank;
  if (cm_box_count(box) == 0)
    return;
  cm_strides(shape->rank, shape->dims, strides);
  /* Whole inner dimensions and the one outside of them make one row. */
  while (outer > 0 && box->to[outer - 1] - box->from[outer - 1] == shape->dims[outer - 1])
    outer--;
  outer -= outer > 0;
  int64_t start = 0, length = 1;
  for (uint32_t i = 0; i < shape->rank; i++) {
    start += box->from[i] * strides[i];
    extent[i] = box->to[i] - box->from[i];
    if (i >= outer)
      length *= extent[i];
  }
  do {
    int64_t at = start;
    for (uint32_t i = 0; i < outer; i++)
      at += index[i] * strides[i];
    visit(user, (uint64_t)at, (uint64_t)length);
  } while (cm_next_index(outer, extent, index));
}

/* ---- element by element and back to runs ---- */

static cm_status pack(const uint32_t *owner, uint64_t count, cm_memory *memory, cm_owners *made, cm_error *error)
{
  cm_owners packed = {0};
  for (uint64_t i = 0; i < count; i++)
    packed.count += i == 0 || owner[i] != owner[i - 1];
  if (CM_NEW(memory, packed.end, packed.count, error) != CM_OK ||
      CM_NEW(memory, packed.owner, packed.count, error) != CM_OK) {
    cm_free(packed.end);
    return error->status;
  }
  size_t run = 0;
  for (uint64_t i = 0; i < count; i++)
    if (i + 1 == count || owner[i + 1] != owner[i]) {
      packed.end[run] = i + 1;
      packed.owner[run++] = owner[i];
    }
  *made = packed;
  return CM_OK;
}

static void unpack(const cm_owners *owners, uint32_t *owner, uint64_t count)
{
  uint64_t i = 0;
  for (size_t run = 0; run < owners->count; run++)
    for (; i < owners->end[run]; i++)
      owner[i] = owners->owner[run];
  for (; i < count; i++)
    owner[i] = CM_NONE;
}

typedef struct painting {
  uint32_t *owner, with;
} painting;

static void paint(void *user, uint64_t from, uint64_t length)
{
  painting *p = user;
  for (uint64_t i = from; i < from + length; i++)
    p->owner[i] = p->with;
}

cm_status cm_tile_own(cm_tile_work *work, const cm_node *node, uint32_t first, uint32_t last, cm_error *error)
{
  cm_memory *memory = work->run->memory;
  for (uint32_t o = 0; o < node->output_count; o++) {
    uint64_t count;
    if (node->outputs[o] == CM_NONE)
      continue;
    const cm_shape *shape = &work->model->values[node->outputs[o]].shape;
    painting p;
    if (!cm_dims_count(shape->rank, shape->dims, &count))
      return cm_fail(error, CM_TOO_LARGE, "value '%.80s' has more than 2^40 elements",
                     work->model->values[node->outputs[o]].name);
    if (CM_NEW(memory, p.owner, count, error) != CM_OK)
      return error->status;
    for (p.with = first; p.with < last; p.with++) {
      /* Only output 0 is ever cut; others are made whole by the one micro-operator that there is then. */
      cm_box whole = cm_box_whole(shape);
      cm_tile_rows(shape, o == 0 ? &work->tiling->micro[p.with].output : &whole, paint, &p);
    }
    cm_status status = pack(p.owner, count, memory, &work->owners[node->outputs[o]], error);
    cm_free(p.owner);
    if (status != CM_OK)
      return status;
  }
  return CM_OK;
}

/* ---- views: the operator itself is computed, on owners instead of numbers ---- */

/* Inputs that carry elements, as against shapes, axes and bounds. */
static bool carries(const cm_node *node, uint32_t input)
{
  return input == 0 || node->known->kernel == cm_kernel_concat;
}

static cm_status view_inputs(cm_tile_work *work, const cm_node *node, cm_tensor **inputs, cm_error *error)
{
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] == CM_NONE)
      continue;
    const cm_value *value = &work->model->values[node->inputs[i]];
    if (carries(node, i)) {
      if (cm_tensor_new(work->run->memory, CM_INT32, value->shape.rank, value->shape.dims, &inputs[i], error) != CM_OK)
        return error->status;
      unpack(&work->owners[node->inputs[i]], inputs[i]->data, inputs[i]->count);
    } else {
      const cm_tensor *constant;
      if (!value->constant)
        return cm_fail(error, CM_BAD_NETWORK, "'%.80s', which says how '%.80s' is seen, is only known when the model runs",
                       value->name, node->name);
      if (cm_constant_tensor(work->model, node->inputs[i], work->run, &constant, error) != CM_OK)
        return error->status;
      inputs[i] = cm_tensor_share(work->model->values[node->inputs[i]].tensor);
    }
  }
  return CM_OK;
}

/* The same node over inputs 0, 1, ...; what drops nothing out when the model runs is the same as Identity. */
static cm_status compute_view(cm_tile_work *work, const cm_node *node, uint32_t *number, cm_tensor *const *inputs,
                              cm_tensor **results, cm_error *error)
{
  cm_node alone = *node;
  alone.inputs = number;
  for (uint32_t i = 0; i < node->input_count; i++)
    number[i] = node->inputs[i] == CM_NONE ? CM_NONE : i;
  if (node->known->kernel != cm_kernel_dropout)
    return cm_evaluate_node(&alone, work->model->opset, inputs, work->run->memory, results, error);
  results[0] = cm_tensor_share(inputs[0]);
  return CM_OK;
}

cm_status cm_tile_view(cm_tile_work *work, const cm_node *node, cm_error *error)
{
  cm_memory *memory = work->run->memory;
  cm_tensor **inputs = NULL, **results = NULL;
  uint32_t *number = NULL;
  cm_status status;
  if ((status = CM_NEW(memory, inputs, node->input_count + 1, error)) == CM_OK &&
      (status = CM_NEW(memory, results, node->output_count + 1, error)) == CM_OK &&
      (status = CM_NEW(memory, number, node->input_count + 1, error)) == CM_OK &&
      (status = view_inputs(work, node, inputs, error)) == CM_OK)
    status = compute_view(work, node, number, inputs, results, error);
  for (uint32_t o = 0; status == CM_OK && o < node->output_count; o++)
    if (results[o] != NULL && node->outputs[o] != CM_NONE)
      status = pack(results[o]->data, results[o]->count, memory, &work->owners[node->outputs[o]], error);
  for (uint32_t i = 0; inputs != NULL && i < node->input_count; i++)
    cm_tensor_free(inputs[i]);
  for (uint32_t o = 0; results != NULL && o < node->output_count; o++)
    cm_tensor_free(results[o]);
  cm_free(inputs);
  cm_free(results);
  cm_free(number);
  return status;
}
