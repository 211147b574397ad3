/* Building, ordering and sweeping operator graphs. */
#include "core/operators/graph.h"

#include <stdio.h>
#include <string.h>

#include "core/operators/operator.h"

cm_status cm_model_new(cm_memory *memory, cm_model **made, cm_error *error)
{
  cm_model *m;
  CM_TRY(CM_NEW(memory, m, 1, error));
  cm_arena_init(&m->arena, memory);
  *made = m;
  return CM_OK;
}

const char *cm_node_name(const cm_model *model, const cm_node *node)
{
  if (node->name[0] != '\0')
    return node->name;
  for (uint32_t o = 0; o < node->output_count; o++)
    if (node->outputs[o] != CM_NONE)
      return model->values[node->outputs[o]].name;
  return "";
}

void cm_model_free(cm_model *model)
{
  if (model == NULL)
    return;
  for (size_t i = 0; i < model->value_count; i++)
    cm_tensor_free(model->values[i].tensor);
  for (size_t i = 0; i < model->node_count; i++)
    for (size_t a = 0; a < model->nodes[i].attribute_count; a++)
      cm_tensor_free(model->nodes[i].attributes[a].tensor);
  cm_arena_free(&model->arena);
  cm_free(model);
}

static bool name_is_taken(const cm_model *model, const char *name)
{
  for (size_t i = 0; i < model->value_count; i++)
    if (strcmp(model->values[i].name, name) == 0)
      return true;
  return false;
}

cm_status cm_model_add_value(cm_model *model, const char *name, uint32_t *value, cm_error *error)
{
  void *block = model->values;
  char *copy = cm_arena_text(&model->arena, name, strlen(name), error);
  if (copy == NULL || cm_arena_grow(&model->arena, &block, &model->value_capacity, model->value_count,
                                    sizeof *model->values, error) != CM_OK)
    return error->status;
  model->values = block;
  model->values[model->value_count] =
      (cm_value){.name = copy, .shape = {.rank = CM_UNKNOWN_RANK}, .producer = CM_NONE};
  *value = (uint32_t)model->value_count++;
  return CM_OK;
}

cm_status cm_model_add_named(cm_model *model, const char *stem, uint32_t *value, cm_error *error)
{
  char name[256];
  (void)snprintf(name, sizeof name, "%.200s", stem);
  for (size_t i = 1; name_is_taken(model, name); i++)
    (void)snprintf(name, sizeof name, "%.200s__%zu", stem, model->value_count + i);
  return cm_model_add_value(model, name, value, error);
}

cm_status cm_model_add_constant(cm_model *model, const char *stem, cm_tensor *tensor, uint32_t *value, cm_error *error)
{
  CM_TRY(cm_model_add_named(model, stem, value, error));
  cm_value *v = &model->values[*value];
  v->tensor = cm_tensor_share(tensor);
  v->constant = v->initializer = true;
  v->shape.type = tensor->type;
  v->shape.rank = tensor->rank;
  memcpy(v->shape.dims, tensor->dims, sizeof v->shape.dims);
  return CM_OK;
}

cm_status cm_model_add_integers(cm_model *model, const char *stem, const int64_t *numbers, size_t count,
                                uint32_t *value, cm_error *error)
{
  cm_tensor *tensor;
  CM_TRY(cm_tensor_new(model->arena.memory, CM_INT64, 1, (int64_t[]){(int64_t)count}, &tensor, error));
  if (count > 0)
    memcpy(tensor->data, numbers, count * sizeof *numbers);
  cm_status status = cm_model_add_constant(model, stem, tensor, value, error);
  cm_tensor_free(tensor);
  return status;
}

cm_status cm_model_add_node(cm_model *model, const char *op, const uint32_t *inputs, uint32_t input_count,
                            const uint32_t *outputs, uint32_t output_count, uint32_t *node, cm_error *error)
{
  void *block = model->nodes;
  cm_node n = {.name = "", .domain = "", .input_count = input_count, .output_count = output_count};
  n.op = cm_arena_text(&model->arena, op, strlen(op), error);
  if (n.op == NULL || CM_ARENA_NEW(&model->arena, n.inputs, input_count, error) != CM_OK ||
      CM_ARENA_NEW(&model->arena, n.outputs, output_count, error) != CM_OK ||
      cm_arena_grow(&model->arena, &block, &model->node_capacity, model->node_count, sizeof *model->nodes, error) != CM_OK)
    return error->status;
  model->nodes = block;
  memcpy(n.inputs, inputs, input_count * sizeof *inputs);
  memcpy(n.outputs, outputs, output_count * sizeof *outputs);
  n.known = cm_operator_find("", op, model->opset);
  for (uint32_t i = 0; i < output_count; i++)
    model->values[outputs[i]].producer = (uint32_t)model->node_count;
  model->nodes[model->node_count] = n;
  *node = (uint32_t)model->node_count++;
  return CM_OK;
}

