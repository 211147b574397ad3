/* What a folder of the cache holds, by name, length and SHA-256. */
#include <dirent.h>
#include <errno.h>

#include "base/json.h"
#include "base/memory.h"
#include "core/levels/cache_entries.h"

enum { MANIFEST_BYTES_MAX = 1 << 20 };

bool cm_cache_folder_is_sound(const char *folder, json_t *manifest, uint64_t *bytes)
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

json_t *cm_cache_manifest_read(const char *folder)
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

cm_status cm_cache_manifest_write(const char *folder, const char *key, uint64_t *bytes, cm_error *error)
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
    CM_THEN(status, cm_file_hash(path, hex, &size, error));
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
  CM_THEN(status, cm_whole(manifest != NULL, "a cache manifest", error));
  CM_THEN(status, cm_path(path, error, "%s/manifest.json", folder));
  CM_THEN(status, cm_file_create(&file, path, error));
  if (status == CM_OK) {
    if (cm_json_dumpf(manifest, file.stream, JSON_COMPACT) != 0)
      status = cm_fail_errno(error, errno, "cannot write", path);
    else
      status = cm_file_commit(&file, error);
  }
  cm_file_discard(&file);
  json_decref(manifest);
  CM_END(status, *bytes = total, );
}
