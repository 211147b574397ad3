/* Happy path: acquire misses; begin gives a scratch folder; the pipeline writes its levels; commit writes the
 * manifest, renames the scratch folder to KEY-XXXX and keeps it acquired; the next acquire finds it, checks every
 * file's SHA-256 against the manifest, and gives the folder out.
 *
 * What can fail: a file that does not match (the entry is doomed and the acquire is a miss); a crash while building
 * (scratch folders "new-XXXX" are swept at start); two jobs building the same key (the second finds the first's
 * entry and its own is removed); a doomed entry that another job still reads (its folder goes when nobody holds the
 * key any more). Entries need not survive a power cut: a torn one fails its checksum. */
#include "core/mapping/stage/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define HASH_NONFATAL_OOM 1 /* the default ends the process */
#include <uthash.h>

#include "base/file.h"
#include "base/json.h"

enum { KEY_MAX = CM_CACHE_KEY_MAX, FOLDER_MAX = 160, MANIFEST_BYTES_MAX = 1 << 20 };

/* All folders of one key: at most one is live, the doomed ones wait for their readers. */
typedef struct entry {
  char key[KEY_MAX];
  char live[FOLDER_MAX]; /* folder name, "" when none */
  uint64_t bytes;        /* of the live folder */
  uint64_t used;         /* clock of the last use */
  unsigned holders;
  char (*doomed)[FOLDER_MAX];
  size_t doomed_count;
  UT_hash_handle hh;
} entry;

struct cm_cache {
  char folder[CM_PATH_MAX];
  pthread_mutex_t lock;
  entry *entries;
  uint64_t clock;
  cm_cache_counts counts;
};

static bool key_is_sound(const char *key)
{
  size_t length = strspn(key, "0123456789abcdef");
  return length > 0 && key[length] == '\0' && length < KEY_MAX;
}

/* Checks every file of a manifest; true when all match. *bytes is their sum. */
static bool folder_is_sound(const char *folder, json_t *manifest, uint64_t *bytes)
{
  json_t *files = json_object_get(manifest, "files"), *file;
  size_t i;
  uint64_t total = 0;
  if (!json_is_array(files))
    return false;
  json_array_foreach(files, i, file)
  {
    const char *name, *wanted;
    json_int_t size;
    cm_error error;
    char path[CM_PATH_MAX], hex[65];
    uint64_t found;
    if (json_unpack(file, "{s:s, s:I, s:s}", "name", &name, "bytes", &size, "sha256", &wanted) != 0 ||
        strchr(name, '/') != NULL || cm_path(path, &error, "%s/%s", folder, name) != CM_OK ||
        cm_file_hash(path, hex, &found, &error) != CM_OK || found != (uint64_t)size || strcmp(hex, wanted) != 0)
      return false;
    total += found;
  }
  *bytes = total;
  return true;
}

static json_t *read_manifest(const char *folder)
{
  cm_error error;
  char path[CM_PATH_MAX], *text;
  size_t size;
  if (cm_path(path, &error, "%s/manifest.json", folder) != CM_OK ||
      cm_file_read(path, MANIFEST_BYTES_MAX, &text, &size, &error) != CM_OK)
    return NULL;
  json_t *manifest = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  free(text);
  return manifest;
}

static cm_status write_manifest(const char *folder, const char *key, uint64_t *bytes, cm_error *error)
{
  DIR *listing = opendir(folder);
  if (listing == NULL)
    return cm_fail_errno(error, errno, "cannot open folder", folder);
  json_t *files = json_array();
  uint64_t total = 0;
  cm_status status = CM_OK;
  struct dirent *item;
  while (status == CM_OK && (item = readdir(listing)) != NULL) {
    char path[CM_PATH_MAX], hex[65];
    uint64_t size;
    if (item->d_name[0] == '.')
      continue;
    status = cm_path(path, error, "%s/%s", folder, item->d_name);
    if (status == CM_OK)
      status = cm_file_hash(path, hex, &size, error);
    if (status == CM_OK) {
      total += size;
      json_array_append_new(files, json_pack("{s:s, s:I, s:s}", "name", item->d_name, "bytes",
                                             (json_int_t)size, "sha256", hex));
    }
  }
  closedir(listing);
  json_t *manifest = json_pack("{s:s, s:o}", "key", key, "files", files);
  char path[CM_PATH_MAX];
  cm_file file = {0};
  if (status == CM_OK && manifest == NULL)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory while writing a cache manifest");
  if (status == CM_OK)
    status = cm_path(path, error, "%s/manifest.json", folder);
  if (status == CM_OK)
    status = cm_file_create(&file, path, error);
  if (status == CM_OK) {
    if (cm_json_dumpf(manifest, file.stream, JSON_COMPACT) != 0)
      status = cm_fail_errno(error, errno, "cannot write", path);
    else
      status = cm_file_commit(&file, error);
  }
  cm_file_discard(&file);
  json_decref(manifest);
  if (status == CM_OK)
    *bytes = total;
  return status;
}

