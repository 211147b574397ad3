/* Operators in pieces. What can fail: a piece that does not fit, memory. */
#include "core/machine/plan/cutter.h"
#include "core/machine/plan/sizing.h"

/* Tiles that a piece reads, each once. */
typedef struct gathering {
  cm_plan *plan;
  uint64_t first;       /* in plan->piece_tiles */
  uint64_t bytes;
  uint32_t part_count, last_tile;
  uint32_t mark;        /* of the tiles that it has */
  bool whole;           /* the one part is a whole tile as it lies there */
} gathering;

static cm_status append_tile(cm_plan *plan, uint32_t tile, uint64_t bytes, cm_error *error)
{
  CM_TRY(CM_ROOM(plan->memory, plan->piece_tiles, &plan->piece_tile_capacity, plan->piece_tile_count + 1, error));
  CM_TRY(CM_ROOM(plan->memory, plan->piece_tile_bytes, &plan->piece_bytes_capacity, plan->piece_tile_count + 1, error));
  plan->piece_tile_bytes[plan->piece_tile_count] = bytes;
  plan->piece_tiles[plan->piece_tile_count++] = tile;
  return CM_OK;
}

static uint64_t part_bytes(const cm_plan *plan, const cm_part *part)
{
  uint64_t bytes = cm_type_bytes(plan->model->values[plan->tiles[part->tile].value].shape.type);
  for (uint32_t i = 0; i < part->rank; i++)
    bytes *= (uint64_t)part->extent[i];
  return bytes;
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
  const uint64_t bytes = plan->memory_count > 0 && !plan->tiles[part->tile].host ? part_bytes(plan, part) : 0;
  if (plan->tiles[part->tile].mark == g->mark) {
    uint64_t k = plan->piece_tile_count;
    while (bytes > 0 && plan->piece_tiles[--k] != part->tile)
      continue;
    if (bytes > 0)
      plan->piece_tile_bytes[k] += bytes;
    return CM_OK;
  }
  plan->tiles[part->tile].mark = g->mark;
  g->bytes += plan->tiles[part->tile].bytes;
  return append_tile(plan, part->tile, bytes, error);
}

static bool boxable(const cm_plan *plan, const cm_plan_op *op, uint32_t input)
{
  return input < 64 && (op->copied != CM_NONE || (cm_has(&op->call, input) &&
                                                  plan->values[op->call.node->inputs[input]].kind != CM_VALUE_CONSTANT));
}

static cm_status gather_all(cm_cutter *b, const cm_plan_op *op, const cm_box *inputs, cm_piece *piece, uint64_t *bytes, cm_error *error)
{
  cm_plan *plan = b->plan;
  gathering g = {.plan = plan, .first = piece->first_tile, .mark = ++plan->marks};
  bool may = cm_split_in_place(&op->call);
  plan->piece_tile_count = piece->first_tile;
  piece->in_place = CM_NONE;
  for (uint32_t i = 0; i < op->call.input_count; i++) {
    uint32_t blocked = CM_NONE; /* a view that must be made by its operator */
    const cm_part_visit visit = {.visit = gather_part, .user = &g, .boxed = i < 64 && (piece->boxed >> i & 1) != 0, .blocked = &blocked};
    uint64_t before = plan->piece_tile_count;
    if (!cm_has(&op->call, i))
      continue;
    g.part_count = 0;
    CM_TRY(cm_plan_operand_parts(plan, op, i, &inputs[i], &visit, error));
    if (blocked != CM_NONE) {
      b->solid[blocked] = true;
      b->again = true;
    }
    bool fresh = plan->piece_tile_count == before + 1;
    if (piece->in_place != CM_NONE && g.part_count > 0 && !fresh)
      piece->in_place = CM_NONE; /* read in two ways */
    if (may && piece->in_place == CM_NONE && fresh && g.part_count == 1 && g.whole && cm_box_count(&inputs[i]) == b->out_count &&
        plan->tiles[g.last_tile].grid && op->call.input[i].type == op->call.output[0].type &&
        cm_box_count(&plan->tiles[g.last_tile].box) == cm_box_count(&inputs[i]))
      piece->in_place = g.last_tile;
  }
  piece->input_count = (uint32_t)(plan->piece_tile_count - piece->first_tile);
  *bytes = g.bytes + b->out_bytes;
  return CM_OK;
}

