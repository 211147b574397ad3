/* Statements: what closures on the database use. A statement is kept by its connection when it ends, and lent to the next of
 * the same text: to compile it takes longer than to run it. */
#include <stdarg.h>

#include "storage/internal.h"

/* ---- kept statements ---- */

enum { KEPT_MAX = 64 };

typedef struct kept {
  sqlite3_stmt *statement; /* NULL: a free place */
  uint64_t key;            /* of its text */
  uint64_t used;           /* the larger, the later */
  bool lent;
} kept;

struct cm_statements {
  sqlite3 *handle;
  uint64_t clock;
  kept kept[KEPT_MAX];
};

/* Those of the connection that this thread's closure works on; NULL: of one that keeps none. */
static _Thread_local cm_statements *current;

cm_statements *cm_statements_make(sqlite3 *handle)
{
  cm_statements *made = calloc(1, sizeof *made);
  if (made != NULL)
    made->handle = handle;
  return made;
}

void cm_statements_free(cm_statements *statements)
{
  for (size_t i = 0; statements != NULL && i < KEPT_MAX; i++)
    (void)sqlite3_finalize(statements->kept[i].statement);
  free(statements);
}

cm_statements *cm_statements_use(cm_statements *statements)
{
  cm_statements *before = current;
  current = statements;
  return before;
}

/* FNV-1a. */
static uint64_t key_of(const char *text)
{
  uint64_t key = 14695981039346656037u;
  for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++)
    key = (key ^ *p) * 1099511628211u;
  return key;
}

/* Lends the statement of a text; NULL: it must be prepared, and *place, unless NULL, is where it can be kept. */
static sqlite3_stmt *borrow(cm_statements *all, const char *sql, uint64_t key, kept **place)
{
  *place = NULL;
  for (kept *k = all->kept; k < all->kept + KEPT_MAX; k++) {
    if (!k->lent && k->statement != NULL && k->key == key && strcmp(sqlite3_sql(k->statement), sql) == 0) {
      k->lent = true;
      k->used = ++all->clock;
      return k->statement;
    }
    if (!k->lent && (*place == NULL || k->used < (*place)->used))
      *place = k;
  }
  return NULL;
}

/* Takes a statement back; false: it is none of the kept ones. *code becomes what ending it says. */
static bool give_back(sqlite3_stmt *statement, int *code)
{
  kept *k = current != NULL ? current->kept : NULL;
  while (k != NULL && k < current->kept + KEPT_MAX && (!k->lent || k->statement != statement))
    k++;
  if (k == NULL || k == current->kept + KEPT_MAX)
    return false;
  *code = sqlite3_reset(statement);
  k->lent = false;
  if (*code == SQLITE_OK && sqlite3_clear_bindings(statement) == SQLITE_OK)
    return true;
  (void)sqlite3_finalize(statement); /* one that has failed is not tried again */
  *k = (kept){0};
  return true;
}

static int compile(sqlite3 *handle, const char *sql, sqlite3_stmt **statement)
{
  kept *place = NULL;
  cm_statements *all = current != NULL && current->handle == handle ? current : NULL;
  const uint64_t key = all != NULL ? key_of(sql) : 0;
  if (all != NULL && (*statement = borrow(all, sql, key, &place)) != NULL)
    return SQLITE_OK;
  const int code = sqlite3_prepare_v3(handle, sql, -1, place != NULL ? SQLITE_PREPARE_PERSISTENT : 0, statement, NULL);
  if (code == SQLITE_OK && place != NULL && *statement != NULL) {
    (void)sqlite3_finalize(place->statement);
    *place = (kept){.statement = *statement, .key = key, .used = ++all->clock, .lent = true};
  }
  return code;
}

/* ---- steps of closures ---- */

cm_status cm_sql_fail(sqlite3 *handle, int code, const char *what, cm_error *error)
{
  int kind = code & 0xff;
  cm_status status = kind == SQLITE_FULL         ? CM_DISK_FULL
                     : kind == SQLITE_NOMEM      ? CM_NO_MEMORY
                     : kind == SQLITE_CONSTRAINT ? CM_CONFLICT
                     : kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB ? CM_DAMAGED
                     : kind == SQLITE_ERROR || kind == SQLITE_MISUSE   ? CM_INTERNAL
                                                                       : CM_IO;
  return cm_fail(error, status, "the database failed (%s): %s", what,
                 handle != NULL ? sqlite3_errmsg(handle) : sqlite3_errstr(code));
}

