/* What lies where on the chip while pieces run one after another: buffer addresses, loads, spills.
 *
 * Pieces are given segment by segment. Within a segment every next use is known, so that what is needed last is given up
 * first (Belady, IBM Systems Journal 1966), weighed with what it costs to bring it back; beyond it the order of the
 * operators tells. Room is found by best fit; where none is, the window of neighbours that is cheapest to give up is
 * cleared; only when buffers in use lie in the way they are moved together. Internal to the room. */
#ifndef CM_MACHINE_PAGER_H
#define CM_MACHINE_PAGER_H

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

typedef struct cm_resident {
  uint64_t address, bytes;
  uint32_t tile;
  bool dirty; /* not stored yet */
} cm_resident;

typedef struct cm_pager {
  cm_plan *plan;
  uint64_t *next_use; /* by tile, in pieces from the start of the segment */
  uint32_t *slot_of;  /* by tile: resident + 1; rebuilt as residents move */
  uint32_t *use_first, *use_op; /* by tile: operators that read it, ascending */
  uint64_t *pieces_before;      /* by operator */
  uint32_t *pinned;             /* by tile: stamp */
  uint32_t stamp;
  cm_resident *resident; /* by address */
  uint32_t resident_count, resident_capacity;
  double *prices; /* by resident: scratch */
  uint64_t largest_gap; /* no gap is larger */
  uint32_t hand;        /* where the next search among very many residents begins */
  uint64_t *entry_next; /* of the segment: next use of each input of each piece */
  size_t entry_capacity;
  uint64_t *seen; /* by tile: first use in the segment, valid with its stamp */
  uint32_t *seen_stamp;
  uint32_t segment_stamp, last_op;
  uint64_t segment_count, now;
  cm_traffic traffic;
  bool record;
  cm_event *events;
  size_t event_count, event_capacity;
} cm_pager;

/* An empty chip. */
cm_status cm_pager_new(cm_plan *plan, cm_pager **made, cm_error *error);
void cm_pager_free(cm_pager *pager); /* NULL is allowed */

/* Runs pieces that belong to operators up to `last_op`, all before them done. Adds to pager->traffic and, when
 * pager->record is set, to pager->events. Errors: memory, CM_INTERNAL. */
cm_status cm_pager_run(cm_pager *pager, const uint32_t *pieces, uint32_t count, uint32_t last_op, cm_error *error);

/* A copy of what lies on the chip, and back. The copy is the caller's, freed with cm_free. */
cm_status cm_pager_save(const cm_pager *pager, cm_resident **copy, uint32_t *count, cm_error *error);
cm_status cm_pager_restore(cm_pager *pager, const cm_resident *copy, uint32_t count, cm_error *error);

#endif