static void remove_named(cm_cache *cache, const char *name)
{
  cm_error ignored;
  char path[CM_PATH_MAX];
  if (cm_path(path, &ignored, "%s/%s", cache->folder, name) == CM_OK)
    (void)cm_folder_remove(path, &ignored);
}

static entry *find(cm_cache *cache, const char *key)
{
  entry *e;
  HASH_FIND_STR(cache->entries, key, e);
  return e;
}

static entry *find_or_make(cm_cache *cache, const char *key)
{
  entry *e = find(cache, key);
  if (e == NULL && (e = calloc(1, sizeof *e)) != NULL) {
    (void)snprintf(e->key, sizeof e->key, "%s", key);
    HASH_ADD_STR(cache->entries, key, e);
    if (e->hh.tbl == NULL) {
      free(e);
      e = NULL;
    }
  }
  return e;
}

/* With the lock held: the live folder is no longer given out; it goes now, or when its last holder does. */
static void doom(cm_cache *cache, entry *e)
{
  if (e->live[0] == '\0')
    return;
  cache->counts.entries--;
  cache->counts.bytes -= e->bytes;
  char(*larger)[FOLDER_MAX] = e->holders > 0 ? realloc(e->doomed, (e->doomed_count + 1) * sizeof *larger) : NULL;
  if (larger != NULL) {
    e->doomed = larger;
    memcpy(e->doomed[e->doomed_count++], e->live, sizeof e->live);
  } else if (e->holders == 0)
    remove_named(cache, e->live);
  /* else: no memory to remember it by; its manifest lets the next start find it again */
  e->live[0] = '\0';
  e->bytes = 0;
}

/* With the lock held: one holder less. */
static void let_go(cm_cache *cache, entry *e)
{
  if (e->holders > 0)
    e->holders--;
  if (e->holders > 0)
    return;
  for (size_t i = 0; i < e->doomed_count; i++)
    remove_named(cache, e->doomed[i]);
  free(e->doomed);
  e->doomed = NULL;
  e->doomed_count = 0;
  if (e->live[0] == '\0') {
    HASH_DEL(cache->entries, e);
    free(e);
  }
}

/* With the lock held: drops the least recently used entries that nobody holds until the bound is kept. */
static void evict(cm_cache *cache)
{
  while (cache->counts.bytes > cache->counts.bytes_max) {
    entry *oldest = NULL, *e = NULL, *next = NULL;
    HASH_ITER(hh, cache->entries, e, next)
    {
      if (e->holders == 0 && e->live[0] != '\0' && (oldest == NULL || e->used < oldest->used))
        oldest = e;
    }
    if (oldest == NULL)
      return;
    doom(cache, oldest);
    HASH_DEL(cache->entries, oldest);
    free(oldest);
    cache->counts.evicted++;
  }
}

static cm_status acquire(void *user, const char *key, char *folder, cm_error *error)
{
  cm_cache *cache = user;
  if (!key_is_sound(key))
    return cm_fail(error, CM_INTERNAL, "a cache key is not a hex digest");
  char path[CM_PATH_MAX] = "";
  pthread_mutex_lock(&cache->lock);
  entry *e = find(cache, key);
  cm_status status = CM_OK;
  if (e == NULL || e->live[0] == '\0') {
    cache->counts.misses++;
    status = cm_fail(error, CM_NOT_FOUND, "no coarsened levels are cached under this key");
  } else {
    e->holders++;
    e->used = ++cache->clock;
    status = cm_path(path, error, "%s/%s", cache->folder, e->live);
    if (status != CM_OK)
      let_go(cache, e);
  }
  pthread_mutex_unlock(&cache->lock);
  if (status != CM_OK)
    return status;

  /* Hashing takes a while: without the lock, but as a holder, so the folder stays. */
  uint64_t bytes;
  json_t *manifest = read_manifest(path);
  bool sound = manifest != NULL && folder_is_sound(path, manifest, &bytes);
  json_decref(manifest);
  pthread_mutex_lock(&cache->lock);
  e = find(cache, key);
  if (sound) {
    cache->counts.hits++;
    memcpy(folder, path, sizeof path);
  } else {
    doom(cache, e);
    let_go(cache, e);
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
  entry *e = find(cache, key);
  if (e != NULL) {
    let_go(cache, e);
    evict(cache);
  }
  pthread_mutex_unlock(&cache->lock);
}

static cm_status begin(void *user, char *folder, cm_error *error)
{
  cm_cache *cache = user;
  char path[CM_PATH_MAX];
  if (cm_path(path, error, "%s/new-XXXXXX", cache->folder) != CM_OK)
    return error->status;
  if (mkdtemp(path) == NULL)
    return cm_fail_errno(error, errno, "cannot make folder", path);
  memcpy(folder, path, sizeof path);
  return CM_OK;
}

static void discard(void *user, const char *folder)
{
  (void)user;
  cm_error ignored;
  (void)cm_folder_remove(folder, &ignored);
}

static cm_status commit(void *user, const char *key, char *folder, cm_error *error)
{
  cm_cache *cache = user;
  uint64_t bytes = 0;
  char name[FOLDER_MAX], path[CM_PATH_MAX];
  if (!key_is_sound(key))
    return cm_fail(error, CM_INTERNAL, "a cache key is not a hex digest");
  (void)snprintf(name, sizeof name, "%s-%08x", key, randombytes_random());
  if (write_manifest(folder, key, &bytes, error) != CM_OK ||
      cm_path(path, error, "%s/%s", cache->folder, name) != CM_OK)
    return error->status;
  pthread_mutex_lock(&cache->lock);
  entry *e = find_or_make(cache, key);
  cm_status status = CM_OK;
  if (e == NULL)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory while adding to the cache");
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
    evict(cache);
  } else if (e != NULL && e->holders == 0 && e->live[0] == '\0') {
    HASH_DEL(cache->entries, e);
    free(e);
  }
  pthread_mutex_unlock(&cache->lock);
  return status;
}