/* The place of an attribute, made when it is not there. */
static cm_status attribute_place(cm_model *model, cm_node *node, const char *name, cm_attribute **place, cm_error *error)
{
  cm_attribute *fresh;
  for (size_t i = 0; i < node->attribute_count; i++)
    if (strcmp(node->attributes[i].name, name) == 0) {
      cm_tensor_free(node->attributes[i].tensor);
      node->attributes[i] = (cm_attribute){.name = node->attributes[i].name};
      *place = &node->attributes[i];
      return CM_OK;
    }
  CM_TRY(CM_ARENA_NEW(&model->arena, fresh, node->attribute_count + 1, error));
  char *copy = cm_arena_text(&model->arena, name, strlen(name), error);
  if (copy == NULL)
    return error->status;
  if (node->attribute_count > 0)
    memcpy(fresh, node->attributes, node->attribute_count * sizeof *fresh);
  node->attributes = fresh;
  fresh[node->attribute_count].name = copy;
  *place = &fresh[node->attribute_count++];
  return CM_OK;
}

cm_status cm_node_set_integers(cm_model *model, cm_node *node, const char *name, const int64_t *numbers, size_t count,
                               cm_error *error)
{
  int64_t *copy;
  cm_attribute *place;
  CM_TRY(CM_ARENA_NEW(&model->arena, copy, count, error));
  CM_TRY(attribute_place(model, node, name, &place, error));
  if (count > 0)
    memcpy(copy, numbers, count * sizeof *numbers);
  place->kind = CM_ATTRIBUTE_INTS;
  place->integers = copy;
  place->count = count;
  return CM_OK;
}

cm_status cm_node_set_integer(cm_model *model, cm_node *node, const char *name, int64_t number, cm_error *error)
{
  cm_attribute *place;
  CM_TRY(attribute_place(model, node, name, &place, error));
  place->kind = CM_ATTRIBUTE_INT;
  place->integer = number;
  return CM_OK;
}

cm_status cm_node_put_attribute(cm_model *model, cm_node *node, const char *name, const cm_attribute *attribute, cm_error *error)
{
  cm_attribute *place;
  CM_TRY(attribute_place(model, node, name, &place, error));
  const char *own = place->name;
  *place = *attribute;
  place->name = own;
  place->tensor = cm_tensor_share(attribute->tensor);
  return CM_OK;
}

cm_status cm_model_add_slice(cm_model *model, uint32_t value, int64_t axis, const int64_t ends[2], uint32_t *made, cm_error *error)
{
  const struct {
    const char *name;
    int64_t number;
  } given[3] = {{"starts", ends[0]}, {"ends", ends[1]}, {"axes", axis}};
  const bool inputs_name = model->opset >= 10; /* before, attributes do */
  uint32_t inputs[4] = {value}, node;
  for (uint32_t i = 0; inputs_name && i < 3; i++)
    CM_TRY(cm_model_add_integers(model, given[i].name, &given[i].number, 1, &inputs[i + 1], error));
  CM_TRY(cm_model_add_named(model, "slice", made, error));
  CM_TRY(cm_model_add_node(model, "Slice", inputs, inputs_name ? 4 : 1, made, 1, &node, error));
  for (uint32_t i = 0; !inputs_name && i < 3; i++)
    CM_TRY(cm_node_set_integers(model, &model->nodes[node], given[i].name, &given[i].number, 1, error));
  return CM_OK;
}

const cm_attribute *cm_node_attribute(const cm_node *node, const char *name)
{
  for (size_t i = 0; i < node->attribute_count; i++)
    if (strcmp(node->attributes[i].name, name) == 0)
      return &node->attributes[i];
  return NULL;
}

int64_t cm_node_integer(const cm_node *node, const char *name, int64_t otherwise)
{
  const cm_attribute *a = cm_node_attribute(node, name);
  return a != NULL && a->kind == CM_ATTRIBUTE_INT ? a->integer : otherwise;
}

float cm_node_number(const cm_node *node, const char *name, float otherwise)
{
  const cm_attribute *a = cm_node_attribute(node, name);
  return a != NULL && a->kind == CM_ATTRIBUTE_FLOAT ? a->number : otherwise;
}

const char *cm_node_text(const cm_node *node, const char *name, const char *otherwise)
{
  const cm_attribute *a = cm_node_attribute(node, name);
  return a != NULL && a->kind == CM_ATTRIBUTE_STRING ? a->text : otherwise;
}

int64_t cm_model_opset(const cm_model *model, const char *domain)
{
  for (size_t i = 0; i < model->opset_count; i++)
    if (strcmp(model->opsets[i].domain, domain) == 0)
      return model->opsets[i].version;
  return 0;
}

const char *cm_node_label(const cm_node *node, char *text, size_t size)
{
  (void)snprintf(text, size, "%.60s '%.80s'", node->op, node->name);
  return text;
}