cm_status cm_sql_execute(sqlite3 *handle, const char *sql, cm_error *error)
{
  int code = sqlite3_exec(handle, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? CM_OK : cm_sql_fail(handle, code, sql[0] == 'C' ? "schema" : sql, error);
}

static cm_status bind(sqlite3 *handle, sqlite3_stmt *statement, const char *types, va_list *arguments, cm_error *error)
{
  for (int i = 0; types[i] != '\0' && types[i] != '>'; i++) {
    const int code = types[i] == 't'   ? sqlite3_bind_text(statement, i + 1, va_arg(*arguments, const char *), -1, SQLITE_TRANSIENT)
                     : types[i] == 'i' ? sqlite3_bind_int64(statement, i + 1, va_arg(*arguments, int64_t))
                                       : sqlite3_bind_double(statement, i + 1, va_arg(*arguments, double));
    if (code != SQLITE_OK)
      return cm_sql_fail(handle, code, "bind", error);
  }
  return CM_OK;
}

static cm_status prepare(sqlite3 *handle, sqlite3_stmt **statement, cm_error *error, const char *sql, const char *types, va_list *arguments)
{
  *statement = NULL;
  int code = compile(handle, sql, statement);
  return code == SQLITE_OK ? bind(handle, *statement, types, arguments, error) : cm_sql_fail(handle, code, sql, error);
}

cm_status cm_sql_prepare(sqlite3 *handle, sqlite3_stmt **statement, cm_error *error, const char *sql, const char *types, ...)
{
  va_list arguments;
  va_start(arguments, types);
  cm_status status = prepare(handle, statement, error, sql, types, &arguments);
  va_end(arguments);
  return status;
}

bool cm_sql_next(sqlite3_stmt *statement, cm_status *status, cm_error *error)
{
  const int code = *status == CM_OK ? sqlite3_step(statement) : SQLITE_DONE;
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    *status = cm_sql_fail(sqlite3_db_handle(statement), code, sqlite3_sql(statement), error);
  return code == SQLITE_ROW;
}

cm_status cm_sql_end(sqlite3_stmt *statement, cm_status status, cm_error *error)
{
  int code;
  if (!give_back(statement, &code))
    code = sqlite3_finalize(statement);
  return status == CM_OK && (code & 0xff) == SQLITE_NOMEM ? cm_whole(false, "what the database says", error) : status;
}

/* CM_NO_MEMORY when memory ran out while a column of the row at hand was read, else CM_OK. */
static cm_status whole(sqlite3_stmt *row, cm_error *error)
{
  return sqlite3_errcode(sqlite3_db_handle(row)) == SQLITE_NOMEM ? cm_whole(false, "what the database says", error) : CM_OK;
}

cm_status cm_sql_verdict(sqlite3_stmt *row, const char **damage, cm_error *error)
{
  static const char cause[] = "error code="; /* of a page that could not be had */
  const char *text = (const char *)sqlite3_column_text(row, 0);
  if (text == NULL)
    return cm_whole(false, "what the database says", error);
  const char *code = strstr(text, cause);
  int number = code != NULL ? (int)strtol(code + sizeof cause - 1, NULL, 10) : SQLITE_CORRUPT;
  int kind = number & 0xff;
  if (kind != SQLITE_CORRUPT && kind != SQLITE_NOTADB)
    return cm_sql_fail(NULL, number, "a check of its pages", error);
  *damage = strcmp(text, "ok") != 0 ? text : NULL;
  return CM_OK;
}

cm_status cm_sql_run_of(sqlite3 *handle, int *changes, cm_error *error, const char *sql, const char *types, va_list *arguments)
{
  sqlite3_stmt *statement;
  cm_status status = prepare(handle, &statement, error, sql, types, arguments);
  while (cm_sql_next(statement, &status, error))
    ;
  if (status == CM_OK && changes != NULL)
    *changes = sqlite3_changes(handle);
  return cm_sql_end(statement, status, error);
}

cm_status cm_sql_run(sqlite3 *handle, int *changes, cm_error *error, const char *sql, const char *types, ...)
{
  va_list arguments;
  va_start(arguments, types);
  cm_status status = cm_sql_run_of(handle, changes, error, sql, types, &arguments);
  va_end(arguments);
  return status;
}

cm_status cm_sql_number(sqlite3 *handle, int64_t fallback, int64_t *number, cm_error *error, const char *sql, const char *types, ...)
{
  sqlite3_stmt *statement;
  va_list arguments;
  va_start(arguments, types);
  cm_status status = prepare(handle, &statement, error, sql, types, &arguments);
  va_end(arguments);
  const bool known = cm_sql_next(statement, &status, error) && sqlite3_column_type(statement, 0) != SQLITE_NULL;
  if (status == CM_OK)
    *number = known ? sqlite3_column_int64(statement, 0) : fallback;
  return cm_sql_end(statement, status, error);
}

cm_status cm_sql_text(sqlite3_stmt *statement, int column, char **text, cm_error *error)
{
  const char *held = (const char *)sqlite3_column_text(statement, column);
  char *copy = held != NULL || whole(statement, error) == CM_OK ? strdup(held != NULL ? held : "") : NULL;
  if (copy == NULL)
    return cm_whole(false, "what the database says", error);
  *text = copy;
  return CM_OK;
}

void cm_sql_copy(sqlite3_stmt *statement, int column, char *text, size_t size)
{
  const char *held = (const char *)sqlite3_column_text(statement, column);
  (void)snprintf(text, size, "%s", held != NULL ? held : "");
}

static cm_status read_columns(sqlite3_stmt *row, const char *types, va_list *arguments, cm_error *error)
{
  for (int i = 0; types[i] != '\0'; i++)
    switch (types[i]) {
    case 't': {
      char *text = va_arg(*arguments, char *);
      cm_sql_copy(row, i, text, va_arg(*arguments, size_t));
      break;
    }
    case 's': CM_TRY(cm_sql_text(row, i, va_arg(*arguments, char **), error)); break;
    case 'i': *va_arg(*arguments, int64_t *) = sqlite3_column_int64(row, i); break;
    case 'u': *va_arg(*arguments, uint64_t *) = (uint64_t)sqlite3_column_int64(row, i); break;
    case 'n': *va_arg(*arguments, int *) = sqlite3_column_int(row, i); break;
    case 'b': *va_arg(*arguments, bool *) = sqlite3_column_int(row, i) != 0; break;
    case 'd': *va_arg(*arguments, double *) = sqlite3_column_double(row, i); break;
    default: break;
    }
  return CM_OK;
}

cm_status cm_sql_columns(sqlite3_stmt *row, cm_error *error, const char *types, ...)
{
  va_list arguments;
  va_start(arguments, types);
  cm_status status = read_columns(row, types, &arguments, error);
  va_end(arguments);
  return status;
}

cm_status cm_sql_find_of(sqlite3 *handle, bool *found, cm_error *error, const char *sql, const char *types, va_list *arguments)
{
  sqlite3_stmt *statement;
  cm_status status = prepare(handle, &statement, error, sql, types, arguments);
  const bool row = cm_sql_next(statement, &status, error);
  if (row)
    status = read_columns(statement, strchr(types, '>') + 1, arguments, error);
  if (status == CM_OK && found != NULL)
    *found = row;
  return cm_sql_end(statement, status, error);
}

cm_status cm_sql_find(sqlite3 *handle, bool *found, cm_error *error, const char *sql, const char *types, ...)
{
  va_list arguments;
  va_start(arguments, types);
  cm_status status = cm_sql_find_of(handle, found, error, sql, types, &arguments);
  va_end(arguments);
  return status;
}

cm_status cm_sql_list_of(sqlite3 *handle, const cm_row_kind *kind, void *rows, size_t *count, cm_error *error, va_list *arguments)
{
  sqlite3_stmt *statement;
  size_t used = 0, capacity = 0;
  void *made = NULL;
  cm_status status = prepare(handle, &statement, error, kind->query, kind->types, arguments);
  while (cm_sql_next(statement, &status, error) && (status = cm_heap_grow(&made, &capacity, used + 1, kind->size, kind->what, error)) == CM_OK) {
    status = kind->read(statement, (char *)made + used * kind->size, error);
    used += status == CM_OK;
  }
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK) {
    memcpy(rows, &made, sizeof made);
    *count = used;
    return CM_OK;
  }
  for (size_t i = 0; kind->clear != NULL && i < used; i++)
    kind->clear((char *)made + i * kind->size);
  free(made);
  return status;
}

cm_status cm_sql_list(sqlite3 *handle, const cm_row_kind *kind, void *rows, size_t *count, cm_error *error, ...)
{
  va_list arguments;
  va_start(arguments, error);
  cm_status status = cm_sql_list_of(handle, kind, rows, count, error, &arguments);
  va_end(arguments);
  return status;
}

cm_status cm_sql_id(sqlite3_stmt *row, void *element, cm_error *error)
{
  return cm_sql_columns(row, error, "t", element, (size_t)CM_ID_MAX);
}
