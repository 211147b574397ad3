/* What a job needs of the server goes into its folder: the network, the chip and its occupancy, the mapping to start from.
 * An identical job that runs makes it wait, and one that is done gives it its mapping. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "daemon/running.h"
#include "daemon/slurm/cluster.h"
#include "library/private/base.h"
#include "storage/leases.h"
#include "storage/networks.h"
#include "storage/occupancy.h"
#include "storage/sweep_jobs.h"
#include "storage/uploads.h"

typedef struct preparing {
  cm_running *r;
  json_t *options; /* all of them, as they are where they are not given */
  char *shaping;   /* those that can change the result */
  coremap_chip *chip;
} preparing;

/* The name by which coarsened levels of a network are shared: among jobs that the same people see, for what is in the cache shows in how
 * long a job takes. */
static void name_levels(const cm_running *r, const char *network, char levels[CM_SHA_MAX])
{
  char text[CM_SHA_MAX + CM_USER_MAX + 32], domain[CM_USER_MAX + 16];
  cm_owner_domain(&r->job.owner, domain);
  (void)snprintf(text, sizeof text, "%s %s", network, domain);
  if (domain[0] == '\0')
    (void)snprintf(levels, CM_SHA_MAX, "%s", network);
  else
    cm_store_sha256(text, strlen(text), levels);
}

/* What the network's bytes are called, and its levels. */
static cm_status identify_network(cm_running *r, cm_error *error)
{
  cm_network network;
  if (r->job.network[0] == '\0')
    return CM_OK;
  CM_TRY(cm_networks_get(r->store, r->job.network, &network, error));
  memcpy(r->work.network, network.sha256, sizeof r->work.network);
  name_levels(r, r->job.network, r->work.levels);
  return CM_OK;
}

/* Keeps what a job asks for within what the server allows. */
static void bound(cm_running *r, unsigned threads, uint64_t memory_limit, double time_limit)
{
  uint64_t most = r->options.memory_limit;
  /* Short jobs run beside each other: each has its part of the processors. */
  const unsigned beside = r->job.lane == CM_LANE_OF_SHORT && r->options.short_workers > 1 ? r->options.short_workers : 1;
  const unsigned share = r->options.threads > beside ? r->options.threads / beside : 1;
  r->work.threads = threads > 0 && threads < share ? threads : share;
  r->work.memory_limit = most != 0 && (memory_limit == 0 || memory_limit > most) ? most : memory_limit;
  r->work.time_limit = time_limit;
}

/* A number among the options; 0: there is none. */
static double number_of(const preparing *p, const char *name)
{
  return json_number_value(json_object_get(p->options, name));
}

/* A text among the options; "": there is none. */
static const char *text_of(const preparing *p, const char *name)
{
  const char *text = json_string_value(json_object_get(p->options, name));
  return text != NULL ? text : "";
}

/* Names of the version before, which a job may have that was queued then. */
static cm_status rename_options(preparing *p, cm_error *error)
{
  const json_t *sentence;
  size_t i;
  json_t *told = json_array();
  cm_status status = library_options_rename(p->r->job.kind, p->r->work.options, told, error);
  json_array_foreach(status == CM_OK ? told : NULL, i, sentence)
    cm_event_bus_log(p->r->store->bus, p->r->job.id, "warning: %s", json_string_value(sentence));
  json_decref(told);
  return status;
}

static cm_status read_options(preparing *p, cm_error *error)
{
  CM_TRY(rename_options(p, error));
  coremap_error *why = NULL;
  char *all = NULL, *given = NULL;
  if (p->r->work.options != NULL &&
      cm_json_text(json_incref(p->r->work.options), JSON_COMPACT, "the job's options", &given, error) != CM_OK)
    return error->status;
  cm_status status = library_status(coremap_options_read(p->r->job.kind, given, &all, &p->shaping, &why), &why, error);
  free(given);
  CM_TRY(status);
  CM_TRY(cm_whole((p->options = library_json(all)) != NULL, "the job's options", error));
  if (text_of(p, "levels_from")[0] != '\0')
    name_levels(p->r, text_of(p, "levels_from"), p->r->work.levels_before);
  bound(p->r, (unsigned)number_of(p, "threads"), (uint64_t)json_integer_value(json_object_get(p->options, "memory_limit")),
        number_of(p, "time_limit"));
  return CM_OK;
}

