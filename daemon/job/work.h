/* What a job computes, and nothing else: a job folder in, its result in the same folder out (docs/how-to/executors.md). Nothing
 * of the server is known here, so that the same work runs in a thread, in a confined child or on another machine. */
#pragma once

#include <jansson.h>

#include "base/file.h"
#include "base/run.h"

struct cm_level_cache; /* library/private/levels.h */

/* What a job folder holds; docs/how-to/executors.md says what each file is. */
#define CM_WORK_JOB "job.json"
#define CM_WORK_NETWORK "in/network"
#define CM_WORK_CHIP "in/chip.json"
#define CM_WORK_OCCUPANCY "in/occupancy.json"
#define CM_WORK_FROM "in/from.json"
#define CM_WORK_LEVELS "in/levels"
#define CM_WORK_BEFORE "in/before" /* the network that option levels_from names; may be missing */
#define CM_WORK_UPLOAD "in/upload" /* what an option names by {"upload": ID}: spikes, or samples; may be missing */

/* What each attempt at it has a folder of its own for, out.ATTEMPT: a run that comes late, or twice, writes where nobody reads. */
#define CM_WORK_PROGRESS "progress"
#define CM_WORK_RESULT "result.json"
#define CM_WORK_MADE "made"
#define CM_WORK_POINTS "points" /* folders of the other mappings of a Pareto set, by their numbers; may be missing */
#define CM_WORK_LEVELS_MADE "levels"
#define CM_WORK_SCRATCH "scratch"

/* job.json */
typedef struct cm_work_job {
  char kind[16];
  char program[65];      /* SHA-256 of the program that is to carry it out; "": any */
  char network[65];      /* SHA-256 of the network's file, "" when unknown */
  char levels[65];       /* by which coarsened levels of it are kept; "": as `network` */
  char levels_before[65]; /* the same of the network of option levels_from; "": there is none */
  json_t *options;       /* of the kind; NULL: none */
  json_t *rivals;        /* a mapping that one of these beats need not be stored: cm_sweep_rivals; NULL: none does */
  bool region;           /* the result is to name the cores of its region */
  unsigned threads;      /* at most */
  uint64_t memory_limit; /* bytes; 0: none */
  double time_limit;     /* seconds; 0: none */
  uint64_t file_limit;   /* bytes of one file that is written; 0: none */
} cm_work_job;

/* Writes a file of JSON, `flags` as of json_dumps. Errors: CM_NO_MEMORY, CM_DISK_FULL, CM_IO. */
cm_status cm_work_write(const json_t *json, const char *path, size_t flags, cm_error *error);

/* Writes `folder`/job.json. Errors: CM_NO_MEMORY, CM_DISK_FULL, CM_IO. */
cm_status cm_work_describe(const char *folder, const cm_work_job *job, cm_error *error);

/* Reads it; the caller clears. Errors: CM_DAMAGED, CM_NOT_FOUND, CM_IO, CM_NO_MEMORY. */
cm_status cm_work_read(const char *folder, cm_work_job *job, cm_error *error);
void cm_work_job_clear(cm_work_job *job); /* a zeroed job is fine */

/* Who watches a job. The calls come from the thread that works. */
typedef struct cm_work_watch {
  /* JSON texts: the member "progress" and the member "phases" of a job. */
  void (*progress)(void *user, const char *phase, const char *progress, const char *phases);
  void (*log)(void *user, const char *line);
  /* Of an executor that lets jobs wait: why this one has not begun; NULL: it has, so many seconds ago. May come again. */
  void (*wait)(void *user, const char *why, double ran);
  void *user;
  const atomic_bool *cancel;    /* NULL: cannot be cancelled */
  const struct cm_level_cache *levels; /* coarsened levels kept between jobs; NULL: none */
  uint64_t process_bytes;       /* memory that this process may have, all of it for this job; 0: shared with others */
} cm_work_watch;

/* The path of an attempt's folder, out.ATTEMPT. CM_IO: too long. */
cm_status cm_work_out(const char *folder, int attempt, char out[CM_PATH_MAX], cm_error *error);

/* The same, and makes it. CM_CONFLICT: this attempt has begun already, there or elsewhere. */
cm_status cm_work_begin(const char *folder, int attempt, char out[CM_PATH_MAX], cm_error *error);

/* Carries out the job of a folder and writes its result to `out`, also when the job fails. CM_OK: the result is there. */
cm_status cm_work_run(const char *folder, const char *out, const cm_work_watch *watch, cm_error *error);

/* result.json as read. */
typedef struct cm_work_result {
  json_t *json;
  cm_status status;
  cm_error why;    /* when status is not CM_OK */
} cm_work_result;

/* Reads the result of an attempt; the caller clears. CM_DAMAGED when there is none or it cannot be understood. */
cm_status cm_work_result_read(const char *out, cm_work_result *result, cm_error *error);
void cm_work_result_clear(cm_work_result *result);

enum { CM_WORK_SAID_MAX = CM_ERROR_DETAIL_MAX + 64 };

/* A line that says why there is no result, to whoever waits: by a pipe, for it may be the disk that takes nothing, and
 * without memory of its own. */
void cm_work_say(int file, const cm_error *error);

/* The error of such a line; false when it is none. */
bool cm_work_heard(const char *said, cm_error *error);

/* SHA-256 of this program's file; found once. CM_IO: it cannot be read. */
cm_status cm_work_program(char program[65], cm_error *error);

/* The whole of `coremapd --work FOLDER ATTEMPT`: confines this process (confine.h), carries out the job of the folder, writes
 * what happens to `progress`, a JSON object a line, and to standard output an empty line each time, which says that there
 * is more to read. `forked`: whoever made the folder runs this very program, else it is compared. The exit status: 0 when there is a result; else the last line of standard output says why (cm_work_say). */
int cm_work_main(const char *folder, int attempt, bool forked);
