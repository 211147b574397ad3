/* Coarsened levels, and partitions, that the server keeps between jobs: who shares them with whom, how many bytes they may take and what goes
 * first are rules of its own, so that it brings its cache along. Programs outside name a folder (option "cache" of coremap_map). */
#pragma once

#include <coremap/map.h>

#include "base/status.h"

struct cm_level_cache; /* the server's (storage), or that of a job folder, below; handed through */

typedef struct library_levels_key {
  const struct cm_level_cache *cache; /* NULL: none */
  const char *key;                    /* by which those of this network are found; NULL: the network's id */
  const coremap_network *before;      /* whose levels are carried over (option levels_from, whose id is levels_from_id here); NULL: none */
  const char *key_before;             /* by which that one's are found */
} library_levels_key;

/* coremap_map with such a cache. */
int library_map(const coremap_network *network, const coremap_chip *chip, const char *options, const library_levels_key *levels,
                coremap_progress progress, void *user, coremap_mapping **mapping, coremap_error **error);

/* One cache of two folders: levels that are given, where there is such a folder (NULL: there is none), and those that are made, of at most
 * so many bytes. */
typedef struct library_levels library_levels;
int library_levels_open(const char *given, const char *made, uint64_t bytes_max, library_levels **levels, coremap_error **error);
const struct cm_level_cache *library_levels_cache(const library_levels *levels);
void library_levels_close(library_levels *levels); /* NULL is allowed */

/* Of those that are made: another bound, kept at once where entries are not in use; an end to all that are not; what there is; what they saved a job. */
typedef struct library_levels_counts {
  uint64_t hits, misses, damaged, evicted;
  uint64_t entries, bytes, bytes_max;
  double saved_seconds; /* by all hits of partitions, as jobs tell them */
} library_levels_counts;
void library_levels_resize(library_levels *levels, uint64_t bytes_max);
void library_levels_empty(library_levels *levels);
library_levels_counts library_levels_count(library_levels *levels);
void library_levels_saved(library_levels *levels, double seconds);

/* For a job outside this process: entries whose key begins with `prefix` get further names under `folder`, on the same file system; and
 * what such a job has made in its folder (none: no such folder) is taken over. */
cm_status library_levels_lend(library_levels *levels, const char *prefix, const char *folder, cm_error *error);
void library_levels_adopt(library_levels *levels, const char *folder);
