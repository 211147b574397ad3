#include "core/machine/plan/partial_sums.h"

#include <math.h>
#include <string.h>

#include "core/machine/cost.h"
#include "core/machine/plan/plan.h"
#include "core/operators/operator.h"
#include "core/operators/shapes.h"

enum { PARTS_MAX = 64 };

/* Cutting has to take this share of the time away. */
static const double GAIN_MIN = 0.1;

/* The axes of both operands that a product sums over. */
static bool sum_axes(const cm_call *call, uint32_t axis[2])
{
  cm_kernel_function k = call->node->known->kernel;
  const cm_shape *a = &call->input[0], *b = &call->input[1];
  if (call->node->domain[0] != '\0' || call->input_count < 2 || call->input_count > 3 || call->output_count != 1 ||
      a->type != CM_FLOAT || b->type != CM_FLOAT || !cm_shape_known(a) || !cm_shape_known(b) || a->rank == 0 ||
      b->rank == 0 || !cm_shape_known(&call->output[0]))
    return false;
  if (k == cm_kernel_matmul) {
    axis[0] = a->rank - 1;
    axis[1] = b->rank > 1 ? b->rank - 2 : 0;
    return true;
  }
  if (k == cm_kernel_gemm) {
    axis[0] = cm_node_integer(call->node, "transA", 0) != 0 ? 0 : 1;
    axis[1] = cm_node_integer(call->node, "transB", 0) != 0 ? 1 : 0;
    return true;
  }
  axis[0] = axis[1] = 1;
  return k == cm_kernel_conv && strcmp(call->node->op, "Conv") == 0 && cm_node_integer(call->node, "group", 1) == 1;
}

int64_t cm_sum_extent(const cm_call *call)
{
  uint32_t axis[2];
  return sum_axes(call, axis) ? call->input[0].dims[axis[0]] : 0;
}

void cm_sum_boxes(const cm_call *call, int64_t from, int64_t to, cm_box *inputs)
{
  uint32_t axis[2];
  if (!sum_axes(call, axis))
    return;
  for (int i = 0; i < 2; i++) {
    inputs[i].from[axis[i]] = from;
    inputs[i].to[axis[i]] = to;
  }
}

/* ---- whether to cut ---- */

typedef struct product {
  uint64_t pieces, elements, work; /* pieces at most; elements and operations of one */
  uint64_t bytes;                  /* that the smallest piece needs */
  uint64_t right_bytes;            /* of the whole right operand */
} product;

/* The smallest piece of a product of which `extent` elements are summed. */
static bool smallest(const cm_call *call, int64_t extent, product *p)
{
  cm_box out = cm_box_whole(&call->output[0]), inputs[3];
  cm_split_change change;
  cm_error error;
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes);
  uint64_t all = cm_box_count(&out);
  for (uint32_t i = 0; i < count; i++)
    if (out.to[axes[i]] > 0)
      out.to[axes[i]] = cm_split_extent(call, axes[i], 1);
  p->elements = cm_box_count(&out);
  if (p->elements == 0 || cm_split_piece(call, &out, inputs, &change, &error) != CM_OK)
    return false;
  p->pieces = all / p->elements;
  p->work = cm_split_work(call, &out, inputs);
  const cm_box right = cm_box_whole(&call->input[1]);
  p->right_bytes = cm_box_count(&right) * cm_type_bytes(call->input[1].type);
  cm_sum_boxes(call, 0, extent, inputs);
  p->bytes = cm_aligned(p->elements * cm_type_bytes(call->output[0].type));
  for (uint32_t i = 0; i < call->input_count; i++)
    if (cm_has(call, i))
      p->bytes += cm_aligned(cm_box_count(&inputs[i]) * cm_type_bytes(call->input[i].type));
  return true;
}

/* Units for a kind of float32 operation, in units of the fastest one, and what an instruction costs there. */
typedef struct lanes {
  double units, rate, issue;
} lanes;

static lanes lanes_for(const cm_target *target, cm_unit_kind kind)
{
  lanes l = {0};
  double all = 0;
  for (uint32_t d = 0; d < target->device_count; d++) {
    double rate = cm_device_rate(&target->device[d], kind, "float32");
    all += rate * target->device[d].units;
    if (rate > l.rate) {
      l.rate = rate;
      l.issue = target->issue_ns + target->device[d].latency_ns;
    }
  }
  l.units = l.rate > 0 ? all / l.rate : 0;
  return l;
}

/* What all units and ports of a chip are for products. */
typedef struct powers {
  lanes matrix, vector;
  double bandwidth;
} powers;

