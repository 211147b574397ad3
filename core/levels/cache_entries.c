/* The entries of the cache by their keys: who holds them, which folder is live, and which goes when the last holder does. */

#include "core/levels/cache_entries.h"

bool cm_cache_key_is_sound(const char *key)
{
  size_t length = strspn(key, "0123456789abcdef");
  return length > 0 && key[length] == '\0' && length < CM_CACHE_KEY_MAX;
}

void cm_cache_remove(cm_cache *cache, const char *name)
{
  cm_error ignored;
  char path[CM_PATH_MAX];
  if (cm_path(path, &ignored, "%s/%s", cache->folder, name) == CM_OK)
    (void)cm_folder_remove(path, &ignored);
}

cm_cache_entry *cm_cache_find(cm_cache *cache, const char *key)
{
  cm_cache_entry *e;
  HASH_FIND_STR(cache->entries, key, e);
  return e;
}

cm_cache_entry *cm_cache_find_or_make(cm_cache *cache, const char *key)
{
  cm_cache_entry *e = cm_cache_find(cache, key);
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

void cm_cache_forget(cm_cache *cache, cm_cache_entry *e)
{
  HASH_DEL(cache->entries, e);
  free(e->doomed);
  free(e);
}

void cm_cache_doom(cm_cache *cache, cm_cache_entry *e)
{
  if (e->live[0] == '\0')
    return;
  cache->counts.entries--;
  cache->counts.bytes -= e->bytes;
  char(*larger)[CM_CACHE_FOLDER_MAX] = e->holders > 0 ? realloc(e->doomed, (e->doomed_count + 1) * sizeof *larger) : NULL;
  if (larger != NULL) {
    e->doomed = larger;
    memcpy(e->doomed[e->doomed_count++], e->live, sizeof e->live);
  } else if (e->holders == 0)
    cm_cache_remove(cache, e->live);
  /* else: no memory to remember it by; its manifest lets the next start find it again */
  e->live[0] = '\0';
  e->bytes = 0;
}

void cm_cache_let_go(cm_cache *cache, cm_cache_entry *e)
{
  if (e->holders > 0)
    e->holders--;
  if (e->holders > 0)
    return;
  for (size_t i = 0; i < e->doomed_count; i++)
    cm_cache_remove(cache, e->doomed[i]);
  free(e->doomed);
  e->doomed = NULL;
  e->doomed_count = 0;
  if (e->live[0] == '\0')
    cm_cache_forget(cache, e);
}

void cm_cache_evict(cm_cache *cache)
{
  while (cache->counts.bytes > cache->counts.bytes_max) {
    cm_cache_entry *oldest = NULL, *e = NULL, *next = NULL;
    HASH_ITER(hh, cache->entries, e, next)
    {
      if (e->holders == 0 && e->live[0] != '\0' && (oldest == NULL || e->used < oldest->used))
        oldest = e;
    }
    if (oldest == NULL)
      return;
    cm_cache_doom(cache, oldest);
    cm_cache_forget(cache, oldest);
    cache->counts.evicted++;
  }
}
