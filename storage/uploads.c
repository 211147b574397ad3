/* A piece is appended under a lock and synced before it is acknowledged; a crash in between leaves a longer file, whose
 * size the client asks for before it goes on. */
#include "storage/uploads.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/audit.h"
#include "storage/quotas.h"
#include "storage/internal.h"

cm_status cm_uploads_path(const cm_store *store, const char *id, char *path, cm_error *error)
{
  return cm_path(path, error, "%s/incoming/%s", store->folder, id);
}

/* Each is a row and a file, however few bytes come. */
static cm_status check_count(sqlite3 *handle, const char *user, cm_error *error)
{
  int64_t count;
  CM_TRY(cm_sql_number(handle, 0, &count, error,
                       "SELECT coalesce((SELECT things FROM stored_totals WHERE kind = 'uploads' AND user = ?), 0)", "t", user));
  if (count < CM_UPLOADS_MAX)
    return CM_OK;
  cm_fail(error, CM_QUOTA_USED, "%lld uploads are announced or kept, as many as one user may have; complete or delete some",
          (long long)count);
  cm_error_figure(error, "limit", CM_UPLOADS_MAX);
  return CM_QUOTA_USED;
}

static cm_status insert(sqlite3 *handle, void *context, cm_error *error)
{
  const cm_upload *upload = context;
  cm_audit_effect("upload %s, %llu bytes", upload->id, (unsigned long long)upload->size);
  CM_TRY(check_count(handle, upload->owner.user, error));
  CM_TRY(cm_quota_check_in(handle, upload->owner.user, CM_QUOTA_BYTES, (double)upload->size, error));
  return cm_sql_run(handle, NULL, error, "INSERT INTO uploads(id, user, team, visibility, name, size, created)"
                    " VALUES(?, ?, ?, ?, ?, ?, ?)", "tttttid", upload->id, upload->owner.user, upload->owner.group,
                    cm_visibility_name(upload->owner.visibility), upload->name, (int64_t)upload->size, cm_store_time());
}

cm_status cm_uploads_create(cm_store *store, cm_upload *upload, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_store_id(upload->id);
  CM_TRY(cm_uploads_path(store, upload->id, path, error));
  int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return cm_fail_errno(error, errno, "cannot create", path);
  close(descriptor);
  /* The file's name must last as the row does: pieces are synced into the file alone. */
  CM_TRY_OR(cm_folder_sync_of(path, error), (void)unlink(path));
  upload->offset = 0;
  cm_status status = cm_database_write(store->database, insert, upload, error);
  if (status != CM_OK)
    (void)unlink(path);
  return status;
}

static cm_status get(sqlite3 *handle, cm_upload *upload, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT name, size, user, team, visibility FROM uploads WHERE id = ?", "t", upload->id);
  const bool found = cm_sql_next(statement, &status, error);
  if (found) {
    (void)cm_sql_columns(statement, error, "tu", CM_INTO(upload->name), &upload->size);
    cm_owner_from_row(statement, 2, &upload->owner);
  }
  status = cm_sql_end(statement, status, error);
  return status == CM_OK && !found ? cm_fail(error, CM_NOT_FOUND, "there is no upload %s", upload->id) : status;
}

cm_status cm_uploads_get(cm_store *store, const char *id, cm_upload *upload, cm_error *error)
{
  cm_upload found = {0};
  char path[CM_PATH_MAX];
  struct stat about;
  (void)snprintf(found.id, sizeof found.id, "%s", id);
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, get(r.handle, &found, error));
  CM_TRY(cm_reading_end(&r, status));
  CM_TRY(cm_uploads_path(store, found.id, path, error));
  if (stat(path, &about) != 0)
    return cm_fail_errno(error, errno, "cannot read", path);
  found.offset = (uint64_t)about.st_size;
  *upload = found;
  return CM_OK;
}

