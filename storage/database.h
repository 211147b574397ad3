/* One SQLite database: one writer thread with group commit, and connections for readers.
 *
 * Callers hand in closures. A write closure runs on the writer thread inside a transaction that it may share
 * with other callers' closures; the call returns when that transaction is on disk (WAL, synchronous=FULL), so
 * what was answered is never lost. A closure that fails is rolled back alone. */
#pragma once

#include <sqlite3.h>

#include "base/status.h"

typedef struct cm_database cm_database;

/* Work on the database. May be called again after a failure of another closure of the same group, so it must
 * set its outputs anew each time and have no other side effect. */
typedef cm_status (*cm_database_work)(sqlite3 *handle, void *context, cm_error *error);

/* Opens the database file (making it unless it `must_exist`) and brings its schema up to date. Errors: CM_IO,
 * CM_DISK_FULL, CM_CONFLICT (made by a newer version, or not ours, or empty and must exist: it is left as it was). */
cm_status cm_database_open(const char *path, bool must_exist, cm_database **database, cm_error *error);

/* The same for a database that a server may be working on: it must be there, and its schema is left as it is. CM_CONFLICT
 * when it is of another release. */
cm_status cm_database_join(const char *path, cm_database **database, cm_error *error);

/* Waits for the writer to end and closes all connections; nobody may use it any more. NULL is allowed. */
void cm_database_close(cm_database *database);

/* Runs `work` in the writer thread and waits until its transaction is durable. */
cm_status cm_database_write(cm_database *database, cm_database_work work, void *context, cm_error *error);

/* Runs one statement so: cm_sql_run. */
cm_status cm_database_run(cm_database *database, int *changes, cm_error *error, const char *sql, const char *types, ...);

/* A reading connection, the calling thread's between these two: in one read transaction, a consistent view; without one where it `looks`, by
 * one statement, which is a consistent view by itself. Whatever cm_reading_begin returned, the reading is ended, which hands `status` on. */
typedef struct cm_reading {
  sqlite3 *handle;
  cm_database *database;
  struct cm_statements *statements, *before;
  bool looks;
} cm_reading;
cm_status cm_reading_begin(cm_database *database, bool looks, cm_reading *reading, cm_error *error);
cm_status cm_reading_end(cm_reading *reading, cm_status status);

/* One row, and all rows, looked for so: cm_sql_find, cm_sql_list. */
typedef struct cm_row_kind cm_row_kind;
cm_status cm_database_find(cm_database *database, bool *found, cm_error *error, const char *sql, const char *types, ...);
cm_status cm_database_list(cm_database *database, const cm_row_kind *kind, void *rows, size_t *count, cm_error *error, ...);

/* For those who keep copies of rows in memory: a number that grows when rows of a kind change, whichever process of ours changes them,
 * before the writer is told. A copy that was read after the number was is as good as the row while the number stays. */
typedef enum cm_watched {
  CM_WATCHED_PEOPLE, /* users and tokens */
  CM_WATCHED_ENDED,  /* jobs that have ended */
  CM_WATCHED_QUEUE,  /* what order and places in the queue follow from */
  CM_WATCHED
} cm_watched;
uint64_t cm_database_version(const cm_database *database, cm_watched what);

/* Number of transactions and of write closures so far: their ratio shows the group commit at work. */
void cm_database_counts(cm_database *database, uint64_t *transactions, uint64_t *writes);

/* Seconds for which writes have waited without the writer ending any; 0: none waits. */
double cm_database_waiting(cm_database *database);

/* The largest number of pages that the file may grow to (tests: a full disk); 0 lifts it. */
cm_status cm_database_limit_pages(cm_database *database, uint32_t pages, cm_error *error);

/* ---- inside closures ---- */

/* Prepares `sql` and binds the arguments by `types`: t const char * (NULL binds NULL), i int64_t, d double.
 * The caller ends *statement by cm_sql_end (also after a failure, when it is NULL). */
cm_status cm_sql_prepare(sqlite3 *handle, sqlite3_stmt **statement, cm_error *error, const char *sql, const char *types, ...);

/* Finalizes `statement` (NULL: none); `status` is how its rows were read. When that is CM_OK, but a text was read as NULL
 * or "" because memory ran out, CM_NO_MEMORY. Every reading of texts ends here, before what was read is used. */
cm_status cm_sql_end(sqlite3_stmt *statement, cm_status status, cm_error *error);

/* Steps: whether there is another row, and no failure, neither before nor now. */
bool cm_sql_next(sqlite3_stmt *statement, cm_status *status, cm_error *error);

/* Reads a row's columns by `types`: t char *, size_t (cut where it is longer), s char ** (an owned copy), i int64_t *, u uint64_t *, n int *,
 * b bool *, d double *, - nothing. A text is "" for NULL, and when memory ran out, which cm_sql_end tells. Fails by s alone. */
cm_status cm_sql_columns(sqlite3_stmt *row, cm_error *error, const char *types, ...);
#define CM_INTO(array) (array), sizeof(array)

/* The first row: binds by what stands in `types` before '>', and reads columns by what stands behind it, which stay as they are where there
 * is none. *found (NULL: not wanted): there is one. */
cm_status cm_sql_find(sqlite3 *handle, bool *found, cm_error *error, const char *sql, const char *types, ...);

/* Prepares, binds, runs to the end. *changes (NULL: not wanted) is the number of rows changed. */
cm_status cm_sql_run(sqlite3 *handle, int *changes, cm_error *error, const char *sql, const char *types, ...);

/* All rows that a query finds, as elements of an array. */
struct cm_row_kind {
  const char *types, *query, *what; /* of arguments; what memory is for: "the list of users" */
  size_t size;              /* of an element */
  cm_status (*read)(sqlite3_stmt *row, void *element, cm_error *error); /* into one of zeros */
  void (*clear)(void *element);                                         /* NULL: there is nothing to free */
};

/* `rows` points to the array's pointer, which becomes the caller's to free with its elements, NULL where there is no row. */
cm_status cm_sql_list(sqlite3 *handle, const cm_row_kind *kind, void *rows, size_t *count, cm_error *error, ...);

/* The first column of the first row as a number; `fallback` when there is no row. */
cm_status cm_sql_number(sqlite3 *handle, int64_t fallback, int64_t *number, cm_error *error, const char *sql, const char *types, ...);

/* A text column as an owned copy ("" for NULL); CM_NO_MEMORY. */
cm_status cm_sql_text(sqlite3_stmt *statement, int column, char **text, cm_error *error);

/* A text column copied into a fixed buffer, as by cm_sql_columns. */
void cm_sql_copy(sqlite3_stmt *statement, int column, char *text, size_t size);


/* What a row of quick_check or integrity_check says is damaged, in *damage, which lives as long as the row; NULL: nothing.
 * A page that was not read for want of memory, or since the disk failed, is no damage: CM_NO_MEMORY, CM_IO. */
cm_status cm_sql_verdict(sqlite3_stmt *row, const char **damage, cm_error *error);
