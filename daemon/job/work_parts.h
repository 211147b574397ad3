/* Between the files of work: what a job holds while it runs, and its kinds. */
#pragma once

#include "daemon/job/work.h"
#include "library/private/base.h"
#include "library/private/levels.h"
#include "library/private/stored.h"

typedef struct cm_work {
  const char *folder, *out;
  const cm_work_watch *watch;
  cm_work_job job;
  cm_memory memory;
  cm_run run;
  char scratch[CM_PATH_MAX]; /* in out */
  char made[CM_PATH_MAX];    /* in out: what the job makes, a folder or a file by kind */
  char points[CM_PATH_MAX]; /* for folders of other mappings of a Pareto set; not made yet */
  json_t *result;            /* members of result.json that a kind adds: "report", "region", "import" */
  const char *phase;         /* last one logged */
} cm_work;

/* The kinds of jobs: from in/ to what they make. */
#define JOB_KIND(kind, ...) cm_status cm_work_##kind(cm_work *work, cm_error *error);
#include "library/private/job_kinds.def"
#undef JOB_KIND
cm_status cm_work_import(cm_work *work, cm_error *error);

/* The path of a file of the job folder. */
cm_status cm_work_path(const cm_work *work, const char *name, char *path, cm_error *error);

/* The chip of the folder with its occupancy; *chip NULL when it has none. */
cm_status cm_work_chip(const cm_work *work, coremap_chip **chip, cm_error *error);

/* The network of the folder, which we wrote: what is wrong with it is CM_DAMAGED. Opens phase "load". */
cm_status cm_work_network(cm_work *work, coremap_network **network, cm_error *error);

/* The job's options as they are given, a copy within the job's limits; NULL when out of memory. */
json_t *cm_work_options(const cm_work *work);

/* Options as text, which is the caller's; takes them (NULL: memory ran out). */
cm_status cm_work_text(json_t *options, char **text, cm_error *error);

/* Spikes of options that were sent in a file of their own get its path in their place. */
cm_status cm_work_name_spikes(const cm_work *work, json_t *options, cm_error *error);

/* The job's options as text, which is the caller's, with the path of the spikes that were sent in a file of their own, and its limit of time; with
 * `mapping` not NULL, that path (empty: none) in place of a mapping's id. */
cm_status cm_work_spiking_options(const cm_work *work, const char *mapping, char **text, cm_error *error);

/* Adds a member to the result; takes the reference. */
cm_status cm_work_tell(cm_work *work, const char *name, json_t *value, cm_error *error);

/* Writes a report whole into the folder that the job makes, beside what it is of. */
cm_status cm_work_keep_report(const cm_work *work, const json_t *report, cm_error *error);
