/* The nodes of a subgraph or of a model's own function, put into the graph around it.
 *
 * Inner names become new values; names of the outer graph, which subgraphs may read, stay what they are. In graphs that are
 * nested further the new names are written down, so that they can be spliced later in the same way. */
#include <stdio.h>
#include <string.h>

#include "core/operators/onnx/onnx.h"
#include "core/operators/onnx/onnx_proto.h"
#include "core/operators/operator.h"

/* What is spliced: a GraphProto's or a FunctionProto's. */
typedef struct body {
  Onnx__NodeProto **nodes;
  size_t node_count;
  Onnx__TensorProto **constants;
  size_t constant_count;
  const cm_node *caller; /* of a function: whose attributes its nodes may name; NULL: a subgraph, which sees outer names */
} body;

typedef struct binding {
  const char *inner; /* borrowed from the message */
  uint32_t value;
} binding;

typedef struct scope {
  cm_model *model;
  ProtobufCAllocator *allocator;
  uint32_t number; /* of the splice: what makes its names its own */
  binding *bindings;
  size_t count, capacity;
  bool sees_outer;
} scope;

static cm_status bind(scope *s, const char *inner, uint32_t value, cm_error *error)
{
  if (s->count == s->capacity)
    return cm_fail(error, CM_INTERNAL, "more names in a subgraph than were counted");
  s->bindings[s->count++] = (binding){inner, value};
  return CM_OK;
}

static const binding *inner_binding(const scope *s, const char *name)
{
  for (size_t i = s->count; i-- > 0;)
    if (strcmp(s->bindings[i].inner, name) == 0)
      return &s->bindings[i];
  return NULL;
}

static uint32_t outer_value(const cm_model *m, const char *name)
{
  for (size_t i = 0; i < m->value_count; i++)
    if (strcmp(m->values[i].name, name) == 0)
      return (uint32_t)i;
  return CM_NONE;
}

static cm_status look_up(const scope *s, const char *name, uint32_t *value, cm_error *error)
{
  const binding *b = name[0] != '\0' ? inner_binding(s, name) : NULL;
  *value = b != NULL ? b->value : CM_NONE;
  if (b != NULL || name[0] == '\0')
    return CM_OK;
  if (s->sees_outer)
    *value = outer_value(s->model, name);
  return *value != CM_NONE ? CM_OK : cm_fail(error, CM_BAD_NETWORK, "a subgraph reads '%.80s', which nobody makes", name);
}

/* A value of the splice's own for an inner name. */
static cm_status new_value(scope *s, const char *inner, uint32_t *value, cm_error *error)
{
  CM_TRY(cm_model_add_value(s->model, cm_say("%.200s#%u", inner, s->number).text, value, error));
  return bind(s, inner, *value, error);
}

/* A value that a body leaves out among a node's outputs. */
static cm_status name_unused(scope *s, uint32_t node, uint32_t output, uint32_t *value, cm_error *error)
{
  return cm_model_add_value(s->model, cm_say("unused-%u.%u#%u", node, output, s->number).text, value, error);
}

/* ---- nested graphs ---- */

typedef struct enclosing {
  const Onnx__GraphProto *graph;
  const struct enclosing *outer;
} enclosing;

static bool defines(const enclosing *e, const char *name)
{
  for (; e != NULL; e = e->outer) {
    const Onnx__GraphProto *g = e->graph;
    for (size_t i = 0; i < g->n_input; i++)
      if (g->input[i]->name != NULL && strcmp(g->input[i]->name, name) == 0)
        return true;
    for (size_t i = 0; i < g->n_initializer; i++)
      if (g->initializer[i]->name != NULL && strcmp(g->initializer[i]->name, name) == 0)
        return true;
    for (size_t i = 0; i < g->n_node; i++)
      for (size_t o = 0; o < g->node[i]->n_output; o++)
        if (strcmp(g->node[i]->output[o], name) == 0)
          return true;
  }
  return false;
}

