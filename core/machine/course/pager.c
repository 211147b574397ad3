#include "core/machine/course/pager.h"

#include <string.h>

static const uint64_t NEVER = UINT64_MAX;
enum { STRETCH = 256 };

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
  pager->largest_gap = plan->memory_bytes;
  if (CM_NEW(plan->memory, pager->next_use, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, pager->slot_of, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, pager->use_first, plan->tile_count + 2, error) != CM_OK ||
      CM_NEW(plan->memory, pager->pinned, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, pager->seen, plan->tile_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, pager->seen_stamp, plan->tile_count + 1, error) != CM_OK ||
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
  cm_free(pager->next_use);
  cm_free(pager->slot_of);
  cm_free(pager->use_first);
  cm_free(pager->use_op);
  cm_free(pager->pinned);
  cm_free(pager->seen);
  cm_free(pager->seen_stamp);
  cm_free(pager->pieces_before);
  cm_free(pager->resident);
  cm_free(pager->prices);
  cm_free(pager->entry_next);
  cm_free(pager->events);
  cm_free(pager);
}

static cm_status record(cm_pager *pager, cm_event_kind kind, uint32_t number, uint64_t address, cm_error *error)
{
  if (!pager->record)
    return CM_OK;
  if (pager->event_count == pager->event_capacity) {
    size_t capacity = pager->event_capacity * 2 + 1024;
    void *block = cm_reallocate(pager->plan->memory, pager->events, capacity, sizeof *pager->events, error);
    if (block == NULL)
      return error->status;
    pager->events = block;
    pager->event_capacity = capacity;
  }
  pager->events[pager->event_count++] = (cm_event){kind, number, address};
  return CM_OK;
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
  return NEVER;
}

static uint64_t first_use(const cm_pager *pager, uint32_t tile)
{
  return pager->seen_stamp[tile] == pager->segment_stamp ? pager->seen[tile] : use_after_segment(pager, tile);
}

/* Goes backwards over the segment: each use learns of the one after it. */
static cm_status find_next_uses(cm_pager *pager, const uint32_t *pieces, uint32_t count, cm_error *error)
{
  const cm_plan *plan = pager->plan;
  size_t entries = 0;
  for (uint32_t p = 0; p < count; p++)
    entries += plan->pieces[pieces[p]].input_count;
  if (entries > pager->entry_capacity) {
    void *block = cm_reallocate(plan->memory, pager->entry_next, entries * 2, sizeof *pager->entry_next, error);
    if (block == NULL)
      return error->status;
    pager->entry_next = block;
    pager->entry_capacity = entries * 2;
  }
  pager->segment_stamp++;
  for (uint32_t p = count; p-- > 0;) {
    const cm_piece *piece = &plan->pieces[pieces[p]];
    const uint32_t *inputs = cm_piece_inputs(plan, piece);
    for (uint32_t i = piece->input_count; i-- > 0;) {
      pager->entry_next[--entries] = first_use(pager, inputs[i]);
      pager->seen[inputs[i]] = p;
      pager->seen_stamp[inputs[i]] = pager->segment_stamp;
    }
  }
  for (uint32_t r = 0; r < pager->resident_count; r++)
    pager->next_use[pager->resident[r].tile] = first_use(pager, pager->resident[r].tile);
  return CM_OK;
}

/* ---- residents ---- */

static void renumber(cm_pager *pager, uint32_t from)
{
  for (uint32_t r = from; r < pager->resident_count; r++)
    pager->slot_of[pager->resident[r].tile] = r + 1;
}

static uint64_t end_of(const cm_pager *pager, uint32_t slot)
{
  return pager->resident[slot].address + pager->resident[slot].bytes;
}

/* The gap before `slot`: [*from, *to). */
static void gap_before(const cm_pager *pager, uint32_t slot, uint64_t *from, uint64_t *to)
{
  *from = slot > 0 ? end_of(pager, slot - 1) : 0;
  *to = slot < pager->resident_count ? pager->resident[slot].address : pager->plan->memory_bytes;
}

static void drop(cm_pager *pager, uint32_t first, uint32_t count)
{
  for (uint32_t r = first; r < first + count; r++)
    pager->slot_of[pager->resident[r].tile] = 0;
  memmove(pager->resident + first, pager->resident + first + count,
          (pager->resident_count - first - count) * sizeof *pager->resident);
  pager->resident_count -= count;
  renumber(pager, first);
  uint64_t from, to;
  gap_before(pager, first, &from, &to);
  pager->largest_gap = to - from > pager->largest_gap ? to - from : pager->largest_gap;
}

