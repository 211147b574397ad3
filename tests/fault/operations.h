/* What the harness of failing calls runs: operations of the library and of storage. */
#pragma once

#include <stdbool.h>

#include "base/file.h"
#include "base/run.h"

typedef struct operation {
  const char *name;
  /* Before every run, without faults; NULL: nothing to prepare. */
  void (*prepare)(void);
  /* The operation itself, in which the call fails. Leaves what it makes to `settle`. */
  cm_status (*run)(cm_error *error);
  /* After every run, without faults: judges what is there and gives back all that run holds. `digest` [65] is "" where
   * nothing was made; else all runs that succeed must make the same. */
  void (*settle)(cm_status status, char *digest);
  /* It reads or writes zip files: libzip itself loses a block or a descriptor where it finds no memory. */
  bool zips;
} operation;

extern const operation library_operations[], storage_operations[], chip_operations[], job_operations[]; /* ended by a NULL name */

/* A folder of this process for the operations' files: made by the driver, empty before an operation's first run. */
extern char operation_folder[CM_PATH_MAX];

/* A path in it; eight at a time. */
const char *operation_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A file of tests/data or of the source tree. */
const char *operation_data(const char *name);
const char *operation_source(const char *name);

/* Ends the process with a sentence about what is wrong with the operation under way. */
_Noreturn void operation_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For what must succeed while no call fails. */
void operation_must(cm_status status, const cm_error *error, const char *what);

void operation_write(const char *path, const void *bytes, size_t size);
