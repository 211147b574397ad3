/* Between the files that check a data folder: check.c, and check_files.c for what is stored beside the database. */
#pragma once

#include "storage/check.h"
#include "storage/internal.h"

/* A check under way; what it points to is the caller's. */
typedef struct cm_checking {
  const char *folder;
  sqlite3 *handle;
  const cm_check_report *report;
  bool digests; /* read files, or look at their sizes only */
  uint64_t faults, files, bytes, undigested;
} cm_checking;

/* A line of the report; one that says what is wrong, and is counted. */
void cm_checking_say(const cm_checking *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cm_checking_fault(cm_checking *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Every noted file against what is noted about it. */
cm_status cm_checking_blobs(cm_checking *c, cm_error *error);

/* Rows whose files nobody has noted. */
cm_status cm_checking_old_rows(cm_checking *c, cm_error *error);

/* Packed results against their digests; and those whose pack is missing. */
cm_status cm_checking_packs(cm_checking *c, cm_error *error);
