/* Rows of mappings and programs, and their files: in a folder of each, or packed into the database. */
#include "storage/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "storage/blobs.h"
#include "storage/folder.h"
#include "storage/holders.h"
#include "storage/pack.h"

static const cm_made made[] = {[LIBRARY_RESULT_NONE] = {CM_OBJECT_NONE, "mapping", ""},
                               [LIBRARY_RESULT_MAPPING] = {CM_OBJECT_MAPPING, "mapping", "map"},
                               [LIBRARY_RESULT_PROGRAM] = {CM_OBJECT_PROGRAM, "program", "compile"}};

const cm_made *cm_made_in(const char *row)
{
  size_t i = 0;
  while (i < LIBRARY_RESULT_PROGRAM && strcmp(made[i].row, row) != 0)
    i++;
  return &made[i];
}

const cm_made *cm_job_makes(const char *kind)
{
  return &made[library_job_kind_of(kind)->result];
}

/* The one of an id, or one of a fingerprint. */
static cm_status get(sqlite3 *handle, bool by_id, const char *value, cm_mapping_row *m, cm_error *error)
{
#define SELECT "SELECT id, kind, network, chip, job, fingerprint, bytes, created, user, team, visibility FROM mappings WHERE "
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, by_id ? SELECT "id = ?" : SELECT "fingerprint = ? LIMIT 1", "t", value);
  const bool found = cm_sql_next(statement, &status, error);
  if (found) {
    memset(m, 0, sizeof *m);
    (void)cm_sql_columns(statement, error, "ttttttud", CM_INTO(m->id), CM_INTO(m->kind), CM_INTO(m->network), CM_INTO(m->chip), CM_INTO(m->job),
                         CM_INTO(m->fingerprint), &m->bytes, &m->created);
    cm_owner_from_row(statement, 8, &m->owner);
  }
  status = cm_sql_end(statement, status, error);
  return status == CM_OK && !found ? cm_fail(error, CM_NOT_FOUND, "there is no mapping %.64s", value) : status;
}

static cm_status look(cm_store *store, bool by_id, const char *value, cm_mapping_row *mapping, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, get(r.handle, by_id, value, mapping, error));
  return cm_reading_end(&r, status);
}

cm_status cm_mappings_get(cm_store *store, const char *id, cm_mapping_row *mapping, cm_error *error)
{
  cm_mapping_row found;
  CM_TRY(look(store, true, id, &found, error));
  if (cm_made_in(found.kind)->object != CM_OBJECT_MAPPING)
    return cm_fail(error, CM_NOT_FOUND, "there is no mapping %.64s; it is a program", id);
  *mapping = found;
  return CM_OK;
}

cm_status cm_programs_get(cm_store *store, const char *id, cm_mapping_row *program, cm_error *error)
{
  cm_mapping_row found;
  cm_status status = look(store, true, id, &found, error);
  if (status == CM_NOT_FOUND || (status == CM_OK && cm_made_in(found.kind)->object != CM_OBJECT_PROGRAM))
    return cm_fail(error, CM_NOT_FOUND, "there is no program %.64s", id);
  CM_END(status, *program = found, );
}

/* The packed files of a mapping; the caller frees. */
static cm_status read_pack(cm_store *store, const char *mapping, char **content, size_t *size, cm_error *error)
{
  cm_reading r;
  sqlite3_stmt *statement = NULL;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, cm_sql_prepare(r.handle, &statement, error, "SELECT content FROM packs WHERE mapping = ?", "t", mapping));
  if (cm_sql_next(statement, &status, error)) {
    const void *held = sqlite3_column_blob(statement, 0);
    *size = (size_t)sqlite3_column_bytes(statement, 0);
    *content = held != NULL ? malloc(*size + 1) : NULL;
    status = cm_whole(*content != NULL, "a result", error);
    if (status == CM_OK)
      memcpy(*content, held, *size);
  } else if (status == CM_OK)
    status = cm_fail(error, CM_NOT_FOUND, "mapping %s has no such view; docs/reference/mapping-formats.md lists them", mapping);
  return cm_reading_end(&r, cm_sql_end(statement, status, error));
}