/* A digest of all that shapes the result: network, chip, occupancy and the options that matter; and of who sees the job, so
 * that nobody is told by a result of what others do. */
static cm_status make_fingerprint(preparing *p, cm_error *error)
{
  char *chip = NULL, *occupancy = NULL, *all = NULL;
  char domain[CM_USER_MAX + 16];
  cm_owner_domain(&p->r->job.owner, domain);
  cm_status status = library_chip_print(p->chip, &chip, error);
  CM_THEN(status, library_cores_print(p->chip, &occupancy, error));
  if (status == CM_OK && asprintf(&all, "%s\n%s\n%s\n%s%s%s", p->r->job.network, chip, occupancy, p->shaping,
                                  domain[0] != '\0' ? "\n" : "", domain) < 0) {
    all = NULL;
    status = cm_whole(false, "the job", error);
  }
  if (status == CM_OK)
    cm_store_sha256(all, strlen(all), p->r->fingerprint);
  free(chip);
  free(occupancy);
  free(all);
  return status;
}

/* Looks for an identical job that is running (r->deferred) or done (r->reused). */
static cm_status look_for_twin(preparing *p, cm_error *error)
{
  cm_running *r = p->r;
  cm_mapping_row found;
  if (r->job.reserve)
    return CM_OK;
  CM_TRY(make_fingerprint(p, error));
  CM_TRY(cm_jobs_identify(r->store, &r->job, r->fingerprint, &r->deferred, error));
  if (r->deferred)
    return CM_OK;
  cm_status status = cm_mappings_find(r->store, r->fingerprint, &found, error);
  if (status == CM_OK) {
    memcpy(r->reused, found.id, sizeof r->reused);
    cm_event_bus_log(r->store->bus, r->job.id, "reusing mapping %s of an identical job", found.id);
  }
  return status == CM_NOT_FOUND ? CM_OK : status;
}

static bool is_same(const char *owner, const void *other)
{
  return strcmp(owner, other) == 0;
}

/* Cores that the lease of a job's mapping holds are free to a job that starts from it and takes none itself. */
static cm_status free_own_cores(preparing *p, const char *job, cm_error *error)
{
  cm_running *r = p->r;
  cm_lease *leases;
  size_t count;
  if (r->job.reserve)
    return CM_OK;
  CM_TRY(cm_leases_list(r->store, r->job.chip, NULL, &leases, &count, error));
  for (size_t i = 0; i < count; i++) {
    char owner[CM_ID_MAX + 8];
    (void)snprintf(owner, sizeof owner, "lease:%s", leases[i].id);
    if (strcmp(leases[i].job, job) == 0)
      library_cores_release(p->chip, is_same, owner);
    cm_lease_clear(&leases[i]);
  }
  free(leases);
  return CM_OK;
}

/* ---- the folder ---- */

cm_status cm_running_place(cm_running *r, cm_error *error)
{
  r->remote = r->job.lane == CM_LANE_OF_CLUSTER && cm_cluster_shared() != NULL;
  if ((r->remote ? cm_path(r->folder, error, "%s/%s.job", cm_cluster_shared(), r->job.folder)
                 : cm_path(r->folder, error, "%s/incoming/%s.job", r->store->folder, r->job.folder)) != CM_OK)
    return error->status;
  return cm_work_out(r->folder, r->job.attempt, r->out, error);
}

static cm_status make_folders(cm_running *r, cm_error *error)
{
  char path[CM_PATH_MAX];
  CM_TRY(cm_running_place(r, error));
  CM_TRY(cm_path(path, error, "%s/in", r->folder));
  return cm_folder_make(path, error);
}

