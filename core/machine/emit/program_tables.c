/* Tables of a program: its tensors, and its operators with the changes of pieces. */
#include <string.h>

#include "base/random.h"
#include "core/machine/emit/emitter.h"

cm_status cm_emitter_tensor(cm_emitter *e, uint32_t value, uint32_t *number, cm_error *error)
{
  cm_program *p = e->program;
  const cm_value *v = &e->plan->model->values[value];
  if (e->tensor_of[value] != 0) {
    *number = e->tensor_of[value] - 1;
    return CM_OK;
  }
  CM_TRY(CM_ROOM(e->memory, p->tensors, &e->tensor_room, p->tensor_count + 1, error));
  cm_program_tensor *t = &p->tensors[p->tensor_count];
  *t = (cm_program_tensor){.name = cm_arena_text(&p->arena, v->name, strlen(v->name), error),
                           .type = v->shape.type, .rank = v->shape.rank};
  if (t->name == NULL)
    return error->status;
  memcpy(t->dims, v->shape.dims, sizeof t->dims);
  cm_value_kind kind = e->plan->values[value].kind;
  t->role = kind == CM_VALUE_CONSTANT             ? CM_ROLE_CONSTANT
            : kind == CM_VALUE_INPUT              ? CM_ROLE_INPUT
            : e->plan->values[value].output ? CM_ROLE_OUTPUT
                                                  : CM_ROLE_SPILL;
  cm_box whole = cm_box_whole(&v->shape);
  t->bytes = cm_plan_bytes(e->plan, value, &whole);
  if (p->tensor_count > 0) {
    const cm_program_tensor *before = &p->tensors[p->tensor_count - 1];
    t->address = before->address + cm_aligned(before->bytes);
  }
  if (t->role == CM_ROLE_CONSTANT)
    t->data = cm_tensor_share(v->tensor);
  *number = p->tensor_count++;
  e->tensor_of[value] = *number + 1;
  return CM_OK;
}

static const char *own_text(cm_emitter *e, const char *text, cm_error *error)
{
  return text == NULL ? NULL : cm_arena_text(&e->program->arena, text, strlen(text), error);
}

/* A copy of an attribute that needs nothing of the model. */
static cm_status own_attribute(cm_emitter *e, const cm_attribute *a, cm_attribute *made, cm_error *error)
{
  cm_arena *arena = &e->program->arena;
  *made = *a;
  if ((made->name = own_text(e, a->name, error)) == NULL ||
      ((a->kind == CM_ATTRIBUTE_STRING || a->kind == CM_ATTRIBUTE_STRINGS) &&
       (made->text = cm_arena_text(arena, a->text, a->count, error)) == NULL))
    return error->status;
  if (a->kind == CM_ATTRIBUTE_INTS) {
    int64_t *numbers;
    CM_TRY(CM_ARENA_NEW(arena, numbers, a->count + 1, error));
    memcpy(numbers, a->integers, a->count * sizeof *numbers);
    made->integers = numbers;
  }
  if (a->kind == CM_ATTRIBUTE_FLOATS) {
    float *numbers;
    CM_TRY(CM_ARENA_NEW(arena, numbers, a->count + 1, error));
    memcpy(numbers, a->numbers, a->count * sizeof *numbers);
    made->numbers = numbers;
  }
  return CM_OK;
}

