/* Between the files that carry out jobs: what a job holds while it runs, and its steps. */
#ifndef CM_DAEMON_RUNNING_H
#define CM_DAEMON_RUNNING_H

#include "core/mapping/map.h"
#include "daemon/workers.h"
#include "storage/jobs.h"
#include "storage/mappings.h"

/* What one job holds while it runs. */
typedef struct cm_running {
  const cm_workers_options *options;
  cm_store *store;
  cm_job job;
  cm_memory memory;
  cm_run run;
  cm_map_options *map_options;
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_topology *topology;
  cm_mapping *mapping;
  json_t *compiled;             /* the report of a compile job */
  char fingerprint[CM_SHA_MAX]; /* "" for a job that reserves: it never shares */
  char scratch[CM_PATH_MAX];    /* folder under incoming/, "" when there is none */
  cm_mapping_row row;
  char reused[CM_ID_MAX];       /* the mapping of an identical job, "" when there is none */
  bool deferred;
  const char *phase;            /* last one logged */
} cm_running;

/* Carries out a claimed job and ends it, one way or another; takes over what the job holds. */
void cm_running_job(const cm_workers_options *options, cm_job *job);

/* The steps by kind, from the job's options to files in their place (r->row), or r->deferred or r->reused. */
cm_status cm_running_map(cm_running *r, cm_error *error);
cm_status cm_running_compile(cm_running *r, cm_error *error);

/* Keeps what a job asks for within what the server allows. */
void cm_running_bound(const cm_running *r, unsigned *threads, uint64_t *memory_limit);

/* Makes the job's scratch folder. */
cm_status cm_running_scratch(cm_running *r, cm_error *error);

/* Puts the folder with what the job made in its place under a new id, and notes it in r->row. */
cm_status cm_running_place(cm_running *r, const char *folder, cm_error *error);

#endif
