/* Happy path: levels are made in a scratch folder; their pairs are kept in the cache, from which they are made again without matching.
 * The levels of a job's first capacity are shared by the others, and kept under a key without capacity; those of others hold what is not
 * the same. What can fail: no room on disk, cancel (the scratch is removed). A damaged entry is dropped, and its levels are matched;
 * whatever else the cache fails in costs time. */
#include "core/levels/levels.h"

#include <errno.h>
#include <sodium.h>

#include "core/levels/level_pairs.h"
#include "core/network/demand_digest.h"

/* To be raised whenever coarsening gives other levels for the same input. */
enum { COARSENING_VERSION = 4 };

/* What levels are made of. */
typedef struct origin {
  const cm_map_input *input;
  const cm_old_levels *old; /* that they are carried over from; NULL: they are made afresh */
} origin;

static const char *levels_id(const cm_map_input *input)
{
  return input->levels_id != NULL ? input->levels_id : input->network_id;
}

/* ---- keys ---- */

/* Of carried levels also the other network, its names included. */
static bool add_from(const cm_levels_from *from, char *text, size_t size)
{
  const size_t used = strlen(text);
  unsigned char demand[CM_DEMAND_DIGEST_BYTES];
  char hex[2 * CM_DEMAND_DIGEST_BYTES + 1];
  if (from == NULL)
    return true;
  if (from->levels_id == NULL || strlen(from->levels_id) > 64)
    return false;
  cm_demand_digest(from->demand, demand);
  (void)snprintf(text + used, size - used, " from %s %s", from->levels_id, sodium_bin2hex(hex, sizeof hex, demand, sizeof demand));
  return true;
}

/* The network first, so that what is kept of one network can be found (cm_cache_lend). Without a cache: "". Capacity 0 is of what is made
 * first. */
static void make_key(const cm_map_input *input, const cm_partition_options *options, uint64_t capacity, char key[CM_CACHE_KEY_MAX])
{
  const char *network = levels_id(input);
  char text[768], topology[2 * CM_DEMAND_DIGEST_BYTES + 1];
  unsigned char demand[CM_DEMAND_DIGEST_BYTES], digest[crypto_hash_sha256_BYTES];
  key[0] = '\0';
  if (input->cache == NULL || network == NULL || strlen(network) > 64)
    return;
  cm_demand_digest(input->demand, demand);
  (void)snprintf(text, sizeof text, "coarsening %d network %s share %u tries %u stop %a matching %d seed %llu capacity %llu",
                 COARSENING_VERSION, sodium_bin2hex(topology, sizeof topology, demand, sizeof demand), options->coarsening_share,
                 options->coarsening_tries, options->coarsening_stop, (int)options->matching,
                 (unsigned long long)options->coarsening_seed, (unsigned long long)capacity);
  if (!add_from(input->levels_from, text, sizeof text))
    return;
  crypto_hash_sha256(digest, (const unsigned char *)text, strlen(text));
  memcpy(key, network, strlen(network));
  sodium_bin2hex(key + strlen(network), CM_CACHE_KEY_MAX - strlen(network), digest, sizeof digest);
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
  CM_TRY(cm_level_path(files, files->shared_count, path, error));
  CM_TRY(cm_graph_load(path, run, graph, &parent, &finer_count, error));
  cm_free(parent);
  return CM_OK;
}

/* Of the time of a partition: bisecting and refining take less. */
static const double share_of_coarsening = 0.55;
/* Of that: the graph of the network. */
static const double share_of_reading = 0.2;

static bool is_damage(cm_status status)
{
  return status == CM_BAD_NETWORK || status == CM_DAMAGED || status == CM_NOT_FOUND;
}

/* From the cache; levels->cached says whether they were there. */
static cm_status restore(const cm_map_input *input, const char *key, cm_levels *levels, cm_run *run, cm_error *error)
{
  const cm_level_cache *cache = input->cache;
  char folder[CM_PATH_MAX];
  cm_error failed = {0};
  cm_graph *graph;
  if (cache->acquire(cache->user, key, folder, &failed) != CM_OK)
    return CM_OK;
  cm_status status = first_graph(input, &levels->files, run, &graph, &failed);
  CM_THEN(status, cm_level_pairs_restore(graph, folder, &levels->files, run, &failed));
  levels->cached = status == CM_OK;
  (is_damage(status) ? cache->drop : cache->release)(cache->user, key);
  if (status == CM_OK || is_damage(status))
    return CM_OK;
  *error = failed;
  return status;
}

static void keep(const cm_level_cache *cache, const char *key, const cm_level_files *files, cm_run *run)
{
  char folder[CM_PATH_MAX];
  cm_error ignored;
  if (cache->begin(cache->user, folder, &ignored) != CM_OK)
    return;
  if (cm_level_pairs_keep(files, folder, run, &ignored) == CM_OK && cache->commit(cache->user, key, folder, &ignored) == CM_OK)
    cache->release(cache->user, key);
  else
    cache->discard(cache->user, folder);
}

static cm_status coarsen_into(const origin *of, const cm_partition_options *options, const char *key, cm_levels *levels, cm_run *run,
                              cm_error *error)
{
  const cm_map_input *input = of->input;
  cm_graph *graph;
  levels->files.weight_scale = input->demand->network->weight_scale;
  if (key[0] != '\0' && restore(input, key, levels, run, error) != CM_OK)
    return error->status;
  if (levels->cached)
    return CM_OK;
  CM_TRY(first_graph(input, &levels->files, run, &graph, error));
  cm_run_add(run, share_of_reading);
  cm_status status;
  if (of->old == NULL)
    status = cm_coarsen(graph, options, &levels->files, run, error);
  else {
    const cm_mend_task task = {input->demand->network, input->levels_from->demand->network, options, of->old};
    status = cm_levels_mend(graph, &task, &levels->files, run, &levels->mended, error);
  }
  if (status == CM_OK && key[0] != '\0')
    keep(input->cache, key, &levels->files, run);
  return status;
}

