/* Backups of a data folder, also while a server works on it, and their way back.
 *
 * A backup is a folder that holds the database as of one moment, the files of the networks and mappings that it knows, and
 * the marker: a data folder itself, without cache and half uploads. Files are linked where backup and data lie on one file
 * system (they never change once they stand), else copied. */
#ifndef CM_STORAGE_BACKUP_H
#define CM_STORAGE_BACKUP_H

#include "storage/store.h"

/* Makes the folder `to`, which must not be there or be empty. *files and *bytes count what it holds beside the database.
 * Errors: CM_CONFLICT (it is not empty, or the data folder is not ours), CM_NOT_FOUND, CM_DISK_FULL, CM_IO; then `to` is no backup:
 * the marker is missing. */
cm_status cm_backup_make(const char *data, const char *to, uint64_t *files, uint64_t *bytes, cm_error *error);

/* Makes a data folder of a backup, which stays as it is: everything is copied. `data` must not be there or be empty. CM_CONFLICT
 * also when the backup was made by a newer version. */
cm_status cm_backup_restore(const char *from, const char *data, uint64_t *files, uint64_t *bytes, cm_error *error);

#endif
