#include "core/machine/memory/space.h"

#include <string.h>

enum { FILLED = CM_SPACE_BLOCK * 3 / 4 };

cm_status cm_space_begin(cm_space *space, uint64_t bytes, size_t tile_count, cm_memory *memory, cm_error *error)
{
  *space = (cm_space){.memory = memory, .bytes = bytes};
  return CM_NEW(memory, space->number_of, tile_count + 1, error);
}

void cm_space_end(cm_space *space)
{
  CM_FREE(space->resident, space->pinned, space->spare, space->number_of, space->block);
  *space = (cm_space){0};
}

/* ---- blocks ---- */

static const cm_resident *item_of(const cm_space *space, const cm_space_block *b, uint32_t index)
{
  return &space->resident[b->item[index]];
}

static uint64_t end_before(const cm_space *space, uint32_t block)
{
  if (block == 0)
    return 0;
  const cm_space_block *b = &space->block[block - 1];
  return b->count > 0 ? cm_resident_end(item_of(space, b, b->count - 1)) : 0;
}

/* A new block at place `at` of the list, with the last `count` residents of the one before it. */
static cm_status add_block(cm_space *space, uint32_t at, uint32_t count, cm_error *error)
{
  CM_TRY(CM_ROOM(space->memory, space->block, &space->block_capacity, (uint64_t)space->block_count + 1, error));
  cm_space_block *b = &space->block[at];
  memmove(b + 1, b, (space->block_count - at) * sizeof *b);
  *b = (cm_space_block){.gaps_below = space->bytes, .count = count};
  space->block_count++;
  if (count > 0) {
    cm_space_block *before = b - 1;
    before->count -= count;
    memcpy(b->item, before->item + before->count, count * sizeof *b->item);
    b->gaps_below = before->gaps_below;
    b->first = item_of(space, b, 0)->address;
  }
  return CM_OK;
}

static void remove_block(cm_space *space, uint32_t at)
{
  space->block_count--;
  memmove(space->block + at, space->block + at + 1, (space->block_count - at) * sizeof *space->block);
}

/* Puts a block and the next one together where both are small. */
static void join(cm_space *space, uint32_t block)
{
  if (block + 1 >= space->block_count)
    return;
  cm_space_block *b = &space->block[block], *next = b + 1;
  if (b->count + next->count > CM_SPACE_BLOCK / 2)
    return;
  memcpy(b->item + b->count, next->item, next->count * sizeof *b->item);
  b->count += next->count;
  b->gaps_below = b->gaps_below > next->gaps_below ? b->gaps_below : next->gaps_below;
  remove_block(space, block + 1);
}

