/* What the files of the storage room share: steps of transactions. */
#pragma once

#include <stdarg.h>

#include "storage/leases.h"

/* The failure of an SQLite call with this code; `what` was done. */
cm_status cm_sql_fail(sqlite3 *handle, int code, const char *what, cm_error *error);

/* The statements that a connection keeps for later ones of the same text; NULL: no memory, and it keeps none. Freed before the
 * connection is closed. */
typedef struct cm_statements cm_statements;
cm_statements *cm_statements_make(sqlite3 *handle);
void cm_statements_free(cm_statements *statements); /* NULL is allowed */

/* From now on statements of this thread come from these and go back to them (NULL: from none); returns those before. What has
 * been prepared must be ended before the next call. */
cm_statements *cm_statements_use(cm_statements *statements);

/* cm_sql_run, cm_sql_find and cm_sql_list, with the rest of the arguments of a caller. */
cm_status cm_sql_run_of(sqlite3 *handle, int *changes, cm_error *error, const char *sql, const char *types, va_list *arguments);
cm_status cm_sql_find_of(sqlite3 *handle, bool *found, cm_error *error, const char *sql, const char *types, va_list *arguments);
cm_status cm_sql_list_of(sqlite3 *handle, const cm_row_kind *kind, void *rows, size_t *count, cm_error *error, va_list *arguments);

/* Reads a row whose only column is one of our ids: a cm_row_kind's reader of char [CM_ID_MAX]. */
cm_status cm_sql_id(sqlite3_stmt *row, void *element, cm_error *error);

/* Runs one statement without arguments or rows. */
cm_status cm_sql_execute(sqlite3 *handle, const char *sql, cm_error *error);

/* A chip's description inside a transaction. */
cm_status cm_chips_text_in(sqlite3 *handle, const char *name, char **text, bool *preset, cm_error *error);

/* A chip with its occupancy as it is now, leases that have expired left out; the caller frees it. */
cm_status cm_occupancy_load_in(sqlite3 *handle, const char *name, coremap_chip **chip, cm_error *error);
cm_status cm_occupancy_save_in(sqlite3 *handle, const coremap_chip *chip, const char *name, cm_error *error);

/* Before a chip gets another description: its taken and broken cores stay so. CM_CONFLICT when a taken one would be
 * gone; the error names them. */
cm_status cm_occupancy_carry_in(sqlite3 *handle, const char *name, const char *description, cm_error *error);

/* CM_CONFLICT while cores of a chip are taken; the error names them. */
cm_status cm_occupancy_check_free_in(sqlite3 *handle, const char *name, cm_error *error);

/* Frees the cores of one lease in memory. */
void cm_occupancy_free_lease(coremap_chip *chip, const char *id);

/* Before a lease's id in the owner's name of its cores. */
extern const char cm_lease_prefix[7];

/* Leases `cores` [count] (core numbers, or NULL and `rectangles`) inside a write transaction; fills id [CM_ID_MAX]. */
typedef struct cm_lease_take {
  cm_owner whose;
  const char *chip, *owner, *job; /* job may be NULL */
  double ttl;
  const uint32_t *cores;
  uint32_t count;
  const json_t *rectangles;
} cm_lease_take;
cm_status cm_leases_take_in(sqlite3 *handle, const cm_lease_take *take, char *id, cm_error *error);
