#include "daemon/told.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"

enum { LINE_MAX_BYTES = 1 << 20 };

static void pass_on(cm_told *told, const char *line, size_t length, const cm_work_watch *watch)
{
  const char *phase, *progress, *phases, *log;
  json_t *object = cm_json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
  if (json_unpack(object, "{s:s, s:s, s:s}", "phase", &phase, "progress", &progress, "phases", &phases) == 0) {
    (void)snprintf(told->phase, sizeof told->phase, "%s", phase);
    watch->progress(watch->user, phase, progress, phases);
  } else if (json_unpack(object, "{s:s}", "log", &log) == 0)
    watch->log(watch->user, log);
  json_decref(object);
}

static void pass_on_lines(cm_told *told, const cm_work_watch *watch)
{
  char *begin = told->line, *end;
  while ((end = memchr(begin, '\n', told->used - (size_t)(begin - told->line))) != NULL) {
    pass_on(told, begin, (size_t)(end - begin), watch);
    begin = end + 1;
  }
  told->used -= (size_t)(begin - told->line);
  memmove(told->line, begin, told->used);
}

/* No line of ours is longer than that: what is is left out. false: no memory. */
static bool make_room(cm_told *told)
{
  if (told->used < told->room)
    return true;
  const size_t larger = told->room == 0 ? 4096 : 2 * told->room;
  char *grown = larger <= LINE_MAX_BYTES ? realloc(told->line, larger) : NULL;
  if (grown == NULL) {
    told->used = 0;
    return told->room > 0;
  }
  told->line = grown;
  told->room = larger;
  return true;
}

void cm_told_follow(cm_told *told, const char *out, bool anew, const cm_work_watch *watch)
{
  char path[CM_PATH_MAX];
  cm_error ignored;
  ssize_t got;
  if (told->file < 0 && cm_path(path, &ignored, "%s/" CM_WORK_PROGRESS, out) == CM_OK)
    told->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  while (told->file >= 0 && make_room(told) && (got = pread(told->file, told->line + told->used, told->room - told->used, told->read)) > 0) {
    told->used += (size_t)got;
    told->read += got;
    pass_on_lines(told, watch);
  }
  if (anew && told->file >= 0) {
    (void)close(told->file);
    told->file = -1;
  }
}

void cm_told_clear(cm_told *told)
{
  if (told->file >= 0)
    (void)close(told->file);
  free(told->line);
}

cm_status cm_told_judge(const cm_told_end *end, const char *phase, double time_limit, cm_error *error)
{
  const int signal = WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
  if (phase[0] == '\0')
    phase = "start";
  if (end->breach.status != CM_OK && signal != 0) {
    *error = end->breach;
    return error->status;
  }
  if (end->overdue)
    return cm_fail(error, CM_TIME_LIMIT,
                   "the job ran past its time limit of %g s in phase %s without looking at the clock: its process was killed", time_limit, phase);
  if (end->asked && (signal != 0 || end->unstoppable))
    return cm_fail(error, CM_CANCELLED, "stopped on request in phase %s", phase);
  if (signal == SIGXCPU)
    return cm_fail(error, CM_TIME_LIMIT,
                   "the job used more processor time than its time limit of %g s allows all its threads, in phase %s: "
                   "its process was killed by signal %d (SIGXCPU)", time_limit, phase, signal);
  if (signal == SIGKILL || signal == SIGTERM)
    return cm_fail(error, CM_NO_MEMORY,
                   "the job's process was killed in phase %s by signal %d (SIG%s) from outside: so does a machine that "
                   "runs out of memory; the server and all other jobs went on", phase, signal, sigabbrev_np(signal));
  if (signal != 0)
    return cm_fail(error, CM_INTERNAL,
                   "the job's process crashed in phase %s with signal %d (SIG%s: %s); the server and all other jobs went "
                   "on: please report it with the network", phase, signal, sigabbrev_np(signal), strsignal(signal));
  if (end->status != 0 && cm_work_heard(end->said, error))
    return error->status;
  if (end->status != 0)
    return cm_fail(error, CM_INTERNAL, "the job's process ended with status %d in phase %s and left no result", WEXITSTATUS(end->status), phase);
  return CM_OK;
}
