/* Everything the server keeps under its data folder:
 *
 *   lock              held while a server runs on this folder
 *   coremapd.db       SQLite: networks, chips, occupancy, leases, jobs, mappings, uploads
 *   networks/ID.zip   uploaded networks in our topology format
 *   mappings/ID/      one file per view of a mapping
 *   cache/            coarsened topologies (core/mapping/stage/cache.h)
 *   incoming/         uploads on their way, and jobs' scratch folders; swept at start
 */
#ifndef CM_STORAGE_STORE_H
#define CM_STORAGE_STORE_H

#include <pthread.h>
#include <stdint.h>

#include "core/base/file.h"
#include "storage/board.h"
#include "core/mapping/stage/cache.h"
#include "storage/database.h"

enum {
  CM_ID_MAX = 33,      /* our own ids: 20 hex digits */
  CM_SHA_MAX = 65,     /* a SHA-256 in hex */
  CM_USER_MAX = 64,
  CM_NAME_MAX = 256,   /* what a user calls something */
};

typedef struct cm_store {
  char folder[CM_PATH_MAX];
  int lock;                  /* descriptor of the lock file */
  cm_database *database;
  cm_cache *cache;
  cm_board *board;
  pthread_mutex_t blob_lock; /* held while a blob and its row appear or go together */
} cm_store;

/* Opens a data folder (making it), takes its lock, brings the schema up to date and sweeps what no row knows.
 * CM_CONFLICT when another server holds the lock. */
cm_status cm_store_open(const char *folder, uint64_t cache_bytes_max, cm_store **store, cm_error *error);
void cm_store_close(cm_store *store); /* NULL is allowed */

/* A fresh random id, CM_ID_MAX bytes. */
void cm_store_id(char *id);

/* Wall clock in seconds since 1970. */
double cm_store_time(void);

/* SHA-256 of a buffer as 64 hex digits and NUL. */
void cm_store_sha256(const void *bytes, size_t size, char *hex);

/* Free bytes on the data folder's file system. */
uint64_t cm_store_free_bytes(const cm_store *store);

/* CM_OK when the database takes a durable write now. */
cm_status cm_store_writable(cm_store *store, cm_error *error);

#endif
