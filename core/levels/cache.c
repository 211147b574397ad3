/* Happy path: acquire misses; begin gives a scratch folder; the pipeline writes its levels; commit writes the
 * manifest, renames the scratch folder to KEY-XXXX and keeps it acquired; the next acquire finds it, checks every
 * file's SHA-256 against the manifest, and gives the folder out.
 *
 * What can fail: a file that does not match (the entry is doomed and the acquire is a miss); a crash while building
 * (scratch folders "new-XXXX" are swept at start); two jobs building the same key (the second finds the first's
 * entry and its own is removed); a doomed entry that another job still reads (its folder goes when nobody holds the
 * key any more). Entries need not survive a power cut: a torn one fails its checksum. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "core/levels/cache_entries.h"

static cm_status acquire(void *user, const char *key, char *folder, cm_error *error)
{
  cm_cache *cache = user;
  if (!cm_cache_key_is_sound(key))
    return cm_fail(error, CM_INTERNAL, "a cache key is not a hex digest");
  char path[CM_PATH_MAX] = "";
  pthread_mutex_lock(&cache->lock);
  cm_cache_entry *e = cm_cache_find(cache, key);
  cm_status status = CM_OK;
  if (e == NULL || e->live[0] == '\0') {
    cache->counts.misses++;
    status = cm_fail(error, CM_NOT_FOUND, "no coarsened levels are cached under this key");
  } else {
    e->holders++;
    e->used = ++cache->clock;
    status = cm_path(path, error, "%s/%s", cache->folder, e->live);
    if (status != CM_OK)
      cm_cache_let_go(cache, e);
  }
  pthread_mutex_unlock(&cache->lock);
  CM_TRY(status);

  /* Hashing takes a while: without the lock, but as a holder, so the folder stays. */
  uint64_t bytes;
  json_t *manifest = cm_cache_manifest_read(path);
  bool sound = manifest != NULL && cm_cache_folder_is_sound(path, manifest, &bytes);
  json_decref(manifest);
  pthread_mutex_lock(&cache->lock);
  e = cm_cache_find(cache, key);
  if (sound) {
    cache->counts.hits++;
    memcpy(folder, path, sizeof path);
  } else {
    cm_cache_doom(cache, e);
    cm_cache_let_go(cache, e);
    cache->counts.damaged++;
    cache->counts.misses++;
    status = cm_fail(error, CM_NOT_FOUND, "the cached levels were damaged and have been dropped");
  }
  pthread_mutex_unlock(&cache->lock);
  if (sound) { /* the time stamp carries the order of use over a restart */
    char stamp[CM_PATH_MAX];
    if (cm_path(stamp, error, "%s/manifest.json", path) == CM_OK)
      (void)utimensat(AT_FDCWD, stamp, NULL, 0);
  }
  return status;
}

static void release(void *user, const char *key)
{
  cm_cache *cache = user;
  pthread_mutex_lock(&cache->lock);
  cm_cache_entry *e = cm_cache_find(cache, key);
  if (e != NULL) {
    cm_cache_let_go(cache, e);
    cm_cache_evict(cache);
  }
  pthread_mutex_unlock(&cache->lock);
}

static cm_status begin(void *user, char *folder, cm_error *error)
{
  cm_cache *cache = user;
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/new-XXXXXX", cache->folder));
  if (mkdtemp(path) == NULL)
    return cm_fail_errno(error, errno, "cannot make folder", path);
  memcpy(folder, path, sizeof path);
  return CM_OK;
}

static void discard(CM_UNUSED void *user, const char *folder)
{
  cm_error ignored;
  (void)cm_folder_remove(folder, &ignored);
}

static cm_status commit(void *user, const char *key, char *folder, cm_error *error)
{
  cm_cache *cache = user;
  uint64_t bytes = 0;
  char name[CM_CACHE_FOLDER_MAX], path[CM_PATH_MAX];
  if (!cm_cache_key_is_sound(key))
    return cm_fail(error, CM_INTERNAL, "a cache key is not a hex digest");
  (void)snprintf(name, sizeof name, "%s-%08x", key, randombytes_random());
  CM_TRY(cm_cache_manifest_write(folder, key, &bytes, error));
  CM_TRY(cm_path(path, error, "%s/%s", cache->folder, name));
  pthread_mutex_lock(&cache->lock);
  cm_cache_entry *e = cm_cache_find_or_make(cache, key);
  cm_status status = CM_OK;
  if (e == NULL)
    status = cm_whole(false, "the cache", error);
  else if (e->live[0] != '\0') {
    /* Another job was quicker; equal keys mean equal content. */
    discard(cache, folder);
    status = cm_path(path, error, "%s/%s", cache->folder, e->live);
  } else if (rename(folder, path) != 0)
    status = cm_fail_errno(error, errno, "cannot rename", folder);
  else {
    memcpy(e->live, name, sizeof name);
    e->bytes = bytes;
    cache->counts.entries++;
    cache->counts.bytes += bytes;
  }
  if (status == CM_OK) {
    e->holders++;
    e->used = ++cache->clock;
    memcpy(folder, path, sizeof path);
    cm_cache_evict(cache);
  } else if (e != NULL && e->holders == 0 && e->live[0] == '\0')
    cm_cache_forget(cache, e);
  pthread_mutex_unlock(&cache->lock);
  return status;
}

static void drop(void *user, const char *key)
{
  cm_cache *cache = user;
  pthread_mutex_lock(&cache->lock);
  cm_cache_entry *e = cm_cache_find(cache, key);
  if (e != NULL) {
    cm_cache_doom(cache, e);
    cache->counts.damaged++;
    cm_cache_let_go(cache, e);
  }
  pthread_mutex_unlock(&cache->lock);
}

cm_level_cache cm_cache_levels(cm_cache *cache)
{
  return (cm_level_cache){.user = cache, .acquire = acquire, .release = release, .begin = begin,
                          .commit = commit, .discard = discard, .drop = drop};
}

void cm_cache_resize(cm_cache *cache, uint64_t bytes_max)
{
  pthread_mutex_lock(&cache->lock);
  cache->counts.bytes_max = bytes_max;
  cm_cache_evict(cache);
  pthread_mutex_unlock(&cache->lock);
}

void cm_cache_count(cm_cache *cache, cm_cache_counts *counts)
{
  pthread_mutex_lock(&cache->lock);
  *counts = cache->counts;
  pthread_mutex_unlock(&cache->lock);
}

void cm_cache_saved(cm_cache *cache, double seconds)
{
  pthread_mutex_lock(&cache->lock);
  cache->counts.saved_seconds += seconds;
  pthread_mutex_unlock(&cache->lock);
}

size_t cm_cache_keys(cm_cache *cache, const char *prefix, char (*keys)[CM_CACHE_KEY_MAX], size_t most)
{
  size_t count = 0;
  pthread_mutex_lock(&cache->lock);
  for (cm_cache_entry *e = cache->entries; e != NULL && count < most; e = e->hh.next)
    if (e->live[0] != '\0' && strncmp(e->key, prefix, strlen(prefix)) == 0)
      memcpy(keys[count++], e->key, sizeof e->key);
  pthread_mutex_unlock(&cache->lock);
  return count;
}

void cm_cache_empty(cm_cache *cache)
{
  pthread_mutex_lock(&cache->lock);
  cm_cache_entry *e = NULL, *next = NULL;
  HASH_ITER(hh, cache->entries, e, next)
  {
    cm_cache_doom(cache, e);
    if (e->holders == 0)
      cm_cache_forget(cache, e);
  }
  pthread_mutex_unlock(&cache->lock);
}
