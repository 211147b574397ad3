/* Happy path: key -> cache hit -> folder. On a miss the levels are made in a scratch folder that is then published.
 * What can fail: no room on disk, cancel (the scratch is removed), a damaged entry (the reader's error makes the
 * caller release with `damaged`; the next acquire misses). */
#include "core/levels/levels.h"

#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "core/partition/graph.h"
#include "core/partition/reference/coarsen.h"

/* To be raised whenever coarsening gives other levels for the same input. */
enum { COARSENING_VERSION = 2 };

static const char *levels_id(const cm_map_input *input)
{
  return input->levels_id != NULL ? input->levels_id : input->network_id;
}

/* The network first, so that what is kept of one network can be found (cm_cache_lend). */
static void make_key(const cm_map_input *input, const cm_partition_options *options, char key[CM_CACHE_KEY_MAX])
{
  char text[512];
  unsigned char digest[crypto_hash_sha256_BYTES];
  int length = snprintf(text, sizeof text,
                        "coarsening %d network %s capacity %llu share %u tries %u stop %a matching %d seed %llu%s",
                        COARSENING_VERSION, levels_id(input), (unsigned long long)options->capacity,
                        options->coarsening_share, options->coarsening_tries, options->coarsening_stop,
                        (int)options->matching, (unsigned long long)options->coarsening_seed,
                        input->topology->outside_count > 0 ? " inputs outside" : "");
  crypto_hash_sha256(digest, (const unsigned char *)text, (unsigned long long)length);
  size_t network = strlen(levels_id(input));
  memcpy(key, levels_id(input), network);
  sodium_bin2hex(key + network, CM_CACHE_KEY_MAX - network, digest, sizeof digest);
}

/* Levels in the folder, by the files that are there. */
static cm_status count_files(cm_levels *levels, cm_error *error)
{
  char path[CM_PATH_MAX];
  for (levels->count = 0, levels->available = 0; levels->count < CM_LEVELS_MAX; levels->count++) {
    if (cm_path(path, error, "%s/level-%u.zip", levels->folder, levels->count + 1) != CM_OK)
      return error->status;
    if (access(path, R_OK) != 0)
      break;
    if (cm_path(path, error, "%s/available-%u", levels->folder, levels->count + 1) != CM_OK)
      return error->status;
    levels->available += access(path, R_OK) == 0;
  }
  return CM_OK;
}

static cm_status coarsen_into(const cm_map_input *input, const cm_partition_options *options, cm_levels *levels,
                              cm_run *run, cm_error *error)
{
  cm_graph *finest;
  uint32_t made;
  cm_run_phase(run, "coarsen");
  if (cm_graph_from_topology(input->topology, run, &finest, error) != CM_OK)
    return error->status;
  bool stored = input->cache == NULL; /* only this job reads them, once: packing took a third of its time */
  const cm_level_files files = {levels->folder, input->topology->weight_scale, stored};
  cm_status status = cm_coarsen(finest, options, &files, run, &made, error);
  return status == CM_OK ? count_files(levels, error) : status;
}

static cm_status acquire_without_cache(const cm_map_input *input, const cm_partition_options *options,
                                       cm_run *run, cm_levels *levels, cm_error *error)
{
  if (cm_path(levels->folder, error, "%s/levels", input->scratch_folder) != CM_OK ||
      cm_folder_make(levels->folder, error) != CM_OK)
    return error->status;
  return coarsen_into(input, options, levels, run, error);
}

cm_status cm_levels_acquire(const cm_map_input *input, const cm_partition_options *options, cm_run *run,
                            cm_levels *levels, cm_error *error)
{
  const cm_level_cache *cache = input->cache;
  *levels = (cm_levels){0};
  if (cache == NULL || levels_id(input) == NULL || strlen(levels_id(input)) > 64)
    return acquire_without_cache(input, options, run, levels, error);
  char key[CM_CACHE_KEY_MAX];
  make_key(input, options, key);
  cm_status status = cache->acquire(cache->user, key, levels->folder, error);
  if (status == CM_OK) {
    memcpy(levels->key, key, sizeof key);
    levels->cached = true;
    return count_files(levels, error);
  }
  if (status != CM_NOT_FOUND || cache->begin(cache->user, levels->folder, error) != CM_OK)
    return error->status;
  status = coarsen_into(input, options, levels, run, error);
  if (status == CM_OK)
    status = cache->commit(cache->user, key, levels->folder, error);
  if (status != CM_OK) {
    cache->discard(cache->user, levels->folder);
    *levels = (cm_levels){0};
    return status;
  }
  memcpy(levels->key, key, sizeof key);
  return CM_OK;
}

void cm_levels_release(const cm_map_input *input, cm_levels *levels, bool damaged)
{
  cm_error ignored;
  if (levels->key[0] != '\0') {
    if (damaged)
      input->cache->drop(input->cache->user, levels->key);
    else
      input->cache->release(input->cache->user, levels->key);
  } else if (levels->folder[0] != '\0')
    (void)cm_folder_remove(levels->folder, &ignored);
  *levels = (cm_levels){0};
}