static cm_status insert(cm_pager *pager, uint32_t slot, const cm_resident *item, cm_error *error)
{
  if (pager->resident_count == pager->resident_capacity) {
    uint32_t capacity = pager->resident_capacity * 2 + 64;
    void *block = cm_reallocate(pager->plan->memory, pager->resident, capacity, sizeof *pager->resident, error);
    if (block == NULL)
      return error->status;
    pager->resident = block;
    block = cm_reallocate(pager->plan->memory, pager->prices, capacity, sizeof *pager->prices, error);
    if (block == NULL)
      return error->status;
    pager->prices = block;
    pager->resident_capacity = capacity;
  }
  memmove(pager->resident + slot + 1, pager->resident + slot,
          (pager->resident_count - slot) * sizeof *pager->resident);
  pager->resident[slot] = *item;
  pager->resident_count++;
  renumber(pager, slot);
  return CM_OK;
}

static cm_status store(cm_pager *pager, cm_resident *r, cm_error *error)
{
  r->dirty = false;
  pager->traffic.stored += cm_plan_bytes(pager->plan, pager->plan->tiles[r->tile].value,
                                         &pager->plan->tiles[r->tile].box);
  return record(pager, CM_EVENT_STORE, r->tile, r->address, error);
}

/* A tile leaves: what was not stored and is needed again or outside is stored. */
static cm_status leave(cm_pager *pager, cm_resident *r, cm_error *error)
{
  const cm_tile *tile = &pager->plan->tiles[r->tile];
  if (r->dirty && (tile->must_home || pager->next_use[r->tile] != NEVER))
    return store(pager, r, error);
  return CM_OK;
}

/* What giving a tile up costs: bytes to store and to load again, less the later they are needed. */
static double price(const cm_pager *pager, const cm_resident *r)
{
  const cm_tile *tile = &pager->plan->tiles[r->tile];
  uint64_t next = pager->next_use[r->tile];
  double bytes = (double)tile->bytes * ((r->dirty && !tile->must_home ? 1 : 0) + (next != NEVER ? 1 : 0));
  return bytes / (double)(next > pager->now ? next - pager->now : 1);
}

static bool best_gap(cm_pager *pager, uint64_t bytes, uint32_t *slot)
{
  uint64_t best = NEVER, largest = 0;
  if (bytes > pager->largest_gap)
    return false;
  for (uint32_t r = 0, after = 0; r <= pager->resident_count; r++) {
    /* A good gap will do: the best of those near the first. */
    if (best == bytes || (best != NEVER && ++after > STRETCH / 4))
      return true;
    uint64_t from, to;
    gap_before(pager, r, &from, &to);
    if (to - from >= bytes && to - from < best) {
      best = to - from;
      *slot = r;
    }
    largest = to - from > largest ? to - from : largest;
  }
  pager->largest_gap = largest;
  return best != NEVER;
}

/* Prices of the residents in [from, to), for one search. */
static void list_prices(cm_pager *pager, uint32_t from, uint32_t to)
{
  for (uint32_t r = from; r < to; r++)
    pager->prices[r] = price(pager, &pager->resident[r]);
}

/* The cheapest run of neighbours [*first, *first + *count) within [start, stop) whose room, with the gaps around, holds
 * `bytes`. */
static bool cheapest_between(cm_pager *pager, uint32_t start, uint32_t stop, uint64_t bytes, uint32_t *first,
                             uint32_t *count)
{
  double best = -1, sum = 0;
  uint32_t begin = start;
  list_prices(pager, start, stop);
  for (uint32_t end = start; end < stop; end++) {
    uint64_t from, to, unused;
    if (pager->pinned[pager->resident[end].tile] == pager->stamp) {
      begin = end + 1;
      sum = 0;
      continue;
    }
    sum += pager->prices[end];
    for (; begin <= end; begin++) {
      gap_before(pager, begin, &from, &unused);
      gap_before(pager, end + 1, &unused, &to);
      if (to - from < bytes)
        break;
      if (best < 0 || sum < best) {
        best = sum;
        *first = begin;
        *count = end - begin + 1;
      }
      sum -= pager->prices[begin];
    }
  }
  return best >= 0;
}

