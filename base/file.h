/* Files that are there whole or not at all. */
#pragma once

#include <sys/types.h>

#include "base/status.h"

enum { CM_PATH_MAX = 1024 };

/* Gives a stream that nothing was written to yet a buffer of so many bytes: few large writes in place of many of a block each, which cost
 * the system several times as much. *buffer: for cm_buffered_close; NULL: there is no memory, and the stream keeps its own. */
void cm_buffered_begin(FILE *stream, size_t bytes, char **buffer);

/* Closes such a stream; both become NULL. Returns 0, or the errno of why not all could be written. */
int cm_buffered_close(FILE **stream, char **buffer);

/* A file under construction: written to a temporary name beside its place, then renamed into it. */
typedef struct cm_file {
  FILE *stream;              /* write here; reads and seeks too */
  char *buffer;              /* of the stream; NULL: its own */
  char path[CM_PATH_MAX];    /* where it will be, links followed */
  char scratch[CM_PATH_MAX]; /* where it is written */
  int through;               /* what is no regular file, open for writing; -1: the file is renamed */
  bool replaces;             /* a regular file stands there */
  mode_t mode;
  uid_t user;
  gid_t group;
} cm_file;

/* Opens a temporary file beside what `path` leads to; links stay links. A file that is replaced keeps its mode (and its
 * owner, where the process may give files away). What is no regular file (a pipe, a device, /dev/stdout, /dev/fd/N) gets
 * the bytes when they are complete, by way of a temporary file in $TMPDIR.
 * Errors: CM_IO, CM_DISK_FULL, CM_NOT_FOUND (no such folder). */
cm_status cm_file_create(cm_file *file, const char *path, cm_error *error);

/* Takes what stands at file->scratch now, for libraries that write files by name. Errors: CM_IO. */
cm_status cm_file_reopen(cm_file *file, cm_error *error);

/* Flushes, fdatasyncs, renames into place and fsyncs the folder. On failure the temporary is removed and
 * what stood at `path` before still stands. */
cm_status cm_file_commit(cm_file *file, cm_error *error);

/* Whether files that this thread commits must last: true until told. In a folder that goes when its work is done they need not, and are
 * not synced; who keeps some of them calls cm_folder_sync_files first. Returns what held before. */
bool cm_files_last(bool last);

/* The end of a file: committed where `status`, what writing it came to, is CM_OK, else discarded. Returns what it came to. */
cm_status cm_file_end(cm_file *file, cm_status status, cm_error *error);

/* A file of these bytes, made and committed. Errors: those of both, CM_DISK_FULL. */
cm_status cm_file_write(const char *path, const void *bytes, size_t size, cm_error *error);

/* Removes the temporary; harmless after commit and on a zeroed cm_file. */
void cm_file_discard(cm_file *file);

/* A copy of a file that lasts, under a name that is free. */
cm_status cm_file_copy(const char *from, const char *to, unsigned mode, cm_error *error);

/* Another name for a file that never changes again; a copy where there can be none, on another file system. */
cm_status cm_file_take(const char *from, const char *to, cm_error *error);

/* Makes a folder and its parents. */
cm_status cm_folder_make(const char *path, cm_error *error);

/* The same, so that the folder lasts: each folder that is made is fsynced in its parent. */
cm_status cm_folder_make_durable(const char *path, cm_error *error);

/* Removes a folder with all it holds; a missing one is fine. */
cm_status cm_folder_remove(const char *path, cm_error *error);

/* fsyncs a folder, so that renames in it last. */
cm_status cm_folder_sync(const char *path, cm_error *error);

/* fsyncs a folder with all files and folders in it. */
cm_status cm_folder_sync_files(const char *path, cm_error *error);

/* fsyncs the folder that holds `path`. */
cm_status cm_folder_sync_of(const char *path, cm_error *error);

/* snprintf into a path buffer of CM_PATH_MAX; CM_IO when it does not fit. */
cm_status cm_path(char *path, cm_error *error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether a path ends in these bytes, ".csv". O(its length). */
bool cm_path_ends_in(const char *path, const char *ending);

/* Makes an empty folder for passing files in $TMPDIR, or /tmp, and its name in `path`, which is "" on failure. The caller
 * removes it with cm_folder_remove. Errors: CM_IO, CM_DISK_FULL. */
cm_status cm_folder_scratch(char path[CM_PATH_MAX], cm_error *error);

/* SHA-256 of a file's bytes in hexadecimal, and their number. Errors: CM_NOT_FOUND, CM_IO. */
cm_status cm_file_hash(const char *path, char hex[65], uint64_t *bytes, cm_error *error);

/* Reads a whole file of at most `maximum` bytes; *text is NUL-terminated and owned by the caller (free).
 * Errors: CM_TOO_LARGE, CM_NOT_FOUND, CM_IO, CM_NO_MEMORY. */
cm_status cm_file_read(const char *path, size_t maximum, char **text, size_t *size, cm_error *error);
