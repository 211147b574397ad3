/* Executor `process`: each job in a child. Happy path: have it forked (fork_server.h) with a pipe to know when it has something to
 * tell, pass that on, be told of its end.
 * What can fail: it cannot be started; it crashes; it runs on past its time limit or when it is to stop (it is killed); it has
 * closed its output and does not end (it, and at last the fork server, is killed). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/memory.h"
#include "daemon/child_limits.h"
#include "daemon/executor.h"
#include "daemon/fork_server.h"

/* What a child may take to see the wish to stop, and that its time is over; and from the end of its output to its own: a busy
 * machine may be slow to end a process, and the fork server to tell. */
static const double DISK_LOOK_S = 0.5, STOP_GRACE_S = 0.75, TIME_GRACE_S = 5, END_GRACE_S = 10, TELL_GRACE_S = 40;
enum { LINE_MAX_BYTES = 1 << 20 };

typedef struct child {
  cm_submission s;
  cm_forked process; /* its output ends when it does: a byte a line of its progress */
  int progress; /* its file, -1: not there yet */
  char *line;   /* what has been read of it beyond whole lines */
  size_t used, room;
  double stop;          /* when it was asked to stop, 0: not yet */
  double closed;        /* when its output ended, 0: not yet */
  char said[CM_WORK_SAID_MAX]; /* by its output, but for line ends */
  size_t said_bytes;
  bool overdue;         /* killed for its time limit */
  double looked;        /* at what it holds on the disk */
  cm_error breach;      /* killed for that, or for its threads; CM_OK: neither */
  bool unstoppable;     /* killed because it did not stop */
  char phase[CM_PHASE_NAME_MAX];
  int status;           /* its wait status, once it has ended */
  double cpu_seconds;
} child;

/* ---- start ---- */

/* A new child, or the one of a server before. */
static cm_status start(const cm_execution *x, bool anew, cm_submission **made, cm_error *error)
{
  child *c;
  if (CM_HEAP(c, 1, "the job's process", error) != CM_OK)
    return error->status;
  if ((anew ? cm_fork_child(x->folder, x->attempt, x->lasting, &c->process, error)
            : cm_fork_adopt(x->folder, x->attempt, &c->process, error)) != CM_OK) {
    free(c);
    return error->status;
  }
  c->s = (cm_submission){.execution = x, .wakes = c->process.output};
  c->progress = -1;
  *made = &c->s;
  return CM_OK;
}

static cm_status submit(const cm_execution *execution, cm_submission **made, cm_error *error)
{
  return start(execution, true, made, error);
}

static cm_status adopt(const cm_execution *execution, cm_submission **made, cm_error *error)
{
  return start(execution, false, made, error);
}

/* ---- what it tells ---- */

static void pass_on(child *c, const char *line, size_t length)
{
  const cm_work_watch *watch = c->s.execution->watch;
  const char *phase, *progress, *phases, *log;
  json_t *object = cm_json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
  if (json_unpack(object, "{s:s, s:s, s:s}", "phase", &phase, "progress", &progress, "phases", &phases) == 0) {
    (void)snprintf(c->phase, sizeof c->phase, "%s", phase);
    watch->progress(watch->user, phase, progress, phases);
  } else if (json_unpack(object, "{s:s}", "log", &log) == 0)
    watch->log(watch->user, log);
  json_decref(object);
}

/* Reads what has been added to its progress. */
static void follow(child *c)
{
  char path[CM_PATH_MAX];
  cm_error ignored;
  if (c->progress < 0 && cm_path(path, &ignored, "%s/" CM_WORK_PROGRESS, c->s.execution->out) == CM_OK)
    c->progress = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  while (c->progress >= 0) {
    if (c->used == c->room) {
      size_t larger = c->room == 0 ? 4096 : 2 * c->room;
      char *grown = larger <= LINE_MAX_BYTES ? realloc(c->line, larger) : NULL;
      if (grown == NULL) {
        c->used = 0; /* no line of ours is that long */
        if (c->room == 0)
          return;
        continue;
      }
      c->line = grown;
      c->room = larger;
    }
    ssize_t got = read(c->progress, c->line + c->used, c->room - c->used);
    if (got <= 0)
      return;
    c->used += (size_t)got;
    char *begin = c->line, *end;
    while ((end = memchr(begin, '\n', c->used - (size_t)(begin - c->line))) != NULL) {
      pass_on(c, begin, (size_t)(end - begin));
      begin = end + 1;
    }
    c->used -= (size_t)(begin - c->line);
    memmove(c->line, begin, c->used);
  }
}

/* ---- its end ---- */

