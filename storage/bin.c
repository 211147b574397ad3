/* A row leaves its table as JSON, by the names of its columns, and comes back into those that there are then. Files are touched by
 * purge alone, after the row has gone. */
#include "storage/bin.h"

#include <jansson.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "storage/audit.h"
#include "storage/blobs.h"
#include "storage/holders.h"
#include "storage/jobs.h"
#include "storage/networks.h"
#include "storage/pack.h"

enum { AT_ONCE = 200 };

typedef struct bin_work {
  cm_object object;
  const char *table, *id;
  const cm_viewer *viewer;
  bool last;
  cm_binned entry;
} bin_work;

static const char *table_of(const char *kind)
{
  return strcmp(kind, "network") == 0 ? "networks" : strcmp(kind, "job") == 0 ? "jobs" : "mappings";
}

static const char *table_of_object(cm_object object)
{
  return object == CM_OBJECT_NETWORK ? "networks" : object == CM_OBJECT_JOB ? "jobs" : "mappings";
}

/* A row as an object; NULL: no memory. */
static json_t *row_json(sqlite3_stmt *row)
{
  json_t *object = json_object();
  for (int i = 0; i < sqlite3_column_count(row); i++) {
    const int type = sqlite3_column_type(row, i);
    json_t *value = type == SQLITE_INTEGER ? json_integer(sqlite3_column_int64(row, i))
                    : type == SQLITE_FLOAT ? json_real(sqlite3_column_double(row, i))
                    : type == SQLITE_TEXT  ? json_string((const char *)sqlite3_column_text(row, i))
                                           : json_null();
    if (value == NULL || json_object_set_new(object, sqlite3_column_name(row, i), value) != 0) {
      json_decref(object);
      return NULL;
    }
  }
  return object;
}