cm_status cm_mappings_find(cm_store *store, const char *fingerprint, cm_mapping_row *mapping, cm_error *error)
{
  cm_mapping_row found;
  char path[CM_PATH_MAX];
  CM_TRY(look(store, false, fingerprint, &found, error));
  CM_TRY(cm_mappings_folder(store, found.id, path, error));
  bool packed = false;
  cm_status status = cm_database_find(store->database, &packed, error, "SELECT 1 FROM packs WHERE mapping = ?", "t>", found.id);
  CM_TRY(status);
  if (!packed && access(path, R_OK) != 0)
    return cm_fail_errno(error, errno, "cannot read", path);
  *mapping = found;
  return CM_OK;
}

/* ---- files ---- */

cm_status cm_store_scratch(const cm_store *store, char *path, cm_error *error)
{
  char id[CM_ID_MAX];
  cm_store_id(id);
  return cm_path(path, error, "%s/incoming/%s.part", store->folder, id);
}

static cm_status write_file(const char *path, const char *bytes, size_t size, int *descriptor, cm_error *error)
{
  int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0)
    return cm_fail_errno(error, errno, "cannot create", path);
  for (size_t done = 0; done < size;) {
    ssize_t n = write(file, bytes + done, size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      cm_fail_errno(error, n < 0 ? errno : EIO, "cannot write", path);
      (void)close(file);
      (void)unlink(path);
      return error->status;
    }
    done += (size_t)n;
  }
  (void)lseek(file, 0, SEEK_SET);
  *descriptor = file;
  return CM_OK;
}

typedef struct packed_file {
  bool packed;
  char *bytes;
  size_t size;
} packed_file;

/* A file of a packed mapping; CM_NOT_FOUND where nothing is packed: it is a folder. The caller frees. */
static cm_status read_packed(cm_store *store, const char *id, const char *name, packed_file *file, cm_error *error)
{
  char *pack = NULL;
  size_t pack_size;
  cm_status status = read_pack(store, id, &pack, &pack_size, error);
  file->packed = status == CM_OK;
  CM_THEN(status, cm_pack_file(pack, pack_size, name, &file->bytes, &file->size, error));
  free(pack);
  return status;
}

/* From the folder, which may be packed in this moment. */
static cm_status open_file(cm_store *store, const char *id, const char *name, int *descriptor, cm_error *error)
{
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/mappings/%s/%s", store->folder, id, name));
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return errno == ENOENT ? cm_fail(error, CM_NOT_FOUND, "mapping %s has no file %s", id, name) : cm_fail_errno(error, errno, "cannot open", path);
  *descriptor = file;
  return CM_OK;
}

cm_status cm_mappings_open(cm_store *store, const char *id, const char *name, int *descriptor, cm_error *error)
{
  for (int look = 0; look < 2; look++) {
    char path[CM_PATH_MAX];
    packed_file file;
    cm_status status = read_packed(store, id, name, &file, error);
    if (status == CM_OK) {
      status = cm_store_scratch(store, path, error);
      CM_THEN(status, write_file(path, file.bytes, file.size, descriptor, error));
      if (status == CM_OK)
        (void)unlink(path); /* it is there as long as it is open */
      free(file.bytes);
      return status;
    }
    if (file.packed || status != CM_NOT_FOUND)
      return status;
    status = open_file(store, id, name, descriptor, error);
    if (status != CM_NOT_FOUND)
      return status;
  }
  return error->status;
}

bool cm_mappings_has(cm_store *store, const char *id, const char *name)
{
  cm_error ignored;
  char path[CM_PATH_MAX];
  packed_file file;
  if (read_packed(store, id, name, &file, &ignored) == CM_OK) {
    free(file.bytes);
    return true;
  }
  return !file.packed && cm_path(path, &ignored, "%s/mappings/%s/%s", store->folder, id, name) == CM_OK && access(path, F_OK) == 0;
}

cm_status cm_mappings_lend(cm_store *store, const char *id, const char *name, const char *path, cm_error *error)
{
  char from[CM_PATH_MAX];
  packed_file file;
  int written;
  cm_status status = read_packed(store, id, name, &file, error);
  if (status == CM_OK) {
    status = write_file(path, file.bytes, file.size, &written, error);
    if (status == CM_OK)
      (void)close(written);
    free(file.bytes);
    return status;
  }
  if (file.packed || status != CM_NOT_FOUND)
    return status;
  CM_TRY(cm_path(from, error, "%s/mappings/%s/%s", store->folder, id, name));
  return cm_file_take(from, path, error);
}

