/* What lies where on the chip while pieces run one after another: buffer addresses, loads, spills.
 *
 * Pieces are given segment by segment. Within a segment every next use is known, so that what is needed last is given up
 * first (Belady, IBM Systems Journal 1966), weighed with what it costs to bring it back; beyond it the order of the
 * operators tells. Room is found by best fit; where none is, the window of neighbours that is cheapest to give up is
 * cleared; only when buffers in use lie in the way they are moved together. Internal to core/machine. */
#pragma once

#include "core/machine/memory/space.h"
#include "core/machine/plan/plan.h"

typedef enum cm_event_kind {
  CM_EVENT_LOAD,  /* a tile from outside to `address` */
  CM_EVENT_STORE, /* a tile to outside */
  CM_EVENT_MOVE,  /* a tile from where it lies to `address` */
  CM_EVENT_PLACE, /* a tile will be made at `address` */
  CM_EVENT_RUN,   /* a piece */
} cm_event_kind;

typedef struct cm_event {
  cm_event_kind kind;
  uint32_t number; /* of the tile or piece */
  uint64_t address;
} cm_event;

/* Bytes between outside memory and the chip. */
typedef struct cm_traffic {
  uint64_t loaded, stored; /* activations */
  uint64_t parameters;
  uint64_t moved; /* on the chip */
} cm_traffic;

typedef struct cm_planner {
  cm_plan *plan;
  uint32_t *use_first, *use_op; /* by tile: operators that read it, ascending */
  uint64_t *pieces_before;      /* by operator */
  cm_space space;
  uint32_t stamp;       /* of the present piece: what it needs is pinned */
  uint32_t hand;        /* where the next search among very many residents begins */
  const cm_resident **view; /* what a search looks at: residents, what they cost, which of them are pinned */
  double *prices;
  uint32_t *pinned;
  uint64_t view_capacity, price_capacity, pinned_capacity;
  uint32_t *leaving; /* tiles that are given up together */
  uint64_t leaving_capacity;
  struct cm_heap_item *heap_items;
  uint64_t heap_room;
  uint64_t *entry_next; /* of the segment: next use of each input of each piece */
  uint64_t entry_capacity;
  uint64_t *seen; /* by tile: first use in the segment, valid with its stamp */
  uint32_t *seen_stamp;
  uint32_t *owed; /* by tile: stamp of the segment that has to load it, and has not yet */
  uint64_t owed_bytes;
  uint32_t segment_stamp, first_op, last_op;
  uint64_t segment_count, now;
  cm_traffic traffic;
  bool record;
  cm_event *events;
  uint64_t event_count, event_room;
} cm_planner;

/* Bytes that count for the choice of segments: the traffic, with what the present segment has to load still. */
static inline double cm_planner_cost(const cm_planner *planner)
{
  const cm_traffic *t = &planner->traffic;
  /* What moves on the chip costs little, but not nothing. */
  return (double)(t->loaded + t->stored + t->parameters + planner->owed_bytes) + (double)t->moved / 64;
}

/* An empty chip. */
cm_status cm_planner_new(cm_plan *plan, cm_planner **made, cm_error *error);
void cm_planner_free(cm_planner *planner); /* NULL is allowed */

/* Runs pieces that belong to operators up to `last_op`, all before them done. Adds to planner->traffic and, when
 * planner->record is set, to planner->events. Stops as soon as cm_planner_cost is known to exceed `most`: what lies on the
 * chip is of no use then. Errors: memory, CM_INTERNAL. */
cm_status cm_planner_run(cm_planner *planner, const uint32_t *pieces, uint32_t count, uint32_t last_op, double most,
                       cm_error *error);

/* A copy of what lies on the chip, and back. The copy is the caller's, freed with cm_free. */
cm_status cm_planner_save(const cm_planner *planner, cm_resident **copy, uint32_t *count, cm_error *error);
cm_status cm_planner_restore(cm_planner *planner, const cm_resident *copy, uint32_t count, cm_error *error);

/* ---- between the files of the planner ---- */

#define CM_NEVER UINT64_MAX /* a tile is needed again */

/* Notes what happens, where that is wanted. */
cm_status cm_planner_record(cm_planner *planner, cm_event_kind kind, uint32_t number, uint64_t address, cm_error *error);

cm_status cm_planner_store(cm_planner *planner, cm_resident *r, cm_error *error);

/* Before a tile leaves: what was not stored and is needed again or outside is stored. */
cm_status cm_planner_leave(cm_planner *planner, cm_resident *r, cm_error *error);

/* Finds room for a tile of the present piece, gives up what has to leave for it, and lays it there. */
cm_status cm_planner_place(cm_planner *planner, uint32_t tile, bool dirty, uint64_t next_use, uint64_t *address, cm_error *error);
