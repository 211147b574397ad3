#include "core/machine/memory/ordering.h"
#include "base/order.h"

#include <stdlib.h>

CM_ORDER(by_fraction, cm_sink, CM_RISING(fraction) CM_RISING(place) CM_RISING(piece))

/* The place of the operator that makes a tile, or what lies behind it; CM_NONE: before the segment, or none. */
static uint32_t place_of(const cm_ordering *o, const cm_tile *tile)
{
  cm_cells cells;
  uint32_t piece = tile->grid                                ? tile->piece
                   : cm_cells_begin(o->plan, tile, &cells) ? o->plan->tiles[cm_cells_tile(&cells)].piece
                                                           : CM_NONE;
  uint32_t place = piece != CM_NONE ? o->place[o->plan->pieces[piece].op] : CM_NONE;
  return place != CM_NONE && place >= o->first ? place : CM_NONE;
}

static void visit(cm_ordering *o, uint32_t number);

/* A box is loaded from outside: all tiles it meets are made first. */
static void draw(cm_ordering *o, const cm_tile *tile)
{
  cm_cells cells;
  if (tile->grid)
    visit(o, tile->piece);
  for (bool more = !tile->grid && cm_cells_begin(o->plan, tile, &cells); more; more = cm_cells_next(&cells))
    visit(o, o->plan->tiles[cm_cells_tile(&cells)].piece);
}

/* Depth first: what a piece reads is made right before it. The depth is at most the number of operators. */
static void visit(cm_ordering *o, uint32_t number)
{
  const cm_piece *piece = &o->plan->pieces[number];
  if (o->done[number] == o->stamp || piece->dead)
    return;
  o->done[number] = o->stamp;
  const uint32_t *inputs = cm_piece_inputs(o->plan, piece);
  /* One round where the order of what is read counts; else one for each operator that makes some of it. */
  for (uint32_t from = 0, next = CM_NONE;; from = next, next = CM_NONE) {
    for (uint32_t i = 0; i < piece->input_count; i++) {
      uint32_t place = place_of(o, &o->plan->tiles[inputs[i]]);
      if (place == CM_NONE || place < from)
        continue;
      if (!o->by_place || place == from)
        draw(o, &o->plan->tiles[inputs[i]]);
      else if (place < next)
        next = place;
    }
    if (next == CM_NONE)
      break;
  }
  o->pieces[o->count++] = number;
}

/* The place of a cell when the last axis counts most. */
static uint64_t column_major(const cm_plan_value *v, uint32_t cell)
{
  uint64_t at = 0, index[CM_RANK_MAX] = {0};
  for (uint32_t i = v->whole.rank; i-- > 0; cell /= (uint32_t)v->count[i])
    index[i] = cell % (uint32_t)v->count[i];
  for (uint32_t i = v->whole.rank; i-- > 0;)
    at = at * (uint64_t)v->count[i] + index[i];
  return at;
}

/* The place of a cell in blocks. */
static uint64_t block_place(const cm_plan_value *v, uint32_t cell, const cm_blocking *blocking)
{
  uint32_t rank = v->whole.rank, band = rank > 3 ? 2 : rank == 3 ? 1 : 0, slice = rank > 3 ? 1 : rank > 0 ? rank - 1 : 0;
  uint32_t outer = blocking->by_slices ? slice : band, inner = blocking->by_slices ? band : slice;
  uint64_t at = 0, index[CM_RANK_MAX] = {0};
  if (slice == band)
    return cell;
  for (uint32_t i = rank; i-- > 0; cell /= (uint32_t)v->count[i])
    index[i] = cell % (uint32_t)v->count[i];
  uint64_t block = (uint64_t)(blocking->share * (double)v->count[outer]), count = (uint64_t)v->count[outer];
  block = block < 1 ? 1 : block;
  for (uint32_t i = 0; i < rank; i++)
    if (i != outer && i != inner && i < inner)
      at = at * (uint64_t)v->count[i] + index[i];
  at = (at * (count / block + 1) + index[outer] / block) * (uint64_t)v->count[inner] + index[inner];
  at = at * block + index[outer] % block;
  for (uint32_t i = 0; i < rank; i++)
    if (i != outer && i != inner && i > inner)
      at = at * (uint64_t)v->count[i] + index[i];
  return at;
}

const cm_plan_value *cm_ordering_value(const cm_plan *plan, uint32_t op)
{
  const cm_plan_op *o = &plan->ops[op];
  return &plan->values[o->copied != CM_NONE ? o->copied : o->call.node->outputs[0]];
}

