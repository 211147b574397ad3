/* A program's pieces as a network. What can fail: memory, a network larger than one may be. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/machine/tiles/tiles.h"

enum { LABEL_MAX = 200 };

typedef struct arc {
  uint32_t from, to;
  uint64_t bytes;
} arc;

typedef struct making {
  cm_plan *plan;
  const cm_program *program;
  const uint32_t *pieces;
  uint32_t count;
  uint32_t *vertex;   /* by piece */
  uint64_t *bytes;    /* by vertex: that the present one reads of it */
  uint32_t *touched;  /* those with bytes */
  uint32_t touched_count;
  arc *arcs;
  uint64_t arc_count, arc_capacity;
  cm_topology *topology;
} making;

/* ---- what a piece reads ---- */

static void add(making *m, uint32_t piece, uint64_t bytes)
{
  uint32_t v = m->vertex[piece];
  if (m->bytes[v] == 0 && bytes > 0)
    m->touched[m->touched_count++] = v;
  m->bytes[v] += bytes;
}

/* Elements that follow each other in a box that was loaded from outside: each cell of the value has its maker. */
static void add_run(making *m, const cm_tile *box, int64_t from, int64_t length, size_t width)
{
  const cm_plan_value *v = &m->plan->values[box->value];
  int64_t at[CM_RANK_MAX], cell[CM_RANK_MAX], rest;
  uint32_t rank = box->box.rank;
  while (length > 0) {
    int64_t most = length;
    rest = from;
    for (uint32_t i = rank; i-- > 0;) {
      int64_t extent = box->box.to[i] - box->box.from[i];
      at[i] = box->box.from[i] + rest % extent;
      rest /= extent;
      cell[i] = cm_grid_cell(v, i, at[i]);
    }
    if (rank > 0) {
      int64_t row = box->box.to[rank - 1] - at[rank - 1], in_cell = cm_grid_to(v, rank - 1, cell[rank - 1]) - at[rank - 1];
      most = most < row ? most : row;
      most = most < in_cell ? most : in_cell;
    }
    add(m, m->plan->tiles[cm_plan_tile_at(v, cell)].piece, (uint64_t)most * width);
    from += most;
    length -= most;
  }
}

static cm_status add_part(void *user, const cm_part *part, CM_UNUSED cm_error *error)
{
  making *m = user;
  const cm_tile *tile = &m->plan->tiles[part->tile];
  size_t width = cm_type_bytes(m->plan->model->values[tile->value].shape.type);
  uint64_t count = 1;
  int64_t index[CM_RANK_MAX] = {0};
  for (uint32_t i = 0; i < part->rank; i++)
    count *= (uint64_t)part->extent[i];
  if (tile->constant || m->plan->values[tile->value].kind != CM_VALUE_MADE || count == 0)
    return CM_OK;
  if (tile->grid) {
    add(m, tile->piece, count * width);
    return CM_OK;
  }
  uint32_t outer = part->rank > 0 && part->from_stride[part->rank - 1] == 1 ? part->rank - 1 : part->rank;
  int64_t run = outer < part->rank ? part->extent[outer] : 1;
  do {
    int64_t from = part->from;
    for (uint32_t i = 0; i < outer; i++)
      from += index[i] * part->from_stride[i];
    add_run(m, tile, from, run, width);
  } while (cm_next_index(outer, part->extent, index));
  return CM_OK;
}

static cm_status read_inputs(making *m, const cm_plan_op *op, const cm_piece *piece, cm_error *error)
{
  const cm_box *box = &m->plan->tiles[cm_piece_outputs(m->plan, piece)[0]].box;
  cm_split_change change;
  cm_box *inputs;
  CM_TRY(CM_NEW(m->plan->memory, inputs, op->call.input_count + 1, error));
  cm_status status = cm_split_piece(&op->call, box, inputs, &change, error);
  for (uint32_t i = 0; status == CM_OK && i < op->call.input_count; i++) {
    bool boxed = i < 64 && (piece->boxed >> i & 1) != 0;
    if (!cm_has(&op->call, i) || change.replaced == i)
      continue;
    status =
      cm_plan_operand_parts(m->plan, op, i, &inputs[i], &(cm_part_visit){.visit = add_part, .user = m, .boxed = boxed}, error);
  }
  cm_free(inputs);
  return status;
}

/* ---- tiles and arcs ---- */

static uint64_t held(const cm_plan *plan, const cm_piece *piece)
{
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++) {
    const cm_tile *tile = &plan->tiles[cm_piece_inputs(plan, piece)[i]];
    bytes += i >= piece->input_count || tile->constant ? cm_plan_bytes(plan, tile->value, &tile->box) : 0;
  }
  return bytes;
}

