/* Executor `process`: each job in a child. Happy path: have it forked (fork_server.h) with a pipe to know when it has something to
 * tell, pass that on, be told of its end.
 * What can fail: it cannot be started; it crashes; it runs on past its time limit or when it is to stop (it is killed); it has
 * closed its output and does not end (it, and at last the fork server, is killed). */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/confine.h"
#include "daemon/child_limits.h"
#include "daemon/executor.h"
#include "daemon/fork_server.h"
#include "daemon/told.h"

/* What a child may take to see the wish to stop, and that its time is over; and from the end of its output to its own: a busy
 * machine may be slow to end a process, and the fork server to tell. */
static const double DISK_LOOK_S = 0.5, STOP_GRACE_S = 0.75, TIME_GRACE_S = 5, END_GRACE_S = 10, TELL_GRACE_S = 40;

typedef struct child {
  cm_submission s;
  cm_forked process; /* its output ends when it does: a byte a line of its progress */
  cm_told told;
  cm_told_end end;
  double stop;          /* when it was asked to stop, 0: not yet */
  double closed;        /* when its output ended, 0: not yet */
  size_t said_bytes;
  double looked;        /* at what it holds on the disk */
} child;

/* ---- start ---- */

/* A new child, or the one of a server before. */
static cm_status start(const cm_execution *x, bool anew, cm_submission **made, cm_error *error)
{
  child *c;
  CM_TRY(CM_HEAP(c, 1, "the job's process", error));
  if ((anew ? cm_fork_child(x->folder, x->attempt, x->lasting, &c->process, error)
            : cm_fork_adopt(x->folder, x->attempt, &c->process, error)) != CM_OK) {
    free(c);
    return error->status;
  }
  c->s = (cm_submission){.execution = x, .wakes = c->process.output};
  c->told.file = -1;
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

/* ---- its end ---- */

/* What the kernel does not limit. */
static bool keeps_counts(child *c, double now)
{
  const cm_child_limits limits = {c->process.pid, c->s.execution->out, c->s.execution->threads, c->s.execution->disk_limit};
  if (cm_child_limits_threads(&limits, &c->end.breach) != CM_OK)
    return false;
  if (now < c->looked + DISK_LOOK_S)
    return true;
  c->looked = now;
  return cm_child_limits_bytes(&limits, &c->end.breach) == CM_OK;
}

static void keep_limits(child *c, double now)
{
  if (c->stop != 0 && now > c->stop + STOP_GRACE_S)
    c->end.unstoppable = true;
  if (c->s.execution->time_limit > 0 && now > c->s.execution->began + c->s.execution->time_limit + TIME_GRACE_S)
    c->end.overdue = true;
  if (c->end.unstoppable || c->end.overdue || !keeps_counts(c, now))
    cm_fork_signal(c->process.wire, SIGKILL);
}

/* Reads its output, which wakes us; false when it has ended. */
static bool hear(child *c)
{
  char bytes[256];
  ssize_t got;
  while ((got = read(c->process.output, bytes, sizeof bytes)) > 0)
    for (ssize_t i = 0; i < got; i++)
      if (bytes[i] != '\n' && c->said_bytes + 1 < sizeof c->end.said)
        c->end.said[c->said_bytes++] = bytes[i];
  return got != 0;
}

static void stop(cm_submission *submission)
{
  child *c = (child *)submission;
  c->stop = cm_now();
  c->end.asked = true;
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
  cm_told_follow(&c->told, c->s.execution->out, false, c->s.execution->watch);
  cm_fork_attend();
  if (c->closed == 0) {
    keep_limits(c, now);
    return false;
  }
  if (cm_fork_ended(c->process.wire, &c->end.status, &c->end.cpu_seconds)) {
    cm_told_follow(&c->told, c->s.execution->out, false, c->s.execution->watch);
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
  *cpu_seconds = c->end.cpu_seconds;
  return cm_told_judge(&c->end, c->told.phase, c->s.execution->time_limit, error);
}

static void leave(cm_submission *submission)
{
  child *c = (child *)submission;
  (void)close(c->process.output);
  (void)close(c->process.wire);
  cm_told_clear(&c->told);
  free(c);
}

static void release(cm_submission *submission)
{
  cm_fork_forget(((child *)submission)->process.wire);
  leave(submission);
}

const cm_executor cm_executor_process = {.name = "process", .outside = true, .submit = submit, .adopt = adopt, .poll = has_ended,
                                         .stop = stop, .judge = judge, .release = release, .leave = leave, .settle = cm_fork_settle};
