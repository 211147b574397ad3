/* Pieces one after another: what they read is loaded, what nobody reads any more leaves. */
#include "core/machine/course/pager.h"

#include <string.h>


/* ---- making ---- */

/* Lists the operators that read each tile. */
static cm_status list_uses(cm_pager *pager, cm_error *error)
{
  cm_plan *plan = pager->plan;
  uint32_t *last;
  if (CM_NEW(plan->memory, last, plan->tile_count, error) != CM_OK)
    return error->status;
  for (int pass = 0; pass < 2; pass++) {
    memset(last, 0xff, plan->tile_count * sizeof *last);
    for (size_t p = 0; p < plan->piece_count; p++) {
      const cm_piece *piece = &plan->pieces[p];
      const uint32_t *inputs = cm_piece_inputs(plan, piece);
      for (uint32_t i = 0; !piece->dead && i < piece->input_count; i++) {
        if (last[inputs[i]] == piece->op)
          continue;
        last[inputs[i]] = piece->op;
        if (pass == 0)
          pager->use_first[inputs[i] + 1]++;
        else
          pager->use_op[pager->use_first[inputs[i]]++] = piece->op;
      }
    }
    if (pass == 0) {
      for (size_t t = 0; t < plan->tile_count; t++)
        pager->use_first[t + 1] += pager->use_first[t];
      if (CM_NEW(plan->memory, pager->use_op, pager->use_first[plan->tile_count] + 1, error) != CM_OK)
        break;
    }
  }
  /* The second pass moved every start to its end. */
  for (size_t t = plan->tile_count; t > 0; t--)
    pager->use_first[t] = pager->use_first[t - 1];
  pager->use_first[0] = 0;
  cm_free(last);
  return pager->use_op != NULL ? CM_OK : error->status;
}

cm_status cm_pager_new(cm_plan *plan, cm_pager **made, cm_error *error)
{
  cm_pager *pager;
  if (CM_NEW(plan->memory, pager, 1, error) != CM_OK)
    return error->status;
  pager->plan = plan;
  if (cm_space_begin(&pager->space, plan->memory_bytes, plan->tile_count, plan->memory, error) != CM_OK ||
      CM_NEW(plan->memory, pager->use_first, plan->tile_count + 2, error) != CM_OK ||
      CM_NEW(plan->memory, pager->seen, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, pager->seen_stamp, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, pager->owed, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, pager->pieces_before, plan->op_count + 1, error) != CM_OK ||
      list_uses(pager, error) != CM_OK) {
    cm_pager_free(pager);
    return error->status;
  }
  for (uint32_t o = 0; o < plan->op_count; o++)
    pager->pieces_before[o + 1] = pager->pieces_before[o] + plan->ops[o].piece_count;
  *made = pager;
  return CM_OK;
}

void cm_pager_free(cm_pager *pager)
{
  if (pager == NULL)
    return;
  cm_space_end(&pager->space);
  cm_free(pager->use_first);
  cm_free(pager->use_op);
  cm_free(pager->seen);
  cm_free(pager->seen_stamp);
  cm_free(pager->owed);
  cm_free(pager->pieces_before);
  cm_free(pager->view);
  cm_free(pager->prices);
  cm_free(pager->pinned);
  cm_free(pager->leaving);
  cm_free(pager->heap_items);
  cm_free(pager->entry_next);
  cm_free(pager->events);
  cm_free(pager);
}

/* ---- when a tile is needed next ---- */

/* Pieces from the start of the segment until an operator after it reads the tile. */
static uint64_t use_after_segment(const cm_pager *pager, uint32_t tile)
{
  const cm_plan *plan = pager->plan;
  const cm_tile *t = &plan->tiles[tile];
  const cm_plan_value *v = &plan->values[t->value];
  for (uint32_t i = pager->use_first[tile]; i < pager->use_first[tile + 1]; i++) {
    uint32_t op = pager->use_op[i];
    if (op <= pager->last_op)
      continue;
    uint64_t distance = pager->segment_count + pager->pieces_before[op] - pager->pieces_before[pager->last_op + 1];
    /* Bands are read in their order. */
    return t->grid && v->tile_count > 1
               ? distance + (uint64_t)(tile - v->first_tile) * plan->ops[op].piece_count / v->tile_count
               : distance;
  }
  return CM_NEVER;
}