/* Inputs whose tiles are much larger than what the piece needs of them are loaded as boxes where room is short. */
static cm_status choose_boxed(cm_cutter *b, const cm_plan_op *op, const cm_box *inputs, cm_piece *piece,
                              uint64_t *needed, cm_error *error)
{
  cm_plan *plan = b->plan;
  uint64_t bytes;
  piece->boxed = 0;
  CM_TRY(gather_all(b, op, inputs, piece, &bytes, error));
  for (uint32_t round = 0; round < 64 && bytes > plan->memory_bytes / 2; round++) {
    uint64_t worst = 0;
    uint32_t input = CM_NONE;
    for (uint32_t i = 0; i < op->call.input_count; i++) {
      if (!boxable(plan, op, i) || (piece->boxed >> i & 1) != 0)
        continue;
      gathering g = {.plan = plan, .first = plan->piece_tile_count, .mark = ++plan->marks};
      uint64_t mark = plan->piece_tile_count, exact = cm_aligned(cm_box_count(&inputs[i]) *
                                                                 cm_type_bytes(op->call.input[i].type));
      uint32_t blocked;
      cm_status status = cm_plan_operand_parts(plan, op, i, &inputs[i],
                                               &(cm_part_visit){.visit = gather_part, .user = &g, .blocked = &blocked}, error);
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
    CM_TRY(gather_all(b, op, inputs, piece, &bytes, error));
  }
  *needed = bytes;
  return CM_OK;
}

static cm_status add_piece(cm_cutter *b, uint32_t op_number, const cm_box *box, cm_box *inputs, cm_error *error)
{
  cm_plan *plan = b->plan;
  cm_plan_op *op = &plan->ops[op_number];
  cm_split_change change;
  CM_TRY(CM_ROOM(plan->memory, plan->pieces, &plan->piece_room, plan->piece_count + 1, error));
  uint64_t bytes = 0;
  const bool outside = op->kind == CM_UNIT_HOST;
  b->out_count = cm_box_count(box);
  b->out_bytes = outside ? 0 : cm_aligned(b->out_count * cm_type_bytes(op->call.output[0].type));
  for (uint32_t o = 1; !outside && op->copied == CM_NONE && o < op->call.output_count; o++)
    b->out_bytes += cm_aligned(cm_plan_bytes(plan, op->call.node->outputs[o],
                                             cm_split_outputs_alike(&op->call)
                                                 ? box : &plan->values[op->call.node->outputs[o]].whole));
  cm_piece piece = {.op = op_number, .first_tile = plan->piece_tile_count, .in_place = CM_NONE};
  CM_TRY(cm_split_piece(&op->call, box, inputs, &change, error));
  CM_TRY(choose_boxed(b, op, inputs, &piece, &bytes, error));
  piece.work = cm_piece_work(&op->call, box, inputs, change.replaced);
  b->most_bytes = bytes > b->most_bytes ? bytes : b->most_bytes;
  plan->pieces[plan->piece_count++] = piece;
  return cm_run_check(b->run, error);
}

static cm_status add_output(cm_plan *plan, uint32_t piece, uint32_t tile, cm_error *error)
{
  plan->tiles[tile].piece = piece;
  plan->pieces[piece].output_count++;
  return append_tile(plan, tile, plan->tiles[tile].host ? 0 : cm_plan_bytes(plan, plan->tiles[tile].value, &plan->tiles[tile].box), error);
}

/* The grids of the other outputs of an operator that has several: that of the first where they are cut together, else
 * one tile each, made by the one piece. */
static cm_status add_other_grids(cm_plan *plan, const cm_plan_op *op, const cm_plan_value *first, cm_error *error)
{
  const bool alike = op->copied == CM_NONE && cm_split_outputs_alike(&op->call);
  for (uint32_t o = 1; op->copied == CM_NONE && o < op->call.output_count; o++) {
    uint32_t value = op->call.node->outputs[o];
    cm_plan_value *v = &plan->values[value];
    for (uint32_t i = 0; i < v->whole.rank; i++) {
      v->step[i] = alike ? first->step[i] : v->whole.to[i] > 0 ? v->whole.to[i] : 1;
      v->count[i] = alike ? first->count[i] : 1;
    }
    v->stretches = alike ? first->stretches : (cm_stretches){0};
    v->tile_count = alike ? first->tile_count : 1;
    CM_TRY(cm_plan_add_grid(plan, value, error));
  }
  return CM_OK;
}

/* What the last piece makes of all outputs: tile k of each. */
static cm_status add_outputs(cm_plan *plan, const cm_plan_op *op, const cm_plan_value *first, uint32_t k, cm_error *error)
{
  const uint32_t piece = (uint32_t)plan->piece_count - 1;
  CM_TRY(add_output(plan, piece, first->first_tile + k, error));
  for (uint32_t o = 1; op->copied == CM_NONE && o < op->call.output_count; o++)
    CM_TRY(add_output(plan, piece, plan->values[op->call.node->outputs[o]].first_tile + k, error));
  return CM_OK;
}

/* Tiles and pieces for the grid that is set. */
static cm_status fill_grid(cm_cutter *b, uint32_t op_number, uint32_t first, cm_box *inputs, cm_error *error)
{
  cm_plan *plan = b->plan;
  cm_plan_op *op = &plan->ops[op_number];
  cm_plan_value *v = &plan->values[first];
  b->most_bytes = 0;
  op->first_piece = (uint32_t)plan->piece_count;
  CM_TRY(cm_plan_add_grid(plan, first, error));
  CM_TRY(add_other_grids(plan, op, v, error));
  for (uint32_t k = 0; k < v->tile_count; k++) {
    cm_box box = plan->tiles[v->first_tile + k].box;
    CM_TRY(add_piece(b, op_number, &box, inputs, error));
    CM_TRY(add_outputs(plan, op, v, k, error));
  }
  op->piece_count = (uint32_t)plan->piece_count - op->first_piece;
  cm_plan_share(plan, op, v);
  return CM_OK;
}

static void clear_tiles(cm_plan *plan, const cm_plan_value *v)
{
  for (uint32_t k = 0; k < v->tile_count; k++) {
    plan->tiles[v->first_tile + k].grid = false;
    plan->tiles[v->first_tile + k].piece = CM_NONE;
  }
}

/* Takes back what fill_grid made. Tiles stay, as boxes among them may be known already, but belong to nobody. */
static void clear_grid(cm_plan *plan, const cm_plan_op *op, uint32_t first)
{
  clear_tiles(plan, &plan->values[first]);
  for (uint32_t o = 1; op->copied == CM_NONE && o < op->call.output_count; o++)
    clear_tiles(plan, &plan->values[op->call.node->outputs[o]]);
  plan->piece_count = op->first_piece;
  plan->piece_tile_count = (size_t)plan->pieces[op->first_piece].first_tile;
}

cm_status cm_plan_cut(cm_cutter *b, uint32_t op_number, cm_error *error)
{
  cm_plan *plan = b->plan;
  cm_plan_op *op = &plan->ops[op_number];
  uint32_t first = op->copied != CM_NONE ? op->copied : op->call.node->outputs[0];
  cm_box *inputs;
  CM_TRY(CM_NEW(plan->memory, inputs, op->call.input_count + 1, error));
  /* Every buffer lies in one memory, and what a piece needs in any, half of it in use. */
  const uint64_t most = plan->memory_count > 0 ? plan->memory_bytes / 2 : plan->memory_bytes;
  uint64_t memory = plan->cut_bytes;
  cm_status status = CM_OK;
  if (op->kind == CM_UNIT_HOST) /* whole: it has all that lies outside */
    cm_sizing_set(&plan->values[first], plan->values[first].whole.to, &(cm_stretches){0});
  else
    status = cm_plan_grid(plan, op, b->options, memory, &plan->values[first], error);
  CM_THEN(status, fill_grid(b, op_number, first, inputs, error));
  while (status == CM_OK && b->most_bytes > most) {
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
