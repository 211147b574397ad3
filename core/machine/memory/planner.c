/* Pieces one after another: what they read is loaded, what nobody reads any more leaves. */
#include "core/machine/memory/planner.h"

#include <string.h>

/* ---- making ---- */

/* Lists the operators that read each tile. */
static cm_status list_uses(cm_planner *planner, cm_error *error)
{
  cm_plan *plan = planner->plan;
  uint32_t *last;
  CM_TRY(CM_NEW(plan->memory, last, plan->tile_count, error));
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
          planner->use_first[inputs[i] + 1]++;
        else
          planner->use_op[planner->use_first[inputs[i]]++] = piece->op;
      }
    }
    if (pass == 0) {
      for (size_t t = 0; t < plan->tile_count; t++)
        planner->use_first[t + 1] += planner->use_first[t];
      if (CM_NEW(plan->memory, planner->use_op, planner->use_first[plan->tile_count] + 1, error) != CM_OK)
        break;
    }
  }
  /* The second pass moved every start to its end. */
  for (size_t t = plan->tile_count; t > 0; t--)
    planner->use_first[t] = planner->use_first[t - 1];
  planner->use_first[0] = 0;
  cm_free(last);
  return planner->use_op != NULL ? CM_OK : error->status;
}

cm_status cm_planner_new(cm_plan *plan, cm_planner **made, cm_error *error)
{
  cm_planner *planner;
  CM_TRY(CM_NEW(plan->memory, planner, 1, error));
  planner->plan = plan;
  CM_TRY_OR(cm_space_begin(&planner->space, plan->memory_bytes, plan->tile_count, plan->memory, error), cm_planner_free(planner));
  CM_TRY_OR(CM_NEW_ALL(plan->memory, error, CM_ARRAY(planner->use_first, plan->tile_count + 2),
                       CM_ARRAY(planner->seen, plan->tile_count + 1), CM_ARRAY(planner->seen_stamp, plan->tile_count + 1),
                       CM_ARRAY(planner->owed, plan->tile_count + 1), CM_ARRAY(planner->pieces_before, plan->op_count + 1)),
            cm_planner_free(planner));
  CM_TRY_OR(list_uses(planner, error), cm_planner_free(planner));
  for (uint32_t o = 0; o < plan->op_count; o++)
    planner->pieces_before[o + 1] = planner->pieces_before[o] + plan->ops[o].piece_count;
  *made = planner;
  return CM_OK;
}

void cm_planner_free(cm_planner *planner)
{
  if (planner == NULL)
    return;
  cm_space_end(&planner->space);
  CM_FREE(planner->use_first, planner->use_op, planner->seen, planner->seen_stamp, planner->owed, planner->pieces_before,
          planner->view, planner->prices, planner->pinned, planner->leaving, planner->heap_items, planner->entry_next,
          planner->events, planner);
}

/* ---- when a tile is needed next ---- */

/* Pieces from the start of the segment until an operator after it reads the tile. */
static uint64_t use_after_segment(const cm_planner *planner, uint32_t tile)
{
  const cm_plan *plan = planner->plan;
  const cm_tile *t = &plan->tiles[tile];
  const cm_plan_value *v = &plan->values[t->value];
  for (uint32_t i = planner->use_first[tile]; i < planner->use_first[tile + 1]; i++) {
    uint32_t op = planner->use_op[i];
    if (op <= planner->last_op)
      continue;
    uint64_t distance = planner->segment_count + planner->pieces_before[op] - planner->pieces_before[planner->last_op + 1];
    /* Bands are read in their order. */
    return t->grid && v->tile_count > 1
               ? distance + (uint64_t)(tile - v->first_tile) * plan->ops[op].piece_count / v->tile_count
               : distance;
  }
  return CM_NEVER;
}

static uint64_t first_use(const cm_planner *planner, uint32_t tile)
{
  return planner->seen_stamp[tile] == planner->segment_stamp ? planner->seen[tile] : use_after_segment(planner, tile);
}

