/* Happy path: key -> cache hit -> folder. On a miss the levels are made in a scratch folder that is then published. The levels of the
 * first capacity of a network are kept under a key without it; those of others hold what is not the same.
 * What can fail: no room on disk, cancel (the scratch is removed), a damaged entry (the reader's error makes the
 * caller release with `damaged`; the next acquire misses). */
#include "core/levels/levels.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/demand_digest.h"
#include "core/partition/graph.h"

/* To be raised whenever coarsening gives other levels for the same input. */
enum { COARSENING_VERSION = 3 };

static const char *levels_id(const cm_map_input *input)
{
  return input->levels_id != NULL ? input->levels_id : input->network_id;
}

bool cm_levels_are_damaged(cm_status status)
{
  return status == CM_BAD_NETWORK || status == CM_DAMAGED || status == CM_NOT_FOUND;
}

/* ---- keys ---- */

typedef struct key_pair {
  char shared[CM_CACHE_KEY_MAX], own[CM_CACHE_KEY_MAX];
} key_pair;

/* The network first, so that what is kept of one network can be found (cm_cache_lend). */
static void make_key(const cm_map_input *input, const char *shaping, uint64_t capacity, char key[CM_CACHE_KEY_MAX])
{
  char text[512];
  unsigned char digest[crypto_hash_sha256_BYTES];
  int length = snprintf(text, sizeof text, "%s capacity %llu", shaping, (unsigned long long)capacity);
  crypto_hash_sha256(digest, (const unsigned char *)text, (unsigned long long)length);
  size_t network = strlen(levels_id(input));
  memcpy(key, levels_id(input), network);
  sodium_bin2hex(key + network, CM_CACHE_KEY_MAX - network, digest, sizeof digest);
}

static void make_keys(const cm_map_input *input, const cm_partition_options *options, key_pair *made)
{
  unsigned char digest[CM_DEMAND_DIGEST_BYTES];
  char shaping[400], topology[2 * CM_DEMAND_DIGEST_BYTES + 1];
  cm_demand_digest(input->demand, digest);
  (void)snprintf(shaping, sizeof shaping, "coarsening %d network %s share %u tries %u stop %a matching %d seed %llu",
                 COARSENING_VERSION, sodium_bin2hex(topology, sizeof topology, digest, sizeof digest), options->coarsening_share,
                 options->coarsening_tries, options->coarsening_stop, (int)options->matching,
                 (unsigned long long)options->coarsening_seed);
  make_key(input, shaping, 0, made->shared);
  make_key(input, shaping, options->capacity, made->own);
}

/* ---- making ---- */

/* Level shared_count, from which coarsening goes on. */
static cm_status first_graph(const cm_map_input *input, const cm_level_files *files, cm_run *run, cm_graph **graph,
                             cm_error *error)
{
  char path[CM_PATH_MAX];
  uint32_t *parent = NULL, finer_count;
  if (files->shared_count == 0)
    return cm_graph_from_topology(input->demand, run, graph, error);
  if (cm_level_path(files, files->shared_count, path, error) != CM_OK ||
      cm_graph_load(path, run, graph, &parent, &finer_count, error) != CM_OK)
    return error->status;
  cm_free(parent);
  return CM_OK;
}

/* Of the time of a partition: bisecting and refining take less. */
static const double share_of_coarsening = 0.55;
/* Of that: the graph of the network. */
static const double share_of_reading = 0.2;

static cm_status coarsen_into(const cm_map_input *input, const cm_partition_options *options, cm_levels *levels,
                              cm_run *run, cm_error *error)
{
  cm_graph *graph;
  const size_t mark = cm_run_enter(run, share_of_coarsening);
  cm_run_phase(run, "coarsen");
  if (first_graph(input, &levels->files, run, &graph, error) != CM_OK)
    return error->status;
  cm_run_add(run, share_of_reading);
  levels->files.weight_scale = input->demand->network->weight_scale;
  levels->files.stored = input->cache == NULL; /* only this job reads them: packing took a third of its time */
  cm_status status = cm_coarsen(graph, options, &levels->files, run, error);
  cm_run_leave(run, mark);
  return status;
}

/* What was made in `folder` is for other capacities, too. */
static void share(cm_level_files *files)
{
  memcpy(files->shared, files->folder, sizeof files->shared);
  files->folder[0] = '\0';
}

/* ---- without a cache ---- */

static cm_status make_in_scratch(const cm_map_input *input, const cm_partition_options *options, cm_run *run, cm_levels *levels,
                                 cm_error *error)
{
  char *folder = levels->files.folder;
  if (cm_folder_make(input->scratch_folder, error) != CM_OK ||
      cm_path(folder, error, "%s/levels-XXXXXX", input->scratch_folder) != CM_OK)
    return error->status;
  if (mkdtemp(folder) == NULL) {
    cm_fail_errno(error, errno, "cannot make folder", folder);
    folder[0] = '\0';
    return error->status;
  }
  cm_status status = coarsen_into(input, options, levels, run, error);
  if (status != CM_OK)
    cm_levels_release(input, levels, false);
  return status;
}

