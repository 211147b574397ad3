/* Operations of storage on jobs. */
#include "tests/fault/storing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/job/work.h"
#include "storage/bin.h"
#include "storage/jobs.h"
#include "storage/mappings.h"
#include "storage/pack.h"

static char job_id[CM_ID_MAX];
static cm_job job;

static cm_status job_create(cm_error *error)
{
  cm_job wanted = {.kind = "map", .chip = "toy", .options = (char[]){"{}"}, .ttl = 60};
  cm_job_created result;
  memcpy(wanted.network, storing_network, sizeof storing_network);
  return cm_jobs_create(storing_store, &wanted, NULL, &result, job_id, error);
}

static uint64_t jobs_in(cm_job_state state)
{
  cm_error error;
  uint64_t count[CM_JOB_STATES];
  operation_must(cm_jobs_count(storing_store, count, &error), &error, "counting jobs");
  return count[state];
}

static void end_all(void)
{
  cm_error error;
  cm_job *jobs;
  cm_list_page page;
  operation_must(cm_jobs_list(storing_store, &(cm_list_query){.list = CM_LIST_JOBS, .limit = 100}, &page, &jobs, &error), &error, "listing jobs");
  const size_t count = page.count;
  cm_list_page_clear(&page);
  for (size_t i = 0; i < count; i++) {
    cm_job_outcome outcome = {.state = CM_JOB_CANCELLED};
    bool taken;
    if (jobs[i].state == CM_JOB_QUEUED)
      operation_must(cm_jobs_cancel(storing_store, jobs[i].id, &error), &error, "cancelling a job");
    if (jobs[i].state == CM_JOB_RUNNING)
      operation_must(cm_jobs_finish(storing_store, &jobs[i], &outcome, &taken, &error), &error, "ending a job");
    operation_must(cm_bin_put(storing_store, CM_OBJECT_JOB, jobs[i].id, NULL, &(bool){false}, &error), &error, "deleting a job");
    cm_job_clear(&jobs[i]);
  }
  free(jobs);
}

static void settle_job_create(cm_status status, char *digest)
{
  (void)digest;
  storing_anew();
  storing_expect(status, jobs_in(CM_JOB_QUEUED) == 1, jobs_in(CM_JOB_QUEUED) == 0, "a new job");
  end_all();
}

static void prepare_queued(void)
{
  cm_error error;
  storing_ready();
  operation_must(job_create(&error), &error, "queueing a job");
}

static cm_status job_claim(cm_error *error)
{
  bool found = false;
  cm_status status = cm_jobs_claim(storing_store, CM_CLAIM_ANY, &job, &found, error);
  if (status == CM_OK && !found)
    operation_wrong("a claim finds no job where one is queued");
  return status;
}

static void settle_claim(cm_status status, char *digest)
{
  (void)digest;
  if (status == CM_OK)
    cm_job_clear(&job);
  storing_anew();
  storing_expect(status, jobs_in(CM_JOB_RUNNING) == 1, jobs_in(CM_JOB_QUEUED) == 1, "a claimed job");
  end_all();
}

static void prepare_running(void)
{
  cm_error error;
  prepare_queued();
  operation_must(job_claim(&error), &error, "claiming a job");
}

static cm_status job_requeue(cm_error *error)
{
  return cm_jobs_requeue(storing_store, &job, false, error);
}

static void settle_requeue(cm_status status, char *digest)
{
  (void)digest;
  storing_anew();
  cm_job_clear(&job);
  storing_expect(status, jobs_in(CM_JOB_QUEUED) == 1, jobs_in(CM_JOB_RUNNING) == 1, "a job put back");
  end_all();
}

static cm_mapping_row row;

/* Its views in place, then the row with the job's end. */
static cm_status job_finish(cm_error *error)
{
  bool taken = false;
  row = (cm_mapping_row){.kind = "map", .chip = "toy", .bytes = 1, .created = 1};
  cm_job_outcome outcome = {.state = CM_JOB_DONE, .mapping = &row, .log = "done", .report = "{}"};
  cm_store_id(row.id);
  memcpy(row.job, job.id, sizeof row.job);
  memcpy(row.network, job.network, sizeof row.network);
  cm_status status = cm_mappings_place(storing_store, operation_path("data/incoming/0123456789abcdef0123.job"), row.id, error);
  return status == CM_OK ? cm_jobs_finish(storing_store, &job, &outcome, &taken, error) : status;
}

