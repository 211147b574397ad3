/* Whether a data folder holds what its database says. */
#pragma once

#include "storage/store.h"

/* At start: every stored file is there with its size; faults go to the log, and are counted. O(files), no file is read. */
cm_status cm_check_sizes(cm_store *store, uint64_t *faults, cm_error *error);

typedef struct cm_check_report {
  void (*say)(void *user, const char *line);
  void *user;
} cm_check_report;

/* Checks a whole data folder that no server uses, and changes nothing: the database's pages and indexes, the queue's
 * counters, the digest of every stored file, that each row has its files, halves of uploads, and what no row knows. Says
 * what was checked and every fault, a line each; *faults is their number. Networks of releases that noted no digest are
 * read to their end instead. Errors: CM_CONFLICT (a server works on the folder, it is not ours, or its schema is of
 * another release), CM_IO. */
cm_status cm_check_data(const char *folder, const cm_check_report *report, uint64_t *faults, cm_error *error);
