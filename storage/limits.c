#include "storage/limits.h"

#include <math.h>

#include "storage/audit.h"

const double cm_limit_max = 1e15;

bool cm_limit_is_sound(const cm_limit_kind *kind, double most)
{
  return (most > 0 || (kind->zero && most == 0)) && most <= cm_limit_max;
}

typedef struct limit_work {
  const cm_limit_kind *kind;
  const cm_limit_row *given;
} limit_work;

/* The number before, as "%g"; "none". */
static cm_status tell_change(sqlite3 *handle, const limit_work *work, size_t number, cm_error *error)
{
  const cm_limit_kind *kind = work->kind;
  char query[200], before[32] = "none", after[32] = "none";
  bool found = false;
  double most;
  (void)snprintf(query, sizeof query, "SELECT most FROM %s WHERE name = ?1 AND %s = ?2%s AND ?3 = ?3", kind->table, kind->column,
                 kind->groups ? " AND is_group = ?3" : "");
  CM_TRY(cm_sql_find(handle, &found, error, query, "tti>d", work->given->name, kind->names[number], (int64_t)work->given->group, &most));
  if (found)
    (void)snprintf(before, sizeof before, "%.15g", most);
  if (work->given->most[number] >= 0)
    (void)snprintf(after, sizeof after, "%.15g", work->given->most[number]);
  cm_audit_effect("%s %s -> %s", kind->names[number], before, after);
  return CM_OK;
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

typedef struct one_limit {
  bool group;
  char name[CM_USER_MAX], what[16];
  double most;
} one_limit;

static cm_status from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  one_limit *l = element;
  return cm_sql_columns(row, error, "bttd", &l->group, CM_INTO(l->name), CM_INTO(l->what), &l->most);
}

cm_status cm_limits_list(cm_database *database, const cm_limit_kind *kind, cm_limit_row **rows, size_t *count, cm_error *error)
{
  char query[160];
  one_limit *found;
  size_t found_count, used = 0;
  (void)snprintf(query, sizeof query, "SELECT %s, name, %s, most FROM %s ORDER BY 1, 2", kind->groups ? "is_group" : "0", kind->column, kind->table);
  const cm_row_kind limits = {"", query, "the list of limits", sizeof(one_limit), from_row, NULL};
  CM_TRY(cm_database_list(database, &limits, &found, &found_count, error));
  cm_status status = CM_HEAP(*rows, found_count + 1, limits.what, error);
  for (size_t i = 0; status == CM_OK && i < found_count; i++) {
    const one_limit *l = &found[i];
    cm_limit_row *row = used > 0 ? &(*rows)[used - 1] : NULL;
    if (row == NULL || row->group != l->group || strcmp(row->name, l->name) != 0) { /* those of a user or group come one after another */
      row = &(*rows)[used++];
      row->group = l->group;
      memcpy(row->name, l->name, sizeof l->name);
      for (size_t k = 0; k < CM_LIMITS_MAX; k++)
        row->most[k] = -1;
    }
    for (size_t k = 0; k < kind->count; k++)
      if (strcmp(kind->names[k], l->what) == 0)
        row->most[k] = l->most;
  }
  *count = used;
  free(found);
  return status;
}
