/* The state of a timetable while it is made. Internal to the room. */
#ifndef CM_MACHINE_TIMING_H
#define CM_MACHINE_TIMING_H

#include "core/machine/schedule/addresses.h"
#include "core/machine/schedule/lanes.h"
#include "core/machine/schedule/timetable.h"

/* A tile on the chip. */
typedef struct cm_on_chip {
  uint32_t tile;
  uint64_t address;
  double ready;  /* it is filled, as seen from its filler's core */
  double last;   /* the end of all that was done to it, as seen from every core */
  uint32_t lane; /* that filled it; CM_NONE: several, and `ready` is as seen from every core */
  bool touched;  /* by others than its filler */
  uint64_t next; /* place in the sequence of the piece that reads it next; CM_NEVER */
  uint32_t pinned; /* stamp */
  bool dirty;    /* made, and not stored */
  bool ahead;    /* loaded before its turn, and not yet read */
} cm_on_chip;

typedef struct cm_timing {
  cm_plan *plan;
  const cm_sequence *sequence;
  const cm_target *target;
  const cm_settings *settings;
  cm_run *run;
  cm_lanes lanes;
  cm_addresses addresses;
  cm_on_chip *buffer;
  uint32_t buffer_count;
  uint64_t buffer_room, task_room, timed_room;
  uint32_t *buffer_of; /* by tile: number + 1 */
  double *stored;      /* by tile: when it lies outside; below 0: it does not */
  uint64_t *next_use;  /* by entry of plan->piece_tiles: place in the sequence of the piece that reads the tile next */
  uint64_t now;        /* place in the sequence */
  uint64_t first;      /* place of the first piece of `sequence` */
  uint64_t used_bytes, capacity;
  uint32_t stamp;
  double front;        /* when the piece before begins */
  uint64_t *live, *live_peak; /* by place, and by block of places: bytes that lie on the chip when all is loaded in turn */
  uint64_t ahead_at, ahead_bytes; /* place up to which loads have been looked for; what is loaded and not yet read */
  double past;         /* ports are busy up to then */
  double split_bytes;
  uint64_t effort;     /* ranges of the memory that were looked at */
  uint32_t ports;
  double *arrive; /* by station: when what the present task reads is known there; NULL: there are no hops */
  double ns[CM_TARGET_DEVICES_MAX]; /* what the present task takes on each device, 0: it cannot run there */
  bool record, borrowed; /* live and live_peak are another one's */
  cm_timetable *out;
} cm_timing;

/* ---- the memory ---- */

/* Adds a task to the timetable. Errors: memory. */
cm_status cm_timing_add(cm_timing *t, const cm_timed_task *task, cm_error *error);

/* Nothing is awaited; a buffer's filling is awaited too. */
void cm_timing_await_none(cm_timing *t);
void cm_timing_await(cm_timing *t, const cm_on_chip *buffer);

/* Sets t->ns for a transfer. */
void cm_timing_transfer_ns(cm_timing *t, uint64_t bytes);

/* Puts a tile in a buffer that is free for it from *free_ns on. *number: CM_NO_BUFFER when what is pinned leaves no room
 * in one piece. Errors: memory. */
cm_status cm_timing_place(cm_timing *t, uint32_t tile, double ready, uint32_t *number, double *free_ns, cm_error *error);

/* Loads a tile from outside; *there is false when no room was found for it. Errors: memory. */
cm_status cm_timing_load(cm_timing *t, uint32_t tile, bool *there, cm_error *error);

/* Stores a buffer. Errors: memory. */
cm_status cm_timing_store(cm_timing *t, uint32_t number, cm_error *error);

/* Gives a buffer up that needs no storing. */
void cm_timing_release(cm_timing *t, uint32_t number);

/* Gives up what is needed last until the sequence holds, with `bytes` more, no more than its share; what is pinned
 * stays. Errors: memory. */
cm_status cm_timing_make_share(cm_timing *t, uint64_t bytes, cm_error *error);

/* What is left on the chip is stored where it is needed, and given up: the next piece begins on an empty chip. Errors:
 * memory. */
cm_status cm_timing_clear(cm_timing *t, cm_error *error);

/* ---- ahead of the sequence ---- */

/* What lies on the chip at each place of the sequence, by t->next_use. Linear in what the pieces read. Errors: memory. */
cm_status cm_timing_live(cm_timing *t, cm_error *error);

/* Loads parameters and graph inputs of pieces to come while ports are idle before t->front, as far as the memory is not
 * needed on the way there. Errors: memory. */
cm_status cm_timing_ahead(cm_timing *t, cm_error *error);

/* ---- the pieces ---- */

/* The state before the first piece; cm_timing_end frees it, also after a failure. Errors: memory. */
cm_status cm_timing_begin(cm_timing *t, cm_error *error);
void cm_timing_end(cm_timing *t);

/* A second state that goes on from here on its own, without what gave up its place; nothing of it is recorded, and live
 * bytes are the first one's. The caller sets run, out, sequence and first, and fills next_use. Free it with cm_timing_end, also after a failure. Errors: memory. */
cm_status cm_timing_copy(const cm_timing *from, cm_timing *to, cm_error *error);

/* Fills t->next_use for the sequence. next[tile]: which place behind the sequence reads a tile of it; afterwards the
 * first place in it. */
void cm_timing_uses(cm_timing *t, uint64_t *next);

/* The piece at t->now of the sequence gets its memory and its lanes. Errors: memory, cancel, time. */
cm_status cm_timing_step(cm_timing *t, cm_error *error);

#endif
