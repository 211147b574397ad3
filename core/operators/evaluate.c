/* One node at a time: shape function, result tensors, kernel. */
#include "core/operators/evaluate.h"

#include <string.h>

#include "core/operators/legacy.h"
#include "core/operators/operator.h"

enum { FOLD_AT_ONCE_BYTES = 1 << 16 };

/* ---- calls ---- */

typedef struct call_space {
  cm_call call;
  cm_shape *input;
  cm_tensor **value;
} call_space;

static void end_call(call_space *s)
{
  CM_FREE(s->input, s->value, s->call.output);
}

static cm_status begin_call(const cm_model *model, const cm_node *node, cm_memory *memory, call_space *s, cm_error *error)
{
  *s = (call_space){.call = {.node = node,
                             .opset = model->opset,
                             .input_count = node->input_count,
                             .output_count = node->output_count,
                             .memory = memory}};
  if (CM_NEW_ALL(memory, error, CM_ARRAY(s->input, node->input_count + 1), CM_ARRAY(s->value, node->input_count + 1),
                 CM_ARRAY(s->call.output, node->output_count + 1)) != CM_OK) {
    end_call(s);
    return error->status;
  }
  for (uint32_t i = 0; i <= node->input_count; i++)
    s->input[i].rank = CM_UNKNOWN_RANK;
  for (uint32_t i = 0; i <= node->output_count; i++)
    s->call.output[i].rank = CM_UNKNOWN_RANK;
  s->call.input = s->input;
  s->call.value = s->value;
  return CM_OK;
}

/* ---- running one node ---- */

static bool is_half(const cm_tensor *t)
{
  return t != NULL && (t->type == CM_FLOAT16 || t->type == CM_BFLOAT16);
}

static cm_status widen(const cm_tensor *from, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  CM_TRY(cm_tensor_new(memory, CM_FLOAT, from->rank, from->dims, made, error));
  for (uint64_t i = 0; i < from->count; i++)
    ((float *)(*made)->data)[i] = (float)cm_tensor_number(from, i);
  return CM_OK;
}

static cm_status narrow(cm_tensor **tensor, cm_type type, cm_memory *memory, cm_error *error)
{
  cm_tensor *made, *from = *tensor;
  CM_TRY(cm_tensor_new(memory, type, from->rank, from->dims, &made, error));
  for (uint64_t i = 0; i < from->count; i++)
    ((uint16_t *)made->data)[i] = (uint16_t)cm_narrow_encode(type, ((const float *)from->data)[i], false);
  cm_tensor_free(from);
  *tensor = made;
  return CM_OK;
}

/* Shape function, result tensors, kernel; the inputs are all there. */
static cm_status compute(call_space *s, cm_error *error)
{
  const cm_node *n = s->call.node;
  cm_call *call = &s->call;
  CM_TRY(cm_operator_complete(call, error));
  CM_TRY(cm_operator_check(call, error));
  CM_TRY(n->known->shape(call, error));
  for (uint32_t o = 0; o < n->output_count; o++) {
    if (call->output[o].type == CM_SEQUENCE || (o == 0 && n->known->kernel == cm_kernel_identity)) {
      /* Passed on as it is; the shape of a sequence says nothing. */
      call->result[o] = cm_tensor_share(s->value[0]);
      continue;
    }
    if (!cm_shape_known(&call->output[o]))
      return cm_call_fail(call, error, "the shape of its output %u cannot be found", o);
    CM_TRY(cm_tensor_new(call->memory, call->output[o].type, call->output[o].rank, call->output[o].dims, &call->result[o],
                         error));
  }
  return n->known->kernel(call, error);
}