/* The last block that begins below an address; the first one where none does. */
static uint32_t block_below(const cm_space *space, uint64_t address)
{
  uint32_t low = 0, high = space->block_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (space->block[middle].first < address)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* How many residents of a block lie below an address. */
static uint32_t count_below(const cm_space *space, const cm_space_block *b, uint64_t address)
{
  uint32_t low = 0, high = b->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (item_of(space, b, middle)->address < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- places ---- */

/* The first place whose resident does not lie below an address. */
static cm_place place_from(const cm_space *space, uint64_t address)
{
  uint32_t block = block_below(space, address);
  uint32_t index = count_below(space, &space->block[block], address);
  return index < space->block[block].count ? (cm_place){block, index} : (cm_place){block + 1, 0};
}

cm_place cm_space_rank(const cm_space *space, uint32_t rank)
{
  uint32_t block = 0;
  for (; block < space->block_count && rank >= space->block[block].count; block++)
    rank -= space->block[block].count;
  return (cm_place){block, rank};
}

uint32_t cm_space_view(const cm_space *space, uint32_t rank, uint32_t count, uint32_t stamp, const cm_resident **view,
                       uint32_t *pinned)
{
  uint32_t done = 0, pins = 0;
  for (cm_place place = cm_space_rank(space, rank); done < count; place = (cm_place){place.block + 1, 0}) {
    const cm_space_block *b = &space->block[place.block];
    uint32_t stop = b->count - place.index < count - done ? b->count : place.index + (count - done);
    for (uint32_t i = place.index; i < stop; i++, done++) {
      view[done] = item_of(space, b, i);
      pinned[pins] = done;
      pins += space->pinned[b->item[i]] == stamp;
    }
  }
  return pins;
}

uint64_t cm_space_gap_from(const cm_space *space, cm_place place)
{
  return place.index > 0 ? cm_resident_end(item_of(space, &space->block[place.block], place.index - 1))
                         : end_before(space, place.block);
}

bool cm_space_best_gap(cm_space *space, uint64_t bytes, uint32_t stretch, uint64_t *address)
{
  uint64_t best = UINT64_MAX, after = 0, end = 0;
  for (uint32_t k = 0; k < space->block_count; k++) {
    cm_space_block *b = &space->block[k];
    uint64_t largest = 0;
    if (b->gaps_below < bytes) {
      after += best != UINT64_MAX ? b->count : 0;
      if (after > stretch)
        return true;
      end = cm_resident_end(item_of(space, b, b->count - 1));
      continue;
    }
    for (uint32_t i = 0; i < b->count; i++) {
      if (best == bytes || (best != UINT64_MAX && ++after > stretch))
        return true;
      const cm_resident *r = item_of(space, b, i);
      uint64_t gap = r->address - end;
      if (gap >= bytes && gap < best) {
        best = gap;
        *address = end;
      }
      largest = gap > largest ? gap : largest;
      end = cm_resident_end(r);
    }
    b->gaps_below = largest;
  }
  if (best != bytes && (best == UINT64_MAX || after < stretch) && space->bytes - end >= bytes && space->bytes - end < best) {
    best = space->bytes - end;
    *address = end;
  }
  return best != UINT64_MAX;
}

/* ---- changes ---- */

/* The place of a new resident: after what has no bytes and lies where it begins; at the end of a block rather than before
 * the first one of the next. */
static cm_place place_for(const cm_space *space, uint64_t address)
{
  cm_place place = place_from(space, address);
  for (const cm_resident *r = cm_space_at(space, place); r != NULL && cm_resident_end(r) <= address;
       r = cm_space_at(space, place))
    place = cm_space_next(space, place);
  return place.index == 0 && place.block > 0 ? (cm_place){place.block - 1, space->block[place.block - 1].count} : place;
}

/* A copy of an item among the residents. */
static cm_status keep(cm_space *space, const cm_resident *item, uint32_t stamp, uint32_t *number, cm_error *error)
{
  /* Room for all numbers to be given back as well. */
  CM_TRY(CM_ROOM(space->memory, space->resident, &space->resident_capacity, space->used + 1, error));
  CM_TRY(CM_ROOM(space->memory, space->pinned, &space->pinned_capacity, space->used + 1, error));
  CM_TRY(CM_ROOM(space->memory, space->spare, &space->spare_room, space->used + 1, error));
  *number = space->spare_count > 0 ? space->spare[--space->spare_count] : (uint32_t)space->used++;
  space->resident[*number] = *item;
  space->pinned[*number] = stamp;
  space->number_of[item->tile] = *number + 1;
  space->count++;
  return CM_OK;
}

cm_status cm_space_insert(cm_space *space, const cm_resident *item, uint32_t stamp, cm_error *error)
{
  uint32_t number;
  CM_TRY_IF(space->block_count == 0, add_block(space, 0, 0, error));
  cm_place place = place_for(space, item->address);
  if (space->block[place.block].count == CM_SPACE_BLOCK) {
    CM_TRY(add_block(space, place.block + 1, CM_SPACE_BLOCK / 2, error));
    place = place_for(space, item->address);
  }
  CM_TRY(keep(space, item, stamp, &number, error));
  cm_space_block *b = &space->block[place.block];
  memmove(b->item + place.index + 1, b->item + place.index, (b->count - place.index) * sizeof *b->item);
  b->item[place.index] = number;
  b->count++;
  if (place.index == 0)
    b->first = item->address;
  if (place.index + 1 == b->count && b->gaps_below < item->address - cm_space_gap_from(space, place))
    b->gaps_below = item->address - cm_space_gap_from(space, place);
  return CM_OK;
}

void cm_space_drop(cm_space *space, uint32_t tile)
{
  uint32_t number = space->number_of[tile] - 1;
  cm_place place = place_from(space, space->resident[number].address);
  while (space->block[place.block].item[place.index] != number)
    place = cm_space_next(space, place);
  cm_space_block *b = &space->block[place.block];
  b->count--;
  memmove(b->item + place.index, b->item + place.index + 1, (b->count - place.index) * sizeof *b->item);
  space->number_of[tile] = 0;
  space->spare[space->spare_count++] = number;
  space->count--;
  if (b->count == 0)
    remove_block(space, place.block);
  else if (place.index == 0)
    b->first = item_of(space, b, 0)->address;
  /* The gap that is larger now is before the next one. */
  cm_place next = cm_space_at(space, place) != NULL ? place : (cm_place){place.block + 1, 0};
  if (cm_space_at(space, next) != NULL) {
    uint64_t gap = cm_space_gap_to(space, next) - cm_space_gap_from(space, next);
    b = &space->block[next.block];
    b->gaps_below = gap > b->gaps_below ? gap : b->gaps_below;
  }
  join(space, place.block);
  if (place.block > 0)
    join(space, place.block - 1);
}

void cm_space_rename(cm_space *space, cm_resident *resident, uint32_t tile)
{
  space->number_of[tile] = space->number_of[resident->tile];
  space->number_of[resident->tile] = 0;
  resident->tile = tile;
}

cm_status cm_space_compact(cm_space *space, cm_space_mover move, void *user, uint64_t *end, cm_error *error)
{
  uint64_t at = 0;
  for (uint32_t k = 0; k < space->block_count; k++) {
    cm_space_block *b = &space->block[k];
    for (uint32_t i = 0; i < b->count; i++) {
      cm_resident *r = &space->resident[b->item[i]];
      CM_TRY_IF(r->address != at, move(user, r, at, error));
      r->address = at;
      at = cm_resident_end(r);
    }
    b->first = item_of(space, b, 0)->address;
    b->gaps_below = 0;
  }
  *end = at;
  return CM_OK;
}

void cm_space_list(const cm_space *space, cm_resident *items)
{
  for (uint32_t k = 0; k < space->block_count; k++)
    for (uint32_t i = 0; i < space->block[k].count; i++)
      *items++ = *item_of(space, &space->block[k], i);
}

cm_status cm_space_fill(cm_space *space, const cm_resident *items, uint32_t count, cm_error *error)
{
  for (uint32_t k = 0; k < space->block_count; k++)
    for (uint32_t i = 0; i < space->block[k].count; i++)
      space->number_of[item_of(space, &space->block[k], i)->tile] = 0;
  space->count = 0;
  space->used = space->spare_count = space->block_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (i % FILLED == 0 && add_block(space, space->block_count, 0, error) != CM_OK)
      break;
    cm_space_block *b = &space->block[space->block_count - 1];
    if (keep(space, &items[i], 0, &b->item[b->count], error) != CM_OK)
      break;
    b->first = b->count++ == 0 ? items[i].address : b->first;
  }
  if (space->count == count)
    return CM_OK;
  (void)cm_space_fill(space, NULL, 0, error);
  return error->status;
}
