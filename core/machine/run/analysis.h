/* What explains the time of a program: the critical path, and what is held on the chip when. Internal to core/machine. */
#pragma once

#include "core/machine/run/run_lanes.h"

/* Why something begins when it does. */
typedef enum cm_begin_reason {
  CM_BEGINS_OFF_PATH, /* not on the critical path */
  CM_BEGINS_AT_START, /* of the program */
  CM_BEGINS_AFTER_LANE, /* what was before it on its lane */
  CM_BEGINS_AFTER_DATA, /* what made or brought what it reads */
  CM_BEGINS_AFTER_ROOM, /* what used the memory that it fills */
  CM_BEGINS_AFTER_ISSUE, /* it was read: what is before it in the stream of the chip begins, or leaves the port */
  CM_BEGIN_REASONS,
} cm_begin_reason;

/* When an instruction keeps its lane busy. */
typedef struct cm_busy {
  uint64_t instruction;
  double start_ns, end_ns;
  uint64_t after; /* the instruction whose end it waited for; CM_NO_INSTRUCTION */
  cm_begin_reason reason;
} cm_busy;

/* From a time on so many bytes of the chip's memory are held: from the first write of a buffer to its last use. */
typedef struct cm_held {
  double ns;
  uint64_t bytes;
} cm_held;

/* A buffer on the chip as its accesses show it: bytes [from, to), none when it is never met, held from its first write to its last use. */
typedef struct cm_held_buffer {
  uint64_t from, to;
  double first_ns, last_ns;
  uint64_t instruction; /* that first writes it */
  bool taken;           /* something is written over it while it is read: it is held until that begins */
} cm_held_buffer;

typedef struct cm_analysis {
  double time_ns;
  cm_busy *busy; /* by start; of the first turn */
  size_t busy_count;
  cm_held *held; /* by time */
  size_t held_count;
  uint64_t held_max;
  double held_max_ns; /* the first time at which so much is held */
  cm_held_buffer *buffers;
  size_t buffer_count;
  size_t path_length;                        /* instructions on the critical path */
  double path_ns[CM_TARGET_DEVICES_MAX];     /* of it, by device */
  double path_hops_ns;                       /* between cores, and for code */
  double reason_ns[CM_BEGIN_REASONS];        /* of its instructions, by why they begin when they do */
} cm_analysis;

/* "start", "lane", "data", "room", "issue". */
const char *cm_begin_reason_name(cm_begin_reason reason);

/* Simulates the time of a program and explains it. The critical path goes back from what ends last: each instruction on it
 * begins when the one before it ends (plus hops), or in a stream begins, so that together they take the whole time. The caller frees with
 * cm_analysis_free. O(n log n) in instructions and parts. Errors: those of cm_simulate without computing. */
cm_status cm_analysis_make(const cm_program *program, cm_run *run, cm_analysis *analysis, cm_error *error);
void cm_analysis_free(cm_analysis *analysis);
