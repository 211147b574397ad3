/* Values and operators of a model, and who needs what of them. What can fail: shapes or operators that are not known, a
 * piece that does not fit, memory. */
#include <string.h>

#include "core/machine/plan/cutter.h"

/* ---- values and operators ---- */

/* Every value of a node that computes has to be known before anything is laid out. */
static cm_status check_node(const cm_model *m, const cm_node *node, cm_error *error)
{
  char label[160];
  (void)cm_node_label(node, label, sizeof label);
  if (node->known == NULL) {
    (void)cm_fail(error, CM_BAD_NETWORK, "node %s: the operator is not supported (domain '%.60s', opset %lld)", label,
                  node->domain, (long long)cm_model_opset(m, node->domain));
    return cm_fail_at(error, "node %.80s", node->name);
  }
  for (uint32_t k = 0; k < node->input_count + node->output_count; k++) {
    uint32_t value = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
    if (value == CM_NONE || (cm_shape_known(&m->values[value].shape) && cm_type_bytes(m->values[value].shape.type) > 0))
      continue;
    (void)cm_fail(error, CM_BAD_NETWORK, "node %s: the shape of '%.80s' is not known before the model runs; a program "
                  "needs every shape", label, m->values[value].name);
    return cm_fail_at(error, "node %.80s", node->name);
  }
  return CM_OK;
}

static cm_status classify(cm_cutter *b, const uint32_t *order, cm_error *error)
{
  cm_plan *plan = b->plan;
  const cm_model *m = plan->model;
  for (size_t v = 0; v < m->value_count; v++) {
    if (m->values[v].shape.rank != CM_UNKNOWN_RANK)
      plan->values[v].whole = cm_box_whole(&m->values[v].shape);
    if (cm_value_is_constant(&m->values[v]))
      plan->values[v].kind = CM_VALUE_CONSTANT;
    else if (plan->turns > 1)
      plan->values[v].whole.to[0] /= plan->turns;
  }
  for (size_t i = 0; i < m->input_count; i++)
    plan->values[m->inputs[i]].kind = CM_VALUE_INPUT;
  for (size_t i = 0; i < m->output_count; i++) {
    const cm_tensor *tensor; /* of an output that is a constant, the program holds the numbers */
    plan->values[m->outputs[i]].output = true;
    CM_TRY_IF(m->values[m->outputs[i]].constant, cm_constant_tensor(plan->model, m->outputs[i], b->run, &tensor, error));
  }
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *node = &m->nodes[order[i]];
    if (node->known != NULL && cm_node_is_constant(m, node))
      continue;
    CM_TRY(check_node(m, node, error));
    bool view = cm_plan_is_view(m, node);
    for (uint32_t o = 0; o < node->output_count; o++) {
      cm_plan_value *v = &plan->values[node->outputs[o]];
      v->solid = b->solid[node->outputs[o]];
      v->copied = view && !v->solid && v->output;
      v->kind = view && !v->solid && !v->output ? CM_VALUE_VIEW : CM_VALUE_MADE;
    }
  }
  return CM_OK;
}

/* Whether matrix units compute it: what can go to either kind of unit, and products of wide integers, only where there are such. */
static bool on_matrix_units(const cm_call *call, const cm_target *target)
{
  const cm_type type = call->input[0].type;
  const bool either = call->node->known->runs != CM_RUNS_MATRIX || (cm_type_is_integer(type) && cm_type_bytes(type) > 1);
  return cm_split_is_matrix(call) && (!either || cm_power_for(target, CM_UNIT_MATRIX, type).rate > 0);
}

/* The type that rates are told for. */
static cm_type counted_type(const cm_call *call)
{
  return call->input_count > 0 && cm_has(call, 0) ? call->input[0].type : call->output[0].type;
}