static void drop(void *user, const char *key)
{
  cm_cache *cache = user;
  pthread_mutex_lock(&cache->lock);
  entry *e = find(cache, key);
  if (e != NULL) {
    doom(cache, e);
    cache->counts.damaged++;
    let_go(cache, e);
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
  evict(cache);
  pthread_mutex_unlock(&cache->lock);
}

void cm_cache_count(cm_cache *cache, cm_cache_counts *counts)
{
  pthread_mutex_lock(&cache->lock);
  *counts = cache->counts;
  pthread_mutex_unlock(&cache->lock);
}

size_t cm_cache_keys(cm_cache *cache, const char *prefix, char (*keys)[CM_CACHE_KEY_MAX], size_t most)
{
  size_t count = 0;
  pthread_mutex_lock(&cache->lock);
  for (entry *e = cache->entries; e != NULL && count < most; e = e->hh.next)
    if (e->live[0] != '\0' && strncmp(e->key, prefix, strlen(prefix)) == 0)
      memcpy(keys[count++], e->key, sizeof e->key);
  pthread_mutex_unlock(&cache->lock);
  return count;
}

void cm_cache_empty(cm_cache *cache)
{
  pthread_mutex_lock(&cache->lock);
  entry *e = NULL, *next = NULL;
  HASH_ITER(hh, cache->entries, e, next)
  {
    doom(cache, e);
    if (e->holders == 0) {
      HASH_DEL(cache->entries, e);
      free(e);
    }
  }
  pthread_mutex_unlock(&cache->lock);
}

/* ---- opening ---- */

typedef struct found {
  char name[FOLDER_MAX];
  char key[KEY_MAX];
  uint64_t bytes;
  struct timespec used;
} found;

static int by_use(const void *a, const void *b)
{
  const struct timespec *x = &((const found *)a)->used, *y = &((const found *)b)->used;
  if (x->tv_sec != y->tv_sec)
    return x->tv_sec < y->tv_sec ? -1 : 1;
  return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Reads one folder's manifest (its files are checked when it is used); false: not an entry. */
static bool look_at(cm_cache *cache, const char *name, found *item)
{
  cm_error ignored;
  char path[CM_PATH_MAX], stamp[CM_PATH_MAX];
  struct stat about;
  const char *key;
  if (strlen(name) >= FOLDER_MAX || cm_path(path, &ignored, "%s/%s", cache->folder, name) != CM_OK ||
      cm_path(stamp, &ignored, "%s/manifest.json", path) != CM_OK || stat(stamp, &about) != 0)
    return false;
  json_t *manifest = read_manifest(path);
  key = json_string_value(json_object_get(manifest, "key"));
  bool good = key != NULL && key_is_sound(key);
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
      remove_named(cache, entry_name->d_name);
      continue;
    }
    found *larger = realloc(items, (count + 1) * sizeof *items);
    if (larger == NULL)
      status = cm_fail(error, CM_NO_MEMORY, "out of memory while opening the cache");
    else {
      items = larger;
      items[count++] = item;
    }
  }
  closedir(listing);
  if (status == CM_OK && count > 0)
    qsort(items, count, sizeof *items, by_use);
  for (size_t i = 0; status == CM_OK && i < count; i++) {
    entry *e = find_or_make(cache, items[i].key);
    if (e == NULL)
      status = cm_fail(error, CM_NO_MEMORY, "out of memory while opening the cache");
    else if (e->live[0] != '\0')
      remove_named(cache, items[i].name);
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
  cm_cache *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while opening the cache");
  pthread_mutex_init(&made->lock, NULL);
  made->counts.bytes_max = bytes_max;
  if (cm_path(made->folder, error, "%s", folder) != CM_OK || cm_folder_make(folder, error) != CM_OK ||
      load(made, error) != CM_OK) {
    cm_cache_close(made);
    return error->status;
  }
  evict(made);
  *cache = made;
  return CM_OK;
}

void cm_cache_close(cm_cache *cache)
{
  if (cache == NULL)
    return;
  entry *e = NULL, *next = NULL;
  HASH_ITER(hh, cache->entries, e, next)
  {
    HASH_DEL(cache->entries, e);
    free(e->doomed);
    free(e);
  }
  pthread_mutex_destroy(&cache->lock);
  free(cache);
}