/* The operators that make what each operator reads. */
static cm_status list_makers(cm_ordering *o, cm_error *error)
{
  cm_plan *plan = o->plan;
  uint64_t count = 0, room = 0;
  CM_TRY(CM_NEW(plan->memory, o->maker_first, plan->op_count + 1, error));
  for (uint32_t op = 0; op < plan->op_count; op++) {
    o->maker_first[op] = (uint32_t)count;
    for (uint32_t p = 0; p < plan->ops[op].piece_count; p++) {
      const cm_piece *piece = &plan->pieces[plan->ops[op].first_piece + p];
      const uint32_t *inputs = cm_piece_inputs(plan, piece);
      for (uint32_t i = 0; i < piece->input_count; i++) {
        const cm_plan_value *v = &plan->values[plan->tiles[inputs[i]].value];
        if (v->kind != CM_VALUE_MADE)
          continue;
        uint32_t maker = plan->pieces[plan->tiles[v->first_tile].piece].op;
        uint64_t k = o->maker_first[op];
        while (k < count && o->makers[k] != maker)
          k++;
        if (k < count)
          continue;
        CM_TRY(CM_ROOM(plan->memory, o->makers, &room, count + 1, error));
        o->makers[count++] = maker;
      }
    }
  }
  o->maker_first[plan->op_count] = (uint32_t)count;
  return CM_OK;
}

static void find_readers(cm_ordering *o)
{
  for (uint32_t k = o->first; k <= o->last; k++)
    o->has_reader[o->op_at[k]] = false;
  for (uint32_t k = o->first; k <= o->last; k++) {
    uint32_t op = o->op_at[k];
    for (uint32_t m = o->maker_first[op]; m < o->maker_first[op + 1]; m++)
      if (o->place[o->makers[m]] >= o->first && o->makers[m] != op)
        o->has_reader[o->makers[m]] = true;
  }
}

void cm_ordering_arrange(cm_ordering *o, uint32_t first, uint32_t count, const uint32_t *ops)
{
  for (uint32_t k = 0; k < count; k++) {
    o->op_at[first + k] = ops[k];
    o->place[ops[k]] = first + k;
  }
}

void cm_ordering_make(cm_ordering *o, uint32_t first, uint32_t last, bool slices_first)
{
  uint32_t sinks = 0;
  o->first = first;
  o->last = last;
  o->count = 0;
  o->stamp++;
  find_readers(o);
  for (uint32_t k = first; k <= last; k++) {
    uint32_t op = o->op_at[k];
    const cm_plan_op *made = &o->plan->ops[op];
    const cm_plan_value *v = cm_ordering_value(o->plan, op);
    if (o->has_reader[op])
      continue;
    for (uint32_t p = 0; p < made->piece_count; p++) {
      uint64_t place = o->blocking != NULL ? block_place(v, p, o->blocking) : slices_first ? p : column_major(v, p);
      o->sinks[sinks++] = (cm_sink){(double)place / made->piece_count, k, made->first_piece + p};
    }
  }
  qsort(o->sinks, sinks, sizeof *o->sinks, by_fraction);
  for (uint32_t s = 0; s < sinks; s++)
    visit(o, o->sinks[s].piece);
  for (uint32_t k = first; k <= last; k++)
    for (uint32_t p = 0; p < o->plan->ops[o->op_at[k]].piece_count; p++)
      visit(o, o->plan->ops[o->op_at[k]].first_piece + p);
}

bool cm_ordering_two_ways(const cm_plan *plan, uint32_t first, uint32_t last)
{
  for (uint32_t op = first; op <= last; op++) {
    const cm_plan_value *v = cm_ordering_value(plan, op);
    uint32_t cut = 0;
    for (uint32_t i = 0; i < v->whole.rank; i++)
      cut += v->count[i] > 1;
    if (cut > 1)
      return true;
  }
  return false;
}

cm_status cm_ordering_begin(cm_ordering *o, cm_plan *plan, const cm_ordering *like, cm_error *error)
{
  *o = (cm_ordering){.plan = plan};
  CM_TRY(CM_NEW_ALL(plan->memory, error, CM_ARRAY(o->done, plan->piece_count + 1), CM_ARRAY(o->pieces, plan->piece_count + 1),
                    CM_ARRAY(o->sinks, plan->piece_count + 1), CM_ARRAY(o->has_reader, plan->op_count + 1),
                    CM_ARRAY(o->op_at, plan->op_count + 1), CM_ARRAY(o->place, plan->op_count + 1)));
  for (uint32_t op = 0; op < plan->op_count; op++)
    o->op_at[op] = o->place[op] = op;
  if (like == NULL)
    return list_makers(o, error);
  o->by_place = like->by_place;
  o->maker_first = like->maker_first;
  o->makers = like->makers;
  o->borrowed = true;
  return CM_OK;
}

void cm_ordering_end(cm_ordering *o)
{
  CM_FREE(o->done, o->pieces, o->sinks, o->has_reader, o->op_at, o->place);
  if (!o->borrowed) {
    CM_FREE(o->maker_first, o->makers);
  }
}