/* Units that compute it; a host where no others do, and the chip has one. */
static cm_unit_kind units_for(const cm_call *call, const cm_target *target)
{
  const cm_unit_kind kind = call->node->known->runs == CM_RUNS_HOST ? CM_UNIT_HOST
                            : on_matrix_units(call, target)         ? CM_UNIT_MATRIX
                                                                    : CM_UNIT_VECTOR;
  const cm_type type = counted_type(call);
  return cm_power_for(target, kind, type).rate <= 0 && cm_power_for(target, CM_UNIT_HOST, type).rate > 0 ? CM_UNIT_HOST : kind;
}

static cm_status no_rate(const cm_cutter *b, const cm_plan_op *op, const char *type, cm_error *error)
{
  char label[160];
  const char *name = cm_node_label(op->call.node, label, sizeof label), *chip = b->options->chip_name;
  if (op->kind == CM_UNIT_HOST)
    (void)cm_fail(error, CM_BAD_CHIP, "node %s: a host alone computes it, and chip %s has none for %s: chip npu-host has one", name, chip, type);
  else
    (void)cm_fail(error, CM_BAD_CHIP, "node %s: the devices of chip %s have no throughput for %s %s operations; "
                  "operations_per_ns/%s of one in /machine/devices should name %s, or \"other\"; or a host computes it, as chip npu-host has",
                  name, chip, type, cm_unit_name(op->kind), cm_unit_name(op->kind), type);
  return cm_fail_at(error, "/machine/devices");
}

/* What each device does of an operator a nanosecond. */
static cm_status find_rates(const cm_cutter *b, cm_plan_op *op, cm_error *error)
{
  const cm_target *target = b->options->target;
  const cm_type type = counted_type(&op->call);
  char name[CM_TARGET_NAME_MAX];
  double *rates, all = 0, count = 0;
  CM_TRY(CM_ARENA_NEW(&b->plan->arena, rates, target->device_count, error));
  const uint32_t weights = cm_split_weights(op->call.node);
  cm_rate_name(op->call.node, weights < op->call.input_count ? op->call.input[weights].dims[0] : 0, type, name);
  for (uint32_t d = 0; d < target->device_count; d++) {
    rates[d] = cm_device_rate(&target->device[d], op->kind, name);
    op->rate = rates[d] > op->rate ? rates[d] : op->rate;
    all += rates[d] * target->device[d].units;
    count += rates[d] > 0 ? target->device[d].units : 0;
  }
  op->rates = rates;
  if (b->plan->division == CM_DIVISION_EVEN && op->rate > 0)
    op->rate = all / count;
  op->units = op->rate > 0 ? all / op->rate : 0;
  return op->rate > 0 ? CM_OK : no_rate(b, op, cm_type_name(type), error);
}

static cm_status add_op(cm_cutter *b, const cm_node *node, uint32_t copied, cm_error *error)
{
  cm_plan *plan = b->plan;
  const cm_call *call;
  for (uint32_t i = 0; i < node->input_count && copied == CM_NONE; i++) {
    const cm_tensor *tensor;
    if (node->inputs[i] != CM_NONE && plan->values[node->inputs[i]].kind == CM_VALUE_CONSTANT &&
        cm_constant_tensor(plan->model, node->inputs[i], b->run, &tensor, error) != CM_OK)
      return error->status;
  }
  CM_TRY(cm_plan_call(plan, node, &call, error));
  plan->ops[plan->op_count] = (cm_plan_op){.call = *call, .copied = copied, .kind = units_for(call, b->options->target)};
  CM_TRY(find_rates(b, &plan->ops[plan->op_count], error));
  for (uint32_t o = 0; plan->ops[plan->op_count].kind == CM_UNIT_HOST && o < (copied != CM_NONE ? 1 : call->output_count); o++)
    plan->values[copied != CM_NONE ? copied : node->outputs[o]].host = true;
  return cm_plan_cut(b, plan->op_count++, error);
}

