/* Which products are cut along their sums, and in how many parts. How, is in partial_sums_cut.c. */
#include "core/machine/plan/partial_sums.h"

#include <math.h>

#include "core/machine/cost.h"
#include "core/machine/plan/partial_sums_cut.h"
#include "core/machine/plan/sizing.h"
#include "core/operators/operator.h"

enum { INPUTS_MAX = 9 };

/* Cutting has to take this share of the time away. */
static const double GAIN_MIN = 0.1;

static bool is_byte(cm_type type)
{
  return type == CM_INT8 || type == CM_UINT8;
}

/* The operands of a product that may be cut along its sum. */
static bool read_operands(const cm_call *call, cm_sum_operands *o)
{
  static const cm_sum_operands plain = {.input = {0, 1}, .zero = {CM_NONE, CM_NONE}, .scale = {CM_NONE, CM_NONE}, .bias = 2},
                        integers = {.integer = true, .input = {0, 1}, .zero = {2, 3}, .scale = {CM_NONE, CM_NONE}, .bias = CM_NONE},
                        rescaled = {.integer = true, .rescaled = true, .input = {0, 3}, .zero = {2, 5}, .scale = {1, 4}, .bias = CM_NONE};
  const cm_kernel_function k = call->node->known->kernel;
  *o = k == cm_kernel_matmul_integer || k == cm_kernel_conv_integer ? integers
       : k == cm_kernel_qlinear_matmul || k == cm_kernel_qlinear_conv ? rescaled : plain;
  if (k == cm_kernel_qlinear_conv)
    o->bias = 8;
  if (call->node->domain[0] != '\0' || call->input_count <= o->input[1] || call->output_count != 1 ||
      !cm_shape_known(&call->output[0]))
    return false;
  const cm_shape *a = &call->input[o->input[0]], *b = &call->input[o->input[1]];
  bool types = o->integer ? is_byte(a->type) && is_byte(b->type) : a->type == CM_FLOAT && b->type == CM_FLOAT;
  if (!types || !cm_shape_known(a) || !cm_shape_known(b) || a->rank == 0 || b->rank == 0)
    return false;
  if (k == cm_kernel_matmul || k == cm_kernel_matmul_integer || k == cm_kernel_qlinear_matmul) {
    o->axis[0] = a->rank - 1;
    o->axis[1] = b->rank > 1 ? b->rank - 2 : 0;
    return true;
  }
  if (k == cm_kernel_gemm) {
    o->axis[0] = cm_node_integer(call->node, "transA", 0) != 0 ? 0 : 1;
    o->axis[1] = cm_node_integer(call->node, "transB", 0) != 0 ? 1 : 0;
    return true;
  }
  o->axis[0] = o->axis[1] = 1;
  return (k == cm_kernel_conv || k == cm_kernel_conv_integer || k == cm_kernel_qlinear_conv) &&
         cm_node_integer(call->node, "group", 1) == 1;
}

/* Numbers per row of the left operand are not taken apart, and what rescales sums has to be known. */
static bool sums_apart(const cm_call *call, const cm_sum_operands *o)
{
  for (uint32_t i = 0; o->rescaled && i < 2; i++)
    if (!cm_has(call, o->scale[i]) || call->value[o->scale[i]] == NULL ||
        (call->value[o->scale[i]]->count != 1 && (i == 0 || call->value[o->scale[i]]->rank != 1)))
      return false;
  if (o->rescaled && o->bias < call->input_count && cm_has(call, o->bias) && call->value[o->bias] == NULL)
    return false;
  return !o->rescaled || (call->input_count >= 8 && cm_has(call, 6) && call->value[6] != NULL && call->value[6]->count == 1 &&
                          cm_has(call, 7));
}

static bool sum_operands(const cm_call *call, cm_sum_operands *o)
{
  return read_operands(call, o) && sums_apart(call, o);
}

int64_t cm_sum_extent(const cm_call *call)
{
  cm_sum_operands o;
  return sum_operands(call, &o) ? call->input[0].dims[o.axis[0]] : 0;
}