/* Level files->shared_count + 1 and those after it, in a folder of their own. */
static cm_status make(const origin *of, const cm_partition_options *options, bool is_first, cm_run *run, cm_levels *levels,
                      cm_error *error)
{
  const cm_map_input *input = of->input;
  char *folder = levels->files.folder, key[CM_CACHE_KEY_MAX];
  levels->cached = false;
  CM_TRY(cm_folder_make(input->scratch_folder, error));
  CM_TRY(cm_path(folder, error, "%s/levels-XXXXXX", input->scratch_folder));
  if (mkdtemp(folder) == NULL) {
    cm_fail_errno(error, errno, "cannot make folder", folder);
    folder[0] = '\0';
    return error->status;
  }
  make_key(input, options, is_first ? 0 : options->capacity, key);
  const size_t mark = cm_run_enter(run, share_of_coarsening);
  cm_run_phase(run, "coarsen");
  cm_status status = coarsen_into(of, options, key, levels, run, error);
  cm_run_leave(run, mark);
  if (status != CM_OK)
    cm_levels_release(levels);
  return status;
}

/* What was made in `folder` is for other capacities, too. */
static void share(cm_level_files *files)
{
  memcpy(files->shared, files->folder, sizeof files->shared);
  files->folder[0] = '\0';
}

static cm_status acquire(const origin *of, const cm_partition_options *options, cm_levels *first, cm_run *run, cm_levels *levels,
                         cm_error *error)
{
  *levels = (cm_levels){.cached = first->cached};
  if (first->files.folder[0] == '\0') {
    const cm_level_files before = first->before;
    CM_TRY(make(of, options, true, run, levels, error));
    *first = *levels;
    first->before = before;
    share(&levels->files);
  }
  memcpy(levels->files.shared, first->files.folder, sizeof levels->files.shared);
  if (cm_levels_hold(&levels->files, options->capacity, &levels->available))
    return CM_OK;
  CM_TRY(make(of, options, false, run, levels, error));
  return cm_levels_hold(&levels->files, options->capacity, &levels->available)
             ? CM_OK
             : cm_fail(error, CM_DAMAGED, "coarsened levels are damaged as soon as they are written");
}

/* ---- carried over ---- */

/* What the cache has of them, all of it or (old->vertices[0] stays 0) nothing: their pairs say enough. */
static cm_status find_old(const cm_map_input *before, const cm_partition_options *options, cm_run *run, cm_old_levels *old, cm_error *error)
{
  const cm_level_cache *cache = before->cache;
  const uint64_t capacity[] = {0, options->capacity};
  cm_level_files files = {.pairs = true};
  char *const folder[] = {files.shared, files.folder}, key[2][CM_CACHE_KEY_MAX] = {"", ""};
  cm_error failed = {0};
  cm_status status = CM_OK;
  uint32_t available;
  bool whole = false;
  for (size_t i = 0; i < 2 && !whole; i++) {
    make_key(before, options, capacity[i], key[i]);
    if (key[i][0] == '\0' || cache->acquire(cache->user, key[i], folder[i], &failed) != CM_OK) {
      key[i][0] = folder[i][0] = '\0';
      break;
    }
    whole = cm_levels_hold(&files, options->capacity, &available);
  }
  if (whole)
    status = cm_old_levels_read(&files, run, old, &failed);
  for (size_t i = 0; i < 2; i++)
    if (key[i][0] != '\0')
      (is_damage(status) ? cache->drop : cache->release)(cache->user, key[i]);
  if (status == CM_OK || is_damage(status))
    return CM_OK;
  *error = failed;
  return status;
}

static cm_status make_old(const cm_map_input *before, const cm_partition_options *options, cm_levels *first, cm_run *run,
                          cm_old_levels *old, cm_error *error)
{
  cm_levels known = {.files = first->before}, levels;
  cm_status status = acquire(&(origin){before, NULL}, options, &known, run, &levels, error);
  first->before = known.files;
  CM_TRY(status);
  status = cm_old_levels_read(&levels.files, run, old, error);
  cm_levels_release(&levels);
  return status;
}

cm_status cm_levels_acquire(const cm_map_input *input, const cm_partition_options *options, cm_levels *first, cm_run *run,
                            cm_levels *levels, cm_error *error)
{
  const cm_levels_from *from = input->levels_from;
  cm_old_levels old = {0};
  if (from == NULL)
    return acquire(&(origin){input, NULL}, options, first, run, levels, error);
  cm_map_input before = *input;
  before.levels_from = NULL;
  before.demand = from->demand;
  before.levels_id = before.network_id = from->levels_id;
  cm_status status = find_old(&before, options, run, &old, error);
  CM_THEN_IF(status, old.vertices[0] == 0, make_old(&before, options, first, run, &old, error));
  CM_THEN(status, acquire(&(origin){input, &old}, options, first, run, levels, error));
  cm_old_levels_free(&old);
  return status;
}

static void remove_folder(const char *folder)
{
  cm_error ignored;
  if (folder[0] != '\0')
    (void)cm_folder_remove(folder, &ignored);
}

void cm_levels_release(cm_levels *levels)
{
  remove_folder(levels->files.folder);
  remove_folder(levels->before.folder);
  *levels = (cm_levels){0};
}