/* A view that has to be made: the tiles of a graph output are filled from what it views. */
static cm_status add_copy(cm_cutter *b, uint32_t value, cm_error *error)
{
  cm_node *node;
  cm_arena *arena = &b->plan->arena;
  const cm_node *maker = &b->plan->model->nodes[b->plan->model->values[value].producer];
  CM_TRY(CM_ARENA_NEW(arena, node, 1, error));
  CM_TRY(CM_ARENA_NEW(arena, node->inputs, 1, error));
  CM_TRY(CM_ARENA_NEW(arena, node->outputs, 1, error));
  node->name = cm_node_name(b->plan->model, maker);
  node->op = "Identity";
  node->domain = "";
  node->known = cm_operator_find("", "Identity", b->plan->model->opset);
  node->inputs[0] = node->outputs[0] = value;
  node->input_count = node->output_count = 1;
  return add_op(b, node, value, error);
}

static cm_status build(cm_cutter *b, const uint32_t *order, cm_error *error)
{
  cm_plan *plan = b->plan;
  const cm_model *m = plan->model;
  CM_TRY(classify(b, order, error));
  for (size_t i = 0; i < m->input_count; i++) {
    cm_plan_value *v = &plan->values[m->inputs[i]];
    if (!cm_shape_known(&m->values[m->inputs[i]].shape))
      return cm_fail(error, CM_BAD_NETWORK, "the shape of input '%.80s' is not known", m->values[m->inputs[i]].name);
    cm_plan_input_grid(plan, b->options, cm_type_bytes(m->values[m->inputs[i]].shape.type), v);
    CM_TRY(cm_plan_add_grid(plan, m->inputs[i], error));
  }
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *node = &m->nodes[order[i]];
    if (cm_node_is_constant(m, node))
      continue;
    bool makes = false;
    for (uint32_t o = 0; o < node->output_count; o++)
      makes = makes || (plan->values[node->outputs[o]].kind == CM_VALUE_MADE && !plan->values[node->outputs[o]].copied);
    CM_TRY_IF(makes, add_op(b, node, CM_NONE, error));
    for (uint32_t o = 0; o < node->output_count; o++)
      CM_TRY_IF(plan->values[node->outputs[o]].copied, add_copy(b, node->outputs[o], error));
  }
  return CM_OK;
}

/* ---- who needs what ---- */

/* Tiles of a value that a box meets have to be stored, so that the box can be loaded. */
static void need_home(cm_plan *plan, const cm_tile *box)
{
  cm_cells cells;
  for (bool more = cm_cells_begin(plan, box, &cells); more; more = cm_cells_next(&cells))
    plan->tiles[cm_cells_tile(&cells)].must_home = true;
}

static void find_uses(cm_plan *plan)
{
  for (size_t t = 0; t < plan->tile_count; t++)
    plan->tiles[t].must_home = plan->tiles[t].grid && plan->values[plan->tiles[t].value].output;
  for (size_t p = plan->piece_count; p-- > 0;) {
    cm_piece *piece = &plan->pieces[p];
    const uint32_t *outputs = cm_piece_outputs(plan, piece), *inputs = cm_piece_inputs(plan, piece);
    piece->dead = true;
    for (uint32_t i = 0; i < piece->output_count; i++)
      piece->dead = piece->dead && !plan->tiles[outputs[i]].used && !plan->tiles[outputs[i]].must_home;
    for (uint32_t i = 0; !piece->dead && i < piece->input_count; i++) {
      cm_tile *tile = &plan->tiles[inputs[i]];
      if (!tile->used) {
        tile->last_op = piece->op;
        if (!tile->grid && !tile->constant)
          need_home(plan, tile);
      }
      tile->used = true;
    }
  }
}

static void reset(cm_plan *plan)
{
  cm_arena_free(&plan->arena);
  cm_arena_init(&plan->arena, plan->memory);
  memset(plan->values, 0, plan->model->value_count * sizeof *plan->values);
  memset(plan->calls, 0, plan->model->node_count * sizeof *plan->calls);
  for (size_t i = 0; i < plan->box_table_size; i++)
    plan->box_table[i] = 0;
  plan->op_count = 0;
  plan->tile_count = plan->piece_count = plan->piece_tile_count = plan->box_count = 0;
}