/* Results that were computed in float32 become of the type that the operator has for its inputs as they stand. */
static cm_status narrow_results(const cm_model *model, const cm_node *node, cm_tensor *const *tensors, cm_memory *memory,
                                cm_tensor **results, cm_error *error)
{
  call_space s;
  CM_TRY(begin_call(model, node, memory, &s, error));
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != CM_NONE) {
      s.value[i] = tensors[node->inputs[i]];
      s.input[i] = cm_shape_of(s.value[i]);
    }
  cm_status status = node->known->shape(&s.call, error);
  for (uint32_t o = 0; o < node->output_count && status == CM_OK; o++) {
    cm_type type = s.call.output[o].type;
    if (results[o]->type == CM_FLOAT && (type == CM_FLOAT16 || type == CM_BFLOAT16))
      status = narrow(&results[o], type, memory, error);
  }
  end_call(&s);
  return status;
}

/* Runs a node on the tensors of its inputs; results have one reference each and are all NULL on failure. */
static cm_status run_node(const cm_model *model, const cm_node *node, cm_tensor *const *tensors, cm_memory *memory,
                          cm_tensor **results, cm_error *error)
{
  call_space s;
  bool halves = false;
  char label[160];
  if (node->known == NULL)
    return cm_fail(error, CM_BAD_NETWORK, "node %s: the operator is not known (domain '%.60s', opset %lld)",
                   cm_node_label(node, label, sizeof label), node->domain, (long long)model->opset);
  CM_TRY(begin_call(model, node, memory, &s, error));
  s.call.result = results;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < node->input_count && status == CM_OK; i++) {
    cm_tensor *t = node->inputs[i] != CM_NONE ? tensors[node->inputs[i]] : NULL;
    if (t == NULL && node->inputs[i] != CM_NONE) {
      status = cm_fail(error, CM_INTERNAL, "node %s runs before its input %u", cm_node_label(node, label, sizeof label), i);
    } else if (t != NULL && is_half(t) && (node->known->flags & CM_OPERATOR_PROMOTES) != 0) {
      halves = true;
      status = widen(t, memory, &s.value[i], error);
    } else
      s.value[i] = cm_tensor_share(t);
    if (s.value[i] != NULL)
      s.input[i] = cm_shape_of(s.value[i]);
  }
  CM_THEN(status, compute(&s, error));
  if (status == CM_OK && halves)
    status = narrow_results(model, node, tensors, memory, results, error);
  for (uint32_t i = 0; i < node->input_count; i++)
    cm_tensor_free(s.value[i]);
  for (uint32_t o = 0; o < node->output_count && status != CM_OK; o++) {
    cm_tensor_free(results[o]);
    results[o] = NULL;
  }
  end_call(&s);
  return status;
}

cm_status cm_evaluate_node(const cm_node *node, int64_t opset, cm_tensor *const *tensors, cm_memory *memory,
                           cm_tensor **results, cm_error *error)
{
  cm_model model = {.opset = opset};
  return run_node(&model, node, tensors, memory, results, error);
}

/* ---- shapes and constants ---- */

/* What inference found fills the place; a hint of the file fills what inference left open. */
static void take_shape(cm_value *v, const cm_shape *found)
{
  cm_shape hint = v->shape;
  v->shape = *found;
  if (v->shape.type == CM_TYPE_NONE)
    v->shape.type = hint.type;
  if (v->shape.rank == CM_UNKNOWN_RANK) {
    v->shape.rank = hint.rank;
    memcpy(v->shape.dims, hint.dims, sizeof hint.dims);
  } else if (v->shape.rank == hint.rank)
    for (uint32_t i = 0; i < hint.rank; i++)
      if (v->shape.dims[i] < 0)
        v->shape.dims[i] = hint.dims[i];
}

/* What the model says of its outputs has to be so; of inner values it is a hint. */
static cm_status check_declared(const cm_model *m, const cm_call *call, uint32_t output, cm_error *error)
{
  const cm_value *v = &m->values[call->node->outputs[output]];
  const cm_shape *found = &call->output[output];
  if (v->shape.rank == CM_UNKNOWN_RANK || found->rank == CM_UNKNOWN_RANK || v->shape.rank == found->rank)
    return CM_OK;
  for (size_t i = 0; i < m->output_count; i++)
    if (m->outputs[i] == call->node->outputs[output])
      return cm_call_fail(call, error, "its output '%.80s' has rank %u; the model declares one of rank %u", v->name, found->rank,
                          v->shape.rank);
  return CM_OK;
}

