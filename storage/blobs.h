/* What every stored file must look like: size and SHA-256, noted in the transaction that makes it known. */
#pragma once

#include "storage/store.h"

typedef struct cm_blob {
  char path[CM_SHA_MAX + 96]; /* below the data folder: "networks/ID.zip" */
  char sha256[CM_SHA_MAX];
  uint64_t bytes;
} cm_blob;

/* Reads size and digest of a file, which will be known as `path`. */
cm_status cm_blob_read(const char *file, const char *path, cm_blob *blob, cm_error *error);

/* Those of all files of a folder of the store, "mappings/ID"; the caller frees with free(). */
cm_status cm_blobs_read_folder(const cm_store *store, const char *path, cm_blob **blobs, size_t *count, cm_error *error);

/* Inside write closures: notes a blob, replacing what was noted under its path; forgets a path and all below it. */
cm_status cm_blob_note_in(sqlite3 *handle, const cm_blob *blob, cm_error *error);
cm_status cm_blobs_forget_in(sqlite3 *handle, const char *path, cm_error *error);