/* The same with files that are packed. */
static cm_status job_finish_packed(cm_error *error)
{
  bool taken = false;
  cm_pack pack = {0};
  row = (cm_mapping_row){.kind = "map", .chip = "toy", .bytes = 1, .created = 1};
  cm_job_outcome outcome = {.state = CM_JOB_DONE, .mapping = &row, .pack = &pack, .log = "done", .report = "{}"};
  cm_store_id(row.id);
  memcpy(row.job, job.id, sizeof row.job);
  memcpy(row.network, job.network, sizeof row.network);
  cm_status status = cm_pack_folder(operation_path("data/incoming/0123456789abcdef0123.job"), &pack, error);
  CM_THEN(status, cm_jobs_finish(storing_store, &job, &outcome, &taken, error));
  cm_pack_clear(&pack);
  return status;
}

static void prepare_finish(void)
{
  cm_error error;
  prepare_running();
  operation_must(cm_folder_make(operation_path("data/incoming/0123456789abcdef0123.job"), &error), &error, "a folder");
  operation_write(operation_path("data/incoming/0123456789abcdef0123.job/mapping.json"), "{}", 2);
}

static void settle_finish(cm_status status, char *digest)
{
  cm_error error;
  cm_mapping_row found;
  (void)digest;
  cm_job_clear(&job);
  storing_anew();
  bool there = cm_mappings_get(storing_store, row.id, &found, &error) == CM_OK;
  if (there && !cm_mappings_has(storing_store, row.id, "mapping.json"))
    operation_wrong("a mapping is known whose files are not there");
  storing_expect(status, there && jobs_in(CM_JOB_DONE) == 1, !there && jobs_in(CM_JOB_RUNNING) == 1, "a finished job");
  if (there)
    operation_must(cm_mappings_delete(storing_store, row.id, false, &error), &error, "deleting a mapping");
  operation_must(cm_folder_remove(operation_path("data/mappings/%s", row.id), &error), &error, "removing files");
  operation_must(cm_folder_remove(operation_path("data/incoming/0123456789abcdef0123.job"), &error), &error, "removing files");
  end_all();
}

static cm_status job_cancel(cm_error *error)
{
  return cm_jobs_cancel(storing_store, job_id, error);
}

static void settle_cancel(cm_status status, char *digest)
{
  (void)digest;
  storing_anew();
  storing_expect(status, jobs_in(CM_JOB_CANCELLED) == 1, jobs_in(CM_JOB_QUEUED) == 1, "a cancelled job");
  end_all();
}

/* ---- a job's folder ---- */

static void prepare_folder(void)
{
  static const char result[] = "{\"format\": \"coremapd result 1\", \"status\": \"no-room\", \"problem\": {\"detail\": \"too large\", "
                               "\"where\": \"\", \"limit_name\": \"neurons\", \"cause\": 0, \"figures\": {\"needed\": 3}}}";
  if ((mkdir(operation_path("job"), 0700) != 0 || mkdir(operation_path("job/out.1"), 0700) != 0) && errno != EEXIST)
    operation_wrong("no folder for a job");
  operation_write(operation_path("job/out.1/" CM_WORK_RESULT), result, sizeof result - 1);
}

static cm_status job_folder(cm_error *error)
{
  const cm_work_job said = {.kind = "map", .network = "00ff", .levels = "", .threads = 2, .memory_limit = 1 << 20};
  cm_work_job heard = {0};
  cm_work_result result = {0};
  cm_status status = cm_work_describe(operation_path("job"), &said, error);
  CM_THEN(status, cm_work_read(operation_path("job"), &heard, error));
  if (status == CM_OK && (strcmp(heard.kind, said.kind) != 0 || heard.memory_limit != said.memory_limit))
    operation_wrong("a job's description is read as another");
  CM_THEN(status, cm_work_result_read(operation_path("job/out.1"), &result, error));
  if (status == CM_OK && (result.status != CM_NO_ROOM || strcmp(result.why.detail, "too large") != 0))
    operation_wrong("a job's result is read as another");
  cm_work_job_clear(&heard);
  cm_work_result_clear(&result);
  return status;
}

static void settle_folder(cm_status status, char *digest)
{
  (void)status;
  digest[0] = '\0';
}

const operation job_operations[] = {
  {"store job folder", prepare_folder, job_folder, settle_folder, false},
  {"store job", storing_ready, job_create, settle_job_create, false},
  {"store job claim", prepare_queued, job_claim, settle_claim, false},
  {"store job requeue", prepare_running, job_requeue, settle_requeue, false},
  {"store job finish", prepare_finish, job_finish, settle_finish, false},
  {"store job finish packed", prepare_finish, job_finish_packed, settle_finish, false},
  {"store job cancel", prepare_queued, job_cancel, settle_cancel, false},
  {NULL, NULL, NULL, NULL, false},
};
