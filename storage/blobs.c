#include "storage/blobs.h"

#include "storage/folder.h"

cm_status cm_blob_read(const char *file, const char *path, cm_blob *blob, cm_error *error)
{
  cm_blob made = {0};
  if (strlen(path) >= sizeof made.path)
    return cm_fail(error, CM_INTERNAL, "the name of a stored file is too long: %.200s", path);
  memcpy(made.path, path, strlen(path) + 1);
  CM_TRY(cm_file_hash(file, made.sha256, &made.bytes, error));
  *blob = made;
  return CM_OK;
}

static cm_status read_one(const cm_store *store, const char *path, const char *name, cm_blob *blob, cm_error *error)
{
  char known[CM_PATH_MAX], file[CM_PATH_MAX];
  CM_TRY(cm_path(known, error, "%s/%s", path, name));
  CM_TRY(cm_path(file, error, "%s/%s", store->folder, known));
  return cm_blob_read(file, known, blob, error);
}

cm_status cm_blobs_read_folder(const cm_store *store, const char *path, cm_blob **blobs, size_t *count, cm_error *error)
{
  char folder[CM_PATH_MAX];
  cm_blob *list = NULL;
  size_t used = 0, capacity = 0;
  CM_TRY(cm_path(folder, error, "%s/%s", store->folder, path));
  DIR *listing;
  CM_TRY(cm_folder_list(folder, &listing, error));
  cm_status status = CM_OK;
  for (const char *item; status == CM_OK && (item = cm_folder_next(listing)) != NULL;) {
    if ((status = CM_HEAP_GROW(list, &capacity, used + 1, "the list of a folder", error)) == CM_OK)
      status = read_one(store, path, item, &list[used], error);
    used += status == CM_OK;
  }
  closedir(listing);
  CM_TRY_OR(status, free(list));
  *blobs = list;
  *count = used;
  return CM_OK;
}

cm_status cm_blob_note_in(sqlite3 *handle, const cm_blob *blob, cm_error *error)
{
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO blobs(path, bytes, sha256) VALUES(?, ?, ?)"
                    " ON CONFLICT(path) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256", "tit", blob->path,
                    (int64_t)blob->bytes, blob->sha256);
}

cm_status cm_blobs_forget_in(sqlite3 *handle, const char *path, cm_error *error)
{
  /* '0' follows '/': all that begins with the path and a slash. */
  return cm_sql_run(handle, NULL, error, "DELETE FROM blobs WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')", "t",
                    path);
}
