/* The schedule of a program: which lane does what when, and what lies where on the chip.
 *
 * One sequence of pieces; memory is granted in the order of the sequence, execution is out of order. A buffer is laid
 * down when the sequence needs it, what is needed last being given up for it (L. A. Belady, IBM Systems Journal 1966);
 * its loads and its piece then take the earliest gap of a lane from when all that lay there before is done with. Nothing
 * waits for what comes later in the sequence, so lanes never wait for each other in a circle, and loads run ahead of the
 * pieces as far as memory allows. Internal to core/machine. */
#pragma once

#include "core/machine/schedule/sequence.h"

typedef enum cm_task_kind { CM_TASK_LOAD, CM_TASK_STORE, CM_TASK_RUN } cm_task_kind;

typedef struct cm_timed_task {
  cm_task_kind kind;
  uint32_t number; /* of the tile, or piece */
  uint32_t buffer; /* that is loaded or stored */
  uint32_t lane;
  int64_t from, to; /* LOAD, STORE: of the first axis of the tile's box that is longer than 1, counted in the box */
  double start, end;
} cm_timed_task;

/* A tile that lies on the chip for a while. */
typedef struct cm_timed_buffer {
  uint32_t tile;
  uint64_t address;
} cm_timed_buffer;

enum { CM_EFFORT_OF_PIECE = 2000 };

typedef struct cm_timetable {
  cm_timed_task *tasks; /* in the order of the sequence; empty when only the time was asked for */
  uint64_t task_count;
  cm_timed_buffer *buffers;
  uint32_t buffer_count;
  uint32_t *use; /* by entry of plan->piece_tiles: the buffer that the piece reads or makes */
  double *layer_ns; /* layer by layer: when each segment that has pieces may begin */
  uint32_t layer_count;
  cm_traffic traffic;
  double time_ns;
  uint64_t effort; /* steps that making it took: some nanoseconds each */
} cm_timetable;

/* Lays a sequence out on the lanes and the memory of the plan's chip by its settings. With `record` false only times, traffic and busy times are
 * made. Time in pieces and buffers times the ranges of the memory. The caller's: cm_timetable_free. Errors: memory,
 * cancel, time. */
cm_status cm_timetable_make(cm_plan *plan, const cm_sequence *sequence, bool record, cm_run *run, cm_timetable *made, cm_error *error);
void cm_timetable_free(cm_timetable *timetable);

/* The first axis of a box that is longer than 1: a transfer is split along it. 0 when there is none. */
uint32_t cm_transfer_axis(const cm_box *box);
