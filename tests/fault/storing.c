/* Operations of storage: each leaves what was there or what was asked for, whichever call fails, and says which. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/chips.h"
#include "storage/jobs.h"
#include "storage/leases.h"
#include "storage/networks.h"
#include "storage/occupancy.h"
#include "storage/uploads.h"
#include "tests/fault/operations.h"

static cm_store *store;
static char id[CM_SHA_MAX], other[CM_ID_MAX], job_id[CM_ID_MAX], network_id[CM_SHA_MAX];
static cm_job job;

static void must(cm_status status, const cm_error *error, const char *what)
{
  operation_must(status, error, what);
}

static void open_store(void)
{
  cm_error error;
  must(cm_store_open(operation_path("data"), 1 << 20, &store, &error), &error, "opening the data folder");
}

static bool is_file(const char *path)
{
  return access(path, F_OK) == 0;
}

static void add_network(char *made)
{
  cm_error error;
  bool known;
  cm_network network = {.neurons = 3, .created = cm_store_time()};
  const char *scratch = operation_path("data/incoming/0123456789abcdef0123.part");
  char fresh[CM_ID_MAX];
  cm_store_id(fresh);
  cm_store_sha256(fresh, strlen(fresh), made);
  memcpy(network.id, made, CM_SHA_MAX);
  memcpy(network.sha256, made, CM_SHA_MAX);
  operation_write(scratch, "zip", 3);
  must(cm_networks_publish(store, &network, scratch, &known, &error), &error, "storing a network");
}

/* The store, a chip "toy" of 8 x 8 cores and a network, once a process. */
static void ready(void)
{
  cm_error error;
  bool created, mismatch;
  cm_chip *chip;
  char *text;
  if (store != NULL)
    return;
  open_store();
  must(cm_chip_mesh(8, 8, &chip, &error), &error, "a chip");
  (void)snprintf(chip->name, sizeof chip->name, "toy");
  must(cm_chip_print(chip, &text, &error), &error, "a chip's text");
  cm_chip_free(chip);
  must(cm_chips_put(store, &(cm_chip_change){.name = "toy", .text = text}, &created, &mismatch, &error), &error, "storing a chip");
  free(text);
  add_network(network_id);
}

/* What was stored must also be there after a new start. */
static void start_anew(void)
{
  cm_store_close(store);
  open_store();
}

/* After a success it must be as asked, else as before. */
static void expect(cm_status status, bool as_asked, bool as_before, const char *what)
{
  if (status == CM_OK && !as_asked)
    operation_wrong("%s: told as done, and is not", what);
  if (status != CM_OK && !as_before)
    operation_wrong("%s: failed, and something has changed", what);
}

/* ---- the folder ---- */

static void prepare_first_open(void)
{
  cm_error error;
  must(cm_folder_remove(operation_path("data"), &error), &error, "removing the data folder");
}

static cm_status open_and_close(cm_error *error)
{
  cm_store *opened = NULL;
  cm_status status = cm_store_open(operation_path("data"), 1 << 20, &opened, error);
  if (status == CM_OK)
    cm_store_close(opened);
  return status;
}

static void settle_open(cm_status status, char *digest)
{
  cm_error error;
  (void)status;
  (void)digest;
  must(open_and_close(&error), &error, "opening it again"); /* whatever it left half made */
}

/* ---- networks ---- */

static void prepare_publish(void)
{
  ready();
  char fresh[CM_ID_MAX];
  cm_store_id(fresh);
  cm_store_sha256(fresh, strlen(fresh), id);
  operation_write(operation_path("data/incoming/0123456789abcdef0123.part"), "zip", 3);
}

static cm_status publish(cm_error *error)
{
  bool known;
  cm_network network = {.neurons = 3, .created = 1};
  memcpy(network.id, id, sizeof id);
  memcpy(network.sha256, id, sizeof id);
  return cm_networks_publish(store, &network, operation_path("data/incoming/0123456789abcdef0123.part"), &known, error);
}

static bool network_there(void)
{
  cm_error error;
  cm_network network;
  char path[CM_PATH_MAX];
  cm_status status = cm_networks_get(store, id, &network, &error);
  if (status != CM_OK && status != CM_NOT_FOUND)
    operation_wrong("a network cannot be read: %s", error.detail);
  must(cm_networks_path(store, id, path, &error), &error, "a path");
  if (status == CM_OK && !is_file(path))
    operation_wrong("a network is known whose file is not there");
  return status == CM_OK;
}

static void settle_publish(cm_status status, char *digest)
{
  cm_error error;
  (void)digest;
  (void)unlink(operation_path("data/incoming/0123456789abcdef0123.part"));
  start_anew();
  expect(status, network_there(), !network_there(), "a network");
  if (status == CM_OK)
    must(cm_networks_delete(store, id, &error), &error, "deleting a network");
}

