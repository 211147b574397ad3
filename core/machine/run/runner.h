/* Between running, computing and checking. */
#pragma once

#include "core/machine/run/run_lanes.h"

/* What the checking mode knows. Clocks are vector clocks (Mattern 1989): how many instructions of every lane are known to
 * be done when a lane begins its next one. */
typedef struct cm_checker {
  uint32_t lanes;
  uint32_t *clock;      /* [lane][lane] */
  uint32_t *seq;        /* by lane: instructions begun */
  uint32_t *signal;     /* [SET in the program][lane] */
  uint32_t *tag;        /* by byte of the chip: buffer + 1 */
  uint32_t *access;     /* [buffer][lane]: last instruction that touched it */
  uint32_t *written;    /* [buffer][lane]: last instruction that wrote to it */
  uint32_t **home_lane, **home_seq;   /* by tensor and element, of those that are stored */
  uint32_t *memory;     /* by buffer: the memory that it lies in + 1 */
  uint64_t remote_bytes; /* that the present instruction reads or writes in memories on other cores */
  double read_hop_ns, write_hop_ns; /* the ways to the farthest of them */
} cm_checker;

typedef struct cm_runner {
  const cm_program *program;
  cm_memory *memory;
  cm_run *run;
  uint8_t *chip;
  cm_tensor **outside; /* by tensor */
  cm_checker *checker; /* NULL: not checked */
  uint64_t at;         /* the instruction that is executed, for messages */
  cm_simulation *result;
} cm_runner;

/* Elements [extent] from one strided place to another; strides in elements. */
void cm_copy_elements(uint8_t *to, const int64_t *to_stride, const uint8_t *from, const int64_t *from_stride,
                      uint32_t rank, const int64_t *extent, size_t width);

/* Executes one instruction that is no SET or WAIT. */
cm_status cm_execute(cm_runner *r, const cm_instruction *i, cm_error *error);

cm_status cm_checker_new(const cm_program *program, cm_checker **made, cm_error *error);
void cm_checker_free(cm_checker *checker, uint32_t tensor_count);

/* A lane begins an instruction. */
void cm_checker_begin(cm_checker *c, uint32_t lane);
/* A SET, the `signal`-th of the program, and a WAIT for it. */
void cm_checker_set(cm_checker *c, uint32_t lane, uint64_t signal);
void cm_checker_wait(cm_checker *c, uint32_t lane, uint64_t signal);

/* Between turns: every lane knows what all did, and nothing on the chip is of the next turn. */
void cm_checker_meet(cm_checker *c, uint64_t memory_bytes);

/* A lane reads or writes `bytes` of a buffer. */
cm_status cm_checker_read(cm_runner *r, uint32_t lane, uint32_t buffer, uint64_t address, uint64_t bytes, cm_error *error);
cm_status cm_checker_write(cm_runner *r, uint32_t lane, uint32_t buffer, uint64_t address, uint64_t bytes, cm_error *error);
/* What the instruction's time says of other cores' memories is what it did. */
cm_status cm_checker_end(cm_runner *r, const cm_instruction *i, cm_error *error);
/* Elements of a tensor, from `first` on. */
typedef struct cm_home_box {
  uint32_t tensor, rank;
  int64_t first;
  const int64_t *extent, *stride;
} cm_home_box;

/* A lane reads them outside, or writes them there. */
cm_status cm_checker_home(cm_runner *r, uint32_t lane, const cm_home_box *box, bool stores, cm_error *error);
/* Every element of the outputs was stored. */
cm_status cm_checker_finish(cm_runner *r, cm_error *error);