/* Among very many small residents a stretch of them is looked at, another one each time. */
static bool cheapest_window(cm_pager *pager, uint64_t bytes, uint32_t *first, uint32_t *count)
{
  uint32_t all = pager->resident_count;
  if (all > STRETCH) {
    uint32_t start = pager->hand % all, stop = start + STRETCH < all ? start + STRETCH : all;
    pager->hand = stop < all ? stop - STRETCH / 8 : 0;
    if (cheapest_between(pager, start, stop, bytes, first, count))
      return true;
  }
  return cheapest_between(pager, 0, all, bytes, first, count);
}

/* Moves everything to the low end, after giving up what is cheapest per byte until there is room at all. */
static cm_status compact(cm_pager *pager, uint64_t bytes, cm_error *error)
{
  uint64_t used = 0, at = 0;
  for (uint32_t r = 0; r < pager->resident_count; r++)
    used += pager->resident[r].bytes;
  while (pager->plan->memory_bytes - used < bytes) {
    uint32_t victim = CM_NONE;
    double best = 0;
    for (uint32_t r = 0; r < pager->resident_count; r++) {
      double rate = price(pager, &pager->resident[r]) / (double)pager->resident[r].bytes;
      if (pager->pinned[pager->resident[r].tile] != pager->stamp && (victim == CM_NONE || rate < best)) {
        victim = r;
        best = rate;
      }
    }
    if (victim == CM_NONE)
      return cm_fail(error, CM_INTERNAL, "the buffers of one piece do not fit on the chip");
    used -= pager->resident[victim].bytes;
    if (leave(pager, &pager->resident[victim], error) != CM_OK)
      return error->status;
    drop(pager, victim, 1);
  }
  for (uint32_t r = 0; r < pager->resident_count; r++) {
    cm_resident *item = &pager->resident[r];
    if (item->address != at) {
      pager->traffic.moved += item->bytes;
      if (record(pager, CM_EVENT_MOVE, item->tile, at, error) != CM_OK)
        return error->status;
      item->address = at;
    }
    at += item->bytes;
  }
  pager->largest_gap = pager->plan->memory_bytes - at;
  return CM_OK;
}

static cm_status place(cm_pager *pager, uint32_t tile, bool dirty, uint64_t *address, cm_error *error)
{
  uint64_t bytes = pager->plan->tiles[tile].bytes, to;
  uint32_t slot = 0, count = 0;
  if (!best_gap(pager, bytes, &slot)) {
    if (cheapest_window(pager, bytes, &slot, &count)) {
      for (uint32_t r = slot; r < slot + count; r++)
        if (leave(pager, &pager->resident[r], error) != CM_OK)
          return error->status;
      drop(pager, slot, count);
    } else {
      if (compact(pager, bytes, error) != CM_OK)
        return error->status;
      slot = pager->resident_count;
    }
  }
  gap_before(pager, slot, address, &to);
  return insert(pager, slot, &(cm_resident){*address, bytes, tile, dirty}, error);
}

/* ---- pieces ---- */

