/* Mappings and programs as lists, whatever has become of the jobs that made them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "storage/mappings.h"

typedef struct list_work {
  const cm_mapping_filter *filter;
  cm_mapping_entry *entries;
  size_t count;
} list_work;

/* What somebody's word on a thing of several users counts for: his name is told to those to whom it shows the thing. */
#define IS_OF(t) "(" t ".user = ?3 AND " CM_VIEWER_SEES(t, "?7", "?8", "?9") ")"
static const char *list_query(const cm_mapping_filter *f, char *query, size_t size)
{
  (void)snprintf(query, size,
                 "SELECT m.rowid, m.id, m.network, m.chip, m.bytes, m.created, j.id, j.name,"
                 " coalesce((SELECT o.pinned FROM owners o WHERE o.thing = m.id AND o.user = ?8), m.pinned)"
                 " FROM mappings m INDEXED BY %s LEFT JOIN jobs j ON j.id = m.job AND " CM_VIEWER_SEES("j", "?7", "?8", "?9")
                 " WHERE m.kind = ?1 AND m.rowid < ?2%s%s%s AND " CM_VIEWER_SEES_SHARED("m", "?7", "?8", "?9")
                 " ORDER BY m.rowid DESC LIMIT ?6", f->network != NULL ? "mappings_network" : "mappings_kind",
                 f->user != NULL ? " AND (" IS_OF("m") " OR EXISTS (SELECT 1 FROM owners o WHERE o.thing = m.id AND " IS_OF("o") "))" : "",
                 f->network != NULL ? " AND m.network = ?4" : "", f->chip != NULL ? " AND m.chip = ?5" : "");
  return query;
}

static void from_row(sqlite3_stmt *row, cm_mapping_entry *entry)
{
  cm_mapping_row *m = &entry->mapping;
  entry->sequence = sqlite3_column_int64(row, 0);
  cm_sql_copy(row, 1, m->id, sizeof m->id);
  cm_sql_copy(row, 2, m->network, sizeof m->network);
  cm_sql_copy(row, 3, m->chip, sizeof m->chip);
  m->bytes = (uint64_t)sqlite3_column_int64(row, 4);
  m->created = sqlite3_column_double(row, 5);
  cm_sql_copy(row, 6, m->job, sizeof m->job);
  cm_sql_copy(row, 7, entry->name, sizeof entry->name);
  entry->pinned = sqlite3_column_int(row, 8) != 0;
}

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  list_work *work = context;
  const cm_mapping_filter *f = work->filter;
  sqlite3_stmt *statement;
  char query[2500];
  bool row = true;
  free(work->entries);
  work->count = 0;
  if (CM_HEAP(work->entries, f->limit + 1, "the list of mappings", error) != CM_OK)
    return error->status;
  cm_status status = cm_sql_prepare(handle, &statement, error, list_query(f, query, sizeof query), "titttiitt", cm_made_as(f->made)->row,
                                    f->before != 0 ? f->before : INT64_MAX, f->user, f->network, f->chip, (int64_t)f->limit,
                                    CM_VIEWER_VALUES(f->viewer));
  while (status == CM_OK && row && work->count < f->limit) {
    status = cm_sql_step(statement, &row, error);
    if (status == CM_OK && row)
      from_row(statement, &work->entries[work->count++]);
  }
  status = cm_sql_end(statement, status, error);
  for (size_t i = 0; i < work->count && status == CM_OK; i++)
    status = cm_owners_get_in(handle, CM_OBJECT_MAPPING, work->entries[i].mapping.id, f->viewer, &work->entries[i].mapping.owner, error);
  return status;
}

cm_status cm_mappings_list(cm_store *store, const cm_mapping_filter *filter, cm_mapping_entry **entries, size_t *count, cm_error *error)
{
  list_work work = {.filter = filter};
  if (cm_database_read(store->database, list, &work, error) != CM_OK) {
    free(work.entries);
    return error->status;
  }
  *entries = work.entries;
  *count = work.count;
  return CM_OK;
}