/* The time of a product alone: pieces in rounds over the units, then rounds of additions; its right operand comes from
 * outside meanwhile. */
static double time_of(const product *p, uint32_t parts, const powers *chip)
{
  const lanes *matrix = &chip->matrix, *vector = &chip->vector;
  double pieces = (double)p->pieces * parts, rounds = ceil(pieces / matrix->units),
         time = matrix->issue + rounds * (double)p->work / parts / matrix->rate, levels = ceil(log2(parts));
  double additions = (double)(p->pieces * p->elements) * (parts - 1) / fmin(vector->units, (double)p->pieces) / vector->rate;
  return fmax(time + levels * vector->issue + additions, (double)p->right_bytes / chip->bandwidth);
}

static uint32_t parts_of(const cm_call *call, const cm_target *target, uint64_t memory_bytes, bool *needed)
{
  const powers chip = {lanes_for(target, CM_UNIT_MATRIX), lanes_for(target, CM_UNIT_VECTOR), cm_target_bandwidth(target)};
  int64_t extent = cm_sum_extent(call);
  product p;
  *needed = false;
  if (extent < 2 || chip.matrix.rate <= 0 || chip.vector.rate <= 0 || !smallest(call, extent, &p))
    return 1;
  uint32_t most = extent < PARTS_MAX ? (uint32_t)extent : PARTS_MAX, best = 1;
  if (p.bytes > memory_bytes) { /* one element with all that it sums does not fit: parts that leave half of the memory */
    product part = p;
    uint32_t parts = 1;
    while (parts < most && part.bytes > memory_bytes / 2 && smallest(call, (extent + parts) / (parts + 1), &part))
      parts++;
    *needed = part.bytes <= memory_bytes;
    return *needed ? parts : 1;
  }
  if ((double)p.pieces >= chip.matrix.units)
    return 1; /* a piece for every unit without */
  double whole = time_of(&p, 1, &chip), least = whole * (1 - GAIN_MIN);
  for (uint32_t parts = 2; parts <= most; parts++) {
    double time = time_of(&p, parts, &chip);
    if (time < least) {
      least = time;
      best = parts;
    }
  }
  return best;
}

uint32_t cm_sum_parts(const cm_call *call, const cm_target *target, uint64_t memory_bytes)
{
  bool needed;
  return parts_of(call, target, memory_bytes, &needed);
}

/* ---- the model with cut sums ---- */

typedef struct cutting {
  cm_model *model;
  cm_run *run;
} cutting;

/* A new value of a shape. */
static cm_status add_value(cutting *c, const char *stem, const cm_shape *shape, uint32_t *value, cm_error *error)
{
  if (cm_model_add_named(c->model, stem, value, error) != CM_OK)
    return error->status;
  c->model->values[*value].shape = *shape;
  return CM_OK;
}

static cm_status slice(cutting *c, uint32_t from, uint32_t axis, int64_t begin, int64_t end, uint32_t *made, cm_error *error)
{
  cm_model *m = c->model;
  cm_shape shape = m->values[from].shape;
  const int64_t where = axis;
  uint32_t inputs[4] = {from}, node;
  shape.dims[axis] = end - begin;
  if (add_value(c, "slice", &shape, made, error) != CM_OK)
    return error->status;
  if (m->opset >= 10 && (cm_model_add_integers(m, "starts", &begin, 1, &inputs[1], error) != CM_OK ||
                         cm_model_add_integers(m, "ends", &end, 1, &inputs[2], error) != CM_OK ||
                         cm_model_add_integers(m, "axes", &where, 1, &inputs[3], error) != CM_OK))
    return error->status;
  if (cm_model_add_node(m, "Slice", inputs, m->opset >= 10 ? 4 : 1, made, 1, &node, error) != CM_OK)
    return error->status;
  cm_node *n = &m->nodes[node];
  if (m->opset < 10 && (cm_node_set_integers(m, n, "starts", &begin, 1, error) != CM_OK ||
                        cm_node_set_integers(m, n, "ends", &end, 1, error) != CM_OK ||
                        cm_node_set_integers(m, n, "axes", &where, 1, error) != CM_OK))
    return error->status;
  return CM_OK;
}