static cm_status take_all(const char *from, const char *to, cm_error *error)
{
  DIR *listing;
  CM_TRY(cm_folder_list(from, &listing, error));
  cm_status status = CM_OK;
  for (const char *item; status == CM_OK && (item = cm_folder_next(listing)) != NULL;) {
    char one[CM_PATH_MAX], other[CM_PATH_MAX];
    status = cm_path(one, error, "%s/%s", from, item);
    CM_THEN(status, cm_path(other, error, "%s/%s", to, item));
    CM_THEN(status, cm_file_take(one, other, error));
  }
  (void)closedir(listing);
  return status;
}

cm_status cm_mappings_place(cm_store *store, const char *finished, const char *id, cm_error *error)
{
  char path[CM_PATH_MAX], parent[CM_PATH_MAX];
  cm_error ignored;
  if (cm_mappings_folder(store, id, path, error) != CM_OK || cm_path(parent, error, "%s/mappings", store->folder) != CM_OK ||
      cm_folder_sync_files(finished, error) != CM_OK || cm_folder_make(path, error) != CM_OK)
    return error->status;
  if (take_all(finished, path, error) == CM_OK && cm_folder_sync(path, error) == CM_OK && cm_folder_sync(parent, error) == CM_OK)
    return CM_OK;
  (void)cm_folder_remove(path, &ignored);
  return error->status;
}

cm_status cm_mappings_lend_all(cm_store *store, const char *id, const char *folder, cm_error *error)
{
  char *pack = NULL;
  size_t size;
  char from[CM_PATH_MAX];
  CM_TRY(cm_mappings_folder(store, id, from, error));
  CM_TRY(cm_folder_make(folder, error));
  cm_status status = read_pack(store, id, &pack, &size, error);
  if (status == CM_OK)
    status = cm_pack_unfold(pack, size, folder, error);
  else if (status == CM_NOT_FOUND)
    status = take_all(from, folder, error);
  free(pack);
  return status;
}

typedef struct deleting {
  const char *id;
  bool unneeded;
} deleting;

static cm_status delete(sqlite3 *handle, void *context, cm_error *error)
{
  const deleting *d = context;
  int changes;
  char path[CM_ID_MAX + 16];
  (void)snprintf(path, sizeof path, "mappings/%s", d->id);
  CM_TRY(cm_sql_run(handle, &changes, error,
                    "DELETE FROM mappings WHERE id = ?1 AND (?2 = 0 OR pinned = 0 AND NOT " CM_MAPPING_IS_NEEDED("?1")
                    " AND NOT EXISTS (SELECT 1 FROM owners WHERE thing = ?1)"
                    " AND EXISTS (SELECT 1 FROM jobs j WHERE j.id = mappings.job AND j.sweep IS NOT NULL AND j.lease IS NULL)"
                    " AND NOT EXISTS (SELECT 1 FROM jobs o INDEXED BY jobs_mapping WHERE o.mapping = ?1 AND o.id <> mappings.job AND o.kind <> 'sweep'))",
                    "ti", d->id, (int64_t)d->unneeded));
  if (changes != 1)
    return cm_fail(error, CM_NOT_FOUND, "there is no mapping %.64s%s", d->id, d->unneeded ? " that nobody needs" : "");
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM packs WHERE mapping = ?", "t", d->id));
  return cm_blobs_forget_in(handle, path, error);
}

cm_status cm_mappings_delete(cm_store *store, const char *id, bool unneeded, cm_error *error)
{
  char path[CM_PATH_MAX], held[CM_ID_MAX];
  cm_error ignored;
  (void)snprintf(held, sizeof held, "%s", id);
  CM_TRY(cm_mappings_folder(store, held, path, error));
  CM_TRY(cm_database_write(store->database, delete, &(deleting){held, unneeded}, error));
  (void)cm_folder_remove(path, &ignored); /* what stays behind is swept at the next start */
  return CM_OK;
}

cm_status cm_mappings_count(cm_store *store, uint64_t *number, uint64_t *bytes, cm_error *error)
{
  return cm_database_find(store->database, NULL, error,
                          "SELECT coalesce(sum(things), 0), coalesce(sum(bytes), 0) FROM stored_totals WHERE kind = 'mappings'", ">uu", number, bytes);
}