/* What the kernel does not limit. */
static bool keeps_counts(child *c, double now)
{
  const cm_child_limits limits = {c->process.pid, c->s.execution->out, c->s.execution->threads, c->s.execution->disk_limit};
  if (cm_child_limits_threads(&limits, &c->breach) != CM_OK)
    return false;
  if (now < c->looked + DISK_LOOK_S)
    return true;
  c->looked = now;
  return cm_child_limits_bytes(&limits, &c->breach) == CM_OK;
}

static void keep_limits(child *c, double now)
{
  if (c->stop != 0 && now > c->stop + STOP_GRACE_S)
    c->unstoppable = true;
  if (c->s.execution->time_limit > 0 && now > c->s.execution->began + c->s.execution->time_limit + TIME_GRACE_S)
    c->overdue = true;
  if (c->unstoppable || c->overdue || !keeps_counts(c, now))
    cm_fork_signal(c->process.wire, SIGKILL);
}

/* Reads its output, which wakes us; false when it has ended. */
static bool hear(child *c)
{
  char bytes[256];
  ssize_t got;
  while ((got = read(c->process.output, bytes, sizeof bytes)) > 0)
    for (ssize_t i = 0; i < got; i++)
      if (bytes[i] != '\n' && c->said_bytes + 1 < sizeof c->said)
        c->said[c->said_bytes++] = bytes[i];
  return got != 0;
}

static void stop(cm_submission *submission)
{
  child *c = (child *)submission;
  c->stop = cm_now();
  cm_fork_signal(c->process.wire, SIGTERM);
}

static bool has_ended(cm_submission *submission)
{
  child *c = (child *)submission;
  const double now = cm_now();
  if (c->closed == 0 && !hear(c)) {
    c->closed = now;
    c->s.wakes = c->process.wire;
  }
  follow(c);
  cm_fork_attend();
  if (c->closed == 0) {
    keep_limits(c, now);
    return false;
  }
  if (cm_fork_ended(c->process.wire, &c->status, &c->cpu_seconds)) {
    follow(c);
    return true;
  }
  if (now > c->closed + END_GRACE_S) /* it is hostile */
    cm_fork_signal(c->process.wire, SIGKILL);
  if (now > c->closed + TELL_GRACE_S)
    cm_fork_give_up();
  return false;
}

static cm_status judge(const cm_submission *submission, double *cpu_seconds, cm_error *error)
{
  const child *c = (const child *)submission;
  const int status = c->status;
  *cpu_seconds = c->cpu_seconds;
  const char *phase = c->phase[0] != '\0' ? c->phase : "start";
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (c->breach.status != CM_OK && signal != 0) {
    *error = c->breach;
    return error->status;
  }
  if (c->overdue)
    return cm_fail(error, CM_TIME_LIMIT,
                   "the job ran past its time limit of %g s in phase %s without looking at the clock: its process was killed",
                   c->s.execution->time_limit, phase);
  if (c->stop != 0 && (signal != 0 || c->unstoppable))
    return cm_fail(error, CM_CANCELLED, "stopped on request in phase %s", phase);
  if (signal == SIGXCPU)
    return cm_fail(error, CM_TIME_LIMIT,
                   "the job used more processor time than its time limit of %g s allows all its threads, in phase %s: "
                   "its process was killed by signal %d (SIGXCPU)", c->s.execution->time_limit, phase, signal);
  if (signal == SIGKILL || signal == SIGTERM)
    return cm_fail(error, CM_NO_MEMORY,
                   "the job's process was killed in phase %s by signal %d (SIG%s) from outside: so does a machine that "
                   "runs out of memory; the server and all other jobs went on", phase, signal, sigabbrev_np(signal));
  if (signal != 0)
    return cm_fail(error, CM_INTERNAL,
                   "the job's process crashed in phase %s with signal %d (SIG%s: %s); the server and all other jobs went "
                   "on: please report it with the network", phase, signal, sigabbrev_np(signal), strsignal(signal));
  if (status != 0 && cm_work_heard(c->said, error))
    return error->status;
  if (status != 0)
    return cm_fail(error, CM_INTERNAL, "the job's process ended with status %d in phase %s and left no result",
                   WEXITSTATUS(status), phase);
  return CM_OK;
}

static void leave(cm_submission *submission)
{
  child *c = (child *)submission;
  (void)close(c->process.output);
  (void)close(c->process.wire);
  if (c->progress >= 0)
    (void)close(c->progress);
  free(c->line);
  free(c);
}

static void release(cm_submission *submission)
{
  cm_fork_forget(((child *)submission)->process.wire);
  leave(submission);
}

const cm_executor cm_executor_process = {.name = "process", .outside = true, .submit = submit, .adopt = adopt, .poll = has_ended,
                                         .stop = stop, .judge = judge, .release = release, .leave = leave, .settle = cm_fork_settle};
