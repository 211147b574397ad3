/* What jobs make: a row and a folder of files. Mappings have one file per view (core/mapping/export.h); programs, the
 * results of compile jobs, have model.onnx and report.json. */
#ifndef CM_STORAGE_MAPPINGS_H
#define CM_STORAGE_MAPPINGS_H

#include "core/chip/chip.h"
#include "storage/owners.h"

typedef struct cm_mapping_row {
  char id[CM_ID_MAX];
  char kind[16]; /* of the job: "map" or "compile" */
  cm_owner owner;
  char network[CM_SHA_MAX];
  char chip[CM_CHIP_NAME_MAX];
  char job[CM_ID_MAX];          /* the job that made it */
  char fingerprint[CM_SHA_MAX]; /* of everything that shapes it, "" when it must not be reused */
  uint64_t bytes;
  double created;
} cm_mapping_row;

/* The folder of a mapping's files. */
cm_status cm_mappings_folder(const cm_store *store, const char *id, char *path, cm_error *error);
cm_status cm_mappings_get(cm_store *store, const char *id, cm_mapping_row *mapping, cm_error *error);

/* The same for programs: an id of the other kind is CM_NOT_FOUND. */
cm_status cm_programs_get(cm_store *store, const char *id, cm_mapping_row *program, cm_error *error);

/* A mapping with this fingerprint whose files are there; CM_NOT_FOUND. */
cm_status cm_mappings_find(cm_store *store, const char *fingerprint, cm_mapping_row *mapping, cm_error *error);

/* Moves a finished folder (on the same file system) to its place, durably. The row comes with the job's result
 * (cm_jobs_finish); a folder without a row is swept at the next start. */
cm_status cm_mappings_place(cm_store *store, const char *scratch_folder, const char *id, cm_error *error);

/* Removes row and files; CM_NOT_FOUND. Jobs keep the id of what they made. */
cm_status cm_mappings_delete(cm_store *store, const char *id, cm_error *error);

/* Number of mappings and their bytes on disk. */
cm_status cm_mappings_count(cm_store *store, uint64_t *count, uint64_t *bytes, cm_error *error);

#endif
