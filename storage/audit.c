#include "storage/audit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct noting {
  const cm_audit_entry *entries;
  size_t count;
} noting;

static cm_status note(sqlite3 *handle, void *context, cm_error *error)
{
  const noting *n = context;
  for (size_t i = 0; i < n->count; i++)
    CM_TRY(cm_audit_note_in(handle, &n->entries[i], error));
  return CM_OK;
}

cm_status cm_audit_note(cm_database *database, const cm_audit_entry *entries, size_t count, cm_error *error)
{
  return count > 0 ? cm_database_write(database, note, &(noting){entries, count}, error) : CM_OK;
}

static cm_status tell(sqlite3 *handle, void *context, cm_error *error)
{
  (void)handle;
  (void)error;
  cm_audit_effect("%s", (const char *)context);
  return CM_OK;
}

cm_status cm_audit_tell(cm_database *database, const char *text, cm_error *error)
{
  return cm_database_write(database, tell, (void *)(uintptr_t)text, error);
}

typedef struct listing {
  const cm_audit_filter *filter;
  cm_audit_entry *entries;
  size_t count;
} listing;

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  listing *l = context;
  const cm_audit_filter *f = l->filter;
  sqlite3_stmt *statement;
  size_t capacity = 0;
  bool row = true;
  cm_status status =
      cm_sql_prepare(handle, &statement, error,
                     "SELECT sequence, at, user, address, action, object, request, effect FROM audit WHERE (?1 IS NULL OR user = ?1)"
                     " AND (?2 IS NULL OR action = ?2) AND at >= ?3 AND at <= ?4 AND sequence < ?5"
                     " AND (?6 IS NULL OR object = ?6 OR substr(object, 1, length(?6) + 1) = ?6 || '/') ORDER BY sequence DESC LIMIT ?7",
                     "ttdditi", f->user, f->action, f->since, f->until > 0 ? f->until : INFINITY,
                     f->before > 0 ? f->before : INT64_MAX, f->object, (int64_t)f->limit);
  while (status == CM_OK && row) {
    status = cm_sql_step(statement, &row, error);
    if (status != CM_OK || !row)
      break;
    if ((status = CM_HEAP_GROW(l->entries, &capacity, l->count + 1, "the list of the audit trail", error)) != CM_OK)
      break;
    cm_audit_entry *e = &l->entries[l->count++];
    e->sequence = sqlite3_column_int64(statement, 0);
    e->at = sqlite3_column_double(statement, 1);
    cm_sql_copy(statement, 2, e->user, sizeof e->user);
    cm_sql_copy(statement, 3, e->address, sizeof e->address);
    cm_sql_copy(statement, 4, e->action, sizeof e->action);
    cm_sql_copy(statement, 5, e->object, sizeof e->object);
    cm_sql_copy(statement, 6, e->request, sizeof e->request);
    cm_sql_copy(statement, 7, e->effect, sizeof e->effect);
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_audit_list(cm_store *store, const cm_audit_filter *filter, cm_audit_entry **entries, size_t *count, cm_error *error)
{
  listing l = {.filter = filter};
  if (cm_database_read(store->database, list, &l, error) != CM_OK) {
    free(l.entries);
    return error->status;
  }
  *entries = l.entries;
  *count = l.count;
  return CM_OK;
}
