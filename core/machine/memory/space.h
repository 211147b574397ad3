/* What lies on the chip, by address: a list of residents in small blocks, so that thousands of them come and go at the cost
 * of a few. Internal to core/machine.
 *
 * A block names up to CM_SPACE_BLOCK neighbours and knows where the first one begins and a bound on the gaps before them,
 * so that a search for room looks into few blocks. Residents themselves stay where they are while others come and go. */
#pragma once

#include "base/memory.h"

enum { CM_SPACE_BLOCK = 64 };

typedef struct cm_resident {
  uint64_t address, bytes; /* whole lines; what has no bytes may lie where another one begins */
  uint64_t next_use;       /* in pieces from the start of the segment */
  uint32_t tile;
  bool dirty;     /* not stored yet */
  bool must_home; /* of the tile */
} cm_resident;

typedef struct cm_space_block {
  uint64_t first;      /* address of its first resident */
  uint64_t gaps_below; /* no gap before any of its residents is larger */
  uint32_t count;      /* 0 in no block but the only one */
  uint32_t item[CM_SPACE_BLOCK]; /* by address: in cm_space.resident */
} cm_space_block;

typedef struct cm_space {
  cm_memory *memory;
  uint64_t bytes;        /* of the chip */
  uint32_t count;        /* residents */
  cm_resident *resident; /* in no order; a new one may move them all */
  uint32_t *pinned;      /* by resident: stamp of the piece that needs it */
  uint64_t used, resident_capacity, pinned_capacity; /* places of residents that were ever taken */
  uint32_t *spare;       /* those of them that are free */
  uint64_t spare_count, spare_room;
  uint32_t *number_of;   /* by tile: resident + 1; 0: not on the chip */
  cm_space_block *block; /* by address */
  uint32_t block_count;
  uint64_t block_capacity;
} cm_space;

/* A place in the list, void after any change to it. */
typedef struct cm_place {
  uint32_t block, index;
} cm_place;

/* An empty list for tiles [0, tile_count). Free it with cm_space_end, also after a failure. Errors: memory. */
cm_status cm_space_begin(cm_space *space, uint64_t bytes, size_t tile_count, cm_memory *memory, cm_error *error);
void cm_space_end(cm_space *space);

/* Adds a resident in a gap, pinned with a stamp. Costs a block and a look at the list of blocks, as what follows. Errors:
 * memory. */
cm_status cm_space_insert(cm_space *space, const cm_resident *item, uint32_t stamp, cm_error *error);
void cm_space_drop(cm_space *space, uint32_t tile);

/* The resident of one tile becomes that of another, where it lies. */
void cm_space_rename(cm_space *space, cm_resident *resident, uint32_t tile);

/* The place of a rank by address. */
cm_place cm_space_rank(const cm_space *space, uint32_t rank);

/* Lists `count` residents from a rank on, and in `pinned` the places in that list of those pinned with a stamp; returns how
 * many are. Both lists have a place for each. */
uint32_t cm_space_view(const cm_space *space, uint32_t rank, uint32_t count, uint32_t stamp, const cm_resident **view,
                       uint32_t *pinned);

/* Where the gap before a place begins. */
uint64_t cm_space_gap_from(const cm_space *space, cm_place place);

/* The address of the smallest gap that holds `bytes`, among the first one that does and the `stretch` gaps after it. False
 * when there is none. */
bool cm_space_best_gap(cm_space *space, uint64_t bytes, uint32_t stretch, uint64_t *address);

/* Moves everything to the low end; says of each that moves where it lies from now on, before it does. *end is the first
 * byte that is free then. Linear. */
typedef cm_status (*cm_space_mover)(void *user, const cm_resident *resident, uint64_t address, cm_error *error);
cm_status cm_space_compact(cm_space *space, cm_space_mover move, void *user, uint64_t *end, cm_error *error);

/* Copies all residents in the order of addresses, and replaces all by `count` that are in it. Linear. Errors: memory; the
 * list is empty then. */
void cm_space_list(const cm_space *space, cm_resident *items);
cm_status cm_space_fill(cm_space *space, const cm_resident *items, uint32_t count, cm_error *error);

/* The resident of a tile; NULL: it is not on the chip. */
static inline cm_resident *cm_space_find(const cm_space *space, uint32_t tile)
{
  return space->number_of[tile] != 0 ? &space->resident[space->number_of[tile] - 1] : NULL;
}

/* Pins the resident of a tile, where it is on the chip. */
static inline void cm_space_pin(cm_space *space, uint32_t tile, uint32_t stamp)
{
  if (space->number_of[tile] != 0)
    space->pinned[space->number_of[tile] - 1] = stamp;
}

static inline bool cm_space_pinned(const cm_space *space, const cm_resident *resident, uint32_t stamp)
{
  return space->pinned[resident - space->resident] == stamp;
}

/* The resident of a place; NULL past the end. */
static inline cm_resident *cm_space_at(const cm_space *space, cm_place place)
{
  return place.block < space->block_count && place.index < space->block[place.block].count
             ? &space->resident[space->block[place.block].item[place.index]]
             : NULL;
}

static inline cm_place cm_space_next(const cm_space *space, cm_place place)
{
  return ++place.index < space->block[place.block].count ? place : (cm_place){place.block + 1, 0};
}

/* Where the gap before a place ends. */
static inline uint64_t cm_space_gap_to(const cm_space *space, cm_place place)
{
  const cm_resident *after = cm_space_at(space, place);
  return after != NULL ? after->address : space->bytes;
}

static inline uint64_t cm_resident_end(const cm_resident *resident)
{
  return resident->address + resident->bytes;
}