/* Copies the whole of `from` to the end of `to`, synced. */
static cm_status append_file(const char *from, const char *to, cm_error *error)
{
  FILE *in = fopen(from, "rbe"), *out = fopen(to, "abe");
  char block[1 << 14];
  size_t got;
  int failed = in == NULL || out == NULL ? errno : 0;
  while (failed == 0 && (got = fread(block, 1, sizeof block, in)) > 0)
    if (fwrite(block, 1, got, out) != got)
      failed = errno;
  if (failed == 0 && (ferror(in) != 0 || fflush(out) != 0 || fdatasync(fileno(out)) != 0))
    failed = errno;
  if (in != NULL)
    fclose(in);
  if (out != NULL && fclose(out) != 0 && failed == 0)
    failed = errno;
  return failed != 0 ? cm_fail_errno(error, failed, "cannot write", to) : CM_OK;
}

cm_status cm_uploads_append(cm_store *store, const char *piece, uint64_t offset, cm_upload *upload, cm_error *error)
{
  char path[CM_PATH_MAX];
  struct stat about;
  if (stat(piece, &about) != 0)
    return cm_fail_errno(error, errno, "cannot read", piece);
  pthread_mutex_lock(&store->blob_lock);
  cm_status status = cm_uploads_get(store, upload->id, upload, error);
  if (status == CM_OK && upload->offset != offset)
    status = cm_fail(error, CM_CONFLICT, "the upload stands at byte %llu, not %llu", (unsigned long long)upload->offset,
                     (unsigned long long)offset);
  if (status == CM_OK && (uint64_t)about.st_size > upload->size - offset)
    status = cm_fail(error, CM_TOO_LARGE, "the upload was announced with %llu bytes, and this would be more",
                     (unsigned long long)upload->size);
  CM_THEN(status, cm_uploads_path(store, upload->id, path, error));
  CM_THEN(status, append_file(piece, path, error));
  if (status == CM_OK)
    upload->offset += (uint64_t)about.st_size;
  pthread_mutex_unlock(&store->blob_lock);
  return status;
}

static cm_status delete(sqlite3 *handle, void *context, cm_error *error)
{
  const char *id = context;
  int changes;
  cm_audit_effect("upload %s gone", id);
  CM_TRY(cm_sql_run(handle, &changes, error, "DELETE FROM uploads WHERE id = ?", "t", id));
  return changes == 1 ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is no upload %.40s", id);
}

cm_status cm_uploads_delete(cm_store *store, const char *id, cm_error *error)
{
  char path[CM_PATH_MAX], held[CM_ID_MAX];
  (void)snprintf(held, sizeof held, "%s", id);
  CM_TRY(cm_uploads_path(store, held, path, error));
  CM_TRY(cm_database_write(store->database, delete, held, error));
  (void)unlink(path);
  return CM_OK;
}

enum { EXPIRE_AT_ONCE = 256 };

cm_status cm_uploads_expire(cm_store *store, double age, uint64_t *removed, cm_error *error)
{
  double before = cm_store_time() - age;
  static const cm_row_kind kind = {"di", "SELECT id FROM uploads WHERE created < ? ORDER BY created LIMIT ?", "a list of uploads", CM_ID_MAX, cm_sql_id, NULL};
  char (*ids)[CM_ID_MAX];
  size_t count;
  *removed = 0;
  CM_TRY(cm_database_list(store->database, &kind, &ids, &count, error, before, (int64_t)EXPIRE_AT_ONCE));
  cm_status status = CM_OK;
  for (size_t i = 0; status == CM_OK && i < count; i++) {
    char path[CM_PATH_MAX];
    struct stat about;
    if ((status = cm_uploads_path(store, ids[i], path, error)) != CM_OK)
      break;
    pthread_mutex_lock(&store->blob_lock); /* no piece comes meanwhile */
    bool quiet = stat(path, &about) != 0 || (double)about.st_mtim.tv_sec < before;
    if (quiet && (status = cm_uploads_delete(store, ids[i], error)) == CM_OK)
      ++*removed;
    pthread_mutex_unlock(&store->blob_lock);
    if (status == CM_NOT_FOUND) /* its owner was faster */
      status = CM_OK;
  }
  free(ids);
  return status;
}
