/* Cached levels for jobs that run in other processes: given by further names of the same files, taken over by renaming. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "core/levels/cache.h"

enum { LENT_MAX = 64 };

static cm_status link_files(const char *from, const char *into, cm_error *error)
{
  DIR *listing = opendir(from);
  if (listing == NULL)
    return cm_fail_errno(error, errno, "cannot open folder", from);
  cm_status status = cm_folder_make(into, error);
  struct dirent *item;
  while (status == CM_OK && (item = readdir(listing)) != NULL)
    if (item->d_name[0] != '.') {
      char path[CM_PATH_MAX];
      status = cm_path(path, error, "%s/%s", into, item->d_name);
      CM_THEN_IF(status, linkat(dirfd(listing), item->d_name, AT_FDCWD, path, 0) != 0, cm_fail_errno(error, errno, "cannot link", path));
    }
  closedir(listing);
  return status;
}

cm_status cm_cache_lend(cm_cache *cache, const char *prefix, const char *folder, cm_error *error)
{
  const cm_level_cache levels = cm_cache_levels(cache);
  char keys[LENT_MAX][CM_CACHE_KEY_MAX];
  size_t count = cm_cache_keys(cache, prefix, keys, LENT_MAX);
  for (size_t i = 0; i < count; i++) {
    char from[CM_PATH_MAX], into[CM_PATH_MAX];
    if (levels.acquire(levels.user, keys[i], from, error) != CM_OK)
      continue; /* damaged, or gone meanwhile: the job makes them again */
    cm_status status = cm_path(into, error, "%s/%s", folder, keys[i]);
    CM_THEN(status, link_files(from, into, error));
    levels.release(levels.user, keys[i]);
    CM_TRY(status);
  }
  return CM_OK;
}

/* A folder KEY-XXXXXXXX: its key. */
static bool key_of(const char *name, char key[CM_CACHE_KEY_MAX])
{
  size_t length = strcspn(name, "-");
  if (name[length] != '-' || length == 0 || length >= CM_CACHE_KEY_MAX || strspn(name, "0123456789abcdef") != length)
    return false;
  memcpy(key, name, length);
  key[length] = '\0';
  return true;
}

static void take(const cm_level_cache *levels, const char *folder, const char *name)
{
  char key[CM_CACHE_KEY_MAX], path[CM_PATH_MAX], manifest[CM_PATH_MAX];
  cm_error ignored;
  if (!key_of(name, key))
    return;
  if (levels->acquire(levels->user, key, path, &ignored) == CM_OK) { /* another job was quicker */
    levels->release(levels->user, key);
    return;
  }
  if (cm_path(path, &ignored, "%s/%s", folder, name) == CM_OK &&
      cm_path(manifest, &ignored, "%s/manifest.json", path) == CM_OK && unlink(manifest) == 0 &&
      levels->commit(levels->user, key, path, &ignored) == CM_OK)
    levels->release(levels->user, key);
}

void cm_cache_adopt(cm_cache *cache, const char *folder)
{
  const cm_level_cache levels = cm_cache_levels(cache);
  DIR *listing = opendir(folder);
  struct dirent *item;
  while (listing != NULL && (item = readdir(listing)) != NULL)
    take(&levels, folder, item->d_name);
  if (listing != NULL)
    closedir(listing);
}