static cm_status put_file(const cm_running *r, const char *from, const char *name, cm_error *error)
{
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/%s", r->folder, name));
  return r->remote && cm_cluster_is_foreign() ? cm_file_copy(from, path, 0640, error) : cm_file_take(from, path, error);
}

static cm_status put_text(const cm_running *r, const char *text, const char *name, cm_error *error)
{
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/%s", r->folder, name));
  FILE *stream = fopen(path, "wbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot create", path);
  errno = 0;
  bool written = fputs(text, stream) >= 0;
  written = fclose(stream) == 0 && written;
  return written ? CM_OK : cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", path);
}

static cm_status put_chip(const preparing *p, cm_error *error)
{
  char *text;
  if (p->chip == NULL)
    return CM_OK;
  CM_TRY(library_chip_print(p->chip, &text, error));
  cm_status status = put_text(p->r, text, CM_WORK_CHIP, error);
  free(text);
  if (status != CM_OK || library_cores_print(p->chip, &text, error) != CM_OK)
    return error->status;
  status = put_text(p->r, text, CM_WORK_OCCUPANCY, error);
  free(text);
  return status;
}

static cm_status put_network(cm_running *r, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (r->job.network[0] == '\0')
    return CM_OK;
  CM_TRY(cm_networks_path(r->store, r->job.network, path, error));
  return put_file(r, path, CM_WORK_NETWORK, error);
}

/* The levels and partitions of this network that are kept, for an executor that cannot see the cache. */
static cm_status put_levels(const preparing *p, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (!p->r->options.executor->outside || p->r->remote)
    return CM_OK;
  CM_TRY(cm_path(path, error, "%s/" CM_WORK_LEVELS, p->r->folder));
  CM_TRY(library_levels_lend(p->r->store->cache, p->r->work.levels, path, error));
  return p->r->work.levels_before[0] != '\0' ? library_levels_lend(p->r->store->cache, p->r->work.levels_before, path, error) : CM_OK;
}

/* The network whose levels are carried over. */
static cm_status put_before(const preparing *p, cm_error *error)
{
  const char *id = text_of(p, "levels_from");
  char path[CM_PATH_MAX];
  cm_network before;
  if (id[0] == '\0')
    return CM_OK;
  cm_status status = cm_networks_get(p->r->store, id, &before, error);
  if (status == CM_NOT_FOUND)
    return cm_fail(error, CM_NOT_FOUND, "network %s, whose levels were to be carried over (levels_from), is gone: upload it again, or leave the option out", id);
  if (status != CM_OK || cm_networks_path(p->r->store, id, path, error) != CM_OK)
    return error->status;
  return put_file(p->r, path, CM_WORK_BEFORE, error);
}

/* The mapping to start from, or whose packets are to move. */
static cm_status put_old_mapping(preparing *p, cm_error *error)
{
  const library_job_kind *kind = library_job_kind_of(p->r->job.kind);
  const char *from = kind->mapping != NULL ? text_of(p, kind->mapping) : "";
  char path[CM_PATH_MAX];
  cm_mapping_row old;
  if (from[0] == '\0')
    return CM_OK;
  if (cm_mappings_get(p->r->store, from, &old, error) != CM_OK ||
      (kind->leases && free_own_cores(p, old.job, error) != CM_OK) ||
      cm_path(path, error, "%s/%s", p->r->folder, CM_WORK_FROM) != CM_OK)
    return error->status;
  return cm_mappings_lend(p->r->store, from, "mapping.json", path, error);
}

