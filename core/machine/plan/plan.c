/* Values in tiles, operators in pieces. What can fail: shapes or operators that are not known, a piece that does not
 * fit, memory. */
#include "core/machine/plan/plan.h"

#include <string.h>

#include "core/operators/permute/cross.h"

enum { TILES_MAX = 1 << 24, SMALL_SHARE = 128 };

/* ---- tiles ---- */

static cm_status add_tile(cm_plan *plan, uint32_t value, const cm_box *box, uint32_t *number, cm_error *error)
{
  void *block = plan->tiles;
  if (plan->tile_count >= TILES_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the model would have more than %d tiles on a chip of %llu bytes", TILES_MAX,
                   (unsigned long long)plan->memory_bytes);
  if (plan->tile_count == plan->tile_capacity) {
    size_t capacity = plan->tile_capacity * 2 + 256;
    block = cm_reallocate(plan->memory, plan->tiles, capacity, sizeof *plan->tiles, error);
    if (block == NULL)
      return error->status;
    plan->tiles = block;
    plan->tile_capacity = capacity;
  }
  plan->tiles[plan->tile_count] = (cm_tile){.value = value, .piece = CM_NONE, .last_op = CM_NONE, .box = *box,
                                            .bytes = cm_aligned(cm_plan_bytes(plan, value, box))};
  *number = (uint32_t)plan->tile_count++;
  return CM_OK;
}

uint64_t cm_plan_bytes(const cm_plan *plan, uint32_t value, const cm_box *box)
{
  return cm_box_count(box) * cm_type_bytes(plan->model->values[value].shape.type);
}

cm_box cm_plan_constant_box(const cm_plan *plan, uint32_t value, const cm_box *box)
{
  cm_box whole = cm_box_whole(&plan->model->values[value].shape);
  return cm_plan_bytes(plan, value, &whole) <= plan->memory_bytes / SMALL_SHARE ? whole : *box;
}

static size_t box_hash(uint32_t value, const cm_box *box)
{
  uint64_t hash = value * UINT64_C(0x9E3779B97F4A7C15);
  for (uint32_t i = 0; i < box->rank; i++)
    hash = (hash ^ ((uint64_t)box->from[i] << 24) ^ (uint64_t)box->to[i]) * UINT64_C(0xFF51AFD7ED558CCD) ^ hash >> 29;
  return (size_t)(hash ^ hash >> 32);
}