static bool small_result(const cm_model *m, const cm_node *n)
{
  for (uint32_t o = 0; o < n->output_count; o++) {
    uint64_t count;
    const cm_shape *s = &m->values[n->outputs[o]].shape;
    if (!cm_shape_known(s) ? (n->known->flags & CM_OPERATOR_EXPANDS) != 0 /* how much there is, only the numbers say */
                           : !cm_dims_count(s->rank, s->dims, &count) || count * cm_type_bytes(s->type) > FOLD_AT_ONCE_BYTES)
      return false;
  }
  return true;
}

/* Computes a constant node; its inputs' tensors are there. */
static cm_status fold(cm_model *m, const cm_node *n, cm_memory *memory, cm_error *error)
{
  cm_tensor **tensors = NULL, **results = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(results, n->output_count + 1), CM_ARRAY(tensors, m->value_count));
  for (uint32_t i = 0; status == CM_OK && i < n->input_count; i++)
    if (n->inputs[i] != CM_NONE)
      tensors[n->inputs[i]] = m->values[n->inputs[i]].tensor;
  CM_THEN(status, run_node(m, n, tensors, memory, results, error));
  for (uint32_t o = 0; status == CM_OK && o < n->output_count; o++) {
    cm_tensor_free(m->values[n->outputs[o]].tensor);
    m->values[n->outputs[o]].tensor = results[o];
    if (results[o]->type != CM_SEQUENCE)
      m->values[n->outputs[o]].shape = cm_shape_of(results[o]);
  }
  CM_FREE(tensors, results);
  return status;
}

/* Shape and Size are constant as soon as the dims are known, whatever the values. */
static cm_status fold_shape(cm_model *m, const cm_node *n, cm_memory *memory, cm_error *error)
{
  call_space s;
  const cm_shape *x = &m->values[n->inputs[0]].shape;
  cm_value *v = &m->values[n->outputs[0]];
  cm_tensor *made = NULL;
  if (!cm_shape_known(x) || !cm_shape_known(&v->shape))
    return CM_OK;
  CM_TRY(begin_call(m, n, memory, &s, error));
  s.input[0] = *x;
  s.call.result = &made;
  cm_status status = cm_tensor_new(memory, CM_INT64, v->shape.rank, v->shape.dims, &made, error);
  if (status == CM_OK && n->known->kernel == cm_kernel_shape)
    status = cm_kernel_shape(&s.call, error);
  else if (status == CM_OK) {
    uint64_t count = 0;
    (void)cm_dims_count(x->rank, x->dims, &count);
    *(int64_t *)made->data = (int64_t)count;
  }
  end_call(&s);
  if (status != CM_OK) {
    cm_tensor_free(made);
    return status;
  }
  cm_tensor_free(v->tensor);
  v->tensor = made;
  v->constant = true;
  return CM_OK;
}

