/* coremapd --work FOLDER ATTEMPT: one job in a process of its own. Happy path: read job.json, confine, work, write the
 * result, exit.
 * What can fail: anything; whoever started this process tells from its end and from what stands in out.ATTEMPT. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/hold.h"
#include "base/json.h"
#include "base/confine.h"
#include "daemon/job/work.h"
#include "library/private/base.h"
#include "library/private/levels.h"

static atomic_bool cancelled;

static void on_signal(CM_UNUSED int number)
{
  atomic_store(&cancelled, true);
}

static void tell(void *user, json_t *object)
{
  const int *file = user;
  char *text = object != NULL ? cm_json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  size_t length = text != NULL ? strlen(text) : 0;
  if (text != NULL) {
    text[length] = '\n'; /* in place of the NUL: a line is one write */
    ssize_t written = write(*file, text, length + 1);
    if (written == (ssize_t)length + 1)
      written = write(STDOUT_FILENO, "\n", 1);
    (void)written; /* lost: the next one tells the same */
  }
  free(text);
}

static void on_progress(void *user, const char *phase, const char *progress, const char *phases)
{
  tell(user, json_pack("{s:s, s:s, s:s}", "phase", phase, "progress", progress, "phases", phases));
}

static void on_log(void *user, const char *line)
{
  tell(user, json_pack("{s:s}", "log", line));
}

static void claim_signals(void)
{
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  (void)sigaction(SIGTERM, &action, NULL);
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGXFSZ, SIG_IGN); /* the write fails instead, and the job with a sentence */
}

static int fail(const cm_error *error)
{
  (void)fprintf(stderr, "coremapd --work: %s\n", error->detail);
  cm_work_say(STDOUT_FILENO, error);
  return EXIT_FAILURE;
}

cm_status cm_work_program(char program[65], cm_error *error)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char found[65];
  uint64_t bytes;
  CM_HOLD(&lock);
  const cm_status status = found[0] != '\0' ? CM_OK : cm_file_hash("/proc/self/exe", found, &bytes, error);
  memcpy(program, found, sizeof found);
  return status;
}

/* Another build would make other bytes, or read the folder in another way. */
static cm_status check_program(const char *wanted, cm_error *error)
{
  char ours[65];
  CM_TRY(cm_work_program(ours, error));
  if (strcmp(wanted, ours) == 0)
    return CM_OK;
  return cm_fail(error, CM_CONFLICT, "the job folder is for another build of coremapd: the SHA-256 of its program is %.12s..., of this one %.12s...; "
                 "run the one that the server runs", wanted, ours);
}

int cm_work_main(const char *folder, int attempt, bool forked)
{
  /* CPU time over all threads beyond what the time limit can have asked for: something spins. */
  const double cpu_slack_seconds = 10;
  cm_error error;
  cm_work_job job;
  char path[CM_PATH_MAX], out[CM_PATH_MAX], in_force[CM_IN_FORCE_MAX];
  claim_signals();
  if (cm_work_read(folder, &job, &error) != CM_OK)
    return fail(&error);
  if ((!forked && job.program[0] != '\0' && check_program(job.program, &error) != CM_OK) || cm_work_begin(folder, attempt, out, &error) != CM_OK ||
      cm_path(path, &error, "%s/" CM_WORK_PROGRESS, out) != CM_OK) {
    cm_work_job_clear(&job);
    return fail(&error);
  }
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    (void)cm_fail_errno(&error, errno, "cannot create", path);
    cm_work_job_clear(&job);
    return fail(&error);
  }
  cm_confinement limits = {.folder = folder, .output = out, .memory_limit = job.memory_limit, .file_limit = job.file_limit};
  if (job.time_limit > 0)
    limits.cpu_seconds = job.time_limit * job.threads + cpu_slack_seconds;
  cm_status confined = cm_confine(&limits, in_force, &error);
  cm_work_job_clear(&job);
  if (confined != CM_OK)
    return fail(&error);
  on_log(&file, in_force);
  library_levels *levels;
  coremap_error *why = NULL;
  char given[CM_PATH_MAX], made[CM_PATH_MAX];
  if (cm_path(given, &error, "%s/" CM_WORK_LEVELS, folder) != CM_OK || cm_path(made, &error, "%s/" CM_WORK_LEVELS_MADE, out) != CM_OK ||
      library_status(library_levels_open(given, made, UINT64_MAX, &levels, &why), &why, &error) != CM_OK)
    return fail(&error);
  cm_work_watch watch = {.progress = on_progress, .log = on_log, .user = &file, .cancel = &cancelled, .levels = library_levels_cache(levels),
                         .process_bytes = cm_confine_memory(limits.memory_limit)};
  int status = cm_work_run(folder, out, &watch, &error) == CM_OK ? EXIT_SUCCESS : fail(&error);
  _exit(status); /* nothing is left to be flushed, and what would look for leaks may not */
}