static cm_status grow_box_table(cm_plan *plan, cm_error *error)
{
  size_t size = plan->box_table_size > 0 ? plan->box_table_size * 2 : 1024;
  uint32_t *table;
  if (CM_NEW(plan->memory, table, size, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < plan->box_table_size; i++) {
    if (plan->box_table[i] == 0)
      continue;
    const cm_tile *tile = &plan->tiles[plan->box_table[i] - 1];
    size_t at = box_hash(tile->value, &tile->box) & (size - 1);
    while (table[at] != 0)
      at = (at + 1) & (size - 1);
    table[at] = plan->box_table[i];
  }
  cm_free(plan->box_table);
  plan->box_table = table;
  plan->box_table_size = size;
  return CM_OK;
}

cm_status cm_plan_box_tile(cm_plan *plan, uint32_t value, const cm_box *box, uint32_t *number, cm_error *error)
{
  if (2 * plan->box_count >= plan->box_table_size && grow_box_table(plan, error) != CM_OK)
    return error->status;
  size_t at = box_hash(value, box) & (plan->box_table_size - 1);
  for (; plan->box_table[at] != 0; at = (at + 1) & (plan->box_table_size - 1)) {
    const cm_tile *tile = &plan->tiles[plan->box_table[at] - 1];
    if (tile->value == value && cm_box_equal(&tile->box, box)) {
      *number = plan->box_table[at] - 1;
      return CM_OK;
    }
  }
  if (add_tile(plan, value, box, number, error) != CM_OK)
    return error->status;
  plan->tiles[*number].constant = plan->values[value].kind == CM_VALUE_CONSTANT;
  plan->box_table[at] = *number + 1;
  plan->box_count++;
  return CM_OK;
}

/* The tiles of a value whose grid is set. */
static cm_status add_grid(cm_plan *plan, uint32_t value, cm_error *error)
{
  cm_plan_value *v = &plan->values[value];
  int64_t cell[CM_RANK_MAX] = {0};
  v->first_tile = (uint32_t)plan->tile_count;
  do {
    cm_box box = {.rank = v->whole.rank};
    uint32_t number;
    for (uint32_t i = 0; i < box.rank; i++) {
      box.from[i] = cell[i] * v->step[i];
      box.to[i] = box.from[i] + v->step[i] < v->whole.to[i] ? box.from[i] + v->step[i] : v->whole.to[i];
    }
    if (add_tile(plan, value, &box, &number, error) != CM_OK)
      return error->status;
    plan->tiles[number].grid = true;
  } while (cm_next_index(v->whole.rank, v->count, cell));
  return CM_OK;
}

bool cm_cells_begin(const cm_plan *plan, const cm_tile *box, cm_cells *cells)
{
  *cells = (cm_cells){.value = &plan->values[box->value]};
  if (cells->value->kind != CM_VALUE_MADE || cm_box_count(&box->box) == 0)
    return false;
  for (uint32_t i = 0; i < box->box.rank; i++) {
    cells->first[i] = box->box.from[i] / cells->value->step[i];
    cells->extent[i] = (box->box.to[i] - 1) / cells->value->step[i] - cells->first[i] + 1;
  }
  return true;
}

bool cm_cells_next(cm_cells *cells)
{
  return cm_next_index(cells->value->whole.rank, cells->extent, cells->index);
}

uint32_t cm_cells_tile(const cm_cells *cells)
{
  int64_t cell[CM_RANK_MAX];
  for (uint32_t i = 0; i < cells->value->whole.rank; i++)
    cell[i] = cells->first[i] + cells->index[i];
  return cm_plan_tile_at(cells->value, cell);
}

/* ---- pieces ---- */

/* Tiles that a piece reads, each once. */
typedef struct gathering {
  cm_plan *plan;
  uint64_t first;       /* in plan->piece_tiles */
  uint64_t bytes;
  uint32_t part_count, last_tile;
  uint32_t mark;        /* of the tiles that it has */
  bool whole;           /* the one part is a whole tile as it lies there */
} gathering;

static cm_status append_tile(cm_plan *plan, uint32_t tile, cm_error *error)
{
  if (plan->piece_tile_count == plan->piece_tile_capacity) {
    size_t capacity = plan->piece_tile_capacity * 2 + 1024;
    void *block = cm_reallocate(plan->memory, plan->piece_tiles, capacity, sizeof *plan->piece_tiles, error);
    if (block == NULL)
      return error->status;
    plan->piece_tiles = block;
    plan->piece_tile_capacity = capacity;
  }
  plan->piece_tiles[plan->piece_tile_count++] = tile;
  return CM_OK;
}

static cm_status gather_part(void *user, const cm_part *part, cm_error *error)
{
  gathering *g = user;
  cm_plan *plan = g->plan;
  g->part_count++;
  g->last_tile = part->tile;
  g->whole = part->from == 0 && part->to == 0;
  for (uint32_t i = 0; i < part->rank; i++)
    g->whole = g->whole && (part->extent[i] == 1 || part->from_stride[i] == part->to_stride[i]);
  if (plan->tiles[part->tile].mark == g->mark)
    return CM_OK;
  plan->tiles[part->tile].mark = g->mark;
  g->bytes += plan->tiles[part->tile].bytes;
  return append_tile(plan, part->tile, error);
}

/* What a piece reads through one input. `blocked`: a view that must be made by its operator. */
static cm_status gather_input(cm_plan *plan, const cm_plan_op *op, uint32_t input, const cm_box *box, bool boxed,
                              gathering *g, uint32_t *blocked, cm_error *error)
{
  g->part_count = 0;
  if (op->copied != CM_NONE)
    return cm_plan_view_parts(plan, op->copied, box, boxed, gather_part, g, blocked, error);
  return cm_plan_parts(plan, op->call.node->inputs[input], box, boxed, gather_part, g, blocked, error);
}

typedef struct building {
  cm_plan *plan;
  const cm_plan_options *options;
  cm_run *run;
  bool *solid;        /* by value */
  bool again;         /* a view turned out to be none */
  uint64_t out_bytes; /* of the tile that is made */
  uint64_t most_bytes; /* that a piece of the operator needs */
} building;

static bool boxable(const cm_plan *plan, const cm_plan_op *op, uint32_t input)
{
  return input < 64 && (op->copied != CM_NONE || (cm_has(&op->call, input) &&
                                                  plan->values[op->call.node->inputs[input]].kind != CM_VALUE_CONSTANT));
}

static cm_status gather_all(building *b, const cm_plan_op *op, const cm_box *inputs, uint64_t boxed, cm_piece *piece,
                            uint64_t *bytes, cm_error *error)
{
  cm_plan *plan = b->plan;
  gathering g = {.plan = plan, .first = piece->first_tile, .mark = ++plan->marks};
  bool may = cm_split_in_place(&op->call);
  plan->piece_tile_count = piece->first_tile;
  piece->in_place = CM_NONE;
  for (uint32_t i = 0; i < op->call.input_count; i++) {
    uint32_t blocked = CM_NONE;
    uint64_t before = plan->piece_tile_count;
    if (!cm_has(&op->call, i))
      continue;
    if (gather_input(plan, op, i, &inputs[i], i < 64 && (boxed >> i & 1) != 0, &g, &blocked, error) != CM_OK)
      return error->status;
    if (blocked != CM_NONE) {
      b->solid[blocked] = true;
      b->again = true;
    }
    bool fresh = plan->piece_tile_count == before + 1;
    if (piece->in_place != CM_NONE && g.part_count > 0 && !fresh)
      piece->in_place = CM_NONE; /* read in two ways */
    if (may && piece->in_place == CM_NONE && fresh && g.part_count == 1 && g.whole &&
        plan->tiles[g.last_tile].grid && op->call.input[i].type == op->call.output[0].type &&
        cm_box_count(&plan->tiles[g.last_tile].box) == cm_box_count(&inputs[i]))
      piece->in_place = g.last_tile;
  }
  piece->input_count = (uint32_t)(plan->piece_tile_count - piece->first_tile);
  *bytes = g.bytes + b->out_bytes;
  return CM_OK;
}

/* Inputs whose tiles are much larger than what the piece needs of them are loaded as boxes where room is short. */
static cm_status choose_boxed(building *b, const cm_plan_op *op, const cm_box *inputs, cm_piece *piece,
                              uint64_t *needed, cm_error *error)
{
  cm_plan *plan = b->plan;
  uint64_t bytes;
  piece->boxed = 0;
  if (gather_all(b, op, inputs, 0, piece, &bytes, error) != CM_OK)
    return error->status;
  for (uint32_t round = 0; round < 64; round++) {
    uint64_t worst = 0;
    uint32_t input = CM_NONE;
    for (uint32_t i = 0; i < op->call.input_count; i++) {
      if (!boxable(plan, op, i) || (piece->boxed >> i & 1) != 0)
        continue;
      gathering g = {.plan = plan, .first = plan->piece_tile_count, .mark = ++plan->marks};
      uint64_t mark = plan->piece_tile_count, exact = cm_aligned(cm_box_count(&inputs[i]) *
                                                                 cm_type_bytes(op->call.input[i].type));
      uint32_t blocked;
      cm_status status = gather_input(plan, op, i, &inputs[i], false, &g, &blocked, error);
      plan->piece_tile_count = mark;
      if (status != CM_OK)
        return status;
      bool wasteful = g.bytes > 2 * exact && g.bytes > plan->memory_bytes / 4 && bytes > plan->memory_bytes / 2;
      if (g.bytes > exact && g.bytes - exact > worst && (bytes > plan->memory_bytes * 9 / 10 || wasteful)) {
        worst = g.bytes - exact;
        input = i;
      }
    }
    if (input == CM_NONE)
      break;
    piece->boxed |= UINT64_C(1) << input;
    if (gather_all(b, op, inputs, piece->boxed, piece, &bytes, error) != CM_OK)
      return error->status;
  }
  *needed = bytes;
  return CM_OK;
}

static cm_status add_piece(building *b, uint32_t op_number, const cm_box *box, cm_box *inputs, cm_error *error)
{
  cm_plan *plan = b->plan;
  cm_plan_op *op = &plan->ops[op_number];
  cm_split_change change;
  if (plan->piece_count == plan->piece_capacity) {
    size_t capacity = plan->piece_capacity * 2 + 256;
    void *block = cm_reallocate(plan->memory, plan->pieces, capacity, sizeof *plan->pieces, error);
    if (block == NULL)
      return error->status;
    plan->pieces = block;
    plan->piece_capacity = capacity;
  }
  uint64_t bytes = 0;
  b->out_bytes = cm_aligned(cm_box_count(box) * cm_type_bytes(op->call.output[0].type));
  for (uint32_t o = 1; op->copied == CM_NONE && o < op->call.output_count; o++)
    if (op->call.node->outputs[o] != CM_NONE)
      b->out_bytes += cm_aligned(cm_plan_bytes(plan, op->call.node->outputs[o],
                                               &plan->values[op->call.node->outputs[o]].whole));
  cm_piece piece = {.op = op_number, .first_tile = plan->piece_tile_count, .in_place = CM_NONE};
  if (cm_split_piece(&op->call, box, inputs, &change, error) != CM_OK ||
      choose_boxed(b, op, inputs, &piece, &bytes, error) != CM_OK)
    return error->status;
  b->most_bytes = bytes > b->most_bytes ? bytes : b->most_bytes;
  plan->pieces[plan->piece_count++] = piece;
  return cm_run_check(b->run, error);
}

static cm_status add_output(cm_plan *plan, uint32_t piece, uint32_t tile, cm_error *error)
{
  plan->tiles[tile].piece = piece;
  plan->pieces[piece].output_count++;
  return append_tile(plan, tile, error);
}

/* The other outputs of an operator that has several: whole, and made by its one piece. */
static cm_status add_other_outputs(cm_plan *plan, const cm_plan_op *op, cm_error *error)
{
  for (uint32_t o = 1; op->copied == CM_NONE && o < op->call.output_count; o++) {
    uint32_t value = op->call.node->outputs[o];
    if (value == CM_NONE)
      continue;
    cm_plan_value *v = &plan->values[value];
    for (uint32_t i = 0; i < v->whole.rank; i++) {
      v->step[i] = v->whole.to[i] > 0 ? v->whole.to[i] : 1;
      v->count[i] = 1;
    }
    v->tile_count = 1;
    if (add_grid(plan, value, error) != CM_OK || add_output(plan, op->first_piece, v->first_tile, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* Tiles and pieces for the grid that is set. */
static cm_status fill_grid(building *b, uint32_t op_number, uint32_t first, cm_box *inputs, cm_error *error)
{
  cm_plan *plan = b->plan;
  cm_plan_op *op = &plan->ops[op_number];
  cm_plan_value *v = &plan->values[first];
  b->most_bytes = 0;
  op->first_piece = (uint32_t)plan->piece_count;
  if (add_grid(plan, first, error) != CM_OK)
    return error->status;
  for (uint32_t k = 0; k < v->tile_count; k++) {
    cm_box box = plan->tiles[v->first_tile + k].box;
    if (add_piece(b, op_number, &box, inputs, error) != CM_OK ||
        add_output(plan, (uint32_t)plan->piece_count - 1, v->first_tile + k, error) != CM_OK)
      return error->status;
  }
  op->piece_count = (uint32_t)plan->piece_count - op->first_piece;
  return add_other_outputs(plan, op, error);
}

/* Takes back what fill_grid made. Tiles stay, as boxes among them may be known already, but belong to nobody. */
static void clear_grid(cm_plan *plan, const cm_plan_op *op, uint32_t first)
{
  const cm_plan_value *v = &plan->values[first];
  for (uint32_t k = 0; k < v->tile_count; k++) {
    plan->tiles[v->first_tile + k].grid = false;
    plan->tiles[v->first_tile + k].piece = CM_NONE;
  }
  plan->piece_count = op->first_piece;
  plan->piece_tile_count = (size_t)plan->pieces[op->first_piece].first_tile;
}

/* The grid, the tiles and the pieces of one operator. Where a piece turns out to need more than was estimated (what it
 * reads lies in many tiles), the operator is cut further. */
static cm_status cut_op(building *b, uint32_t op_number, cm_error *error)
{
  cm_plan *plan = b->plan;
  cm_plan_op *op = &plan->ops[op_number];
  uint32_t first = op->copied != CM_NONE ? op->copied : op->call.node->outputs[0];
  cm_box *inputs;
  if (CM_NEW(plan->memory, inputs, op->call.input_count + 1, error) != CM_OK)
    return error->status;
  uint64_t memory = plan->memory_bytes;
  cm_status status = cm_plan_grid(plan, op, b->options, memory, &plan->values[first], error);
  if (status == CM_OK)
    status = fill_grid(b, op_number, first, inputs, error);
  while (status == CM_OK && b->most_bytes > plan->memory_bytes) {
    uint64_t needed = b->most_bytes;
    cm_error ignored;
    clear_grid(plan, op, first);
    memory = memory * 7 / 8;
    if (cm_plan_grid(plan, op, b->options, memory, &plan->values[first], &ignored) != CM_OK)
      status = cm_plan_too_small(plan, op->call.node, needed, error);
    else
      status = fill_grid(b, op_number, first, inputs, error);
  }
  cm_free(inputs);
  return status;
}

/* ---- values and operators ---- */

cm_status cm_plan_call(cm_plan *plan, const cm_node *node, const cm_call **made, cm_error *error)
{
  const cm_model *m = plan->model;
  size_t number = node >= m->nodes && node < m->nodes + m->node_count ? (size_t)(node - m->nodes) : m->node_count;
  if (number < m->node_count && plan->calls[number] != NULL) {
    *made = plan->calls[number];
    return CM_OK;
  }
  cm_call *call;
  cm_shape *input;
  cm_tensor **value;
  if (CM_ARENA_NEW(&plan->arena, call, 1, error) != CM_OK ||
      CM_ARENA_NEW(&plan->arena, input, node->input_count + 1, error) != CM_OK ||
      CM_ARENA_NEW(&plan->arena, value, node->input_count + 1, error) != CM_OK ||
      CM_ARENA_NEW(&plan->arena, call->output, node->output_count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < node->input_count; i++) {
    input[i].rank = CM_UNKNOWN_RANK;
    if (node->inputs[i] == CM_NONE)
      continue;
    input[i] = m->values[node->inputs[i]].shape;
    value[i] = m->values[node->inputs[i]].tensor;
  }
  for (uint32_t o = 0; o < node->output_count; o++) {
    call->output[o].rank = CM_UNKNOWN_RANK;
    if (node->outputs[o] != CM_NONE)
      call->output[o] = m->values[node->outputs[o]].shape;
  }
  call->node = node;
  call->opset = m->opset;
  call->input_count = node->input_count;
  call->output_count = node->output_count;
  call->input = input;
  call->value = value;
  call->memory = plan->memory;
  if (number < m->node_count)
    plan->calls[number] = call;
  *made = call;
  return CM_OK;
}

static bool is_constant_node(const cm_model *m, const cm_node *node)
{
  for (uint32_t o = 0; o < node->output_count; o++)
    if (node->outputs[o] != CM_NONE && !m->values[node->outputs[o]].constant)
      return false;
  return true;
}

/* Every value of a node that computes has to be known before anything is laid out. */
static cm_status check_node(const cm_model *m, const cm_node *node, cm_error *error)
{
  char label[160];
  (void)cm_node_label(node, label, sizeof label);
  if (node->known == NULL) {
    (void)cm_fail(error, CM_BAD_NETWORK, "node %s: the operator is not supported (domain '%.60s', opset %lld)", label,
                  node->domain, (long long)m->opset);
    return cm_fail_at(error, "node %.80s", node->name);
  }
  for (uint32_t k = 0; k < node->input_count + node->output_count; k++) {
    uint32_t value = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
    if (value == CM_NONE || (cm_shape_known(&m->values[value].shape) &&
                             cm_type_bytes(m->values[value].shape.type) > 0))
      continue;
    (void)cm_fail(error, CM_BAD_NETWORK, "node %s: the shape of '%.80s' is not known before the model runs; a program "
                  "needs every shape", label, m->values[value].name);
    return cm_fail_at(error, "node %.80s", node->name);
  }
  return CM_OK;
}

static cm_status classify(building *b, const uint32_t *order, cm_error *error)
{
  cm_plan *plan = b->plan;
  const cm_model *m = plan->model;
  for (size_t v = 0; v < m->value_count; v++) {
    if (m->values[v].shape.rank != CM_UNKNOWN_RANK)
      plan->values[v].whole = cm_box_whole(&m->values[v].shape);
    if (m->values[v].constant || m->values[v].initializer)
      plan->values[v].kind = CM_VALUE_CONSTANT;
  }
  for (size_t i = 0; i < m->input_count; i++)
    plan->values[m->inputs[i]].kind = CM_VALUE_INPUT;
  for (size_t i = 0; i < m->output_count; i++)
    plan->values[m->outputs[i]].output = true;
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *node = &m->nodes[order[i]];
    if (node->known != NULL && is_constant_node(m, node))
      continue;
    if (check_node(m, node, error) != CM_OK)
      return error->status;
    bool view = cm_plan_is_view(m, node);
    for (uint32_t o = 0; o < node->output_count; o++) {
      if (node->outputs[o] == CM_NONE)
        continue;
      cm_plan_value *v = &plan->values[node->outputs[o]];
      v->solid = b->solid[node->outputs[o]];
      v->copied = view && !v->solid && v->output;
      v->kind = view && !v->solid && !v->output ? CM_VALUE_VIEW : CM_VALUE_MADE;
    }
  }
  return CM_OK;
}

static cm_status add_op(building *b, const cm_node *node, uint32_t copied, cm_error *error)
{
  cm_plan *plan = b->plan;
  const cm_call *call;
  for (uint32_t i = 0; i < node->input_count && copied == CM_NONE; i++) {
    const cm_tensor *tensor;
    if (node->inputs[i] != CM_NONE && plan->values[node->inputs[i]].kind == CM_VALUE_CONSTANT &&
        cm_constant_tensor(plan->model, node->inputs[i], b->run, &tensor, error) != CM_OK)
      return error->status;
  }
  if (cm_plan_call(plan, node, &call, error) != CM_OK)
    return error->status;
  plan->ops[plan->op_count] = (cm_plan_op){.call = *call, .copied = copied,
                                           .matrix = cm_split_is_matrix(node->known)};
  return cut_op(b, plan->op_count++, error);
}

/* A view that has to be made: the tiles of a graph output are filled from what it views. */
static cm_status add_copy(building *b, uint32_t value, cm_error *error)
{
  cm_node *node;
  cm_arena *arena = &b->plan->arena;
  const cm_node *maker = &b->plan->model->nodes[b->plan->model->values[value].producer];
  if (CM_ARENA_NEW(arena, node, 1, error) != CM_OK || CM_ARENA_NEW(arena, node->inputs, 1, error) != CM_OK ||
      CM_ARENA_NEW(arena, node->outputs, 1, error) != CM_OK)
    return error->status;
  node->name = maker->name;
  node->op = "Identity";
  node->domain = "";
  node->known = cm_operator_find("", "Identity", b->plan->model->opset);
  node->inputs[0] = node->outputs[0] = value;
  node->input_count = node->output_count = 1;
  return add_op(b, node, value, error);
}

static cm_status build(building *b, const uint32_t *order, cm_error *error)
{
  cm_plan *plan = b->plan;
  const cm_model *m = plan->model;
  if (classify(b, order, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < m->input_count; i++) {
    cm_plan_value *v = &plan->values[m->inputs[i]];
    if (!cm_shape_known(&m->values[m->inputs[i]].shape))
      return cm_fail(error, CM_BAD_NETWORK, "the shape of input '%.80s' is not known", m->values[m->inputs[i]].name);
    cm_plan_input_grid(plan, b->options, cm_type_bytes(m->values[m->inputs[i]].shape.type), v);
    if (add_grid(plan, m->inputs[i], error) != CM_OK)
      return error->status;
  }
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *node = &m->nodes[order[i]];
    if (is_constant_node(m, node))
      continue;
    bool makes = false;
    for (uint32_t o = 0; o < node->output_count; o++)
      makes = makes || (node->outputs[o] != CM_NONE && plan->values[node->outputs[o]].kind == CM_VALUE_MADE &&
                        !plan->values[node->outputs[o]].copied);
    if (makes && add_op(b, node, CM_NONE, error) != CM_OK)
      return error->status;
    for (uint32_t o = 0; o < node->output_count; o++)
      if (node->outputs[o] != CM_NONE && plan->values[node->outputs[o]].copied &&
          add_copy(b, node->outputs[o], error) != CM_OK)
        return error->status;
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

cm_status cm_plan_new(cm_model *model, const uint32_t *order, const cm_plan_options *options, cm_run *run,
                      cm_plan **made, cm_error *error)
{
  cm_plan *plan;
  building b = {.options = options, .run = run};
  if (CM_NEW(run->memory, plan, 1, error) != CM_OK)
    return error->status;
  plan->model = model;
  plan->memory = run->memory;
  plan->memory_bytes = options->memory_bytes / CM_ALIGNMENT * CM_ALIGNMENT;
  cm_arena_init(&plan->arena, run->memory);
  b.plan = plan;
  cm_status status = CM_OK;
  if (CM_NEW(run->memory, plan->values, model->value_count, error) != CM_OK ||
      CM_NEW(run->memory, plan->calls, model->node_count, error) != CM_OK ||
      CM_NEW(run->memory, plan->ops, model->node_count + model->output_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, b.solid, model->value_count, error) != CM_OK)
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
  if (status != CM_OK) {
    cm_plan_free(plan);
    return status;
  }
  *made = plan;
  return CM_OK;
}

void cm_plan_free(cm_plan *plan)
{
  if (plan == NULL)
    return;
  cm_arena_free(&plan->arena);
  cm_free(plan->values);
  cm_free(plan->calls);
  cm_free(plan->ops);
  cm_free(plan->tiles);
  cm_free(plan->pieces);
  cm_free(plan->piece_tiles);
  cm_free(plan->box_table);
  cm_free(plan);
}
