/* Uploads that can be resumed: a row and a growing file under incoming/. How far it has come is the file's size. */
#pragma once

#include "storage/owners.h"

enum { CM_UPLOADS_MAX = 1000 }; /* of one user: announced, and kept for simulations */

typedef struct cm_upload {
  char id[CM_ID_MAX];
  cm_owner owner;
  char name[CM_NAME_MAX];
  uint64_t size;   /* of the whole */
  uint64_t offset; /* bytes that are there, durably */
} cm_upload;

/* Where the bytes lie. */
cm_status cm_uploads_path(const cm_store *store, const char *id, char *path, cm_error *error);

/* Starts one; of `upload` owner, name and size are read, id is filled. CM_QUOTA_USED. */
cm_status cm_uploads_create(cm_store *store, cm_upload *upload, cm_error *error);
cm_status cm_uploads_get(cm_store *store, const char *id, cm_upload *upload, cm_error *error);

/* Appends the file `piece` at `offset`. CM_CONFLICT when the upload stands elsewhere (upload->offset then says where),
 * CM_TOO_LARGE past its size. On success upload->offset is the new one. */
cm_status cm_uploads_append(cm_store *store, const char *piece, uint64_t offset, cm_upload *upload, cm_error *error);

/* Removes the row, then the bytes. CM_NOT_FOUND. */
cm_status cm_uploads_delete(cm_store *store, const char *id, cm_error *error);

/* Removes uploads that nobody has gone on with for `age` seconds; *removed counts. */
cm_status cm_uploads_expire(cm_store *store, double age, uint64_t *removed, cm_error *error);
