/* The state of a timetable while it is made. Internal to core/machine. */
#pragma once

#include "core/machine/schedule/addresses.h"
#include "core/machine/schedule/lanes.h"
#include "core/machine/schedule/ready.h"
#include "core/machine/schedule/timetable.h"

/* A piece that has its memory and no lane yet. */
typedef struct cm_granted {
  uint32_t piece, place; /* place: in the sequence. CM_NONE: the slot is idle */
  uint32_t waits;        /* inputs that are not filled */
  double ready;          /* its room is free and what is filled of its inputs is there; without hops */
  bool in_place;
} cm_granted;

/* A granted piece that waits for a buffer, in a list of them: node number + 1, 0 at the end. */
typedef struct cm_waiter {
  uint32_t slot, next;
} cm_waiter;

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
  bool filled;   /* when it is filled is known, as are `lane`, `dirty`, and `last` but for those that hold it */
  bool given_up; /* in the sequence; its room is free when no granted piece uses it */
  bool overwritten; /* its room is that of another buffer now */
  uint32_t held; /* by granted pieces that read it */
  uint32_t waiters; /* granted pieces that wait for it */
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
  uint64_t buffer_room, task_capacity;
  uint32_t *buffer_of; /* by tile: number + 1 */
  double *stored;      /* by tile: when it lies outside; below 0: it does not */
  uint64_t *next_use;  /* by entry of plan->piece_tiles: place in the sequence of the piece that reads the tile next */
  uint64_t now;        /* place in the sequence */
  uint64_t first;      /* place of the first piece of `sequence` */
  uint64_t used_bytes, capacity;
  uint32_t stamp;
  double front;        /* when the piece before begins */
  uint32_t layer;      /* layer by layer: the operator whose pieces run */
  uint64_t layer_capacity;
  uint64_t *live, *live_peak; /* by place, and by block of places: bytes that lie on the chip when all is loaded in turn */
  uint64_t ahead_at, ahead_bytes; /* place up to which loads have been looked for; what is loaded and not yet read */
  double past;         /* ports are busy up to then */
  double split_bytes;
  uint64_t effort;     /* ranges of the memory that were looked at */
  uint32_t ports;
  uint32_t *use;       /* by entry of plan->piece_tiles: the buffer */
  cm_granted *granted; /* by slot */
  uint32_t *idle_slot; /* a stack */
  cm_ready ready;      /* slots of those that wait for a lane alone */
  bool changed;        /* since it was last asked, room was freed or a tile stored */
  cm_waiter *waiter;
  uint32_t granted_count, idle_slots, waiter_count, free_waiter;
  uint64_t waiter_capacity;
  double *arrive; /* by station: when what the present task reads is known there; NULL: there are no hops */
  double *more;   /* by station: what the present task takes longer there, as data lie on other cores; NULL: one memory */
  double *promised; /* by lane: when it would end what was granted with it in mind; NULL: one memory */
  uint64_t *moved;  /* scratch by memory: bytes read, then bytes written */
  uint32_t home;    /* memory where the present task's buffers should lie; CM_NONE: any */
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

/* The sequence goes on without a buffer. Its room is free as soon as no granted piece uses it; it is stored before where
 * it has to be. Errors: memory. */
cm_status cm_timing_give_up(cm_timing *t, uint32_t number, cm_error *error);

/* Frees the room of a buffer that was given up, if no granted piece uses it. Errors: memory. */
cm_status cm_timing_release(cm_timing *t, uint32_t number, cm_error *error);

/* Gives up what is needed last until the sequence holds, with `bytes` more, no more than its share; what is pinned
 * stays. Errors: memory. */
cm_status cm_timing_make_share(cm_timing *t, uint64_t bytes, cm_error *error);

/* What is left on the chip is stored where it is needed, and given up: the next piece begins on an empty chip. Errors:
 * memory. */
cm_status cm_timing_clear(cm_timing *t, cm_error *error);

/* ---- memories of cores (timing_places.c) ---- */

/* Sets t->more for a piece whose inputs lie in `use` (CM_NO_BUFFER: not yet), and its outputs in what follows there; for a
 * transfer to or from an address. Nothing where all cores share one memory. */
void cm_timing_piece_more(cm_timing *t, const cm_piece *piece, const uint32_t *use);
void cm_timing_transfer_more(cm_timing *t, uint64_t address, uint64_t bytes);

/* Chooses t->home for a piece: of the unit that would end it first, by what lies where and what units were promised. */
void cm_timing_choose_home(cm_timing *t, const cm_piece *piece);

/* Free neighbours for a buffer, in t->home where they are free in time. */
bool cm_timing_find_room(const cm_timing *t, const cm_room_wish *wish, cm_window *window);

/* When and where the present task can end first; with `known`, from when all that it awaits is known. */
cm_slot cm_timing_find_slot(const cm_timing *t, double ready, bool known);

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

/* The piece at t->now of the sequence gets its memory; granted pieces get their lanes until fewer than
 * settings->window are left. Errors: memory. */
cm_status cm_timing_next(cm_timing *t, cm_error *error);

/* All granted pieces get their lanes. Errors: memory. */
cm_status cm_timing_finish(cm_timing *t, cm_error *error);

/* The same as cm_timing_next, with what comes beside it. Errors: memory, cancel, time. */
cm_status cm_timing_step(cm_timing *t, cm_error *error);