static const char *word(const json_t *object, const char *name)
{
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

static cm_status keep_row(sqlite3 *handle, const bin_work *w, const json_t *object, cm_error *error)
{
  const char *kind = strcmp(w->table, "networks") == 0 ? "network" : strcmp(w->table, "jobs") == 0 ? "job" : cm_made_in(word(object, "kind"))->word;
  char *text = cm_json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
  CM_TRY(cm_whole(text != NULL, "deleting", error));
  cm_status status = cm_sql_run(handle, NULL, error,
                                "INSERT INTO bin(id, kind, user, team, visibility, name, bytes, deleted, content)"
                                " VALUES(?, ?, ?, '', 'private', ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET kind = excluded.kind,"
                                " user = excluded.user, name = excluded.name, bytes = excluded.bytes, deleted = excluded.deleted,"
                                " content = excluded.content", "ttttidt", w->id, kind, word(object, "user"),
                                word(object, "name"), (int64_t)json_integer_value(json_object_get(object, "bytes")), cm_store_time(), text);
  free(text);
  cm_audit_effect("%s %s to the bin", kind, w->id);
  return status;
}

static cm_status move(sqlite3 *handle, const bin_work *w, cm_error *error)
{
  sqlite3_stmt *statement;
  char query[80];
  json_t *object = NULL;
  (void)snprintf(query, sizeof query, "SELECT * FROM %s WHERE id = ?", w->table);
  cm_status status = cm_sql_prepare(handle, &statement, error, query, "t", w->id);
  const bool found = cm_sql_next(statement, &status, error);
  if (found)
    status = cm_whole((object = row_json(statement)) != NULL, "what is deleted", error);
  status = cm_sql_end(statement, status, error);
  CM_THEN_IF(status, !found, cm_fail(error, CM_NOT_FOUND, "there is nothing of the id %.64s", w->id));
  CM_THEN(status, keep_row(handle, w, object, error));
  json_decref(object);
  (void)snprintf(query, sizeof query, "DELETE FROM %s WHERE id = ?", w->table);
  return status == CM_OK ? cm_sql_run(handle, NULL, error, query, "t", w->id) : status;
}

static cm_status put(sqlite3 *handle, void *context, cm_error *error)
{
  bin_work *w = context;
  w->last = true;
  cm_status status = w->object == CM_OBJECT_JOB ? cm_jobs_check_ended_in(handle, w->id, error)
                                                : cm_holders_leave_in(handle, w->object, w->id, w->viewer, &w->last, error);
  CM_THEN_IF(status, w->last && w->object != CM_OBJECT_JOB, cm_holders_check_in(handle, w->object, w->id, w->viewer, error));
  if (status == CM_OK && !w->last)
    cm_audit_effect("%s %s, no longer of %s", w->object == CM_OBJECT_NETWORK ? "network" : w->object == CM_OBJECT_PROGRAM ? "program" : "mapping",
                    w->id, w->viewer->user);
  return status == CM_OK && w->last ? move(handle, w, error) : status;
}

/* The files of what has gone; what stays behind is swept at the next start. With the blob lock held. */
static void remove_files(cm_store *store, const cm_binned *gone)
{
  char path[CM_PATH_MAX];
  cm_error ignored;
  if (strcmp(gone->kind, "network") == 0) {
    if (cm_networks_path(store, gone->id, path, &ignored) == CM_OK)
      (void)unlink(path);
  } else if (strcmp(gone->kind, "job") != 0 && cm_mappings_folder(store, gone->id, path, &ignored) == CM_OK)
    (void)cm_folder_remove(path, &ignored);
}

/* Changes what has an id, whose text may be of the caller's row, with the blob lock held; the files of what is `gone` by it go too. */
static cm_status change(cm_store *store, cm_database_work work, bin_work *w, bool gone, cm_error *error)
{
  char held[CM_SHA_MAX];
  (void)snprintf(held, sizeof held, "%s", w->id);
  w->id = held;
  pthread_mutex_lock(&store->blob_lock);
  cm_status status = cm_database_write(store->database, work, w, error);
  if (status == CM_OK && gone && w->last) /* else others may want it back */
    remove_files(store, &w->entry);
  pthread_mutex_unlock(&store->blob_lock);
  return status;
}

cm_status cm_bin_put(cm_store *store, cm_object object, const char *id, const cm_viewer *viewer, bool *last, cm_error *error)
{
  bin_work work = {.object = object, .table = table_of_object(object), .id = id, .viewer = viewer};
  CM_TRY(change(store, put, &work, false, error));
  *last = work.last;
  return CM_OK;
}

/* ---- back ---- */

static cm_status from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  cm_binned *e = element;
  return cm_sql_columns(row, error, "ttttud", CM_INTO(e->id), CM_INTO(e->kind), CM_INTO(e->user), CM_INTO(e->name), &e->bytes, &e->deleted);
}

/* Also its row, as JSON, which the caller frees. */
static cm_status find(sqlite3 *handle, bin_work *w, char **content, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT id, kind, user, name, bytes, deleted, content FROM bin WHERE id = ?", "t", w->id);
  const bool found = cm_sql_next(statement, &status, error);
  if (found && (status = from_row(statement, &w->entry, error)) == CM_OK)
    status = cm_sql_text(statement, 6, content, error);
  status = cm_sql_end(statement, status, error);
  return status == CM_OK && !found ? cm_fail(error, CM_NOT_FOUND, "the bin has nothing of the id %.64s", w->id) : status;
}

static int bind_value(sqlite3_stmt *statement, int number, const json_t *value)
{
  return json_is_integer(value)  ? sqlite3_bind_int64(statement, number, json_integer_value(value))
         : json_is_real(value)   ? sqlite3_bind_double(statement, number, json_real_value(value))
         : json_is_string(value) ? sqlite3_bind_text(statement, number, json_string_value(value), -1, SQLITE_TRANSIENT)
                                 : sqlite3_bind_null(statement, number);
}