/* Puts the name of the outer value in place of an inner one; notes what is captured. */
static cm_status take_over(scope *s, const enclosing *e, char **name, cm_node *n, size_t *capacity, cm_error *error)
{
  uint32_t value;
  void *block = n->captured;
  if ((*name)[0] == '\0' || defines(e, *name))
    return CM_OK;
  CM_TRY(look_up(s, *name, &value, error));
  CM_TRY(cm_arena_grow(&s->model->arena, &block, capacity, n->captured_count, sizeof *n->captured, error));
  n->captured = block;
  n->captured[n->captured_count++] = value;
  const char *outer = s->model->values[value].name;
  char *copy = s->allocator->alloc(s->allocator->allocator_data, strlen(outer) + 1);
  CM_TRY(cm_whole(copy != NULL, "a subgraph", error));
  memcpy(copy, outer, strlen(outer) + 1);
  s->allocator->free(s->allocator->allocator_data, *name);
  *name = copy;
  return CM_OK;
}

static cm_status adopt(scope *s, Onnx__GraphProto *g, const enclosing *outer, cm_node *n, size_t *capacity, cm_error *error)
{
  const enclosing e = {g, outer};
  for (size_t i = 0; i < g->n_node; i++) {
    for (size_t k = 0; k < g->node[i]->n_input; k++)
      CM_TRY(take_over(s, &e, &g->node[i]->input[k], n, capacity, error));
    for (size_t k = 0; k < g->node[i]->n_attribute; k++)
      CM_TRY_IF(g->node[i]->attribute[k]->g != NULL, adopt(s, g->node[i]->attribute[k]->g, &e, n, capacity, error));
  }
  for (size_t k = 0; k < g->n_output; k++)
    CM_TRY_IF(g->output[k]->name != NULL, take_over(s, &e, &g->output[k]->name, n, capacity, error));
  return CM_OK;
}

/* ---- nodes ---- */

static cm_status read_attributes(scope *s, const body *b, const Onnx__NodeProto *p, cm_node *n, cm_error *error)
{
  size_t captured = 0;
  CM_TRY(CM_ARENA_NEW(&s->model->arena, n->attributes, p->n_attribute, error));
  for (size_t i = 0; i < p->n_attribute; i++) {
    Onnx__AttributeProto *a = p->attribute[i];
    cm_attribute *made = &n->attributes[n->attribute_count];
    const cm_attribute *given = NULL;
    bool named = b->caller != NULL && a->ref_attr_name != NULL && a->ref_attr_name[0] != '\0';
    if (named && (given = cm_node_attribute(b->caller, a->ref_attr_name)) == NULL)
      continue;
    CM_TRY_IF(a->g != NULL, adopt(s, a->g, NULL, n, &captured, error));
    n->attribute_count++;
    CM_TRY(cm_onnx_attribute(s->model, a, made, error));
    if (given != NULL) {
      const char *name = made->name;
      cm_tensor_free(made->tensor);
      *made = *given;
      made->name = name;
      made->tensor = cm_tensor_share(given->tensor);
    }
  }
  return CM_OK;
}

static bool has_graph(const Onnx__NodeProto *p)
{
  for (size_t i = 0; i < p->n_attribute; i++)
    if (p->attribute[i]->g != NULL || p->attribute[i]->n_graphs > 0)
      return true;
  return false;
}

static const char *keep(scope *s, const char *text, cm_error *error)
{
  return cm_arena_text(&s->model->arena, text != NULL ? text : "", text != NULL ? strlen(text) : 0, error);
}