static void prepare_network_delete(void)
{
  ready();
  add_network(id);
}

static cm_status network_delete(cm_error *error)
{
  return cm_networks_delete(store, id, error);
}

static void settle_network_delete(cm_status status, char *digest)
{
  cm_error error;
  (void)digest;
  start_anew();
  expect(status, !network_there(), network_there(), "a deleted network");
  if (status != CM_OK)
    must(cm_networks_delete(store, id, &error), &error, "deleting a network");
}

/* ---- uploads ---- */

static cm_upload upload;

static cm_status upload_create(cm_error *error)
{
  upload = (cm_upload){.size = 12};
  return cm_uploads_create(store, &upload, error);
}

static void settle_upload_create(cm_status status, char *digest)
{
  cm_error error;
  cm_upload found;
  (void)digest;
  start_anew();
  if (status == CM_OK) {
    must(cm_uploads_get(store, upload.id, &found, &error), &error, "an upload");
    must(cm_uploads_delete(store, upload.id, &error), &error, "deleting an upload");
  } else if (upload.id[0] != '\0' && cm_uploads_get(store, upload.id, &found, &error) == CM_OK)
    operation_wrong("an upload: failed, and is there");
}

static void prepare_append(void)
{
  cm_error error;
  ready();
  must(upload_create(&error), &error, "beginning an upload");
  operation_write(operation_path("data/incoming/0123456789abcdef0123.part"), "abcdef", 6);
}

static cm_status append(cm_error *error)
{
  cm_upload mine = {0};
  memcpy(mine.id, upload.id, sizeof mine.id);
  return cm_uploads_append(store, operation_path("data/incoming/0123456789abcdef0123.part"), 0, &mine, error);
}

/* A piece that failed may be there in part: the client asks, and goes on from there. */
static void settle_append(cm_status status, char *digest)
{
  cm_error error;
  cm_upload found = {0};
  (void)digest;
  start_anew();
  must(cm_uploads_get(store, upload.id, &found, &error), &error, "an upload");
  expect(status, found.offset == 6, found.offset <= 6, "a piece of an upload");
  operation_write(operation_path("data/incoming/0123456789abcdef0123.part"), &"abcdef"[found.offset], 6 - found.offset);
  must(cm_uploads_append(store, operation_path("data/incoming/0123456789abcdef0123.part"), found.offset, &found, &error), &error,
       "the rest of a piece");
  char path[CM_PATH_MAX], *text;
  size_t size;
  must(cm_uploads_path(store, upload.id, path, &error), &error, "a path");
  must(cm_file_read(path, 100, &text, &size, &error), &error, "the bytes of an upload");
  if (size != 6 || memcmp(text, "abcdef", 6) != 0)
    operation_wrong("an upload has other bytes than were sent");
  free(text);
  must(cm_uploads_delete(store, upload.id, &error), &error, "deleting an upload");
}

/* ---- chips, occupancy, leases ---- */

static cm_status chip_put(cm_error *error)
{
  static const char text[] = "{\"name\": \"small\", \"cores\": [2, 2]}";
  bool created, mismatch;
  return cm_chips_put(store, &(cm_chip_change){.name = "small", .text = text}, &created, &mismatch, error);
}

static void settle_chip_put(cm_status status, char *digest)
{
  cm_error error;
  char *text = NULL;
  bool preset, mismatch;
  (void)digest;
  start_anew();
  bool there = cm_chips_text(store, "small", &text, &preset, &error) == CM_OK;
  free(text);
  expect(status, there, !there, "a chip");
  if (there)
    must(cm_chips_delete(store, "small", NULL, &mismatch, &error), &error, "deleting a chip");
}

static cm_status occupy(cm_error *error)
{
  static const char text[] = "{\"occupy\": [[0, 0, 2, 2]], \"owner\": \"me\"}";
  cm_occupancy_change change = {.chip = "toy", .if_match = "*", .json = text, .size = sizeof text - 1};
  char *state = NULL, tag[CM_ETAG_MAX];
  bool mismatch;
  cm_status status = cm_occupancy_write(store, &change, &mismatch, &state, tag, error);
  free(state);
  return status;
}

/* How many cores of the chip `owner` has (NULL: nobody). */
static uint32_t cores_of(const char *owner)
{
  cm_error error;
  cm_chip *chip;
  cm_occupancy *occupancy;
  uint32_t count = 0;
  must(cm_occupancy_open(store, "toy", &chip, &occupancy, &error), &error, "an occupancy");
  for (uint32_t core = 0; core < cm_chip_cores(chip); core++)
    count += owner == NULL ? occupancy->state[core] == CM_CORE_FREE
                           : occupancy->state[core] == CM_CORE_TAKEN &&
                                 strcmp(occupancy->owners[occupancy->owner[core]], owner) == 0;
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return count;
}

