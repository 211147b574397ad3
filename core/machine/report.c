/* What is said of a program: traffic beside what layer by layer would move, time beside its lower bound. */
#include "core/machine/internal.h"

#include "core/operators/operator.h"

static uint64_t bytes_of(const cm_plan *plan, uint32_t value)
{
  cm_box whole = plan->values[value].whole;
  return cm_plan_bytes(plan, value, &whole);
}

/* Nodes that only give the same elements another shape or name move nothing, even layer by layer. */
static bool renames(const cm_node *node)
{
  cm_kernel_function k = node->known->kernel;
  return k == cm_kernel_identity || k == cm_kernel_reshape || k == cm_kernel_flatten || k == cm_kernel_squeeze ||
         k == cm_kernel_unsqueeze || k == cm_kernel_dropout;
}

/* Every operator reads its inputs from outside and writes its output there; constants are not counted. */
static uint64_t layer_by_layer(const cm_plan *plan)
{
  const cm_model *m = plan->model;
  uint64_t bytes = 0;
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *node = &m->nodes[m->order[i]];
    bool computes = false;
    for (uint32_t o = 0; o < node->output_count; o++)
      computes = computes || (node->outputs[o] != CM_NONE && plan->values[node->outputs[o]].kind != CM_VALUE_CONSTANT);
    if (!computes || renames(node))
      continue;
    for (uint32_t k = 0; k < node->input_count; k++)
      if (node->inputs[k] != CM_NONE && plan->values[node->inputs[k]].kind != CM_VALUE_CONSTANT)
        bytes += bytes_of(plan, node->inputs[k]);
    for (uint32_t o = 0; o < node->output_count; o++)
      if (node->outputs[o] != CM_NONE && m->values[node->outputs[o]].use_count > 0)
        bytes += bytes_of(plan, node->outputs[o]);
  }
  return bytes;
}

/* Inputs once in, outputs once out. */
static uint64_t compulsory(const cm_plan *plan)
{
  const cm_model *m = plan->model;
  uint64_t bytes = 0;
  for (size_t i = 0; i < m->input_count; i++)
    bytes += m->values[m->inputs[i]].use_count > 0 ? bytes_of(plan, m->inputs[i]) : 0;
  for (size_t i = 0; i < m->output_count; i++)
    bytes += bytes_of(plan, m->outputs[i]);
  return bytes;
}

static json_t *traffic_json(const cm_plan *plan, const cm_course *layout, const cm_program *program)
{
  const cm_traffic *t = &layout->traffic;
  uint64_t layers = layer_by_layer(plan), once = 0;
  for (uint32_t k = 0; k < program->tensor_count; k++)
    once += program->tensors[k].role == CM_ROLE_CONSTANT ? program->tensors[k].bytes : 0;
  return json_pack("{s:I, s:I, s:I, s:I, s:f, s:{s:I, s:I}, s:I}", "loaded_bytes", (json_int_t)t->loaded,
                   "stored_bytes", (json_int_t)t->stored, "layer_by_layer_bytes", (json_int_t)layers,
                   "compulsory_bytes", (json_int_t)compulsory(plan), "ratio",
                   layers > 0 ? (double)(t->loaded + t->stored) / (double)layers : 0, "parameters", "loaded_bytes",
                   (json_int_t)t->parameters, "once_bytes", (json_int_t)once, "moved_on_chip_bytes",
                   (json_int_t)t->moved);
}

static json_t *time_json(const cm_emission *emission, const cm_program *program)
{
  double bound = 0;
  json_t *busy = json_object();
  for (int k = 0; k < CM_UNIT_KINDS; k++) {
    uint32_t lanes = cm_target_lanes(&program->target, (cm_unit_kind)k);
    double least = emission->busy_ns[k] / (lanes > 0 ? lanes : 1);
    bound = least > bound ? least : bound;
    if (json_object_set_new(busy, cm_unit_name((cm_unit_kind)k),
                            json_pack("{s:i, s:f, s:f}", "lanes", (int)lanes, "busy_ns", emission->busy_ns[k], "share",
                                      emission->time_ns > 0 ? least / emission->time_ns : 0)) != 0) {
      json_decref(busy);
      return NULL;
    }
  }
  return json_pack("{s:f, s:f, s:o}", "total_ns", emission->time_ns, "lower_bound_ns", bound, "units", busy);
}

json_t *cm_program_report(const cm_plan *plan, const cm_course *layout, const cm_emission *emission,
                          const cm_program *program, json_t *order, json_t *search)
{
  return json_pack("{s:s, s:I, s:o, s:I, s:I, s:o, s:o, s:o*, s:O*}", "chip", program->chip_name, "memory_bytes",
                   (json_int_t)program->target.memory_bytes, "operators", cm_pieces_report(plan), "subgraphs",
                   (json_int_t)program->object_count, "instructions", (json_int_t)program->instruction_count, "traffic",
                   traffic_json(plan, layout, program), "time", time_json(emission, program), "order", order, "search", search);
}
