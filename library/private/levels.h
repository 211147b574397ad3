/* Coarsened levels that the server keeps between jobs: who shares them with whom, how many bytes they may take and what goes
 * first are rules of its own, so that it brings its cache along. Programs outside name a folder (option "cache" of coremap_map). */
#ifndef LIBRARY_PRIVATE_LEVELS_H
#define LIBRARY_PRIVATE_LEVELS_H

#include <coremap/map.h>

struct cm_level_cache; /* the server's (storage), or that of a job folder, below; handed through */

typedef struct library_levels_key {
  const struct cm_level_cache *cache; /* NULL: none */
  const char *key;                    /* by which those of this network are found; NULL: the network's id */
} library_levels_key;

/* coremap_map with such a cache. */
int library_map(const coremap_network *network, const coremap_chip *chip, const char *options, const library_levels_key *levels,
                coremap_progress progress, void *user, coremap_mapping **mapping, coremap_error **error);

/* One cache of two folders: levels that are given, where there is such a folder, and those that are made. */
typedef struct library_levels library_levels;
int library_levels_open(const char *given, const char *made, library_levels **levels, coremap_error **error);
const struct cm_level_cache *library_levels_cache(const library_levels *levels);
void library_levels_close(library_levels *levels); /* NULL is allowed */

#endif