/* The memories of cores; pieces are cut for the smallest one. */
static cm_status divide_memory(cm_plan *plan, cm_error *error)
{
  plan->cut_bytes = plan->memory_bytes;
  CM_TRY(CM_NEW(plan->memory, plan->core_memory, plan->memory_count + 1, error));
  plan->core_memory[0] = (cm_core_memory){CM_CORE_SHARED, plan->memory_bytes};
  cm_memories_scale(plan->target, plan->memory_bytes, CM_ALIGNMENT, plan->core_memory);
  for (uint32_t m = 0; m < plan->memory_count; m++) {
    const uint64_t bytes = plan->core_memory[m].to - (m > 0 ? plan->core_memory[m - 1].to : 0);
    plan->cut_bytes = bytes < plan->cut_bytes ? bytes : plan->cut_bytes;
  }
  if (plan->memory_count == 0 || plan->cut_bytes > 0)
    return CM_OK;
  const uint64_t least = cm_target_memory_least(plan->target), needed = (plan->target->memory_bytes + least - 1) / least * CM_ALIGNMENT;
  (void)cm_fail(error, CM_TOO_LARGE, "%llu bytes of memory leave one of %u cores none: %llu would do for all", (unsigned long long)plan->memory_bytes,
                plan->memory_count, (unsigned long long)needed);
  cm_error_figure(error, "needed_bytes", needed);
  cm_error_figure(error, "memory_bytes", plan->memory_bytes);
  return error->status;
}

cm_status cm_plan_new(cm_model *model, const uint32_t *order, const cm_plan_options *options, cm_run *run,
                      cm_plan **made, cm_error *error)
{
  cm_plan *plan;
  cm_cutter b = {.options = options, .run = run};
  CM_TRY(CM_NEW(run->memory, plan, 1, error));
  plan->model = model;
  plan->memory = run->memory;
  plan->target = options->target;
  plan->settings = options->settings;
  plan->division = options->division;
  plan->turns = options->turns > 1 ? options->turns : 1;
  plan->memory_bytes = options->memory_bytes / CM_ALIGNMENT * CM_ALIGNMENT;
  plan->memory_count = options->target->memory_count;
  cm_arena_init(&plan->arena, run->memory);
  b.plan = plan;
  if (options->packs != NULL && options->settings != NULL && options->settings->pack >= 1) {
    plan->pack = &options->packs->size[(int)options->settings->pack - 1];
    plan->pack_values = options->packs->value_count;
  }
  cm_status status = CM_OK;
  if (CM_NEW_ALL(run->memory, error, CM_ARRAY(plan->values, model->value_count), CM_ARRAY(plan->calls, model->node_count),
                 CM_ARRAY(plan->ops, model->node_count + model->output_count + 1), CM_ARRAY(b.solid, model->value_count)) != CM_OK ||
      divide_memory(plan, error) != CM_OK ||
      cm_hop_times_make(options->target, run->memory, &plan->hops, error) != CM_OK)
    status = error->status;
  do {
    b.again = false;
    if (status == CM_OK) {
      reset(plan);
      status = build(&b, order != NULL ? order : model->order, error);
    }
  } while (status == CM_OK && b.again);
  if (status == CM_OK)
    find_uses(plan);
  cm_free(b.solid);
  CM_END(status, *made = plan, cm_plan_free(plan));
}

void cm_plan_free(cm_plan *plan)
{
  if (plan == NULL)
    return;
  cm_arena_free(&plan->arena);
  cm_hop_times_end(&plan->hops);
  CM_FREE(plan->values, plan->calls, plan->ops, plan->tiles, plan->pieces, plan->piece_tiles, plan->piece_tile_bytes, plan->core_memory,
          plan->box_table, plan);
}
