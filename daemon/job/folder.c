/* The files of a job folder that both sides read and write: job.json and result.json. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/job/work.h"
#include "base/hold.h"
#include "base/json.h"

/* Names of figures and limits that the core has: some twenty. */
enum { NAMES_MAX = 256, JOB_BYTES_MAX = 1 << 24, RESULT_BYTES_MAX = 1 << 28 };

cm_status cm_work_write(const json_t *json, const char *path, size_t flags, cm_error *error)
{
  errno = 0;
  FILE *stream = fopen(path, "we");
  bool written = stream != NULL && cm_json_dumpf(json, stream, flags) == 0;
  int failed = written ? 0 : errno;
  if (stream != NULL && fclose(stream) != 0 && written) {
    written = false;
    failed = errno;
  }
  return written ? CM_OK : cm_fail_errno(error, failed != 0 ? failed : ENOSPC, "cannot write", path);
}

cm_status cm_work_describe(const char *folder, const cm_work_job *job, cm_error *error)
{
  char path[CM_PATH_MAX];
  json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:O?, s:O*, s:b, s:I, s:I, s:f, s:I}", "format", "coremapd job 1",
                           "program", job->program, "kind", job->kind, "network", job->network, "levels", job->levels, "levels_before", job->levels_before, "options", job->options, "rivals", job->rivals, "region", job->region,
                           "threads", (json_int_t)job->threads, "memory_limit", (json_int_t)job->memory_limit,
                           "time_limit", job->time_limit, "file_limit", (json_int_t)job->file_limit);
  CM_TRY(cm_whole(json != NULL, "describing the job", error));
  cm_status status = cm_path(path, error, "%s/" CM_WORK_JOB, folder);
  CM_THEN(status, cm_work_write(json, path, JSON_INDENT(1) | JSON_REAL_PRECISION(17), error));
  json_decref(json);
  return status;
}

static cm_status read_json(const char *folder, const char *name, size_t maximum, json_t **json, cm_error *error)
{
  char path[CM_PATH_MAX], *text;
  size_t size;
  CM_TRY(cm_path(path, error, "%s/%s", folder, name));
  CM_TRY(cm_file_read(path, maximum, &text, &size, error));
  uint64_t refusals = cm_json_refusals();
  *json = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  free(text);
  if (*json == NULL && cm_json_whole(refusals, path, error) != CM_OK)
    return error->status;
  return *json != NULL ? CM_OK : cm_fail(error, CM_DAMAGED, "%s is no JSON", path);
}

static void copy(char *into, size_t size, const char *text)
{
  (void)snprintf(into, size, "%s", text);
}

/* What `refusals` says of a file that did not read as one of this format: memory was short, or it is none. */
static cm_status not_read(const char *folder, const char *name, const char *format, uint64_t refusals, cm_error *error)
{
  CM_TRY(cm_json_whole(refusals, name, error));
  return cm_fail(error, CM_DAMAGED, "%s/%s is not a \"%s\"", folder, name, format);
}

cm_status cm_work_read(const char *folder, cm_work_job *job, cm_error *error)
{
  json_t *json, *options = NULL, *rivals = NULL;
  const char *format, *kind, *network, *levels = "", *levels_before = "", *program = "";
  int region;
  json_int_t threads, memory, file;
  cm_work_job made = {0};
  CM_TRY(read_json(folder, CM_WORK_JOB, JOB_BYTES_MAX, &json, error));
  const uint64_t refusals = cm_json_refusals(); /* jansson looks members up in memory of its own */
  if (json_unpack(json, "{s:s, s?s, s:s, s:s, s?s, s?s, s:o, s?o, s:b, s:I, s:I, s:F, s:I}", "format", &format, "program", &program, "kind", &kind, "network",
                  &network, "levels", &levels, "levels_before", &levels_before, "options", &options, "rivals", &rivals, "region", &region, "threads", &threads, "memory_limit", &memory,
                  "time_limit", &made.time_limit, "file_limit", &file) != 0 ||
      strcmp(format, "coremapd job 1") != 0 || threads < 1 || threads > UINT16_MAX || memory < 0 || file < 0) {
    json_decref(json);
    return not_read(folder, CM_WORK_JOB, "coremapd job 1", refusals, error);
  }
  copy(made.program, sizeof made.program, program);
  copy(made.kind, sizeof made.kind, kind);
  copy(made.network, sizeof made.network, network);
  copy(made.levels, sizeof made.levels, levels);
  copy(made.levels_before, sizeof made.levels_before, levels_before);
  made.options = json_is_null(options) ? NULL : json_incref(options);
  made.rivals = json_incref(rivals);
  made.region = region != 0;
  made.threads = (unsigned)threads;
  made.memory_limit = (uint64_t)memory;
  made.file_limit = (uint64_t)file;
  json_decref(json);
  *job = made;
  return CM_OK;
}