/* What the segment reads, and neither has nor makes, is loaded at least once. */
static void owe(cm_planner *planner, uint32_t tile)
{
  const cm_plan *plan = planner->plan;
  const cm_tile *t = &plan->tiles[tile];
  if (t->host || cm_space_find(&planner->space, tile) != NULL ||
      (t->piece != CM_NONE && plan->pieces[t->piece].op >= planner->first_op))
    return;
  planner->owed[tile] = planner->segment_stamp;
  planner->owed_bytes += cm_plan_bytes(plan, t->value, &t->box);
}

/* Goes backwards over the segment: each use learns of the one after it. */
static cm_status find_next_uses(cm_planner *planner, const uint32_t *pieces, uint32_t count, cm_error *error)
{
  const cm_plan *plan = planner->plan;
  size_t entries = 0;
  planner->first_op = planner->last_op;
  for (uint32_t p = 0; p < count; p++) {
    const cm_piece *piece = &plan->pieces[pieces[p]];
    entries += piece->input_count;
    planner->first_op = piece->op < planner->first_op ? piece->op : planner->first_op;
  }
  CM_TRY(CM_ROOM(plan->memory, planner->entry_next, &planner->entry_capacity, entries, error));
  planner->segment_stamp++;
  planner->owed_bytes = 0;
  for (uint32_t p = count; p-- > 0;) {
    const cm_piece *piece = &plan->pieces[pieces[p]];
    const uint32_t *inputs = cm_piece_inputs(plan, piece);
    for (uint32_t i = piece->input_count; i-- > 0;) {
      if (planner->seen_stamp[inputs[i]] != planner->segment_stamp)
        owe(planner, inputs[i]);
      planner->entry_next[--entries] = first_use(planner, inputs[i]);
      planner->seen[inputs[i]] = p;
      planner->seen_stamp[inputs[i]] = planner->segment_stamp;
    }
  }
  cm_place place = cm_space_rank(&planner->space, 0);
  for (cm_resident *r; (r = cm_space_at(&planner->space, place)) != NULL; place = cm_space_next(&planner->space, place))
    r->next_use = first_use(planner, r->tile);
  return CM_OK;
}

/* ---- pieces ---- */

/* A box is loaded from outside: what it consists of has to lie there. */
static cm_status bring_home(cm_planner *planner, const cm_tile *box, cm_error *error)
{
  cm_cells cells;
  for (bool more = cm_cells_begin(planner->plan, box, &cells); more; more = cm_cells_next(&cells)) {
    cm_resident *r = cm_space_find(&planner->space, cm_cells_tile(&cells));
    CM_TRY_IF(r != NULL && r->dirty, cm_planner_store(planner, r, error));
  }
  return CM_OK;
}

static cm_status load(cm_planner *planner, uint32_t tile, cm_error *error)
{
  const cm_tile *t = &planner->plan->tiles[tile];
  uint64_t address, bytes = cm_plan_bytes(planner->plan, t->value, &t->box);
  CM_TRY_IF(!t->grid && !t->constant, bring_home(planner, t, error));
  CM_TRY(cm_planner_place(planner, tile, false, planner->now, &address, error));
  if (t->host)
    return CM_OK;
  *(t->constant ? &planner->traffic.parameters : &planner->traffic.loaded) += bytes;
  if (planner->owed[tile] == planner->segment_stamp) {
    planner->owed[tile] = 0;
    planner->owed_bytes -= bytes;
  }
  return cm_planner_record(planner, CM_EVENT_LOAD, tile, address, error);
}

/* The input that an output is written over, when it dies in the piece: NULL if none does. */
static cm_resident *dying_input(cm_planner *planner, const cm_piece *piece, const uint64_t *next)
{
  const uint32_t *inputs = cm_piece_inputs(planner->plan, piece);
  for (uint32_t i = 0; piece->in_place != CM_NONE && i < piece->input_count; i++)
    if (inputs[i] == piece->in_place && next[i] == CM_NEVER)
      return cm_space_find(&planner->space, inputs[i]);
  return NULL;
}

