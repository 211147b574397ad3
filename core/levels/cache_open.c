/* Opening the cache: what its folder holds from earlier runs becomes entries again, in the order of their use. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/order.h"
#include "core/levels/cache_entries.h"

typedef struct found {
  char name[CM_CACHE_FOLDER_MAX];
  char key[CM_CACHE_KEY_MAX];
  uint64_t bytes;
  struct timespec used;
} found;

CM_ORDER(by_use, found, CM_RISING(used.tv_sec) CM_RISING(used.tv_nsec))

/* Reads one folder's manifest (its files are checked when it is used); false: not an entry. */
static bool look_at(cm_cache *cache, const char *name, found *item)
{
  cm_error ignored;
  char path[CM_PATH_MAX], stamp[CM_PATH_MAX];
  struct stat about;
  const char *key;
  if (strlen(name) >= CM_CACHE_FOLDER_MAX || cm_path(path, &ignored, "%s/%s", cache->folder, name) != CM_OK ||
      cm_path(stamp, &ignored, "%s/manifest.json", path) != CM_OK || stat(stamp, &about) != 0)
    return false;
  json_t *manifest = cm_cache_manifest_read(path);
  key = json_string_value(json_object_get(manifest, "key"));
  bool good = key != NULL && cm_cache_key_is_sound(key);
  if (good) {
    json_t *file;
    size_t i;
    item->bytes = 0;
    json_array_foreach(json_object_get(manifest, "files"), i, file)
      item->bytes += (uint64_t)json_integer_value(json_object_get(file, "bytes"));
    (void)snprintf(item->key, sizeof item->key, "%s", key);
    (void)snprintf(item->name, sizeof item->name, "%s", name);
    item->used = about.st_mtim;
  }
  json_decref(manifest);
  return good;
}

static cm_status load(cm_cache *cache, cm_error *error)
{
  DIR *listing = opendir(cache->folder);
  if (listing == NULL)
    return cm_fail_errno(error, errno, "cannot open folder", cache->folder);
  found *items = NULL;
  size_t count = 0;
  cm_status status = CM_OK;
  struct dirent *entry_name;
  while (status == CM_OK && (entry_name = readdir(listing)) != NULL) {
    found item;
    if (strcmp(entry_name->d_name, ".") == 0 || strcmp(entry_name->d_name, "..") == 0)
      continue;
    if (strncmp(entry_name->d_name, "new-", 4) == 0 || !look_at(cache, entry_name->d_name, &item)) {
      cm_cache_remove(cache, entry_name->d_name);
      continue;
    }
    found *larger = realloc(items, (count + 1) * sizeof *items);
    if (larger == NULL)
      status = cm_whole(false, "the cache", error);
    else {
      items = larger;
      items[count++] = item;
    }
  }
  closedir(listing);
  if (status == CM_OK && count > 0)
    qsort(items, count, sizeof *items, by_use);
  for (size_t i = 0; status == CM_OK && i < count; i++) {
    cm_cache_entry *e = cm_cache_find_or_make(cache, items[i].key);
    if (e == NULL)
      status = cm_whole(false, "the cache", error);
    else if (e->live[0] != '\0')
      cm_cache_remove(cache, items[i].name);
    else {
      memcpy(e->live, items[i].name, sizeof e->live);
      e->bytes = items[i].bytes;
      e->used = ++cache->clock;
      cache->counts.entries++;
      cache->counts.bytes += e->bytes;
    }
  }
  free(items);
  return status;
}

cm_status cm_cache_open(const char *folder, uint64_t bytes_max, cm_cache **cache, cm_error *error)
{
  cm_cache *made;
  CM_TRY(CM_HEAP(made, 1, "the cache", error));
  pthread_mutex_init(&made->lock, NULL);
  made->counts.bytes_max = bytes_max;
  CM_TRY_OR(cm_path(made->folder, error, "%s", folder), cm_cache_close(made));
  CM_TRY_OR(cm_folder_make(folder, error), cm_cache_close(made));
  CM_TRY_OR(load(made, error), cm_cache_close(made));
  cm_cache_evict(made);
  *cache = made;
  return CM_OK;
}

void cm_cache_close(cm_cache *cache)
{
  if (cache == NULL)
    return;
  cm_cache_entry *e = NULL, *next = NULL;
  HASH_ITER(hh, cache->entries, e, next)
  {
    cm_cache_forget(cache, e);
  }
  pthread_mutex_destroy(&cache->lock);
  free(cache);
}
