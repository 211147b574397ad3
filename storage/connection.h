/* Connections to the database: opening, examining, the version of its schema. Belongs to database.c. */
#pragma once

#include "storage/internal.h"

typedef struct cm_connection {
  sqlite3 *handle; /* NULL: none */
  cm_statements *statements;
} cm_connection;

/* Opens one, making the file where there is none; `check`: examines first, as who opens a database must: CM_CONFLICT when it is not ours,
 * of a newer version, or empty though it `must_exist`; CM_DAMAGED. */
cm_status cm_connection_open(const char *path, bool check, bool must_exist, cm_connection *connection, cm_error *error);

void cm_connection_close(cm_connection *connection);

/* Brings the schema to this program's version, a transaction for each step. */
cm_status cm_connection_upgrade(sqlite3 *handle, cm_error *error);

/* CM_CONFLICT unless the schema is of this program's version. */
cm_status cm_connection_check_version(sqlite3 *handle, const char *path, cm_error *error);