/* Columns that a later schema has dropped are left out. */
static bool has_column(sqlite3 *handle, const char *table, const char *column)
{
  return sqlite3_table_column_metadata(handle, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Of all members that the table has columns for. */
static cm_status insert_row(sqlite3 *handle, const char *table, json_t *object, cm_error *error)
{
  cm_text text;
  sqlite3_stmt *statement = NULL;
  const char *name, *before = "";
  json_t *value;
  void *next;
  int at = 0;
  json_object_foreach_safe(object, next, name, value)
    if (!has_column(handle, table, name))
      (void)json_object_del(object, name);
  CM_TRY(cm_whole(cm_text_open(&text), "what is restored", error));
  fprintf(text.stream, "INSERT INTO %s(", table);
  json_object_foreach(object, name, value)
  {
    fprintf(text.stream, "%s\"%s\"", before, name);
    before = ",";
  }
  before = ") VALUES(?";
  json_object_foreach(object, name, value)
  {
    fputs(before, text.stream);
    before = ",?";
  }
  fputs(")", text.stream);
  char *query = cm_text_close(&text, NULL);
  cm_status status = cm_whole(query != NULL, "what is restored", error);
  CM_THEN(status, cm_sql_prepare(handle, &statement, error, query, ""));
  json_object_foreach(object, name, value)
    CM_THEN(status, cm_whole(bind_value(statement, ++at, value) == SQLITE_OK, "what is restored", error));
  (void)cm_sql_next(statement, &status, error);
  free(query);
  return cm_sql_end(statement, status, error);
}

static cm_status restore(sqlite3 *handle, void *context, cm_error *error)
{
  bin_work *w = context;
  char *content = NULL;
  CM_TRY(find(handle, w, &content, error));
  const uint64_t refusals = cm_json_refusals();
  json_t *object = cm_json_loadb(content, strlen(content), 0, NULL);
  free(content);
  if (!json_is_object(object)) {
    json_decref(object);
    return cm_json_whole(refusals, "what the bin keeps", error) != CM_OK
               ? error->status
               : cm_fail(error, CM_DAMAGED, "what the bin keeps of %.64s cannot be read", w->id);
  }
  (void)json_object_set_new(object, "user", json_string(w->entry.user)); /* its owner may have gone meanwhile */
  if (w->entry.user[0] == '\0' && strcmp(word(object, "visibility"), "lab") != 0)
    (void)json_object_del(object, "fingerprint"); /* what was for his eyes is no later namesake's */
  (void)json_object_del(object, "idempotency_key"); /* another job may have been made by it meanwhile */
  cm_status status = cm_json_whole(refusals, "what the bin keeps", error);
  CM_THEN(status, insert_row(handle, table_of(w->entry.kind), object, error));
  json_decref(object);
  if (status == CM_CONFLICT)
    return cm_fail(error, CM_CONFLICT, "%s %.64s is there again", w->entry.kind, w->id);
  if (status == CM_OK && w->entry.user[0] == '\0' && strcmp(w->entry.kind, "job") != 0)
    status = cm_holders_hand_over_in(handle, strcmp(w->entry.kind, "network") == 0 ? CM_OBJECT_NETWORK : CM_OBJECT_MAPPING, w->id, "", error);
  cm_audit_effect("%s %s back from the bin, of %s", w->entry.kind, w->id, w->entry.user[0] != '\0' ? w->entry.user : "nobody");
  return status == CM_OK ? cm_sql_run(handle, NULL, error, "DELETE FROM bin WHERE id = ?", "t", w->id) : status;
}

cm_status cm_bin_restore(cm_store *store, const char *id, cm_binned *entry, cm_error *error)
{
  bin_work work = {.id = id};
  CM_TRY(change(store, restore, &work, false, error));
  *entry = work.entry;
  return CM_OK;
}

/* ---- away ---- */

static cm_status purge(sqlite3 *handle, void *context, cm_error *error)
{
  bin_work *w = context;
  char path[CM_SHA_MAX + 32], *content = NULL;
  cm_status status = find(handle, w, &content, error);
  free(content);
  CM_TRY(status);
  CM_TRY(cm_holders_leave_in(handle, CM_OBJECT_BINNED, w->id, w->viewer, &w->last, error));
  if (!w->last) {
    cm_audit_effect("%s %s in the bin, no longer of %s", w->entry.kind, w->id, w->viewer->user);
    return CM_OK;
  }
  cm_audit_effect("%s %s gone for good, %llu bytes", w->entry.kind, w->id, (unsigned long long)w->entry.bytes);
  const bool network = strcmp(w->entry.kind, "network") == 0, job = strcmp(w->entry.kind, "job") == 0;
  (void)snprintf(path, sizeof path, network ? "networks/%s.zip" : "mappings/%s", w->id);
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM bin WHERE id = ?", "t", w->id));
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM owners WHERE thing = ?", "t", w->id));
  CM_TRY_IF(!network && !job, cm_sql_run(handle, NULL, error, "DELETE FROM packs WHERE mapping = ?", "t", w->id));
  return job ? CM_OK : cm_blobs_forget_in(handle, path, error);
}

cm_status cm_bin_purge(cm_store *store, const char *id, const cm_viewer *viewer, cm_error *error)
{
  return change(store, purge, &(bin_work){.id = id, .viewer = viewer}, true, error);
}

/* ---- looking ---- */

static const cm_row_kind kept = {"tdi", "SELECT id, kind, user, name, bytes, deleted FROM bin WHERE (?1 IS NULL OR user = ?1 OR"
                                 " id IN (SELECT thing FROM owners WHERE user = ?1)) AND (?2 = 0 OR deleted < ?2) ORDER BY deleted LIMIT ?3",
                                 "the list of the bin", sizeof(cm_binned), from_row, NULL};

cm_status cm_bin_list(cm_store *store, const cm_bin_filter *filter, cm_binned **entries, size_t *count, cm_error *error)
{
  return cm_database_list(store->database, &kept, entries, count, error, filter->user, filter->before, (int64_t)filter->limit);
}

/* ---- past the bin ---- */

static cm_status put_and_purge(sqlite3 *handle, void *context, cm_error *error)
{
  bin_work *w = context, gone = {.id = w->id};
  cm_status status = put(handle, w, error);
  CM_THEN_IF(status, w->last, purge(handle, &gone, error));
  w->entry = gone.entry;
  return status;
}

cm_status cm_bin_pass(cm_store *store, cm_object object, const char *id, const cm_viewer *viewer, cm_error *error)
{
  return change(store, put_and_purge, &(bin_work){.object = object, .table = table_of_object(object), .id = id, .viewer = viewer}, true, error);
}

/* ---- all of one user's ---- */

typedef struct emptying {
  const cm_viewer *viewer;
  cm_binned *gone; /* for good */
  size_t count, capacity;
} emptying;

static cm_status purge_one(sqlite3 *handle, emptying *e, const char *id, cm_error *error)
{
  bin_work one = {.id = id, .viewer = e->viewer};
  cm_status status = purge(handle, &one, error);
  if (status != CM_OK || !one.last)
    return status;
  CM_TRY(CM_HEAP_GROW(e->gone, &e->capacity, e->count + 1, "the list of what left the bin", error));
  e->gone[e->count++] = one.entry;
  return CM_OK;
}

static cm_status empty(sqlite3 *handle, void *context, cm_error *error)
{
  emptying *e = context;
  size_t count = 1;
  e->count = 0; /* a write may be run again */
  while (count > 0) {
    cm_binned *entries;
    CM_TRY(cm_sql_list(handle, &kept, &entries, &count, error, e->viewer->user, 0.0, (int64_t)AT_ONCE));
    cm_status status = CM_OK;
    for (size_t i = 0; i < count && status == CM_OK; i++)
      status = purge_one(handle, e, entries[i].id, error);
    free(entries);
    CM_TRY(status);
  }
  return CM_OK;
}

cm_status cm_bin_empty(cm_store *store, const cm_viewer *viewer, cm_error *error)
{
  emptying work = {.viewer = viewer};
  pthread_mutex_lock(&store->blob_lock);
  cm_status status = cm_database_write(store->database, empty, &work, error);
  for (size_t i = 0; i < work.count && status == CM_OK; i++)
    remove_files(store, &work.gone[i]);
  pthread_mutex_unlock(&store->blob_lock);
  free(work.gone);
  return status;
}