/* The attributes of a node with a piece's changes. */
static cm_status change_attributes(cm_emitter *e, cm_node *node, const cm_split_change *change, cm_error *error)
{
  cm_arena *arena = &e->program->arena;
  cm_attribute *list;
  size_t count = 0;
  CM_TRY(CM_ARENA_NEW(arena, list, node->attribute_count + 3, error));
  for (size_t i = 0; i < node->attribute_count; i++) {
    const cm_attribute *a = &node->attributes[i];
    if (change->spatial > 0 && (strcmp(a->name, "pads") == 0 || strcmp(a->name, "auto_pad") == 0))
      continue;
    if (change->group > 0 && strcmp(a->name, "group") == 0)
      continue;
    if (a->kind == CM_ATTRIBUTE_TENSOR || a->kind == CM_ATTRIBUTE_PACKED)
      return cm_fail(error, CM_BAD_NETWORK, "node %.80s: its attribute %.40s cannot be put in a program", node->name, a->name);
    CM_TRY(own_attribute(e, a, &list[count], error));
    count++;
  }
  if (change->spatial > 0) {
    int64_t *pads;
    CM_TRY(CM_ARENA_NEW(arena, pads, 2 * change->spatial, error));
    memcpy(pads, change->before, change->spatial * sizeof *pads);
    memcpy(pads + change->spatial, change->after, change->spatial * sizeof *pads);
    list[count] = (cm_attribute){.name = "pads", .kind = CM_ATTRIBUTE_INTS, .count = (size_t)2 * change->spatial,
                                 .integers = pads};
    count++;
  }
  if (change->placed > 0) {
    int64_t *place;
    CM_TRY(CM_ARENA_NEW(arena, place, 4 * change->placed, error));
    memcpy(place, change->place, 4 * change->placed * sizeof *place);
    list[count] = (cm_attribute){.name = CM_PLACE_ATTRIBUTE, .kind = CM_ATTRIBUTE_INTS,
                                 .count = (size_t)4 * change->placed, .integers = place};
    count++;
  }
  if (change->group > 0)
    list[count++] = (cm_attribute){.name = "group", .kind = CM_ATTRIBUTE_INT, .integer = change->group};
  node->attributes = list;
  node->attribute_count = count;
  return CM_OK;
}

/* The list of the operators of a node with such changes: those of its pieces may all differ. */
static uint32_t *operators_like(const cm_emitter *e, uint32_t op_number, const cm_split_change *change)
{
  uint64_t words[sizeof *change / sizeof(uint64_t)], hash = op_number;
  memcpy(words, change, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    hash = cm_mix(hash ^ words[i]);
  return &e->operators_like[hash % e->operator_lists];
}

cm_status cm_emitter_operator(cm_emitter *e, const cm_plan_op *op, uint32_t op_number, const cm_split_change *change,
                                 uint32_t *number, cm_error *error)
{
  cm_program *p = e->program;
  const cm_node *node = op->call.node;
  uint32_t *last = operators_like(e, op_number, change);
  for (uint32_t i = *last; i != 0; i = e->made_from[i - 1].before)
    if (e->made_from[i - 1].node == op_number && memcmp(&e->made_from[i - 1].change, change, sizeof *change) == 0) {
      *number = i - 1;
      return CM_OK;
    }
  CM_TRY(CM_ROOM(e->memory, p->operators, &e->operator_room, p->operator_count + 1, error));
  CM_TRY(CM_ROOM(e->memory, e->made_from, &e->made_from_room, p->operator_count + 1, error));
  cm_node *made = &p->operators[p->operator_count];
  *made = *node;
  made->captured = NULL;
  made->captured_count = 0;
  made->name = own_text(e, cm_node_name(e->plan->model, node), error);
  made->op = own_text(e, node->op, error);
  made->domain = own_text(e, node->domain, error);
  if (made->name == NULL || made->op == NULL || made->domain == NULL)
    return error->status;
  CM_TRY(CM_ARENA_NEW(&p->arena, made->inputs, node->input_count + 1, error));
  CM_TRY(CM_ARENA_NEW(&p->arena, made->outputs, node->output_count + 1, error));
  for (uint32_t i = 0; i < node->input_count; i++)
    made->inputs[i] = node->inputs[i] == CM_NONE ? CM_NONE : i;
  for (uint32_t o = 0; o < node->output_count; o++)
    made->outputs[o] = o;
  CM_TRY(change_attributes(e, made, change, error));
  e->made_from[p->operator_count] = (cm_emitter_operator_of){*change, op_number, *last};
  *last = p->operator_count + 1;
  *number = p->operator_count++;
  return CM_OK;
}