/* How many cores the lease `id` has in the occupancy. */
static uint32_t cores_of_lease(const char *lease)
{
  char owner[CM_ID_MAX + 16];
  (void)snprintf(owner, sizeof owner, "lease:%s", lease);
  return cores_of(owner);
}

static void settle_occupy(cm_status status, char *digest)
{
  static const char text[] = "{\"release\": [[0, 0, 2, 2]]}";
  cm_occupancy_change change = {.chip = "toy", .if_match = "*", .json = text, .size = sizeof text - 1};
  cm_error error;
  char *state, tag[CM_ETAG_MAX];
  bool mismatch;
  (void)digest;
  start_anew();
  expect(status, cores_of("me") == 9 && cores_of(NULL) == 55, cores_of(NULL) == 64, "an occupancy");
  if (status == CM_OK) {
    must(cm_occupancy_write(store, &change, &mismatch, &state, tag, &error), &error, "releasing cores");
    free(state);
  }
}

static cm_status lease_take(cm_error *error)
{
  cm_lease lease = {0};
  cm_lease_wish wish = {.chip = "toy", .owner = "me", .ttl = 600, .count = 5};
  cm_status status = cm_leases_create(store, &wish, &lease, error);
  if (status == CM_OK) {
    memcpy(other, lease.id, sizeof other);
    if (lease.core_count != 5 || strcmp(lease.cores, "[]") == 0)
      operation_wrong("a lease of 5 cores says that it has %llu: %s", (unsigned long long)lease.core_count, lease.cores);
  }
  cm_lease_clear(&lease);
  return status;
}

static void settle_lease_take(cm_status status, char *digest)
{
  cm_error error;
  (void)digest;
  start_anew();
  expect(status, cores_of_lease(other) == 5 && cores_of(NULL) == 59, cores_of(NULL) == 64, "a lease");
  if (status == CM_OK)
    must(cm_leases_release(store, "toy", other, &error), &error, "releasing a lease");
}

static void prepare_lease(void)
{
  cm_error error;
  ready();
  must(lease_take(&error), &error, "taking a lease");
}

static cm_status lease_keep(cm_error *error)
{
  cm_lease lease = {0};
  cm_status status = cm_leases_keep(store, "toy", other, 900, &lease, error);
  cm_lease_clear(&lease);
  return status;
}

static void settle_lease_keep(cm_status status, char *digest)
{
  cm_error error;
  cm_lease lease;
  (void)digest;
  start_anew();
  must(cm_leases_get(store, "toy", other, &lease, &error), &error, "a lease");
  expect(status, lease.ttl == 900, lease.ttl == 600, "a lease's time");
  cm_lease_clear(&lease);
  must(cm_leases_release(store, "toy", other, &error), &error, "releasing a lease");
}

static cm_status lease_release(cm_error *error)
{
  return cm_leases_release(store, "toy", other, error);
}

static void settle_lease_release(cm_status status, char *digest)
{
  cm_error error;
  (void)digest;
  start_anew();
  expect(status, cores_of(NULL) == 64, cores_of(NULL) == 59, "a released lease");
  if (status != CM_OK)
    must(cm_leases_release(store, "toy", other, &error), &error, "releasing a lease");
}

/* ---- jobs ---- */

static cm_status job_create(cm_error *error)
{
  cm_job wanted = {.kind = "map", .chip = "toy", .options = (char[]){"{}"}, .ttl = 60};
  cm_job_created result;
  memcpy(wanted.network, network_id, sizeof network_id);
  return cm_jobs_create(store, &wanted, NULL, NULL, &result, job_id, error);
}

static uint64_t jobs_in(cm_job_state state)
{
  cm_error error;
  uint64_t count[CM_JOB_STATES];
  must(cm_jobs_count(store, count, &error), &error, "counting jobs");
  return count[state];
}

static void end_all(void)
{
  cm_error error;
  cm_job_filter filter = {.state = CM_JOB_STATES, .limit = 100};
  cm_job *jobs;
  size_t count;
  must(cm_jobs_list(store, &filter, &jobs, &count, &error), &error, "listing jobs");
  for (size_t i = 0; i < count; i++) {
    cm_job_outcome outcome = {.state = CM_JOB_CANCELLED};
    bool taken;
    if (jobs[i].state == CM_JOB_QUEUED)
      must(cm_jobs_cancel(store, jobs[i].id, &error), &error, "cancelling a job");
    if (jobs[i].state == CM_JOB_RUNNING)
      must(cm_jobs_finish(store, &jobs[i], &outcome, &taken, &error), &error, "ending a job");
    must(cm_jobs_delete(store, jobs[i].id, &error), &error, "deleting a job");
    cm_job_clear(&jobs[i]);
  }
  free(jobs);
}

