/* What has been deleted and can come back: rows of networks, mappings, programs and jobs as they were, while their files stay
 * where they are. Nothing else of the server sees them. */
#pragma once

#include "storage/owners.h"

typedef struct cm_binned {
  char id[CM_SHA_MAX];
  char kind[16]; /* "network", "mapping", "program", "job" */
  char user[CM_USER_MAX];
  char name[CM_NAME_MAX]; /* of a network or job */
  uint64_t bytes;
  double deleted;
} cm_binned;

/* Puts a thing into the bin (CM_OBJECT_NETWORK, _MAPPING, _PROGRAM, _JOB). When the viewer owns it beside others it stays theirs, and
 * *last is false; one who is no owner (NULL: the server) deletes it for all, and all find it in their bins. CM_NOT_FOUND; CM_CONFLICT
 * while jobs need it, and for a job that has not ended. */
cm_status cm_bin_put(cm_store *store, cm_object object, const char *id, const cm_viewer *viewer, bool *last, cm_error *error);

/* Deletes a thing for good at once, where there is no bin: the same, and past it. */
cm_status cm_bin_pass(cm_store *store, cm_object object, const char *id, const cm_viewer *viewer, cm_error *error);

/* Brings it back as it was. CM_NOT_FOUND; CM_CONFLICT when one of its id is there. */
cm_status cm_bin_restore(cm_store *store, const char *id, cm_binned *entry, cm_error *error);

/* Deletes it for good; while it is others' too, only from the viewer's bin. CM_NOT_FOUND. */
cm_status cm_bin_purge(cm_store *store, const char *id, const cm_viewer *viewer, cm_error *error);

/* All that is in the viewer's bin, or nothing of it. */
cm_status cm_bin_empty(cm_store *store, const cm_viewer *viewer, cm_error *error);

typedef struct cm_bin_filter {
  const char *user; /* NULL: anybody */
  double before;    /* when it was deleted; 0: whenever */
  size_t limit;     /* entries at most */
} cm_bin_filter;

/* The oldest first; the caller frees. */
cm_status cm_bin_list(cm_store *store, const cm_bin_filter *filter, cm_binned **entries, size_t *count, cm_error *error);