static cm_status add_node(scope *s, const body *b, const Onnx__NodeProto *p, cm_error *error)
{
  cm_model *m = s->model;
  void *block = m->nodes;
  CM_TRY(cm_arena_grow(&m->arena, &block, &m->node_capacity, m->node_count, sizeof *m->nodes, error));
  m->nodes = block;
  /* In the model from the start, so that it is freed whatever fails. */
  uint32_t number = (uint32_t)m->node_count++;
  cm_node *n = &m->nodes[number];
  *n = (cm_node){.name = keep(s, p->name, error), .op = keep(s, p->op_type, error),
                 .domain = keep(s, p->domain != NULL && strcmp(p->domain, "ai.onnx") != 0 ? p->domain : "", error)};
  if (n->name == NULL || n->op == NULL || n->domain == NULL || CM_ARENA_NEW(&m->arena, n->inputs, p->n_input, error) != CM_OK ||
      CM_ARENA_NEW(&m->arena, n->outputs, p->n_output, error) != CM_OK || read_attributes(s, b, p, n, error) != CM_OK)
    return error->status;
  for (; n->input_count < p->n_input; n->input_count++)
    CM_TRY(look_up(s, p->input[n->input_count], &n->inputs[n->input_count], error));
  for (; n->output_count < p->n_output; n->output_count++)
    n->outputs[n->output_count] = CM_NONE;
  for (uint32_t o = 0; o < n->output_count; o++)
    CM_TRY_IF(p->output[o][0] != '\0', new_value(s, p->output[o], &n->outputs[o], error));
  n->known = has_graph(p) ? NULL : cm_operator_find(n->domain, n->op, m->opset);
  cm_onnx_trim_outputs(n);
  for (uint32_t o = 0; o < n->output_count; o++) {
    CM_TRY_IF(n->outputs[o] == CM_NONE, name_unused(s, number, o, &n->outputs[o], error));
    m->values[n->outputs[o]].producer = number;
  }
  return CM_OK;
}

static cm_status add_constants(scope *s, const body *b, cm_error *error)
{
  for (size_t i = 0; i < b->constant_count; i++) {
    cm_tensor *tensor;
    uint32_t value;
    const char *name = b->constants[i]->name != NULL ? b->constants[i]->name : "";
    CM_TRY(new_value(s, name, &value, error));
    CM_TRY(cm_proto_tensor(b->constants[i], name, s->model->arena.memory, &tensor, error));
    cm_value *v = &s->model->values[value];
    v->tensor = tensor;
    v->initializer = v->constant = true;
    v->shape = cm_shape_of(tensor);
  }
  return CM_OK;
}

/* The names that a body knows its inputs and outputs by, and the values that take their places. */
typedef struct binds {
  char *const *input;
  size_t inputs;
  const uint32_t *given; /* [given_count] further inputs are absent */
  uint32_t given_count;
  char *const *output;
  size_t outputs;
  uint32_t *made; /* [outputs] */
} binds;

static cm_status splice(cm_model *m, const body *b, const binds *names, ProtobufCAllocator *allocator, cm_error *error)
{
  scope s = {.model = m, .allocator = allocator, .number = ++m->splices, .sees_outer = b->caller == NULL};
  s.capacity = names->inputs + b->constant_count;
  for (size_t i = 0; i < b->node_count; i++)
    s.capacity += b->nodes[i]->n_output;
  cm_status status = CM_NEW(m->arena.memory, s.bindings, s.capacity + 1, error);
  for (size_t i = 0; status == CM_OK && i < names->inputs; i++)
    status = bind(&s, names->input[i], i < names->given_count ? names->given[i] : CM_NONE, error);
  CM_THEN(status, add_constants(&s, b, error));
  for (size_t i = 0; status == CM_OK && i < b->node_count; i++)
    status = add_node(&s, b, b->nodes[i], error);
  for (size_t i = 0; status == CM_OK && i < names->outputs; i++)
    status = look_up(&s, names->output[i], &names->made[i], error);
  cm_free(s.bindings);
  return status;
}

