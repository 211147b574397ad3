#include "storage/audit.h"

#include <math.h>

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

static cm_status tell(CM_UNUSED sqlite3 *handle, void *context, CM_UNUSED cm_error *error)
{
  cm_audit_effect("%s", (const char *)context);
  return CM_OK;
}

cm_status cm_audit_tell(cm_database *database, const char *text, cm_error *error)
{
  return cm_database_write(database, tell, (void *)(uintptr_t)text, error);
}

static cm_status from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  cm_audit_entry *e = element;
  return cm_sql_columns(row, error, "idtttttt", &e->sequence, &e->at, CM_INTO(e->user), CM_INTO(e->address), CM_INTO(e->action), CM_INTO(e->object),
                        CM_INTO(e->request), CM_INTO(e->effect));
}

cm_status cm_audit_list(cm_store *store, const cm_audit_filter *f, cm_audit_entry **entries, size_t *count, cm_error *error)
{
  static const cm_row_kind kind = {
      "ttdditi", "SELECT sequence, at, user, address, action, object, request, effect FROM audit WHERE (?1 IS NULL OR user = ?1)"
      " AND (?2 IS NULL OR action = ?2) AND at >= ?3 AND at <= ?4 AND sequence < ?5"
      " AND (?6 IS NULL OR object = ?6 OR substr(object, 1, length(?6) + 1) = ?6 || '/') ORDER BY sequence DESC LIMIT ?7",
      "the list of the audit trail", sizeof(cm_audit_entry), from_row, NULL};
  return cm_database_list(store->database, &kind, entries, count, error, f->user, f->action, f->since, f->until > 0 ? f->until : INFINITY,
                          f->before > 0 ? f->before : INT64_MAX, f->object, (int64_t)f->limit);
}