void cm_work_job_clear(cm_work_job *job)
{
  json_decref(job->options);
  json_decref(job->rivals);
  job->options = job->rivals = NULL;
}

cm_status cm_work_out(const char *folder, int attempt, char out[CM_PATH_MAX], cm_error *error)
{
  return cm_path(out, error, "%s/out.%d", folder, attempt);
}

cm_status cm_work_begin(const char *folder, int attempt, char out[CM_PATH_MAX], cm_error *error)
{
  CM_TRY(cm_work_out(folder, attempt, out, error));
  if (mkdir(out, 0777) == 0)
    return CM_OK;
  return errno == EEXIST ? cm_fail(error, CM_CONFLICT, "attempt %d at the job folder %s has begun already: another run has it, or had", attempt, folder)
                         : cm_fail_errno(error, errno, "cannot create", out);
}

/* ---- the result ---- */

static bool status_of(const char *code, cm_status *status)
{
  for (cm_status s = CM_BAD_NETWORK; s <= CM_INTERNAL; s++)
    if (strcmp(code, cm_status_code(s)) == 0) {
      *status = s;
      return true;
    }
  *status = CM_OK;
  return strcmp(code, "ok") == 0;
}

void cm_work_say(int file, const cm_error *error)
{
  char line[CM_WORK_SAID_MAX];
  int length = snprintf(line, sizeof line, "%s %d %s\n", cm_status_code(error->status), error->cause, error->detail);
  ssize_t written = length > 0 && (size_t)length < sizeof line ? write(file, line, (size_t)length) : -1;
  (void)written;
}

bool cm_work_heard(const char *said, cm_error *error)
{
  char code[32];
  int cause, at = 0;
  cm_status status;
  if (sscanf(said, "%31s %d %n", code, &cause, &at) != 2 || at == 0 || !status_of(code, &status) || status == CM_OK)
    return false;
  (void)cm_fail(error, status, "%s", said + at);
  error->cause = cause;
  return true;
}

/* A text as one that stays: the names in errors are never freed. NULL when there have been too many. */
static const char *lasting(const char *name)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char *names[NAMES_MAX];
  size_t i = 0;
  CM_HOLD(&lock);
  while (i < NAMES_MAX && names[i] != NULL && strcmp(names[i], name) != 0)
    i++;
  return i == NAMES_MAX ? NULL : names[i] != NULL ? names[i] : (names[i] = strdup(name));
}

static bool read_problem(cm_work_result *result)
{
  json_t *problem = json_object_get(result->json, "problem"), *figures = NULL, *value;
  const char *detail, *where, *limit_name = NULL, *name;
  int cause;
  if (json_unpack(problem, "{s:s, s:s, s?s, s:i, s:o}", "detail", &detail, "where", &where, "limit_name", &limit_name,
                  "cause", &cause, "figures", &figures) != 0)
    return false;
  (void)cm_fail(&result->why, result->status, "%s", detail);
  if (where[0] != '\0')
    (void)cm_fail_at(&result->why, "%s", where);
  result->why.cause = cause;
  result->why.limit_name = limit_name != NULL ? lasting(limit_name) : NULL;
  json_object_foreach(figures, name, value) {
    const char *kept = lasting(name);
    if (kept != NULL)
      cm_error_figure(&result->why, kept, (uint64_t)json_integer_value(value));
  }
  return true;
}

cm_status cm_work_result_read(const char *out, cm_work_result *result, cm_error *error)
{
  cm_work_result made = {0};
  const char *format, *code;
  cm_status status = read_json(out, CM_WORK_RESULT, RESULT_BYTES_MAX, &made.json, error);
  if (status == CM_NOT_FOUND)
    return cm_fail(error, CM_DAMAGED, "the job has ended without a result");
  CM_TRY(status);
  const uint64_t refusals = cm_json_refusals();
  if (json_unpack(made.json, "{s:s, s:s}", "format", &format, "status", &code) != 0 ||
      strcmp(format, "coremapd result 1") != 0 || !status_of(code, &made.status) ||
      (made.status != CM_OK && !read_problem(&made))) {
    json_decref(made.json);
    return not_read(out, CM_WORK_RESULT, "coremapd result 1", refusals, error);
  }
  *result = made;
  return CM_OK;
}

void cm_work_result_clear(cm_work_result *result)
{
  json_decref(result->json);
  result->json = NULL;
}