static uint64_t first_use(const cm_pager *pager, uint32_t tile)
{
  return pager->seen_stamp[tile] == pager->segment_stamp ? pager->seen[tile] : use_after_segment(pager, tile);
}

/* What the segment reads, and neither has nor makes, is loaded at least once. */
static void owe(cm_pager *pager, uint32_t tile)
{
  const cm_plan *plan = pager->plan;
  const cm_tile *t = &plan->tiles[tile];
  if (cm_space_find(&pager->space, tile) != NULL ||
      (t->piece != CM_NONE && plan->pieces[t->piece].op >= pager->first_op))
    return;
  pager->owed[tile] = pager->segment_stamp;
  pager->owed_bytes += cm_plan_bytes(plan, t->value, &t->box);
}

/* Goes backwards over the segment: each use learns of the one after it. */
static cm_status find_next_uses(cm_pager *pager, const uint32_t *pieces, uint32_t count, cm_error *error)
{
  const cm_plan *plan = pager->plan;
  size_t entries = 0;
  pager->first_op = pager->last_op;
  for (uint32_t p = 0; p < count; p++) {
    const cm_piece *piece = &plan->pieces[pieces[p]];
    entries += piece->input_count;
    pager->first_op = piece->op < pager->first_op ? piece->op : pager->first_op;
  }
  if (CM_ROOM(plan->memory, pager->entry_next, &pager->entry_room, entries, error) != CM_OK)
    return error->status;
  pager->segment_stamp++;
  pager->owed_bytes = 0;
  for (uint32_t p = count; p-- > 0;) {
    const cm_piece *piece = &plan->pieces[pieces[p]];
    const uint32_t *inputs = cm_piece_inputs(plan, piece);
    for (uint32_t i = piece->input_count; i-- > 0;) {
      if (pager->seen_stamp[inputs[i]] != pager->segment_stamp)
        owe(pager, inputs[i]);
      pager->entry_next[--entries] = first_use(pager, inputs[i]);
      pager->seen[inputs[i]] = p;
      pager->seen_stamp[inputs[i]] = pager->segment_stamp;
    }
  }
  cm_place place = cm_space_rank(&pager->space, 0);
  for (cm_resident *r; (r = cm_space_at(&pager->space, place)) != NULL; place = cm_space_next(&pager->space, place))
    r->next_use = first_use(pager, r->tile);
  return CM_OK;
}

/* ---- pieces ---- */

