/* What is said of a program: traffic beside what layer by layer would move, time beside its lower bound. */

#include <math.h>

#include "base/json.h"
#include "core/machine/report.h"
#include "core/machine/schedule/search.h"
#include "core/operators/operator.h"

static uint64_t bytes_of(const cm_plan *plan, uint32_t value)
{
  const cm_box whole = cm_box_whole(&plan->model->values[value].shape);
  return cm_plan_bytes(plan, value, &whole);
}

/* Nodes that only give the same elements another shape or name move nothing, even layer by layer. */
static bool renames(const cm_node *node)
{
  return node->known->makes == CM_MAKES_SAME || node->known->makes == CM_MAKES_RESHAPED;
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
      computes = computes || plan->values[node->outputs[o]].kind != CM_VALUE_CONSTANT;
    if (!computes || renames(node))
      continue;
    for (uint32_t k = 0; k < node->input_count; k++)
      if (node->inputs[k] != CM_NONE && plan->values[node->inputs[k]].kind != CM_VALUE_CONSTANT)
        bytes += bytes_of(plan, node->inputs[k]);
    for (uint32_t o = 0; o < node->output_count; o++)
      if (m->values[node->outputs[o]].use_count > 0)
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

static json_t *traffic_json(const cm_plan *plan, const cm_memory_plan *layout, const cm_program *program)
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

/* The terms of the bound; the largest is the bound. */
static json_t *bound_json(const cm_time_bound *bound)
{
  const double host = bound->busy_ns[CM_UNIT_HOST];
  json_t *plain = json_pack("{s:f, s:f, s:f}", "ports_ns", bound->busy_ns[CM_UNIT_DATA], "matrix_ns", bound->busy_ns[CM_UNIT_MATRIX], "vector_ns",
                            bound->busy_ns[CM_UNIT_VECTOR]);
  json_t *phase = json_pack("{s:f, s:f, s:f}", "ports_ns", bound->phase_ns[CM_UNIT_DATA], "matrix_ns", bound->phase_ns[CM_UNIT_MATRIX], "vector_ns",
                            bound->phase_ns[CM_UNIT_VECTOR]);
  if (host > 0) {
    (void)json_object_set_new(plain, "host_ns", json_real(host));
    (void)json_object_set_new(phase, "host_ns", json_real(bound->phase_ns[CM_UNIT_HOST]));
  }
  return json_pack("{s:o, s:o, s:{s:f}}", "plain", plain, "phase", phase, "chain", "way_ns", bound->way_ns);
}

/* The share of the time that each lane of a device is busy. */
static json_t *lanes_json(const cm_program *program, uint32_t device, double time_ns)
{
  json_t *shares = json_array();
  for (uint32_t l = 0; l < program->lane_count; l++) {
    double busy = 0;
    if (program->lanes[l].device != device)
      continue;
    for (uint64_t i = 0; i < program->instruction_count; i++)
      busy += program->instructions[i].lane == l ? cm_instruction_ns(program, &program->instructions[i]) : 0;
    if (json_array_append_new(shares, json_real(time_ns > 0 ? busy * program->turns / time_ns : 0)) != 0) {
      json_decref(shares);
      return NULL;
    }
  }
  return shares;
}

static double busy_share(const cm_emission *emission, const cm_program *program, uint32_t device)
{
  const cm_device *d = &program->target.device[device];
  double lanes = (double)d->units * d->ports;
  return emission->time_ns > 0 ? emission->busy_ns[device] / lanes / emission->time_ns : 0;
}

/* The share of the critical path, in per cent. */
static double path_percent(const cm_analysis *analysis, double ns)
{
  return analysis->time_ns > 0 ? 100 * ns / analysis->time_ns : 0;
}

/* What limits, in one sentence: lanes that are never idle, what cannot begin earlier, or else what the critical path is
 * made of. */
static json_t *limit_json(const cm_analysis *analysis, const cm_emission *emission, const cm_program *program,
                          const cm_time_bound *bound)
{
  double time = emission->time_ns;
  uint32_t busiest = 0, longest = 0;
  for (uint32_t d = 1; d < program->target.device_count; d++) {
    busiest = busy_share(emission, program, d) > busy_share(emission, program, busiest) ? d : busiest;
    longest = analysis->path_ns[d] > analysis->path_ns[longest] ? d : longest;
  }
  const cm_device *device = &program->target.device[busiest], *slow = &program->target.device[longest];
  char name[2 * CM_TARGET_NAME_MAX], path[2 * CM_TARGET_NAME_MAX];
  (void)snprintf(name, sizeof name, "%s %s", device->name, device->moves ? "ports" : "units");
  (void)snprintf(path, sizeof path, "%s %s", slow->name, slow->moves ? "ports" : "units");
  double percent = 100 * busy_share(emission, program, busiest), above = bound->ns > 0 ? 100 * (time / bound->ns - 1) : 0;
  bool phase = bound->ns > bound->busy_ns[CM_UNIT_DATA] && bound->ns > bound->busy_ns[CM_UNIT_MATRIX] &&
               bound->ns > fmax(bound->busy_ns[CM_UNIT_VECTOR], bound->busy_ns[CM_UNIT_HOST]);
  if (percent >= 90)
    return json_sprintf("the %s are busy %.0f %% of the time, which is %.1f %% above the bound", name, percent, above);
  if (phase && above < 10)
    return json_sprintf("parameters that cannot be on the chip before they are used, and dependencies: the time is %.1f %% "
                        "above the bound that these set", above);
  return json_sprintf("the critical path: %.0f %% of it is work of the %s, %.0f %% begins when its data are there and %.0f %% "
                      "when memory is free; the busiest lanes, the %s, work %.0f %% of the time, which is %.1f %% above the "
                      "bound", path_percent(analysis, analysis->path_ns[longest]), path,
                      path_percent(analysis, analysis->reason_ns[CM_BEGINS_AFTER_DATA]),
                      path_percent(analysis, analysis->reason_ns[CM_BEGINS_AFTER_ROOM]), name, percent, above);
}

/* The chain that explains the time. */
static json_t *path_json(const cm_analysis *analysis, const cm_program *program)
{
  json_t *devices = json_object(), *reasons = json_object();
  for (uint32_t d = 0; d < program->target.device_count; d++)
    (void)json_object_set_new(devices, program->target.device[d].name, json_real(analysis->path_ns[d]));
  for (cm_begin_reason r = CM_BEGINS_AT_START; r < (program->target.window > 0 ? CM_BEGIN_REASONS : CM_BEGINS_AFTER_ISSUE); r++)
    (void)json_object_set_new(reasons, cm_begin_reason_name(r), json_real(analysis->reason_ns[r]));
  return json_pack("{s:I, s:o, s:o, s:f}", "instructions", (json_int_t)analysis->path_length, "units_ns", devices,
                   "after_ns", reasons, "hops_ns", analysis->path_hops_ns);
}

static json_t *time_json(const cm_emission *emission, const cm_program *program, const cm_program_times *times)
{
  const cm_time_bound *bound = times->bound;
  json_t *busy = json_object();
  for (uint32_t d = 0; d < program->target.device_count; d++) {
    const cm_device *device = &program->target.device[d];
    if (json_object_set_new(busy, device->name,
                            json_pack("{s:i, s:f, s:f, s:o}", "lanes", (int)(device->units * device->ports), "busy_ns",
                                      emission->busy_ns[d], "share", busy_share(emission, program, d), "lane_shares",
                                      lanes_json(program, d, emission->time_ns))) != 0) {
      json_decref(busy);
      return NULL;
    }
  }
  const cm_baselines *other = &times->baselines;
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o}", "total_ns", emission->time_ns, "lower_bound_ns", bound->ns,
                   "layer_by_layer_ns", other->ns[CM_DIVISION_LAYERS], "even_split_ns", other->ns[CM_DIVISION_EVEN], "unsplit_ns",
                   other->ns[CM_DIVISION_UNSPLIT], "one_lane_ns", other->one_lane_ns, "bounds",
                   bound_json(bound), "limit", limit_json(times->analysis, emission, program, bound), "critical_path",
                   path_json(times->analysis, program), "units", busy);
}

