/* Backups of a data folder, also while a server works on it, and their way back.
 *
 * A backup is a folder that holds the database as of one moment, the files of the networks and mappings that it knows, and
 * the marker: a data folder itself, without cache and half uploads. Files are linked where backup and data lie on one file
 * system (they never change once they stand), else copied. */
#pragma once

#include "storage/store.h"

/* What a folder holds beside the database, and how much of that was copied: the rest is linked. */
typedef struct cm_backup_counts {
  uint64_t files, bytes, copied;
} cm_backup_counts;

/* Makes the folder `to`, which must not be there or be empty. Files that the backup `since` (NULL: none) has are linked with its.
 * Errors: CM_CONFLICT (it is not empty, or the data folder is not ours), CM_NOT_FOUND, CM_DISK_FULL, CM_IO; then `to` is no backup:
 * the marker is missing. */
cm_status cm_backup_make(const char *data, const char *to, const char *since, cm_backup_counts *counts, cm_error *error);

/* Makes a backup in `folder`, made if missing, called by the time (UTC), since the newest whole one there; its path goes to `made`
 * [CM_PATH_MAX]. Halves that an interruption left go first, and afterwards all but the newest `keep` (0: none goes). Other folders in
 * it are not looked at. Errors: those of cm_backup_make; then all whole ones are still there. */
cm_status cm_backup_next(const char *data, const char *folder, uint64_t keep, char *made, cm_backup_counts *counts, cm_error *error);

/* Makes a data folder of a backup, which stays as it is: everything is copied. `data` must not be there or be empty. CM_CONFLICT
 * also when the backup was made by a newer version. */
cm_status cm_backup_restore(const char *from, const char *data, cm_backup_counts *counts, cm_error *error);