/* Names of a graph's inputs or outputs. */
static cm_status names_of(Onnx__ValueInfoProto **list, size_t count, cm_memory *memory, char ***names, cm_error *error)
{
  static char none[] = "";
  CM_TRY(CM_NEW(memory, *names, count + 1, error));
  for (size_t i = 0; i < count; i++)
    (*names)[i] = list[i]->name != NULL ? list[i]->name : none;
  return CM_OK;
}

static cm_status splice_graph(cm_model *m, const Onnx__GraphProto *g, const cm_body_values *values,
                              ProtobufCAllocator *allocator, cm_error *error)
{
  const body b = {.nodes = g->node, .node_count = g->n_node, .constants = g->initializer,
                  .constant_count = g->n_initializer};
  char **formal = NULL, **results = NULL;
  if (g->n_input != values->input_count || g->n_output != values->output_count)
    return cm_fail(error, CM_BAD_NETWORK, "a subgraph has %zu inputs and %zu outputs, where %u and %u are needed",
                   g->n_input, g->n_output, values->input_count, values->output_count);
  cm_status status = names_of(g->input, g->n_input, m->arena.memory, &formal, error);
  CM_THEN(status, names_of(g->output, g->n_output, m->arena.memory, &results, error));
  CM_THEN(status, splice(m, &b,
                         &(binds){formal, g->n_input, values->inputs, values->input_count, results, g->n_output, values->outputs},
                         allocator, error));
  CM_FREE(formal, results);
  return status;
}

cm_status cm_onnx_splice(cm_model *model, const cm_attribute *graph, const cm_body_values *values, cm_error *error)
{
  cm_proto_account account = {.memory = model->arena.memory};
  ProtobufCAllocator allocator = cm_proto_allocator(&account);
  if (graph == NULL || graph->kind != CM_ATTRIBUTE_PACKED)
    return cm_fail(error, CM_BAD_NETWORK, "a subgraph is missing");
  ProtobufCMessage *p = cm_proto_unpack(&onnx__attribute_proto__descriptor, graph->packed, graph->count, &allocator, error);
  if (p == NULL)
    return error->status;
  const Onnx__GraphProto *g = ((const Onnx__AttributeProto *)p)->g;
  cm_status status = g == NULL ? cm_fail(error, CM_BAD_NETWORK, "a subgraph is missing")
                               : splice_graph(model, g, values, &allocator, error);
  protobuf_c_message_free_unpacked(p, &allocator);
  return status;
}

static bool is_function_of(const Onnx__FunctionProto *f, const cm_node *node)
{
  return f->name != NULL && strcmp(f->name, node->op) == 0 && strcmp(f->domain != NULL ? f->domain : "", node->domain) == 0;
}

cm_status cm_onnx_splice_function(cm_model *model, const cm_node *caller, bool *found, uint32_t *outputs, cm_error *error)
{
  cm_proto_account account = {.memory = model->arena.memory};
  ProtobufCAllocator allocator = cm_proto_allocator(&account);
  cm_status status = CM_OK;
  *found = false;
  for (size_t i = 0; status == CM_OK && !*found && i < model->function_count; i++) {
    ProtobufCMessage *p = cm_proto_unpack(&onnx__function_proto__descriptor, model->functions[i],
                                          model->function_bytes[i], &allocator, error);
    if (p == NULL)
      return error->status;
    const Onnx__FunctionProto *f = (const Onnx__FunctionProto *)p;
    const body b = {.nodes = f->node, .node_count = f->n_node, .caller = caller};
    *found = is_function_of(f, caller);
    if (*found && caller->output_count > f->n_output)
      status = cm_fail(error, CM_BAD_NETWORK, "function '%.80s' has %zu outputs, not %u", f->name, f->n_output,
                       caller->output_count);
    else if (*found)
      status = splice(
        model, &b, &(binds){f->input, f->n_input, caller->inputs, caller->input_count, f->output, caller->output_count, outputs},
        &allocator, error);
    protobuf_c_message_free_unpacked(p, &allocator);
  }
  return status;
}
