/* Everything the server keeps under its data folder:
 *
 *   coremapd.json     the marker: version of the layout and identity of the folder (storage/folder.h)
 *   coremapd.db       SQLite: networks, chips, occupancy, leases, jobs, mappings, uploads, users, tokens; the same identity
 *   networks/ID.zip   uploaded networks in our topology format
 *   mappings/ID/      one file per view of a mapping
 *   cache/            coarsened topologies (library/private/levels.h)
 *   incoming/         uploads on their way, and jobs' scratch folders; swept at start
 *   lost+found/       what the sweep found and the database does not know (storage/sweep.h)
 *   lock              held too, for servers of the release before, which do not lock the folder itself
 */
#pragma once

#include <pthread.h>

#include "base/file.h"
#include "storage/digest.h"
#include "storage/event_bus.h"
#include "library/private/levels.h"
#include "storage/database.h"

enum {
  CM_ID_MAX = 33,      /* our own ids: 20 hex digits */
  CM_SHA_MAX = 65,     /* a SHA-256 in hex */
  CM_USER_MAX = 64,
  CM_NAME_MAX = 256,   /* what a user calls something */
};

typedef struct cm_store {
  char folder[CM_PATH_MAX];
  char id[CM_ID_MAX];        /* the folder's identity, which nobody is told */
  int lock, old_lock;        /* descriptors of the folder, and of its lock file */
  cm_database *database;
  library_levels *cache;
  cm_event_bus *bus;
  struct cm_monitor *monitor; /* storage/monitor.h */
  struct cm_scrub *scrub;     /* storage/scrub.h; NULL: not started */
  _Atomic(struct cm_queue_order *) order; /* of the queue as last read (storage/positions.h); NULL: not kept */
  pthread_mutex_t blob_lock; /* held while a blob and its row appear or go together */
} cm_store;

/* Opens a data folder (making it), takes its lock, brings the schema up to date and puts aside what no row knows.
 * CM_CONFLICT when another server holds the lock, and when the folder is not ours, of a newer version, or does not
 * belong to its database: then nothing in it has changed. */
cm_status cm_store_open(const char *folder, uint64_t cache_bytes_max, cm_store **store, cm_error *error);
void cm_store_close(cm_store *store); /* NULL is allowed */

/* Opens the database of a data folder to change users and tokens in it, beside the server that may be working on it; a
 * folder that is empty or of an earlier release is made ours first, and one that is not there when `make` says so. The
 * caller closes it with cm_database_close. Errors: as of cm_store_open; CM_NOT_FOUND; CM_CONFLICT also when the folder is
 * another Unix user's, who could not read what we write there. */
cm_status cm_store_open_beside(const char *folder, bool make, cm_database **database, cm_error *error);

/* A fresh random id, CM_ID_MAX bytes. */
void cm_store_id(char *id);

/* Wall clock in seconds since 1970. */
double cm_store_time(void);

/* Free bytes on the data folder's file system. */
uint64_t cm_store_free_bytes(const cm_store *store);

/* CM_OK when the database takes a durable write now. */
cm_status cm_store_writable(cm_store *store, cm_error *error);