/* The product of one slice each; the third operand goes to the first. */
static cm_status part_of_sum(cutting *c, uint32_t node, const uint32_t axis[2], int64_t begin, int64_t end, uint32_t *made,
                             cm_error *error)
{
  cm_model *m = c->model;
  const cm_node whole = m->nodes[node];
  uint32_t inputs[3] = {CM_NONE, CM_NONE, whole.input_count > 2 && begin == 0 ? whole.inputs[2] : CM_NONE}, number;
  for (int i = 0; i < 2; i++)
    if (slice(c, whole.inputs[i], axis[i], begin, end, &inputs[i], error) != CM_OK)
      return error->status;
  const cm_shape shape = m->values[whole.outputs[0]].shape;
  if (add_value(c, "part", &shape, made, error) != CM_OK ||
      cm_model_add_node(m, whole.op, inputs, inputs[2] != CM_NONE ? 3 : 2, made, 1, &number, error) != CM_OK)
    return error->status;
  m->nodes[number].name = whole.name;
  m->nodes[number].attributes = whole.attributes;
  m->nodes[number].attribute_count = whole.attribute_count;
  return CM_OK;
}

/* Neighbours are added until one is left: always the same order, whatever runs when. */
static cm_status add_up(cutting *c, uint32_t node, uint32_t *part, uint32_t count, cm_error *error)
{
  cm_model *m = c->model;
  const cm_node whole = m->nodes[node];
  const cm_shape shape = m->values[whole.outputs[0]].shape;
  while (count > 1) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i += 2) {
      uint32_t sum = whole.outputs[0], number;
      if (i + 1 == count) {
        part[left++] = part[i];
        continue;
      }
      if ((count > 2 && add_value(c, "sum", &shape, &sum, error) != CM_OK) ||
          cm_model_add_node(m, "Add", part + i, 2, &sum, 1, &number, error) != CM_OK)
        return error->status;
      m->nodes[number].name = whole.name;
      part[left++] = sum;
    }
    count = left;
  }
  return CM_OK;
}

static cm_status cut_one(cutting *c, uint32_t node, const uint32_t axis[2], int64_t extent, uint32_t parts, cm_error *error)
{
  uint32_t part[PARTS_MAX];
  c->model->nodes[node].removed = true;
  for (uint32_t p = 0; p < parts; p++)
    if (part_of_sum(c, node, axis, extent * p / parts, extent * (p + 1) / parts, &part[p], error) != CM_OK)
      return error->status;
  return add_up(c, node, part, parts, error);
}

/* The call of a product, whose two or three operands are known; false for what can be none. */
static bool call_of(const cm_model *m, const cm_node *node, cm_shape *shapes, cm_call *call)
{
  cm_shape *out = &shapes[3];
  if (node->removed || node->known == NULL || !cm_split_is_matrix(node->known) || node->input_count < 2 ||
      node->input_count > 3 || node->output_count != 1 || m->values[node->outputs[0]].constant)
    return false;
  for (size_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].tensor != NULL) /* attributes are shared by the parts, each tensor has one owner */
      return false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    shapes[i] = (cm_shape){.rank = CM_UNKNOWN_RANK};
    if (node->inputs[i] == CM_NONE && i == 2)
      continue;
    if (node->inputs[i] != CM_NONE)
      shapes[i] = m->values[node->inputs[i]].shape;
    if (!cm_shape_known(&shapes[i]))
      return false;
  }
  *out = m->values[node->outputs[0]].shape;
  *call = (cm_call){.node = node, .opset = m->opset, .input_count = node->input_count, .output_count = 1, .input = shapes,
                    .output = out};
  return cm_shape_known(out);
}

cm_status cm_sums_cut(const cm_model *model, const cm_target *target, uint64_t memory_bytes, cm_run *run, cm_model **made,
                      cm_sums *done, cm_error *error)
{
  cutting c = {.run = run};
  cm_status status = CM_OK;
  *made = NULL;
  *done = (cm_sums){0};
  for (size_t i = 0; status == CM_OK && i < model->order_count; i++) {
    cm_shape shapes[4];
    cm_call call;
    uint32_t axis[2], node = model->order[i];
    bool needed;
    if (!call_of(model, &model->nodes[node], shapes, &call) || !sum_axes(&call, axis))
      continue;
    uint32_t parts = parts_of(&call, target, memory_bytes, &needed);
    if (parts < 2)
      continue;
    if (c.model == NULL)
      status = cm_model_copy(model, run->memory, &c.model, error);
    if (status == CM_OK)
      status = cut_one(&c, node, axis, cm_sum_extent(&call), parts, error);
    done->operators++;
    done->parts += parts;
    done->needed = done->needed || needed;
  }
  if (status == CM_OK && c.model != NULL && (status = cm_model_sort(c.model, error)) == CM_OK)
    status = cm_infer(c.model, run, error);
  if (status != CM_OK) {
    cm_model_free(c.model);
    return status;
  }
  *made = c.model;
  return CM_OK;
}
