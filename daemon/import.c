#include "daemon/import.h"

#include <errno.h>
#include <unistd.h>

#include "base/json.h"

enum { FIRST = 1 }; /* the only attempt at an upload */

/* Nobody watches an upload being read. */
static void ignore_progress(CM_UNUSED void *user, CM_UNUSED const char *phase, CM_UNUSED const char *progress,
                            CM_UNUSED const char *phases)
{
}

static void ignore_log(CM_UNUSED void *user, CM_UNUSED const char *line)
{
}

/* Of an attempt at an upload. */
typedef struct folders {
  char job[CM_PATH_MAX], out[CM_PATH_MAX];
} folders;

static cm_status take_in(const char *path, const char *to, cm_error *error)
{
  return link(path, to) == 0 ? CM_OK : cm_fail_errno(error, errno, "cannot take into the job folder", path);
}

static cm_status make_folder(cm_store *store, unsigned threads, const cm_network_source *source, const cm_network *network, folders *made,
                             cm_error *error)
{
  char id[CM_ID_MAX], inner[CM_PATH_MAX], *folder = made->job;
  const cm_network_table *table = source->table;
  cm_work_job job = {.kind = "import", .threads = threads, .memory_limit = source->memory_limit,
                     .file_limit = cm_store_free_bytes(store)};
  cm_store_id(id);
  CM_TRY(cm_path(folder, error, "%s/incoming/%s.job", store->folder, id));
  CM_TRY(cm_path(inner, error, "%s/in", folder));
  CM_TRY(cm_folder_make(inner, error));
  CM_TRY(cm_work_out(folder, FIRST, made->out, error));
  CM_TRY(cm_path(inner, error, "%s/" CM_WORK_NETWORK, folder));
  CM_TRY(take_in(source->path, inner, error));
  CM_TRY_IF(table != NULL, cm_path(inner, error, "%s/in/%s", folder, table->option));
  CM_TRY_IF(table != NULL, take_in(table->path, inner, error));
  uint64_t refusals = cm_json_refusals();
  job.options = json_pack("{s:s, s:s}", "format", network->format, "name", network->name);
  if (network->read_as[0] != '\0')
    (void)json_object_set_new(job.options, "read", cm_json_loadb(network->read_as, strlen(network->read_as), 0, NULL));
  cm_status status = cm_json_whole(refusals, "how an upload is to be read", error);
  CM_THEN(status, cm_work_describe(folder, &job, error));
  cm_work_job_clear(&job);
  return status;
}

/* A number, 0 where there is none. */
static uint64_t number(const json_t *told, const char *name)
{
  json_int_t value = json_integer_value(json_object_get(told, name));
  return value > 0 ? (uint64_t)value : 0;
}

/* What was understood of the file, as JSON; "" where that is more than is kept. */
static void take_reading(const json_t *told, cm_network *network)
{
  json_t *reading = json_object_get(told, "reading");
  char *text = reading != NULL ? cm_json_dumps(reading, JSON_COMPACT) : NULL;
  (void)snprintf(network->reading, sizeof network->reading, "%s", text != NULL && strlen(text) < sizeof network->reading ? text : "");
  free(text);
}

static cm_status take(const folders *at, const cm_work_result *result, const char *made, cm_network *network, cm_error *error)
{
  const json_t *told = json_object_get(result->json, "import");
  const char *format = json_string_value(json_object_get(told, "format"));
  char path[CM_PATH_MAX];
  if (format == NULL)
    return cm_fail(error, CM_DAMAGED, "reading the file ended without a description of it");
  /* A model stays as it came, a topology has been written anew. */
  bool model = strcmp(format, "onnx") == 0;
  CM_TRY(cm_path(path, error, "%s/%s", model ? at->job : at->out, model ? CM_WORK_NETWORK : CM_WORK_MADE));
  if (rename(path, made) != 0)
    return cm_fail_errno(error, errno, "cannot rename", path);
  (void)snprintf(network->format, sizeof network->format, "%s", format);
  network->gzipped = json_is_true(json_object_get(told, "gzipped"));
  network->directed = json_is_true(json_object_get(told, "directed"));
  network->named = json_is_true(json_object_get(told, "labels"));
  network->plain_bytes = model ? network->bytes : number(told, "plain_bytes");
  network->neurons = number(told, "neurons");
  network->hyperedges = number(told, "hyperedges");
  network->synapses = number(told, "synapses");
  network->operators = number(told, "operators");
  network->duplicates = number(told, "duplicates");
  network->self_loops = number(told, "self_loops");
  network->empty_nets = number(told, "empty_nets");
  network->zeros = number(told, "zeros");
  network->inputs = number(told, "inputs");
  network->inhibitory = number(told, "inhibitory");
  network->populations = number(told, "populations");
  take_reading(told, network);
  network->delays = json_is_true(json_object_get(told, "delays"));
  return CM_OK;
}

cm_status cm_import_upload_file(cm_store *store, const cm_import_options *options, const cm_network_source *source, cm_network *network,
                                cm_error *error)
{
  folders at;
  cm_work_result result = {0};
  cm_error ignored;
  cm_work_watch watch = {.progress = ignore_progress, .log = ignore_log, .cancel = source->cancel};
  cm_execution execution = {.folder = at.job,
                            .out = at.out,
                            .attempt = FIRST,
                            .began = cm_now(),
                            .memory_limit = source->memory_limit,
                            .threads = options->threads,
                            .disk_limit = cm_store_free_bytes(store),
                            .watch = &watch};
  cm_status status = make_folder(store, options->threads, source, network, &at, error);
  CM_THEN(status, cm_executor_run(options->executor, &execution, error));
  CM_THEN(status, cm_work_result_read(at.out, &result, error));
  if (status == CM_OK && result.status != CM_OK) {
    *error = result.why;
    status = error->status;
  }
  CM_THEN(status, take(&at, &result, source->made, network, error));
  cm_work_result_clear(&result);
  (void)cm_folder_remove(at.job, &ignored);
  return status;
}