void cm_sum_boxes(const cm_call *call, int64_t from, int64_t to, cm_box *inputs)
{
  cm_sum_operands o;
  if (!sum_operands(call, &o))
    return;
  for (int i = 0; i < 2; i++) {
    inputs[o.input[i]].from[o.axis[i]] = from;
    inputs[o.input[i]].to[o.axis[i]] = to;
  }
}

/* ---- whether to cut ---- */

typedef struct product {
  uint64_t pieces, elements, work; /* pieces at most; elements and operations of one */
  uint64_t bytes;                  /* that the smallest piece needs */
  uint64_t right_bytes;            /* of the whole right operand */
  uint32_t rescalings;             /* operations on every sum that follow */
} product;

/* Bytes that a typical one of the smallest pieces needs that an operator is cut in, when `extent` elements are summed; constants of at most `small` bytes come whole. 0: it cannot be cut. */
static uint64_t least_bytes(const cm_call *call, int64_t extent, uint64_t small)
{
  cm_sizing s = {.call = call};
  cm_box inputs[INPUTS_MAX];
  cm_split_change change;
  cm_error error;
  cm_sizing_least(&s);
  const cm_box out = cm_box_typical(&call->output[0], s.step);
  if (cm_split_piece(call, &out, inputs, &change, &error) != CM_OK)
    return 0;
  cm_sum_boxes(call, 0, extent, inputs);
  uint64_t bytes = cm_aligned(cm_box_count(&out) * cm_type_bytes(call->output[0].type));
  for (uint32_t i = 0; i < call->input_count; i++) {
    if (!cm_has(call, i))
      continue;
    const cm_box whole = cm_box_whole(&call->input[i]);
    const bool comes_whole = call->value[i] != NULL && cm_box_count(&whole) * cm_type_bytes(call->input[i].type) <= small;
    bytes += cm_aligned(cm_box_count(comes_whole ? &whole : &inputs[i]) * cm_type_bytes(call->input[i].type));
  }
  return bytes;
}

/* The smallest piece of a product of which `extent` elements are summed. */
static bool smallest(const cm_call *call, int64_t extent, uint64_t small, product *p)
{
  cm_box out = cm_box_whole(&call->output[0]), inputs[INPUTS_MAX];
  cm_sum_operands o;
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
  if (!sum_operands(call, &o))
    return false;
  const cm_box right = cm_box_whole(&call->input[o.input[1]]);
  p->right_bytes = cm_box_count(&right) * cm_type_bytes(call->input[o.input[1]].type);
  p->rescalings = o.rescaled ? 3 : 0;
  p->bytes = least_bytes(call, extent, small);
  return p->bytes > 0;
}

/* What all units and ports of a chip are for products. */
typedef struct powers {
  cm_power matrix, vector;
  double bandwidth;
} powers;

/* The time of a product alone: pieces in rounds over the units, then rounds of additions; its right operand comes from
 * outside meanwhile. */
static double time_of(const product *p, uint32_t parts, const powers *chip)
{
  const cm_power *matrix = &chip->matrix, *vector = &chip->vector;
  double pieces = (double)p->pieces * parts, rounds = ceil(pieces / matrix->units),
         time = matrix->issue_ns + rounds * (double)p->work / parts / matrix->rate, levels = ceil(log2(parts));
  double additions = (double)(p->pieces * p->elements) * (parts - 1 + (parts > 1 ? p->rescalings : 0)) / fmin(vector->units, (double)p->pieces) / vector->rate;
  return fmax(time + levels * vector->issue_ns + additions, (double)p->right_bytes / chip->bandwidth);
}

