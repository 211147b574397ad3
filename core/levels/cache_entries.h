/* Between the files of the cache: what it gives out (cache.c), its entries (cache_entries.c), the manifests of their folders
 * (cache_manifest.c) and its opening (cache_open.c). A cache owns its entries, and the folders below its own. */
#pragma once

#include <jansson.h>
#include <pthread.h>
#define HASH_NONFATAL_OOM 1 /* the default ends the process */
#include <uthash.h>

#include "base/file.h"
#include "core/levels/cache.h"

enum { CM_CACHE_FOLDER_MAX = 160 };

/* All folders of one key: at most one is live, the doomed ones wait for their readers. */
typedef struct cm_cache_entry {
  char key[CM_CACHE_KEY_MAX];
  char live[CM_CACHE_FOLDER_MAX]; /* folder name, "" when none */
  uint64_t bytes;        /* of the live folder */
  uint64_t used;         /* clock of the last use */
  unsigned holders;
  char (*doomed)[CM_CACHE_FOLDER_MAX];
  size_t doomed_count;
  UT_hash_handle hh;
} cm_cache_entry;

struct cm_cache {
  char folder[CM_PATH_MAX];
  pthread_mutex_t lock;
  cm_cache_entry *entries;
  uint64_t clock;
  cm_cache_counts counts;
};

/* ---- cache_manifest.c ---- */

/* A folder's manifest, for json_decref; NULL: it has none that can be read. */
json_t *cm_cache_manifest_read(const char *folder);

/* Notes every file of a folder with its SHA-256; *bytes is their sum. */
cm_status cm_cache_manifest_write(const char *folder, const char *key, uint64_t *bytes, cm_error *error);

/* Checks every file of a manifest; true when all match. *bytes is their sum. */
bool cm_cache_folder_is_sound(const char *folder, json_t *manifest, uint64_t *bytes);

/* ---- cache_entries.c: with the lock held ---- */

bool cm_cache_key_is_sound(const char *key);

/* The entry of a key; NULL: none, and no memory for one. */
cm_cache_entry *cm_cache_find(cm_cache *cache, const char *key);
cm_cache_entry *cm_cache_find_or_make(cm_cache *cache, const char *key);

/* An entry without folders goes. */
void cm_cache_forget(cm_cache *cache, cm_cache_entry *e);

/* The live folder is no longer given out; it goes now, or when its last holder does. */
void cm_cache_doom(cm_cache *cache, cm_cache_entry *e);

/* One holder less. */
void cm_cache_let_go(cm_cache *cache, cm_cache_entry *e);

/* Drops the least recently used entries that nobody holds until the bound is kept. */
void cm_cache_evict(cm_cache *cache);

/* Removes a folder of the cache by its name. */
void cm_cache_remove(cm_cache *cache, const char *name);
