/* Coarsened topologies kept between jobs: folders on disk, each with a manifest of its files' SHA-256,
 * checked on every acquire; bounded in bytes; the least recently used goes first, never one in use. */
#pragma once

#include "base/status.h"

/* What the pipeline asks of whatever keeps coarsened topologies between jobs. */
typedef struct cm_level_cache {
  void *user;
  /* Looks `key` up (hex digest of content and shaping parameters). On a hit fills `folder` (CM_PATH_MAX) with a
   * folder that holds level-1.zip, level-2.zip, ... and stays until release. CM_NOT_FOUND on a miss. */
  cm_status (*acquire)(void *user, const char *key, char *folder, cm_error *error);
  void (*release)(void *user, const char *key);
  /* Gives an empty scratch folder to build an entry in; commit publishes it under `key` and leaves it acquired
   * (moved: `folder` is updated), discard removes it. */
  cm_status (*begin)(void *user, char *folder, cm_error *error);
  cm_status (*commit)(void *user, const char *key, char *folder, cm_error *error);
  void (*discard)(void *user, const char *folder);
  /* Releases and drops a damaged entry; the caller rebuilds it. */
  void (*drop)(void *user, const char *key);
} cm_level_cache;

typedef struct cm_cache cm_cache;

/* Keys are a network's SHA-256 and a digest of what shapes its levels, in hex. */
enum { CM_CACHE_KEY_MAX = 129 };

typedef struct cm_cache_counts {
  uint64_t hits, misses, damaged, evicted;
  uint64_t entries, bytes, bytes_max;
  double saved_seconds; /* by all hits of partitions, as jobs tell them (cm_cache_saved) */
} cm_cache_counts;

/* Opens a cache folder (making it), reads its manifests and drops unfinished and unreadable entries. */
cm_status cm_cache_open(const char *folder, uint64_t bytes_max, cm_cache **cache, cm_error *error);
void cm_cache_close(cm_cache *cache); /* NULL is allowed */

/* The interface that the pipeline works with; valid as long as the cache. `drop` also releases. */
cm_level_cache cm_cache_levels(cm_cache *cache);

/* Sets another bound, and keeps it at once where entries are not in use. */
void cm_cache_resize(cm_cache *cache, uint64_t bytes_max);

void cm_cache_count(cm_cache *cache, cm_cache_counts *counts);

/* What its entries saved a job. */
void cm_cache_saved(cm_cache *cache, double seconds);

/* Drops every entry that is not in use; those in use go when released. */
void cm_cache_empty(cm_cache *cache);

/* The keys of up to `most` entries that begin with `prefix`; their number. */
size_t cm_cache_keys(cm_cache *cache, const char *prefix, char (*keys)[CM_CACHE_KEY_MAX], size_t most);

/* For a job outside this process: gives every sound entry whose key begins with `prefix` further names under `folder`, on
 * the same file system, where cm_cache_open finds them. Each counts as a hit. */
cm_status cm_cache_lend(cm_cache *cache, const char *prefix, const char *folder, cm_error *error);

/* Takes over the entries that such a job has made in the cache folder `folder` (none: no such folder). */
void cm_cache_adopt(cm_cache *cache, const char *folder);