static cm_status acquire_without_cache(const cm_map_input *input, const cm_partition_options *options, cm_levels *first,
                                       cm_run *run, cm_levels *levels, cm_error *error)
{
  const bool is_first = first != NULL && first->files.folder[0] == '\0';
  if (first != NULL)
    memcpy(levels->files.shared, first->files.folder, sizeof levels->files.shared);
  if (cm_levels_hold(&levels->files, options->capacity, &levels->available))
    return CM_OK;
  if (make_in_scratch(input, options, run, levels, error) != CM_OK)
    return error->status;
  if (is_first) {
    *first = *levels;
    share(&levels->files);
  }
  (void)cm_levels_hold(&levels->files, options->capacity, &levels->available);
  return CM_OK;
}

/* ---- with one ---- */

/* Whether there is an entry, and what is read from it. */
static bool take(const cm_level_cache *cache, const char *key, char held[CM_CACHE_KEY_MAX], char folder[CM_PATH_MAX])
{
  cm_error ignored;
  bool there = cache->acquire(cache->user, key, folder, &ignored) == CM_OK;
  memcpy(held, there ? key : "", there ? CM_CACHE_KEY_MAX : 1);
  if (!there)
    folder[0] = '\0';
  return there;
}

/* Whether all levels of this capacity are there; else levels->files says which are. */
static bool look_up(const cm_map_input *input, const key_pair *keys, uint64_t capacity, cm_levels *levels)
{
  const cm_level_cache *cache = input->cache;
  cm_level_files *files = &levels->files;
  (void)take(cache, keys->shared, levels->shared_key, files->shared);
  if (cm_levels_hold(files, capacity, &levels->available))
    return true;
  if (!take(cache, keys->own, levels->key, files->folder))
    return false;
  if (cm_levels_hold(files, capacity, &levels->available))
    return true;
  cache->drop(cache->user, levels->key); /* it goes on from shared ones that have been dropped */
  levels->key[0] = files->folder[0] = '\0';
  return cm_levels_hold(files, capacity, &levels->available);
}

static cm_status make_in_cache(const cm_map_input *input, const cm_partition_options *options, const key_pair *keys, cm_run *run,
                               cm_levels *levels, cm_error *error)
{
  const cm_level_cache *cache = input->cache;
  const bool is_first = levels->shared_key[0] == '\0';
  char *folder = levels->files.folder;
  if (cache->begin(cache->user, folder, error) != CM_OK) {
    folder[0] = '\0';
    return error->status;
  }
  cm_status status = coarsen_into(input, options, levels, run, error);
  if (status == CM_OK)
    status = cache->commit(cache->user, is_first ? keys->shared : keys->own, folder, error);
  if (status != CM_OK) {
    cache->discard(cache->user, folder);
    folder[0] = '\0';
    return status;
  }
  memcpy(is_first ? levels->shared_key : levels->key, is_first ? keys->shared : keys->own, CM_CACHE_KEY_MAX);
  if (is_first)
    share(&levels->files);
  return CM_OK;
}

enum { ROUNDS_MAX = 4 };

/* Where another job was quicker, what it made first may be for another capacity: looked up again, as are damaged levels. */
static cm_status acquire_from_cache(const cm_map_input *input, const cm_partition_options *options, cm_run *run,
                                    cm_levels *levels, cm_error *error)
{
  key_pair keys;
  make_keys(input, options, &keys);
  for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
    levels->cached = look_up(input, &keys, options->capacity, levels);
    if (levels->cached)
      return CM_OK;
    cm_status status = make_in_cache(input, options, &keys, run, levels, error);
    if (status == CM_OK && cm_levels_hold(&levels->files, options->capacity, &levels->available))
      return CM_OK;
    const bool damaged = cm_levels_are_damaged(status);
    cm_levels_release(input, levels, damaged);
    if (status != CM_OK && !damaged)
      return status;
  }
  return cm_fail(error, CM_DAMAGED, "coarsened levels in the cache are damaged as soon as they are written");
}

cm_status cm_levels_acquire(const cm_map_input *input, const cm_partition_options *options, cm_levels *first, cm_run *run,
                            cm_levels *levels, cm_error *error)
{
  *levels = (cm_levels){0};
  if (input->cache == NULL || levels_id(input) == NULL || strlen(levels_id(input)) > 64)
    return acquire_without_cache(input, options, first, run, levels, error);
  return acquire_from_cache(input, options, run, levels, error);
}

static void give_back(const cm_map_input *input, const char *key, bool damaged)
{
  if (key[0] != '\0')
    (damaged ? input->cache->drop : input->cache->release)(input->cache->user, key);
}

void cm_levels_release(const cm_map_input *input, cm_levels *levels, bool damaged)
{
  cm_error ignored;
  if (levels->key[0] == '\0' && levels->shared_key[0] == '\0' && levels->files.folder[0] != '\0')
    (void)cm_folder_remove(levels->files.folder, &ignored);
  give_back(input, levels->key, damaged);
  give_back(input, levels->shared_key, damaged);
  *levels = (cm_levels){0};
}