/* The upload that an option names, if one does. Its time is new: uploads that nobody uses go after a while. */
static cm_status put_upload(const preparing *p, cm_error *error)
{
  const char *option = library_job_kind_of(p->r->job.kind)->upload;
  const char *id = option != NULL ? json_string_value(json_object_get(json_object_get(p->options, option), "upload")) : NULL;
  char path[CM_PATH_MAX];
  cm_upload upload;
  if (id == NULL)
    return CM_OK;
  cm_status status = cm_uploads_get(p->r->store, id, &upload, error);
  if (status == CM_NOT_FOUND)
    return cm_fail(error, CM_NOT_FOUND, "upload %s, the job's %s, is gone: send it again", id, option);
  if (status != CM_OK || cm_uploads_path(p->r->store, id, path, error) != CM_OK)
    return error->status;
  (void)utimensat(AT_FDCWD, path, NULL, 0);
  return put_file(p->r, path, CM_WORK_UPLOAD, error);
}

/* Lets the folder's group, whose runs are, read what is in it and add to it. */
static cm_status open_to_group(const cm_running *r, cm_error *error)
{
  static const char *const files[] = {CM_WORK_JOB, CM_WORK_NETWORK, CM_WORK_CHIP, CM_WORK_OCCUPANCY, CM_WORK_FROM, CM_WORK_BEFORE, CM_WORK_UPLOAD};
  char path[CM_PATH_MAX];
  if (!r->remote || !cm_cluster_is_foreign())
    return CM_OK;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (cm_path(path, error, "%s/%s", r->folder, files[i]) != CM_OK || (chmod(path, 0640) != 0 && errno != ENOENT))
      return cm_fail_errno(error, errno, "cannot open to the cluster", path);
  CM_TRY(cm_path(path, error, "%s/in", r->folder));
  return chmod(path, 02750) == 0 && chmod(r->folder, 02770) == 0 ? CM_OK : cm_fail_errno(error, errno, "cannot open to the cluster", r->folder);
}

static cm_status prepare(preparing *p, cm_error *error)
{
  cm_running *r = p->r;
  if (identify_network(r, error) != CM_OK || read_options(p, error) != CM_OK ||
      (r->job.chip[0] != '\0' &&
       cm_occupancy_open(r->store, r->job.chip, &p->chip, error) != CM_OK) ||
      (library_job_kind_of(r->job.kind)->shared && look_for_twin(p, error) != CM_OK))
    return error->status;
  if (r->deferred || r->reused[0] != '\0')
    return CM_OK;
  if (cm_sweep_rivals(r->store, r->job.id, &r->work.rivals, error) != CM_OK || make_folders(r, error) != CM_OK || put_network(r, error) != CM_OK || put_old_mapping(p, error) != CM_OK ||
      put_before(p, error) != CM_OK || put_upload(p, error) != CM_OK || put_chip(p, error) != CM_OK || put_levels(p, error) != CM_OK)
    return error->status;
  return cm_work_describe(r->folder, &r->work, error) == CM_OK ? open_to_group(r, error) : error->status;
}

/* No file of a job takes the disk's last bytes. */
static uint64_t largest_file(const cm_running *r)
{
  const uint64_t least = UINT64_C(64) << 20;
  uint64_t free_bytes = cm_store_free_bytes(r->store), reserve = r->options.disk_reserve;
  return free_bytes > reserve + least ? free_bytes - reserve : least;
}

cm_status cm_running_prepare(cm_running *r, cm_error *error)
{
  preparing p = {.r = r};
  (void)snprintf(r->work.kind, sizeof r->work.kind, "%s", r->job.kind);
  r->work.region = r->job.reserve;
  uint64_t refusals = cm_json_refusals();
  r->work.options = cm_json_loadb(r->job.options, strlen(r->job.options), 0, NULL);
  r->work.file_limit = largest_file(r);
  cm_status status = cm_work_program(r->work.program, error);
  CM_THEN(status, prepare(&p, error));
  if (status == CM_OK)
    status = cm_json_whole(refusals, "the job's options", error); /* without them it would be another job */
  coremap_chip_free(p.chip);
  json_decref(p.options);
  coremap_text_free(p.shaping);
  return status;
}