static void settle_job_create(cm_status status, char *digest)
{
  (void)digest;
  start_anew();
  expect(status, jobs_in(CM_JOB_QUEUED) == 1, jobs_in(CM_JOB_QUEUED) == 0, "a new job");
  end_all();
}

static void prepare_queued(void)
{
  cm_error error;
  ready();
  must(job_create(&error), &error, "queueing a job");
}

static cm_status job_claim(cm_error *error)
{
  bool found = false;
  cm_status status = cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, error);
  if (status == CM_OK && !found)
    operation_wrong("a claim finds no job where one is queued");
  return status;
}

static void settle_claim(cm_status status, char *digest)
{
  (void)digest;
  if (status == CM_OK)
    cm_job_clear(&job);
  start_anew();
  expect(status, jobs_in(CM_JOB_RUNNING) == 1, jobs_in(CM_JOB_QUEUED) == 1, "a claimed job");
  end_all();
}

static void prepare_running(void)
{
  cm_error error;
  prepare_queued();
  must(job_claim(&error), &error, "claiming a job");
}

static cm_status job_requeue(cm_error *error)
{
  return cm_jobs_requeue(store, &job, false, error);
}

static void settle_requeue(cm_status status, char *digest)
{
  (void)digest;
  start_anew();
  cm_job_clear(&job);
  expect(status, jobs_in(CM_JOB_QUEUED) == 1, jobs_in(CM_JOB_RUNNING) == 1, "a job put back");
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
  cm_status status = cm_mappings_place(store, operation_path("data/incoming/0123456789abcdef0123.job"), row.id, error);
  return status == CM_OK ? cm_jobs_finish(store, &job, &outcome, &taken, error) : status;
}

static void prepare_finish(void)
{
  cm_error error;
  prepare_running();
  must(cm_folder_make(operation_path("data/incoming/0123456789abcdef0123.job"), &error), &error, "a folder");
  operation_write(operation_path("data/incoming/0123456789abcdef0123.job/mapping.json"), "{}", 2);
}

static void settle_finish(cm_status status, char *digest)
{
  cm_error error;
  cm_mapping_row found;
  (void)digest;
  cm_job_clear(&job);
  start_anew();
  bool there = cm_mappings_get(store, row.id, &found, &error) == CM_OK;
  if (there && !is_file(operation_path("data/mappings/%s/mapping.json", row.id)))
    operation_wrong("a mapping is known whose files are not there");
  expect(status, there && jobs_in(CM_JOB_DONE) == 1, !there && jobs_in(CM_JOB_RUNNING) == 1, "a finished job");
  if (there)
    must(cm_mappings_delete(store, row.id, &error), &error, "deleting a mapping");
  must(cm_folder_remove(operation_path("data/mappings/%s", row.id), &error), &error, "removing files");
  must(cm_folder_remove(operation_path("data/incoming/0123456789abcdef0123.job"), &error), &error, "removing files");
  end_all();
}

static cm_status job_cancel(cm_error *error)
{
  return cm_jobs_cancel(store, job_id, error);
}

static void settle_cancel(cm_status status, char *digest)
{
  (void)digest;
  start_anew();
  expect(status, jobs_in(CM_JOB_CANCELLED) == 1, jobs_in(CM_JOB_QUEUED) == 1, "a cancelled job");
  end_all();
}

const operation storage_operations[] = {
  {"store first open", prepare_first_open, open_and_close, settle_open, false},
  {"store open", NULL, open_and_close, settle_open, false},
  {"store network", prepare_publish, publish, settle_publish, false},
  {"store network delete", prepare_network_delete, network_delete, settle_network_delete, false},
  {"store upload", ready, upload_create, settle_upload_create, false},
  {"store upload piece", prepare_append, append, settle_append, false},
  {"store chip", ready, chip_put, settle_chip_put, false},
  {"store occupancy", ready, occupy, settle_occupy, false},
  {"store lease", ready, lease_take, settle_lease_take, false},
  {"store lease keep", prepare_lease, lease_keep, settle_lease_keep, false},
  {"store lease release", prepare_lease, lease_release, settle_lease_release, false},
  {"store job", ready, job_create, settle_job_create, false},
  {"store job claim", prepare_queued, job_claim, settle_claim, false},
  {"store job requeue", prepare_running, job_requeue, settle_requeue, false},
  {"store job finish", prepare_finish, job_finish, settle_finish, false},
  {"store job cancel", prepare_queued, job_cancel, settle_cancel, false},
  {NULL, NULL, NULL, NULL, false},
};
