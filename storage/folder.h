/* What makes a folder a data folder of ours: its lock, its marker, and what may lie in it.
 *
 * The marker coremapd.json holds the version of the layout and the folder's identity; the database holds the same
 * identity. A folder is taken when both agree, when it is empty, or when it is one of the release before (our layout
 * with our database, no marker yet). Anything else is refused before a byte in it has changed. */
#pragma once

#include <dirent.h>

#include "base/file.h"

enum { CM_FOLDER_FORMAT = 1, CM_FOLDER_ID_MAX = 33 };

/* The subfolders of a data folder, NULL at the end. */
extern const char *const cm_folder_parts[];

typedef struct cm_folder {
  bool marked;                /* it has a marker, with this identity */
  char id[CM_FOLDER_ID_MAX];
  bool filled;                /* networks or mappings lie in it: there must be a database that knows them */
} cm_folder;

/* Opens a folder for its names, which the caller closes; and the next of them, but for "." and "..": NULL: there is none. */
cm_status cm_folder_list(const char *path, DIR **listing, cm_error *error);
const char *cm_folder_next(DIR *listing);

/* Locks the folder itself, whatever becomes of the files in it, until *descriptor is closed. CM_CONFLICT when another
 * server works on it. */
cm_status cm_folder_lock(const char *path, int *descriptor, cm_error *error);

/* Looks at a folder and changes nothing. CM_CONFLICT: it is not ours, of a newer version, or without its database;
 * CM_DAMAGED: the marker cannot be read. */
cm_status cm_folder_examine(const char *path, cm_folder *folder, cm_error *error);

/* Writes the marker, durably. */
cm_status cm_folder_mark(const char *path, const char *id, cm_error *error);

/* Writes one that says that a backup, or a restored folder, is being made here: whoever looks at the folder is refused until it has its
 * own. Releases before take it for a damaged one, and refuse it too. */
cm_status cm_folder_mark_unfinished(const char *path, cm_error *error);