json_t *cm_program_report(const cm_draft *draft, const cm_program *program, const cm_program_times *times, json_t *order,
                          json_t *search)
{
  const uint32_t turns = program->turns;
  return json_pack("{s:s, s:I, s:I, s:o, s:I, s:I, s:o*, s:o, s:o, s:o*, s:O*}", "chip", program->chip_name, "memory_bytes",
                   (json_int_t)program->target.memory_bytes, "memory_held_bytes", (json_int_t)times->analysis->held_max,
                   "operators", cm_pieces_report(draft->plan), "subgraphs", (json_int_t)program->object_count, "instructions",
                   (json_int_t)(program->instruction_count * turns), "turns", turns > 1 ? json_integer(turns) : NULL, "traffic", traffic_json(draft->plan, &draft->memory, program), "time",
                   time_json(&draft->emission, program, times), "order", order, "search", search);
}

/* ---- what operators read of one another ---- */

/* Who makes a value: a node, or the input that it is. */
static const char *maker_of(const cm_model *m, const cm_value *v)
{
  return v->producer == CM_NONE ? v->name : cm_node_name(m, &m->nodes[v->producer]);
}

static json_t *read_json(const cm_model *m, const cm_value *v)
{
  json_t *shape = v->shape.rank == CM_UNKNOWN_RANK ? json_null() : json_array();
  for (uint32_t k = 0; v->shape.rank != CM_UNKNOWN_RANK && k < v->shape.rank; k++)
    (void)json_array_append_new(shape, json_integer(v->shape.dims[k]));
  return json_pack("{s:s, s:s, s:s, s:o}", "from", maker_of(m, v), "value", v->name, "type", cm_type_name(v->shape.type), "shape", shape);
}

