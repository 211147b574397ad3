/* What a job made is put in its place, under a new id. What can fail: reading its result, room on the disk. */
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "daemon/refusal.h"
#include "daemon/running.h"

enum { SUMMARY_MAX = 64 << 20 };

static uint64_t folder_bytes(const char *folder)
{
  uint64_t bytes = 0;
  DIR *listing = opendir(folder);
  struct dirent *item;
  while (listing != NULL && (item = readdir(listing)) != NULL) {
    struct stat about;
    if (fstatat(dirfd(listing), item->d_name, &about, 0) == 0 && S_ISREG(about.st_mode))
      bytes += (uint64_t)about.st_size;
  }
  if (listing != NULL)
    closedir(listing);
  return bytes;
}

/* Puts what the job made in its place under a new id, and notes it in r->row. */
static cm_status place(cm_running *r, cm_error *error)
{
  char made[CM_PATH_MAX];
  CM_TRY(cm_path(made, error, "%s/" CM_WORK_MADE, r->out));
  cm_store_id(r->row.id);
  (void)snprintf(r->row.kind, sizeof r->row.kind, "%s", cm_job_makes(r->job.kind)->row);
  r->row.owner = r->job.owner;
  memcpy(r->row.network, r->job.network, sizeof r->row.network);
  memcpy(r->row.chip, r->job.chip, sizeof r->row.chip);
  memcpy(r->row.job, r->job.id, sizeof r->row.job);
  memcpy(r->row.fingerprint, r->fingerprint, sizeof r->row.fingerprint);
  r->row.created = cm_store_time();
  CM_TRY(cm_pack_folder(made, &r->pack, error));
  r->row.bytes = r->pack.bytes != NULL ? r->pack.size : folder_bytes(made);
  if (r->pack.bytes != NULL)
    return CM_OK;
  return cm_mappings_place(r->store, made, r->row.id, error);
}

char *cm_running_report(const char *path)
{
  cm_error ignored;
  char *text = NULL;
  size_t size;
  json_t *summary = cm_file_read(path, SUMMARY_MAX, &text, &size, &ignored) == CM_OK ? cm_json_loadb(text, size, 0, NULL) : NULL;
  json_t *report = json_pack("{s:O*, s:O*, s:O*}", "metrics", json_object_get(summary, "metrics"), "bound", json_object_get(summary, "bound"), "mapper",
                             json_object_get(summary, "report"));
  free(text);
  text = report != NULL ? cm_json_dumps(report, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(report);
  json_decref(summary);
  return text;
}

/* Puts the other mappings of a Pareto set in their places. */
static cm_status place_points(cm_running *r, cm_error *error)
{
  for (int64_t number = 1; number <= CM_JOB_POINTS_MAX; number++) {
    char folder[CM_PATH_MAX], summary[CM_PATH_MAX];
    CM_TRY(cm_path(folder, error, "%s/" CM_WORK_POINTS "/%lld", r->out, (long long)number));
    CM_TRY(cm_path(summary, error, "%s/summary.json", folder));
    if (access(folder, F_OK) != 0)
      continue;
    cm_job_point *point = &r->points[r->point_count];
    cm_pack *pack = &r->point_packs[r->point_count];
    *point = (cm_job_point){.mapping = r->row, .number = number, .report = r->point_reports[r->point_count] = cm_running_report(summary)};
    cm_store_id(point->mapping.id);
    point->mapping.fingerprint[0] = '\0';
    CM_TRY(cm_pack_folder(folder, pack, error));
    point->pack = pack->bytes != NULL ? pack : NULL;
    point->mapping.bytes = pack->bytes != NULL ? pack->size : folder_bytes(folder);
    r->point_count++;
    CM_TRY_IF(pack->bytes == NULL, cm_mappings_place(r->store, folder, point->mapping.id, error));
  }
  return CM_OK;
}

/* Levels that the job has coarsened, also one that then failed, serve the next. */
static void adopt_levels(cm_running *r)
{
  char path[CM_PATH_MAX];
  cm_error ignored;
  if (cm_path(path, &ignored, "%s/" CM_WORK_LEVELS_MADE, r->out) == CM_OK)
    library_levels_adopt(r->store->cache, path);
}

/* The bytes that a job held at most, as its phases say. */
static double peak_of(const cm_work_result *result)
{
  const json_t *phase;
  size_t i;
  double peak = 0;
  json_array_foreach(json_object_get(result->json, "phases"), i, phase)
    peak = fmax(peak, json_number_value(json_object_get(phase, "peak_bytes")));
  return peak;
}

/* What was carried over from the levels of another network. */
static void log_carried(const cm_running *r)
{
  const json_t *attempt;
  size_t i;
  double carried = 0, matched = 0;
  json_array_foreach(json_object_get(json_object_get(r->result.json, "report"), "attempts"), i, attempt) {
    carried += json_number_value(json_object_get(attempt, "pairs_carried"));
    matched += json_number_value(json_object_get(attempt, "pairs_matched"));
  }
  if (carried + matched > 0)
    cm_event_bus_log(r->store->bus, r->job.id, "levels: %.0f of %.0f pairs carried over, %.0f matched anew", carried, carried + matched, matched);
}

cm_status cm_running_take(cm_running *r, cm_error *error)
{
  const cm_executor *executor = r->submission->executor;
  cm_status status = executor->judge(r->submission, &r->job.cpu_seconds, error);
  if (status == CM_OK && executor->outside && !r->remote)
    adopt_levels(r);
  if (status != CM_OK || cm_work_result_read(r->out, &r->result, error) != CM_OK)
    return error->status;
  r->job.bytes = peak_of(&r->result);
  library_levels_saved(r->store->cache, json_number_value(json_object_get(json_object_get(r->result.json, "report"), "saved_seconds")));
  log_carried(r);
  if (r->result.status == CM_OK)
    return library_job_kind_of(r->job.kind)->result == LIBRARY_RESULT_NONE || json_is_true(json_object_get(r->result.json, "beaten")) || place(r, error) == CM_OK
             ? place_points(r, error)
             : error->status;
  *error = r->result.why;
  cm_refusal_name_chips(r->store, &r->job, error);
  return error->status;
}