/* A box is loaded from outside: what it consists of has to lie there. */
static cm_status bring_home(cm_pager *pager, const cm_tile *box, cm_error *error)
{
  cm_cells cells;
  for (bool more = cm_cells_begin(pager->plan, box, &cells); more; more = cm_cells_next(&cells)) {
    cm_resident *r = cm_space_find(&pager->space, cm_cells_tile(&cells));
    if (r != NULL && r->dirty && cm_pager_store(pager, r, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status load(cm_pager *pager, uint32_t tile, cm_error *error)
{
  const cm_tile *t = &pager->plan->tiles[tile];
  uint64_t address, bytes = cm_plan_bytes(pager->plan, t->value, &t->box);
  if ((!t->grid && !t->constant && bring_home(pager, t, error) != CM_OK) ||
      cm_pager_place(pager, tile, false, pager->now, &address, error) != CM_OK)
    return error->status;
  *(t->constant ? &pager->traffic.parameters : &pager->traffic.loaded) += bytes;
  if (pager->owed[tile] == pager->segment_stamp) {
    pager->owed[tile] = 0;
    pager->owed_bytes -= bytes;
  }
  return cm_pager_record(pager, CM_EVENT_LOAD, tile, address, error);
}

/* The input that an output is written over, when it dies in the piece: NULL if none does. */
static cm_resident *dying_input(cm_pager *pager, const cm_piece *piece, const uint64_t *next)
{
  const uint32_t *inputs = cm_piece_inputs(pager->plan, piece);
  for (uint32_t i = 0; piece->in_place != CM_NONE && i < piece->input_count; i++)
    if (inputs[i] == piece->in_place && next[i] == CM_NEVER)
      return cm_space_find(&pager->space, inputs[i]);
  return NULL;
}

static cm_status make_output(cm_pager *pager, const cm_piece *piece, uint32_t index, const uint64_t *next,
                             cm_error *error)
{
  uint32_t tile = cm_piece_outputs(pager->plan, piece)[index];
  uint64_t address, use = first_use(pager, tile);
  cm_resident *over = index == 0 ? dying_input(pager, piece, next) : NULL;
  if (over != NULL) {
    over->next_use = CM_NEVER;
    if (over->bytes == pager->plan->tiles[tile].bytes) {
      if (cm_pager_leave(pager, over, error) != CM_OK)
        return error->status;
      cm_space_rename(&pager->space, over, tile);
      over->dirty = true;
      over->must_home = pager->plan->tiles[tile].must_home;
      over->next_use = use;
      return cm_pager_record(pager, CM_EVENT_PLACE, tile, over->address, error);
    }
  }
  if (cm_pager_place(pager, tile, true, use, &address, error) != CM_OK)
    return error->status;
  return cm_pager_record(pager, CM_EVENT_PLACE, tile, address, error);
}

/* A tile that nobody reads any more leaves. */
static cm_status retire(cm_pager *pager, cm_resident *r, cm_error *error)
{
  if (r == NULL || r->next_use != CM_NEVER)
    return CM_OK;
  if (cm_pager_leave(pager, r, error) != CM_OK)
    return error->status;
  cm_space_drop(&pager->space, r->tile);
  return CM_OK;
}

static cm_status run_piece(cm_pager *pager, uint32_t number, const uint64_t *next, cm_error *error)
{
  const cm_piece *piece = &pager->plan->pieces[number];
  const uint32_t *inputs = cm_piece_inputs(pager->plan, piece), *outputs = cm_piece_outputs(pager->plan, piece);
  pager->stamp++;
  for (uint32_t i = 0; i < piece->input_count; i++)
    cm_space_pin(&pager->space, inputs[i], pager->stamp);
  for (uint32_t i = 0; i < piece->input_count; i++)
    if (cm_space_find(&pager->space, inputs[i]) == NULL && load(pager, inputs[i], error) != CM_OK)
      return error->status;
  for (uint32_t o = 0; o < piece->output_count; o++)
    if (make_output(pager, piece, o, next, error) != CM_OK)
      return error->status;
  if (cm_pager_record(pager, CM_EVENT_RUN, number, 0, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < piece->input_count; i++) {
    cm_resident *r = cm_space_find(&pager->space, inputs[i]);
    if (r != NULL)
      r->next_use = next[i];
    if (retire(pager, r, error) != CM_OK)
      return error->status;
  }
  for (uint32_t o = 0; o < piece->output_count; o++)
    if (retire(pager, cm_space_find(&pager->space, outputs[o]), error) != CM_OK)
      return error->status;
  return CM_OK;
}

cm_status cm_pager_run(cm_pager *pager, const uint32_t *pieces, uint32_t count, uint32_t last_op, double most,
                       cm_error *error)
{
  size_t entry = 0;
  pager->last_op = last_op;
  pager->segment_count = count;
  if (find_next_uses(pager, pieces, count, error) != CM_OK)
    return error->status;
  for (pager->now = 0; pager->now < count && cm_pager_cost(pager) <= most; pager->now++) {
    uint32_t number = pieces[pager->now];
    if (run_piece(pager, number, pager->entry_next + entry, error) != CM_OK)
      return error->status;
    entry += pager->plan->pieces[number].input_count;
  }
  return CM_OK;
}

cm_status cm_pager_save(const cm_pager *pager, cm_resident **copy, uint32_t *count, cm_error *error)
{
  cm_resident *made;
  if (CM_NEW(pager->plan->memory, made, pager->space.count, error) != CM_OK)
    return error->status;
  cm_space_list(&pager->space, made);
  *copy = made;
  *count = pager->space.count;
  return CM_OK;
}

cm_status cm_pager_restore(cm_pager *pager, const cm_resident *copy, uint32_t count, cm_error *error)
{
  pager->hand = 0;
  return cm_space_fill(&pager->space, copy, count, error);
}