static void count_uses(cm_model *model)
{
  for (size_t i = 0; i < model->value_count; i++) {
    model->values[i].use_count = 0;
    model->values[i].producer = CM_NONE;
  }
  for (size_t i = 0; i < model->node_count; i++) {
    const cm_node *n = &model->nodes[i];
    if (n->removed)
      continue;
    for (uint32_t j = 0; j < n->input_count; j++)
      if (n->inputs[j] != CM_NONE)
        model->values[n->inputs[j]].use_count++;
    for (uint32_t j = 0; j < n->captured_count; j++)
      model->values[n->captured[j]].use_count++;
    for (uint32_t j = 0; j < n->output_count; j++)
      model->values[n->outputs[j]].producer = (uint32_t)i;
  }
  for (size_t i = 0; i < model->output_count; i++)
    model->values[model->outputs[i]].use_count++;
}

/* State of one depth-first walk against the edges. */
typedef struct sorter {
  cm_model *model;
  uint8_t *state;  /* per node: 0 new, 1 on the stack, 2 done */
  uint32_t *stack, *next; /* nodes under way and the input each is at */
  size_t depth;
} sorter;

static uint32_t dependency(const cm_node *n, uint32_t i)
{
  return i < n->input_count ? n->inputs[i] : n->captured[i - n->input_count];
}

static cm_status visit(sorter *s, uint32_t root, cm_error *error)
{
  char label[160];
  cm_model *m = s->model;
  s->stack[0] = root;
  s->next[0] = 0;
  s->state[root] = 1;
  s->depth = 1;
  while (s->depth > 0) {
    uint32_t node = s->stack[s->depth - 1];
    const cm_node *n = &m->nodes[node];
    if (s->next[s->depth - 1] == n->input_count + n->captured_count) {
      s->state[node] = 2;
      m->order[m->order_count++] = node;
      s->depth--;
      continue;
    }
    uint32_t value = dependency(n, s->next[s->depth - 1]++);
    uint32_t producer = value != CM_NONE ? m->values[value].producer : CM_NONE;
    if (producer == CM_NONE || s->state[producer] == 2)
      continue;
    if (s->state[producer] == 1)
      return cm_fail(error, CM_BAD_NETWORK, "node %s depends on its own output '%.80s'",
                     cm_node_label(n, label, sizeof label), m->values[value].name);
    s->state[producer] = 1;
    s->stack[s->depth] = producer;
    s->next[s->depth++] = 0;
  }
  return CM_OK;
}

cm_status cm_model_sort(cm_model *model, cm_error *error)
{
  sorter s = {.model = model};
  count_uses(model);
  model->order_count = 0;
  CM_TRY(CM_ARENA_NEW(&model->arena, model->order, model->node_count, error));
  if (CM_NEW(model->arena.memory, s.state, model->node_count, error) == CM_OK &&
      CM_NEW(model->arena.memory, s.stack, model->node_count, error) == CM_OK &&
      CM_NEW(model->arena.memory, s.next, model->node_count, error) == CM_OK) {
    error->status = CM_OK;
    for (size_t i = 0; i < model->node_count && error->status == CM_OK; i++)
      if (!model->nodes[i].removed && s.state[i] == 0)
        (void)visit(&s, (uint32_t)i, error);
  }
  cm_status status = error->status;
  CM_FREE(s.state, s.stack, s.next);
  return status;
}

void cm_model_redirect(cm_model *model, uint32_t from, uint32_t to)
{
  for (size_t i = 0; i < model->node_count; i++)
    for (uint32_t j = 0; j < model->nodes[i].input_count; j++)
      if (model->nodes[i].inputs[j] == from)
        model->nodes[i].inputs[j] = to;
}

bool cm_model_is_output(const cm_model *model, uint32_t value)
{
  for (size_t i = 0; i < model->output_count; i++)
    if (model->outputs[i] == value)
      return true;
  for (size_t i = 0; i < model->node_count; i++)
    for (uint32_t j = 0; j < model->nodes[i].captured_count; j++)
      if (!model->nodes[i].removed && model->nodes[i].captured[j] == value)
        return true;
  return false;
}

cm_status cm_model_sweep(cm_model *model, cm_error *error)
{
  CM_TRY(cm_model_sort(model, error));
  /* Against the order, so that what only a removed node used goes in the same pass. */
  for (size_t i = model->order_count; i-- > 0;) {
    cm_node *n = &model->nodes[model->order[i]];
    bool used = false;
    for (uint32_t j = 0; j < n->output_count; j++)
      used = used || model->values[n->outputs[j]].use_count > 0;
    if (used)
      continue;
    n->removed = true;
    for (uint32_t j = 0; j < n->input_count; j++)
      if (n->inputs[j] != CM_NONE)
        model->values[n->inputs[j]].use_count--;
    for (uint32_t j = 0; j < n->captured_count; j++)
      model->values[n->captured[j]].use_count--;
  }
  for (size_t i = 0; i < model->value_count; i++)
    if (model->values[i].use_count == 0 && model->values[i].initializer) {
      cm_tensor_free(model->values[i].tensor);
      model->values[i].tensor = NULL;
      model->values[i].initializer = false;
    }
  return cm_model_sort(model, error);
}
