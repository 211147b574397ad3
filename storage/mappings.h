/* What jobs make: a row and files, packed in the database or in a folder. Mappings have one file per view (core/output/views.h); programs, the
 * results of compile jobs, have model.onnx and report.json. */
#pragma once

#include "library/private/cores.h"
#include "library/private/job_kinds.h"
#include "storage/owners.h"

/* What jobs make: `word` is what replies and sentences call it, `row` is its kind in the table. A job that makes neither is about a
 * mapping. */
typedef struct cm_made {
  cm_object object; /* or CM_OBJECT_NONE */
  const char *word, *row;
} cm_made;
const cm_made *cm_made_in(const char *row);
const cm_made *cm_job_makes(const char *kind); /* a job of this kind */

typedef struct cm_mapping_row {
  char id[CM_ID_MAX];
  char kind[16]; /* cm_made.row */
  cm_owner owner;
  char network[CM_SHA_MAX];
  char chip[LIBRARY_CHIP_NAME_MAX];
  char job[CM_ID_MAX];          /* the job that made it */
  char fingerprint[CM_SHA_MAX]; /* of everything that shapes it, "" when it must not be reused */
  uint64_t bytes;
  double created;
} cm_mapping_row;

/* Where a mapping's files are. */
typedef enum cm_mapping_form {
  CM_FORM_OLD,    /* a folder, of a release that packed none */
  CM_FORM_FOLDER, /* a folder, since it is too large */
  CM_FORM_PACK,   /* packed in the database (storage/pack.h) */
} cm_mapping_form;

typedef struct cm_pack cm_pack;

cm_status cm_mappings_get(cm_store *store, const char *id, cm_mapping_row *mapping, cm_error *error);

/* The same for programs: an id of the other kind is CM_NOT_FOUND. */
cm_status cm_programs_get(cm_store *store, const char *id, cm_mapping_row *program, cm_error *error);

/* A mapping with this fingerprint whose files are there; CM_NOT_FOUND. */
cm_status cm_mappings_find(cm_store *store, const char *fingerprint, cm_mapping_row *mapping, cm_error *error);

/* One of its files, open for reading, wherever it is; the caller closes. CM_NOT_FOUND: it has none of this name. */
cm_status cm_mappings_open(cm_store *store, const char *id, const char *name, int *descriptor, cm_error *error);
bool cm_mappings_has(cm_store *store, const char *id, const char *name);

/* Makes one of its files stand at `path` too, on the same file system. */
cm_status cm_mappings_lend(cm_store *store, const char *id, const char *name, const char *path, cm_error *error);

/* The same with all of them, in a folder that is made. */
cm_status cm_mappings_lend_all(cm_store *store, const char *id, const char *folder, cm_error *error);

/* Takes a file that was made of a mapping, at `path`, among those of its folder, and its bytes among the owner's. Packed mappings
 * keep none, and nothing is kept that passes the owner's quota: CM_CONFLICT, CM_QUOTA_USED, and the file stays where it is. */
cm_status cm_mappings_keep(cm_store *store, const cm_mapping_row *mapping, const char *name, const char *path, cm_error *error);

/* Packs a packed mapping anew, with what a folder has of it: all its files and more. CM_CONFLICT: it is a folder, or would be too
 * large; CM_QUOTA_USED. */
cm_status cm_mappings_repack(cm_store *store, const cm_mapping_row *mapping, const char *folder, cm_error *error);

/* A path of scratch in the store: swept at the next start, should it stay. */
cm_status cm_store_scratch(const cm_store *store, char *path, cm_error *error);

/* Takes the files of a finished folder, which stays as it is, into the mapping's place, durably: who dies before the row is there,
 * which comes with the job's result (cm_jobs_finish), can do it again. A folder without a row is swept at the next start. */
cm_status cm_mappings_place(cm_store *store, const char *finished, const char *id, cm_error *error);

/* Removes row and files; CM_NOT_FOUND. Jobs keep the id of what they made. `unneeded`: only what a sweep's job has made that is not pinned, and
 * that nobody else owns, was given or needs, as the deleting transaction sees it. */
cm_status cm_mappings_delete(cm_store *store, const char *id, bool unneeded, cm_error *error);

/* Number of mappings and their bytes on disk. */
cm_status cm_mappings_count(cm_store *store, uint64_t *count, uint64_t *bytes, cm_error *error);