static uint32_t parts_of(const cm_call *call, const cm_target *target, uint64_t memory_bytes, bool *needed)
{
  cm_sum_operands o;
  *needed = false;
  if (!sum_operands(call, &o))
    return 1;
  const powers chip = {cm_power_for(target, CM_UNIT_MATRIX, call->input[0].type),
                       cm_power_for(target, CM_UNIT_VECTOR, o.integer ? CM_INT32 : CM_FLOAT), cm_target_bandwidth(target)};
  const double share = target->memory_count > 0 ? (double)target->memory_bytes / (double)cm_target_memory_least(target) : 1; /* of the chip's memory over that */
  const uint64_t small = (uint64_t)((double)memory_bytes * share) / CM_SMALL_SHARE;
  int64_t extent = cm_sum_extent(call);
  product p;
  if (extent < 2 || chip.matrix.rate <= 0 || chip.vector.rate <= 0 || !smallest(call, extent, small, &p))
    return 1;
  uint32_t most = extent < CM_SUM_PARTS_MAX ? (uint32_t)extent : CM_SUM_PARTS_MAX, best = 1;
  if (p.bytes > memory_bytes) { /* one element with all that it sums does not fit: parts that leave half of the memory */
    product part = p;
    uint32_t parts = 1;
    while (parts < most && part.bytes > memory_bytes / 2 && smallest(call, (extent + parts) / (parts + 1), small, &part))
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

/* ---- the model ---- */

/* What is known of a product; false for what can be none. */
typedef struct product_call {
  cm_call call;
  cm_shape shapes[INPUTS_MAX + 1];
  cm_tensor *values[INPUTS_MAX];
} product_call;

static bool call_of(const cm_model *m, const cm_node *node, product_call *p)
{
  cm_shape *out = &p->shapes[INPUTS_MAX];
  if (node->removed || node->known == NULL || node->known->runs != CM_RUNS_MATRIX || node->input_count < 2 ||
      node->input_count > INPUTS_MAX || node->output_count != 1 || m->values[node->outputs[0]].constant)
    return false;
  for (size_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].tensor != NULL) /* attributes are shared by the parts, each tensor has one owner */
      return false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    p->shapes[i] = (cm_shape){.rank = CM_UNKNOWN_RANK};
    p->values[i] = NULL;
    if (node->inputs[i] == CM_NONE && i >= 2)
      continue;
    if (node->inputs[i] == CM_NONE)
      return false;
    p->shapes[i] = m->values[node->inputs[i]].shape;
    p->values[i] = m->values[node->inputs[i]].tensor;
    if (!cm_shape_known(&p->shapes[i]))
      return false;
  }
  *out = m->values[node->outputs[0]].shape;
  p->call = (cm_call){.node = node, .opset = m->opset, .input_count = node->input_count, .output_count = 1, .input = p->shapes,
                      .value = p->values, .output = out};
  return cm_shape_known(out);
}

cm_status cm_sums_cut(const cm_model *model, const cm_target *target, uint64_t memory_bytes, cm_run *run, cm_model **made,
                      cm_sums *done, cm_error *error)
{
  cm_model *cut = NULL;
  cm_status status = CM_OK;
  *made = NULL;
  *done = (cm_sums){0};
  for (size_t i = 0; status == CM_OK && i < model->order_count; i++) {
    product_call p;
    cm_sum_operands o;
    uint32_t node = model->order[i];
    bool needed;
    if (!call_of(model, &model->nodes[node], &p) || !sum_operands(&p.call, &o))
      continue;
    uint32_t parts = parts_of(&p.call, target, memory_bytes, &needed);
    if (parts < 2)
      continue;
    if (cut == NULL)
      status = cm_model_copy(model, run->memory, &cut, error);
    CM_THEN(status, cm_sum_cut_node(cut, node, &o, cm_sum_extent(&p.call), parts, error));
    done->operators++;
    done->parts += parts;
    done->needed = done->needed || needed;
  }
  if (status == CM_OK && cut != NULL && (status = cm_model_sort(cut, error)) == CM_OK)
    status = cm_infer(cut, run, error);
  CM_END(status, *made = cut, cm_model_free(cut));
}

uint64_t cm_cut_bytes(const cm_target *target, uint64_t memory_bytes)
{
  return target->memory_count == 0
           ? memory_bytes
           : (uint64_t)((double)memory_bytes / (double)target->memory_bytes * (double)cm_target_memory_least(target));
}
