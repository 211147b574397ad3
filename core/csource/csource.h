/* C99 that does what a program does, for devices that exist: no library but C's own, no allocation, every address fixed. */
#pragma once

#include <jansson.h>

#include "core/machine/program/program.h"

/* How the lanes of a program become code. */
typedef enum cm_c_lanes {
  CM_C_LOOP,    /* all in one, one after the other */
  CM_C_THREADS, /* each its own POSIX thread */
  CM_C_CORES,   /* each its own core, without an operating system */
} cm_c_lanes;

/* A row of targets.def. */
typedef struct cm_c_target {
  const char *name;
  cm_c_lanes lanes;
  uint32_t rows, columns;    /* sums that a kernel keeps at once */
  uint64_t ram, flash;       /* bytes that code may fill, that constants may; 0: not stated */
  bool exact;                /* its functions of C's mathematics are those of the simulator, so outputs are equal to the last bit */
  const char *board;         /* of an emulator, on which its test is started: frames of kernels/boards.kernel; "": none */
  const char *compiler, *flags, *what;
} cm_c_target;

typedef struct cm_c_options {
  char target[CM_TARGET_NAME_MAX], name[CM_TARGET_NAME_MAX]; /* of the target; of files and functions */
  uint32_t lanes; /* at most so many; 0: as many as the program has units that compute, of threads one where waits cost more than they save */
  uint64_t seed;  /* of the stored inputs */
  bool binary;    /* weights are a file of bytes, not arrays */
  bool pieces;    /* the test tells what each piece takes, on one lane (core/chip/rates_fit.h) */
} cm_c_options;

/* One of the files that are made. */
typedef struct cm_c_file {
  char name[2 * CM_TARGET_NAME_MAX];
  char *text; /* freed with free */
  size_t size;
} cm_c_file;

enum { CM_C_FILES = 9 };

/* All rows; the last one has no name. */
const cm_c_target *cm_c_targets(void);

/* Target host, name "model", as many lanes as units, seed 1. */
void cm_c_options_default(cm_c_options *options);

/* Makes the files of a program: code, header, weights, lanes and transfers, a test with stored inputs and outputs, and how they are built. The
 * same program and options give the same bytes. *report (new reference): {"target", "lanes", "pieces", "kernels", "chip_bytes",
 * "scratch_bytes", "weight_bytes", "expected_ns"}. The caller frees the texts (cm_c_files_free). Time: the program, and one simulation of
 * it. Errors: CM_BAD_OPTION (a target or name that is none; pieces of several lanes), CM_BAD_NETWORK (an operator that no kernel does, with its node), CM_TOO_LARGE (more
 * memory than the target has), CM_DAMAGED, memory, CM_CANCELLED. */
cm_status cm_c_make(const cm_program *program, const cm_c_options *options, cm_run *run, cm_c_file files[CM_C_FILES],
                         json_t **report, cm_error *error);
void cm_c_files_free(cm_c_file files[CM_C_FILES]);

/* Writes them into a folder, which is made; or as a tar archive with a folder `name` in it, whole or not at all. Errors: CM_IO, CM_DISK_FULL. */
cm_status cm_c_write_folder(const cm_c_file files[CM_C_FILES], const char *folder, cm_error *error);
cm_status cm_c_write_archive(const cm_c_file files[CM_C_FILES], const char *name, const char *path, cm_error *error);