/* Values that are known before the program runs are left out. */
static json_t *node_json(const cm_model *m, const cm_node *node)
{
  json_t *reads = json_array();
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != CM_NONE && !m->values[node->inputs[i]].constant && !m->values[node->inputs[i]].initializer)
      (void)json_array_append_new(reads, read_json(m, &m->values[node->inputs[i]]));
  return json_pack("{s:s, s:s, s:o}", "node", cm_node_name(m, node), "operator", node->op, "reads", reads);
}

static bool known_before(const cm_model *m, const cm_node *node)
{
  for (uint32_t o = 0; o < node->output_count; o++)
    if (node->outputs[o] != CM_NONE && !m->values[node->outputs[o]].constant)
      return false;
  return true;
}

json_t *cm_graph_report(const cm_model *model)
{
  json_t *graph = json_array();
  for (size_t i = 0; i < model->order_count; i++)
    if (!known_before(model, &model->nodes[model->order[i]]))
      (void)json_array_append_new(graph, node_json(model, &model->nodes[model->order[i]]));
  return graph;
}

/* ---- the search for an order ---- */

/* The time when every lane takes pieces in the order of the file as they get their memory, and nothing is loaded ahead: what
 * order and schedule gain over. */
static cm_status fixed_order(const cm_draft_task *task, double *ns, cm_error *error)
{
  cm_plan_candidate candidate;
  cm_settings settings = *task->options->settings;
  cm_plan_options options = *task->options;
  settings.window = 1;
  settings.ahead = 0;
  options.settings = &settings;
  CM_TRY(cm_plan_candidate_make(task->model, NULL, &options, task->run, &candidate, error));
  *ns = candidate.time_ns;
  return CM_OK;
}

static double gain(double before, double after)
{
  return after > 0 ? before / after - 1 : 0;
}

cm_status cm_order_report(const cm_draft_task *task, const cm_order_figures *f, json_t **report, cm_error *error)
{
  double fixed_ns = f->file_ns;
  CM_TRY_IF(task->options->settings != NULL, fixed_order(task, &fixed_ns, error));
  json_t *measured = f->measured_ns[0] == 0 ? NULL
                                            : json_pack("{s:I, s:I}", "file_order_ns", (json_int_t)f->measured_ns[0],
                                                        "found_order_ns", (json_int_t)f->measured_ns[1]);
  json_t *pieces = f->pieces->scored == 0 ? NULL
                                          : json_pack("{s:I, s:f, s:f}", "scored", (json_int_t)f->pieces->scored, "given_ns",
                                                      f->pieces->before_ns, "best_ns", f->pieces->best_ns);
  *report = json_pack("{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o*, s:o*}", "key_nodes", (json_int_t)f->key_nodes, "subgraphs",
                      (json_int_t)f->subgraphs, "scored", (json_int_t)f->scored, "fixed_order_ns", fixed_ns, "file_order_ns",
                      f->file_ns, "best_ns", f->best_ns, "schedule_gain", gain(fixed_ns, f->file_ns), "order_gain",
                      gain(f->file_ns, f->best_ns), "measured", measured, "pieces", pieces);
  return cm_whole(*report != NULL, "the report", error);
}
