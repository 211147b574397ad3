#include "storage/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "storage/audit.h"

const double cm_limit_max = 1e15;

bool cm_limit_is_sound(const cm_limit_kind *kind, double most)
{
  return (most > 0 || (kind->zero && most == 0)) && most <= cm_limit_max;
}

typedef struct limit_work {
  const cm_limit_kind *kind;
  const cm_limit_row *given;
  cm_limit_row *rows;
  size_t count;
} limit_work;

/* The number before, as "%g"; "none". */
static cm_status tell_change(sqlite3 *handle, const limit_work *work, size_t number, cm_error *error)
{
  const cm_limit_kind *kind = work->kind;
  char query[200], before[32] = "none", after[32] = "none";
  sqlite3_stmt *statement;
  bool row = false;
  (void)snprintf(query, sizeof query, "SELECT most FROM %s WHERE name = ?1 AND %s = ?2%s AND ?3 = ?3", kind->table, kind->column,
                 kind->groups ? " AND is_group = ?3" : "");
  cm_status status = cm_sql_prepare(handle, &statement, error, query, "tti", work->given->name, kind->names[number],
                                    (int64_t)work->given->group);
  CM_THEN(status, cm_sql_step(statement, &row, error));
  if (status == CM_OK && row)
    (void)snprintf(before, sizeof before, "%.15g", sqlite3_column_double(statement, 0));
  if (work->given->most[number] >= 0)
    (void)snprintf(after, sizeof after, "%.15g", work->given->most[number]);
  cm_audit_effect("%s %s -> %s", kind->names[number], before, after);
  return cm_sql_end(statement, status, error);
}

/* One limit of a row. Only tables of groups tell them from users. */
static cm_status set_one(sqlite3 *handle, const limit_work *work, size_t number, cm_error *error)
{
  const cm_limit_kind *kind = work->kind;
  const cm_limit_row *row = work->given;
  const double most = row->most[number];
  char query[240];
  if (isnan(most))
    return CM_OK;
  CM_TRY(tell_change(handle, work, number, error));
  if (most < 0)
    (void)snprintf(query, sizeof query, "DELETE FROM %s WHERE name = ?1 AND %s = ?2%s AND ?3 = ?3 AND ?4 = ?4", kind->table,
                   kind->column, kind->groups ? " AND is_group = ?4" : "");
  else
    (void)snprintf(query, sizeof query, "INSERT INTO %s(name, %s, most%s) SELECT ?1, ?2, ?3%s WHERE ?4 = ?4"
                   " ON CONFLICT(%sname, %s) DO UPDATE SET most = excluded.most", kind->table, kind->column,
                   kind->groups ? ", is_group" : "", kind->groups ? ", ?4" : "", kind->groups ? "is_group, " : "", kind->column);
  return cm_sql_run(handle, NULL, error, query, "ttdi", row->name, kind->names[number], most, (int64_t)row->group);
}

static cm_status set(sqlite3 *handle, void *context, cm_error *error)
{
  const limit_work *work = context;
  const cm_limit_row *row = work->given;
  int64_t there = 1;
  if (!row->group && strcmp(row->name, "*") != 0 &&
      cm_sql_number(handle, 0, &there, error, "SELECT count(*) FROM users WHERE name = ?", "t", row->name) != CM_OK)
    return error->status;
  if (there == 0)
    return cm_fail(error, CM_NOT_FOUND, "there is no user \"%.60s\"", row->name);
  for (size_t i = 0; i < work->kind->count; i++)
    CM_TRY(set_one(handle, work, i, error));
  return CM_OK;
}

cm_status cm_limits_set(cm_database *database, const cm_limit_kind *kind, const cm_limit_row *row, cm_error *error)
{
  return cm_database_write(database, set, &(limit_work){.kind = kind, .given = row}, error);
}

/* The row of a user or group, which comes after that before it. */
static cm_limit_row *find_row(limit_work *work, const char *name, bool group)
{
  cm_limit_row *last = work->count > 0 ? &work->rows[work->count - 1] : NULL;
  if (last != NULL && last->group == group && strcmp(last->name, name) == 0)
    return last;
  last = &work->rows[work->count++];
  last->group = group;
  (void)snprintf(last->name, sizeof last->name, "%s", name);
  for (size_t i = 0; i < CM_LIMITS_MAX; i++)
    last->most[i] = -1;
  return last;
}

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  limit_work *work = context;
  const cm_limit_kind *kind = work->kind;
  sqlite3_stmt *statement;
  int64_t total;
  bool row = true;
  char query[160];
  free(work->rows);
  work->rows = NULL;
  work->count = 0;
  (void)snprintf(query, sizeof query, "SELECT count(*) FROM %s", kind->table);
  CM_TRY(cm_sql_number(handle, 0, &total, error, query, ""));
  CM_TRY(CM_HEAP(work->rows, (size_t)total + 1, "the list of limits", error));
  (void)snprintf(query, sizeof query, "SELECT %s, name, %s, most FROM %s ORDER BY 1, 2", kind->groups ? "is_group" : "0", kind->column,
                 kind->table);
  cm_status status = cm_sql_prepare(handle, &statement, error, query, "");
  while (status == CM_OK && row) {
    char name[CM_USER_MAX], what[16];
    status = cm_sql_step(statement, &row, error);
    if (status != CM_OK || !row)
      break;
    cm_sql_copy(statement, 1, name, sizeof name);
    cm_sql_copy(statement, 2, what, sizeof what);
    cm_limit_row *found = find_row(work, name, sqlite3_column_int(statement, 0) != 0);
    for (size_t i = 0; i < kind->count; i++)
      if (strcmp(kind->names[i], what) == 0)
        found->most[i] = sqlite3_column_double(statement, 3);
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_limits_list(cm_database *database, const cm_limit_kind *kind, cm_limit_row **rows, size_t *count, cm_error *error)
{
  limit_work work = {.kind = kind};
  if (cm_database_read(database, list, &work, error) != CM_OK) {
    free(work.rows);
    return error->status;
  }
  *rows = work.rows;
  *count = work.count;
  return CM_OK;
}
