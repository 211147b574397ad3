/* Occupancy of chips: which cores are taken or broken. Every change goes through the database's one writer. */
#pragma once

#include "library/private/cores.h"
#include "storage/store.h"

enum { CM_ETAG_MAX = 40 };

/* The occupancy as JSON text (the caller frees) and its entity tag without quotes. Expired leases do not count. */
cm_status cm_occupancy_read(cm_store *store, const char *chip, char **text, char *etag, cm_error *error);

/* A chip with its occupancy as it is now; the caller frees it. */
cm_status cm_occupancy_open(cm_store *store, const char *name, coremap_chip **chip, cm_error *error);

typedef struct cm_occupancy_change {
  const char *chip;
  const char *if_match; /* an entity tag without quotes, or "*" */
  bool whole;           /* the JSON is a whole new state, else a change to the present one */
  const char *json;
  size_t size;
} cm_occupancy_change;

/* Applies a change if the present state has the tag; else CM_CONFLICT with *mismatch = true. Leased cores
 * keep their leases: a change that would free or give one is CM_CONFLICT (breaking one is allowed and ends the
 * lease's hold on it). *text (the caller frees) and etag [CM_ETAG_MAX] are the new state's. */
cm_status cm_occupancy_write(cm_store *store, const cm_occupancy_change *change, bool *mismatch, char **text,
                             char *etag, cm_error *error);
