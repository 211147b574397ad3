/* Tells those who keep copies of rows in memory that rows have changed, whichever process of ours changed them: numbers that grow, in
 * a file beside the database that all of them have mapped. */
#pragma once

#include "storage/database.h"

typedef struct cm_changes cm_changes;

/* Opens, or makes, the file of a database. */
cm_status cm_changes_open(const char *database_path, cm_changes **changes, cm_error *error);
void cm_changes_close(cm_changes *changes); /* NULL is allowed */

/* From now on this connection, of which there is one that writes, notes what it changes (by triggers of its own). */
cm_status cm_changes_watch(cm_changes *changes, sqlite3 *writer, cm_error *error);

/* After a transaction of the writer, whether it took or not: tells what it has noted. */
void cm_changes_tell(cm_changes *changes);

uint64_t cm_changes_version(const cm_changes *changes, cm_watched what);
