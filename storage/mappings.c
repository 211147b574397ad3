#include "storage/mappings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "storage/blobs.h"

cm_status cm_mappings_folder(const cm_store *store, const char *id, char *path, cm_error *error)
{
  return cm_path(path, error, "%s/mappings/%s", store->folder, id);
}

typedef struct mapping_work {
  const char *column, *value;
  cm_mapping_row mapping;
  uint64_t count, bytes;
} mapping_work;

static cm_status get(sqlite3 *handle, void *context, cm_error *error)
{
  mapping_work *work = context;
  cm_mapping_row *m = &work->mapping;
  sqlite3_stmt *statement;
  bool row = false;
  bool by_id = strcmp(work->column, "id") == 0;
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    by_id ? "SELECT id, kind, network, chip, job, fingerprint, bytes, created, user, team, visibility"
                                            " FROM mappings WHERE id = ?"
                                          : "SELECT id, kind, network, chip, job, fingerprint, bytes, created, user, team, visibility"
                                            " FROM mappings WHERE fingerprint = ? LIMIT 1",
                                    "t", work->value);
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK && row) {
    memset(m, 0, sizeof *m);
    cm_sql_copy(statement, 0, m->id, sizeof m->id);
    cm_sql_copy(statement, 1, m->kind, sizeof m->kind);
    cm_sql_copy(statement, 2, m->network, sizeof m->network);
    cm_sql_copy(statement, 3, m->chip, sizeof m->chip);
    cm_sql_copy(statement, 4, m->job, sizeof m->job);
    cm_sql_copy(statement, 5, m->fingerprint, sizeof m->fingerprint);
    m->bytes = (uint64_t)sqlite3_column_int64(statement, 6);
    m->created = sqlite3_column_double(statement, 7);
    cm_owner_from_row(statement, 8, &m->owner);
  }
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK && !row)
    status = cm_fail(error, CM_NOT_FOUND, "there is no mapping %.64s", work->value);
  return status;
}

static cm_status look(cm_store *store, const char *column, const char *value, cm_mapping_row *mapping,
                      cm_error *error)
{
  mapping_work work = {.column = column, .value = value};
  if (cm_database_read(store->database, get, &work, error) != CM_OK)
    return error->status;
  *mapping = work.mapping;
  return CM_OK;
}

cm_status cm_mappings_get(cm_store *store, const char *id, cm_mapping_row *mapping, cm_error *error)
{
  cm_mapping_row found;
  if (look(store, "id", id, &found, error) != CM_OK)
    return error->status;
  if (strcmp(found.kind, "map") != 0)
    return cm_fail(error, CM_NOT_FOUND, "there is no mapping %.64s; it is a program", id);
  *mapping = found;
  return CM_OK;
}

cm_status cm_programs_get(cm_store *store, const char *id, cm_mapping_row *program, cm_error *error)
{
  cm_mapping_row found;
  cm_status status = look(store, "id", id, &found, error);
  if (status == CM_NOT_FOUND || (status == CM_OK && strcmp(found.kind, "compile") != 0))
    return cm_fail(error, CM_NOT_FOUND, "there is no program %.64s", id);
  if (status != CM_OK)
    return status;
  *program = found;
  return CM_OK;
}

cm_status cm_mappings_find(cm_store *store, const char *fingerprint, cm_mapping_row *mapping, cm_error *error)
{
  cm_mapping_row found;
  char path[CM_PATH_MAX];
  if (look(store, "fingerprint", fingerprint, &found, error) != CM_OK ||
      cm_mappings_folder(store, found.id, path, error) != CM_OK)
    return error->status;
  if (access(path, R_OK) != 0)
    return cm_fail_errno(error, errno, "cannot read", path);
  *mapping = found;
  return CM_OK;
}

cm_status cm_mappings_place(cm_store *store, const char *scratch_folder, const char *id, cm_error *error)
{
  char path[CM_PATH_MAX], parent[CM_PATH_MAX];
  if (cm_mappings_folder(store, id, path, error) != CM_OK ||
      cm_path(parent, error, "%s/mappings", store->folder) != CM_OK ||
      cm_folder_sync(scratch_folder, error) != CM_OK)
    return error->status;
  if (rename(scratch_folder, path) != 0)
    return cm_fail_errno(error, errno, "cannot rename", scratch_folder);
  return cm_folder_sync(parent, error);
}

static cm_status delete(sqlite3 *handle, void *context, cm_error *error)
{
  const char *id = context;
  int changes;
  char path[CM_ID_MAX + 16];
  (void)snprintf(path, sizeof path, "mappings/%s", id);
  if (cm_sql_run(handle, &changes, error, "DELETE FROM mappings WHERE id = ?", "t", id) != CM_OK ||
      cm_blobs_forget_in(handle, path, error) != CM_OK)
    return error->status;
  return changes == 1 ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is no mapping %.64s", id);
}

cm_status cm_mappings_delete(cm_store *store, const char *id, cm_error *error)
{
  char path[CM_PATH_MAX], held[CM_ID_MAX];
  cm_error ignored;
  (void)snprintf(held, sizeof held, "%s", id);
  if (cm_mappings_folder(store, held, path, error) != CM_OK ||
      cm_database_write(store->database, delete, held, error) != CM_OK)
    return error->status;
  (void)cm_folder_remove(path, &ignored); /* what stays behind is swept at the next start */
  return CM_OK;
}

static cm_status count(sqlite3 *handle, void *context, cm_error *error)
{
  mapping_work *work = context;
  int64_t number, bytes;
  if (cm_sql_number(handle, 0, &number, error, "SELECT count(*) FROM mappings", "") != CM_OK ||
      cm_sql_number(handle, 0, &bytes, error, "SELECT sum(bytes) FROM mappings", "") != CM_OK)
    return error->status;
  work->count = (uint64_t)number;
  work->bytes = (uint64_t)bytes;
  return CM_OK;
}

cm_status cm_mappings_count(cm_store *store, uint64_t *number, uint64_t *bytes, cm_error *error)
{
  mapping_work work = {0};
  if (cm_database_read(store->database, count, &work, error) != CM_OK)
    return error->status;
  *number = work.count;
  *bytes = work.bytes;
  return CM_OK;
}