static cm_status visit(making *m, uint32_t v, cm_error *error)
{
  const cm_piece *piece = &m->plan->pieces[m->pieces[v]];
  const cm_plan_op *op = &m->plan->ops[piece->op];
  uint64_t bytes = held(m->plan, piece);
  if (bytes > UINT32_MAX)
    return cm_fail(error, CM_TOO_LARGE, "tile %" PRIu32 ", of %.80s, holds %" PRIu64 " bytes; a tile holds less than 4 GiB",
                   v, op->call.node->name, bytes);
  m->topology->size[v] = bytes > 0 ? (uint32_t)bytes : 1;
  m->topology->size_total += m->topology->size[v];
  m->touched_count = 0;
  CM_TRY(read_inputs(m, op, piece, error));
  qsort(m->touched, m->touched_count, sizeof *m->touched, cm_ascending);
  for (uint32_t k = 0; k < m->touched_count; k++) {
    CM_TRY(CM_ROOM(m->plan->memory, m->arcs, &m->arc_capacity, m->arc_count + 1, error));
    m->arcs[m->arc_count++] = (arc){m->touched[k], v, m->bytes[m->touched[k]]};
    m->bytes[m->touched[k]] = 0;
  }
  return CM_OK;
}

/* NODE[k]@DEVICE. */
static int label_of(const making *m, uint32_t v, uint32_t lane, char text[LABEL_MAX])
{
  const cm_piece *piece = &m->plan->pieces[m->pieces[v]];
  const cm_plan_op *op = &m->plan->ops[piece->op];
  return snprintf(text, LABEL_MAX, "%.120s[%" PRIu32 "]@%.40s", cm_node_name(m->plan->model, op->call.node),
                  m->pieces[v] - op->first_piece, m->program->target.device[m->program->lanes[lane].device].name);
}

/* Writes the labels when `text` is there; returns how many bytes they take. */
static uint64_t put_labels(const making *m)
{
  cm_topology *t = m->topology;
  uint64_t at = 0;
  uint32_t v = 0;
  char label[LABEL_MAX];
  for (uint64_t i = 0; i < m->program->instruction_count; i++) {
    const cm_instruction *instruction = &m->program->instructions[i];
    if (!cm_opcode_computes(instruction->opcode))
      continue;
    uint64_t size = (uint64_t)label_of(m, v, instruction->lane, label) + 1;
    if (t->label_text != NULL) {
      memcpy(t->label_text + at, label, size);
      t->label_first[v] = at;
    }
    at += size;
    v++;
  }
  if (t->label_text != NULL)
    t->label_first[v] = at;
  return at;
}

CM_ORDER(by_ends, arc, CM_RISING(from) CM_RISING(to))

static cm_status fill(making *m, cm_error *error)
{
  cm_topology *t = m->topology;
  cm_memory *memory = m->plan->memory;
  if (m->arc_count > CM_VERTICES_MAX)
    return cm_fail(error, CM_TOO_LARGE, "%" PRIu64 " axons between tiles are more than a network has room for", m->arc_count);
  t->net_count = (uint32_t)m->arc_count;
  t->pin_count = m->arc_count;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(t->net_first, m->arc_count + 1), CM_ARRAY(t->net_source, m->arc_count),
                    CM_ARRAY(t->net_weight, m->arc_count), CM_ARRAY(t->pin, m->arc_count),
                    CM_ARRAY(t->label_first, (size_t)m->count + 1)));
  if (m->arc_count > 0)
    qsort(m->arcs, m->arc_count, sizeof *m->arcs, by_ends);
  for (uint32_t e = 0; e < t->net_count; e++) {
    t->net_source[e] = m->arcs[e].from;
    t->net_weight[e] = m->arcs[e].bytes;
    t->pin[e] = m->arcs[e].to;
    t->net_first[e + 1] = e + 1;
  }
  uint64_t label_bytes = put_labels(m);
  CM_TRY(CM_NEW(memory, t->label_text, label_bytes, error));
  (void)put_labels(m);
  return CM_OK;
}

static uint32_t count_tiles(const cm_program *program)
{
  uint32_t count = 0;
  for (uint64_t i = 0; i < program->instruction_count; i++)
    count += cm_opcode_computes(program->instructions[i].opcode);
  return count;
}

cm_status cm_tiles_topology(cm_plan *plan, const cm_program *program, const uint32_t *pieces, cm_run *run,
                            cm_topology **made, cm_error *error)
{
  making m = {.plan = plan, .program = program, .pieces = pieces, .count = count_tiles(program)};
  cm_memory *memory = plan->memory;
  cm_status status = CM_NEW(memory, m.topology, 1, error);
  if (status != CM_OK)
    return status;
  *m.topology = (cm_topology){.directed = true, .vertex_count = m.count, .weight_scale = 1};
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(m.topology->size, m.count), CM_ARRAY(m.vertex, plan->piece_count + 1),
                             CM_ARRAY(m.bytes, (size_t)m.count + 1), CM_ARRAY(m.touched, (size_t)m.count + 1)));
  for (uint32_t v = 0; status == CM_OK && v < m.count; v++)
    m.vertex[pieces[v]] = v;
  for (uint32_t v = 0; status == CM_OK && v < m.count; v++)
    if ((status = visit(&m, v, error)) == CM_OK)
      status = cm_run_check(run, error);
  CM_THEN(status, fill(&m, error));
  CM_FREE(m.vertex, m.bytes, m.touched, m.arcs);
  CM_END(status, *made = m.topology, cm_topology_free(m.topology));
}