/* A box is loaded from outside: what it consists of has to lie there. */
static cm_status bring_home(cm_pager *pager, const cm_tile *box, cm_error *error)
{
  cm_cells cells;
  for (bool more = cm_cells_begin(pager->plan, box, &cells); more; more = cm_cells_next(&cells)) {
    uint32_t slot = pager->slot_of[cm_cells_tile(&cells)];
    if (slot != 0 && pager->resident[slot - 1].dirty && store(pager, &pager->resident[slot - 1], error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status load(cm_pager *pager, uint32_t tile, cm_error *error)
{
  const cm_tile *t = &pager->plan->tiles[tile];
  uint64_t address, bytes = cm_plan_bytes(pager->plan, t->value, &t->box);
  if ((!t->grid && !t->constant && bring_home(pager, t, error) != CM_OK) ||
      place(pager, tile, false, &address, error) != CM_OK)
    return error->status;
  *(t->constant ? &pager->traffic.parameters : &pager->traffic.loaded) += bytes;
  pager->next_use[tile] = pager->now;
  return record(pager, CM_EVENT_LOAD, tile, address, error);
}

static cm_status make_output(cm_pager *pager, const cm_piece *piece, uint32_t index, const uint64_t *next,
                             cm_error *error)
{
  const uint32_t *inputs = cm_piece_inputs(pager->plan, piece);
  uint32_t tile = cm_piece_outputs(pager->plan, piece)[index];
  uint64_t address;
  for (uint32_t i = 0; index == 0 && piece->in_place != CM_NONE && i < piece->input_count; i++) {
    if (inputs[i] != piece->in_place || next[i] != NEVER)
      continue;
    cm_resident *r = &pager->resident[pager->slot_of[inputs[i]] - 1];
    pager->next_use[inputs[i]] = NEVER;
    if (r->bytes != pager->plan->tiles[tile].bytes)
      break;
    if (leave(pager, r, error) != CM_OK)
      return error->status;
    pager->slot_of[tile] = pager->slot_of[inputs[i]];
    pager->slot_of[inputs[i]] = 0;
    r->tile = tile;
    r->dirty = true;
    pager->next_use[tile] = first_use(pager, tile);
    return record(pager, CM_EVENT_PLACE, tile, r->address, error);
  }
  pager->next_use[tile] = pager->now;
  if (place(pager, tile, true, &address, error) != CM_OK)
    return error->status;
  pager->next_use[tile] = first_use(pager, tile);
  pager->pinned[tile] = pager->stamp;
  return record(pager, CM_EVENT_PLACE, tile, address, error);
}

/* Tiles that nobody reads any more leave. */
static cm_status retire(cm_pager *pager, const uint32_t *tiles, uint32_t count, cm_error *error)
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t slot = pager->slot_of[tiles[i]];
    if (slot == 0 || pager->next_use[tiles[i]] != NEVER)
      continue;
    if (leave(pager, &pager->resident[slot - 1], error) != CM_OK)
      return error->status;
    drop(pager, slot - 1, 1);
  }
  return CM_OK;
}

static cm_status run_piece(cm_pager *pager, uint32_t number, const uint64_t *next, cm_error *error)
{
  const cm_piece *piece = &pager->plan->pieces[number];
  const uint32_t *inputs = cm_piece_inputs(pager->plan, piece);
  pager->stamp++;
  for (uint32_t i = 0; i < piece->input_count; i++)
    pager->pinned[inputs[i]] = pager->stamp;
  for (uint32_t i = 0; i < piece->input_count; i++)
    if (pager->slot_of[inputs[i]] == 0 && load(pager, inputs[i], error) != CM_OK)
      return error->status;
  for (uint32_t o = 0; o < piece->output_count; o++)
    if (make_output(pager, piece, o, next, error) != CM_OK)
      return error->status;
  if (record(pager, CM_EVENT_RUN, number, 0, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < piece->input_count; i++)
    pager->next_use[inputs[i]] = next[i];
  if (retire(pager, inputs, piece->input_count, error) != CM_OK)
    return error->status;
  return retire(pager, cm_piece_outputs(pager->plan, piece), piece->output_count, error);
}

cm_status cm_pager_run(cm_pager *pager, const uint32_t *pieces, uint32_t count, uint32_t last_op, cm_error *error)
{
  size_t entry = 0;
  pager->last_op = last_op;
  pager->segment_count = count;
  if (find_next_uses(pager, pieces, count, error) != CM_OK)
    return error->status;
  for (pager->now = 0; pager->now < count; pager->now++) {
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
  if (CM_NEW(pager->plan->memory, made, pager->resident_count, error) != CM_OK)
    return error->status;
  if (pager->resident_count > 0)
    memcpy(made, pager->resident, pager->resident_count * sizeof *made);
  *copy = made;
  *count = pager->resident_count;
  return CM_OK;
}

cm_status cm_pager_restore(cm_pager *pager, const cm_resident *copy, uint32_t count, cm_error *error)
{
  if (count > pager->resident_capacity) {
    void *block = cm_reallocate(pager->plan->memory, pager->resident, count, sizeof *copy, error);
    if (block == NULL)
      return error->status;
    pager->resident = block;
    block = cm_reallocate(pager->plan->memory, pager->prices, count, sizeof *pager->prices, error);
    if (block == NULL)
      return error->status;
    pager->prices = block;
    pager->resident_capacity = count;
  }
  for (uint32_t r = 0; r < pager->resident_count; r++)
    pager->slot_of[pager->resident[r].tile] = 0;
  if (count > 0)
    memcpy(pager->resident, copy, count * sizeof *copy);
  pager->resident_count = count;
  pager->largest_gap = pager->plan->memory_bytes;
  pager->hand = 0;
  renumber(pager, 0);
  return CM_OK;
}