static cm_status infer_node(cm_model *m, cm_node *n, cm_memory *memory, cm_error *error)
{
  call_space s;
  bool constant = n->known != NULL && (n->known->flags & CM_OPERATOR_RANDOM) == 0, have_all = true;
  if (n->known == NULL)
    return CM_OK;
  CM_TRY(begin_call(m, n, memory, &s, error));
  for (uint32_t i = 0; i < n->input_count; i++) {
    const cm_value *v = n->inputs[i] != CM_NONE ? &m->values[n->inputs[i]] : NULL;
    if (v == NULL)
      continue;
    s.input[i] = v->shape;
    s.value[i] = v->tensor;
    constant = constant && v->constant;
    have_all = have_all && s.value[i] != NULL;
  }
  cm_status status = cm_operator_complete(&s.call, error);
  CM_THEN(status, n->known->shape(&s.call, error));
  for (uint32_t o = 0; status == CM_OK && o < n->output_count; o++) {
    cm_value *v = &m->values[n->outputs[o]];
    if ((status = check_declared(m, &s.call, o, error)) != CM_OK)
      break;
    take_shape(v, &s.call.output[o]);
    v->constant = constant;
  }
  end_call(&s);
  if (status != CM_OK)
    return status;
  if (n->known->kernel == cm_kernel_shape || n->known->kernel == cm_kernel_size)
    return fold_shape(m, n, memory, error);
  /* What cannot be computed (a type without kernel) stays a node: that is no fault of the model. */
  if (constant && have_all && small_result(m, n)) {
    cm_error ignored;
    cm_status folded = fold(m, n, memory, &ignored);
    if (folded == CM_NO_MEMORY || folded == CM_MEMORY_LIMIT) {
      *error = ignored;
      return folded;
    }
    constant = folded == CM_OK;
  }
  /* Nor can what has no shape before it is computed, and was not. */
  for (uint32_t o = 0; o < n->output_count; o++)
    constant = constant && cm_shape_known(&m->values[n->outputs[o]].shape);
  for (uint32_t o = 0; !constant && o < n->output_count; o++)
    m->values[n->outputs[o]].constant = false;
  return CM_OK;
}

/* An Unsqueeze that old broadcasting needs goes before the node; the order has to be made anew then. */
static cm_status infer_at(cm_model *model, uint32_t node, cm_run *run, bool *changed, cm_error *error)
{
  cm_memory *memory = model->arena.memory;
  uint32_t added;
  if (cm_run_check(run, error) != CM_OK || cm_legacy_broadcast(model, node, &added, error) != CM_OK ||
      (added != CM_NONE && infer_node(model, &model->nodes[added], memory, error) != CM_OK))
    return error->status;
  *changed = *changed || added != CM_NONE;
  return infer_node(model, &model->nodes[node], memory, error);
}

cm_status cm_infer_node(cm_model *model, uint32_t node, cm_run *run, cm_error *error)
{
  bool ignored = false;
  return infer_at(model, node, run, &ignored, error);
}

cm_status cm_infer(cm_model *model, cm_run *run, cm_error *error)
{
  bool changed = false;
  for (size_t i = 0; i < model->order_count; i++)
    CM_TRY(infer_at(model, model->order[i], run, &changed, error));
  return changed ? cm_model_sort(model, error) : CM_OK;
}

cm_status cm_constant_tensor(cm_model *model, uint32_t value, cm_run *run, const cm_tensor **tensor, cm_error *error)
{
  /* Producers first, with a stack of our own: constants may hang on long chains. */
  cm_arena scratch;
  uint32_t *stack = NULL;
  size_t depth = 0, capacity = 0;
  cm_status status = CM_OK;
  if (!model->values[value].constant)
    return cm_fail(error, CM_INTERNAL, "value '%.80s' is no constant", model->values[value].name);
  cm_arena_init(&scratch, model->arena.memory);
  void *block = NULL;
  status = cm_arena_grow(&scratch, &block, &capacity, depth, sizeof *stack, error);
  stack = block;
  if (status == CM_OK)
    stack[depth++] = value;
  while (status == CM_OK && depth > 0 && (status = cm_run_check(run, error)) == CM_OK) {
    const cm_value *v = &model->values[stack[depth - 1]];
    if (v->tensor != NULL) {
      depth--;
      continue;
    }
    const cm_node *n = &model->nodes[v->producer];
    bool waits = false;
    for (uint32_t i = 0; status == CM_OK && i < n->input_count; i++) {
      if (n->inputs[i] == CM_NONE || model->values[n->inputs[i]].tensor != NULL)
        continue;
      waits = true;
      block = stack;
      status = cm_arena_grow(&scratch, &block, &capacity, depth, sizeof *stack, error);
      stack = block;
      if (status == CM_OK)
        stack[depth++] = n->inputs[i];
    }
    if (status == CM_OK && !waits)
      status = fold(model, n, model->arena.memory, error);
  }
  cm_arena_free(&scratch);
  if (status == CM_OK)
    *tensor = model->values[value].tensor;
  return status;
}