static cm_status make_output(cm_planner *planner, const cm_piece *piece, uint32_t index, const uint64_t *next, cm_error *error)
{
  uint32_t tile = cm_piece_outputs(planner->plan, piece)[index];
  uint64_t address, use = first_use(planner, tile);
  cm_resident *over = index == 0 ? dying_input(planner, piece, next) : NULL;
  if (over != NULL) {
    over->next_use = CM_NEVER;
    if (over->bytes == planner->plan->tiles[tile].bytes) {
      CM_TRY(cm_planner_leave(planner, over, error));
      cm_space_rename(&planner->space, over, tile);
      over->dirty = true;
      over->must_home = planner->plan->tiles[tile].must_home;
      over->next_use = use;
      return cm_planner_record(planner, CM_EVENT_PLACE, tile, over->address, error);
    }
  }
  const bool host = planner->plan->tiles[tile].host;
  CM_TRY(cm_planner_place(planner, tile, !host, use, &address, error));
  return host ? CM_OK : cm_planner_record(planner, CM_EVENT_PLACE, tile, address, error);
}

/* A tile that nobody reads any more leaves. */
static cm_status retire(cm_planner *planner, cm_resident *r, cm_error *error)
{
  if (r == NULL || r->next_use != CM_NEVER)
    return CM_OK;
  CM_TRY(cm_planner_leave(planner, r, error));
  cm_space_drop(&planner->space, r->tile);
  return CM_OK;
}

static cm_status run_piece(cm_planner *planner, uint32_t number, const uint64_t *next, cm_error *error)
{
  const cm_piece *piece = &planner->plan->pieces[number];
  const uint32_t *inputs = cm_piece_inputs(planner->plan, piece), *outputs = cm_piece_outputs(planner->plan, piece);
  planner->stamp++;
  for (uint32_t i = 0; i < piece->input_count; i++)
    cm_space_pin(&planner->space, inputs[i], planner->stamp);
  for (uint32_t i = 0; i < piece->input_count; i++)
    CM_TRY_IF(cm_space_find(&planner->space, inputs[i]) == NULL, load(planner, inputs[i], error));
  for (uint32_t o = 0; o < piece->output_count; o++)
    CM_TRY(make_output(planner, piece, o, next, error));
  CM_TRY(cm_planner_record(planner, CM_EVENT_RUN, number, 0, error));
  for (uint32_t i = 0; i < piece->input_count; i++) {
    cm_resident *r = cm_space_find(&planner->space, inputs[i]);
    if (r != NULL)
      r->next_use = next[i];
    CM_TRY(retire(planner, r, error));
  }
  for (uint32_t o = 0; o < piece->output_count; o++)
    CM_TRY(retire(planner, cm_space_find(&planner->space, outputs[o]), error));
  return CM_OK;
}

cm_status cm_planner_run(cm_planner *planner, const uint32_t *pieces, uint32_t count, uint32_t last_op, double most,
                       cm_error *error)
{
  size_t entry = 0;
  planner->last_op = last_op;
  planner->segment_count = count;
  CM_TRY(find_next_uses(planner, pieces, count, error));
  for (planner->now = 0; planner->now < count && cm_planner_cost(planner) <= most; planner->now++) {
    uint32_t number = pieces[planner->now];
    const uint64_t *next = planner->entry_next != NULL ? planner->entry_next + entry : NULL; /* pieces may read nothing */
    CM_TRY(run_piece(planner, number, next, error));
    entry += planner->plan->pieces[number].input_count;
  }
  return CM_OK;
}

cm_status cm_planner_save(const cm_planner *planner, cm_resident **copy, uint32_t *count, cm_error *error)
{
  cm_resident *made;
  CM_TRY(CM_NEW(planner->plan->memory, made, planner->space.count, error));
  cm_space_list(&planner->space, made);
  *copy = made;
  *count = planner->space.count;
  return CM_OK;
}

cm_status cm_planner_restore(cm_planner *planner, const cm_resident *copy, uint32_t count, cm_error *error)
{
  planner->hand = 0;
  return cm_space_fill(&planner->space, copy, count, error);
}
