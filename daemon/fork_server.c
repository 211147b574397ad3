/* The fork server. Happy path: fork, let the child do its work, tell of its end by the socket that came with the job. When the server
 * is gone: end the children that may not last, wait for the next server, tell it of those that do; end, and all children by that, when
 * none comes in time.
 *
 * What can fail: a fork (told, with errno); the place in the data folder (then nothing lasts); the folder goes (it ends). */
#include "daemon/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/fork_wire.h"
#include "daemon/job/work.h"

typedef struct job {
  pid_t pid;      /* 0: it has ended */
  int wire;       /* -1: no server asks for it */
  int output;     /* its output to read; -1: it does not last */
  int attempt;
  bool taken;     /* by the server of now, or the last one: what that asked before it died is still heard after its wires have ended */
  bool gone;      /* to be forgotten */
  char *folder;
  cm_fork_told end;
} job;

enum { SERVER, CHILDREN, FIRST_JOB }; /* what is polled: the server or who wants to be it, SIGCHLD, the wires of jobs */

enum { LOOK_MS = 1000 };

typedef struct fork_server {
  job *jobs;
  struct pollfd *polled;
  size_t count, room;
  int control;      /* the server's socket, -1: it is gone */
  int place, data;  /* where the next server finds us, -1: nowhere; and the folder of that */
  unsigned seconds; /* without a server */
  double alone;     /* since when we are */
} fork_server;

/* ---- children ---- */

/* Closes what is no standard descriptor. */
static void shut(int descriptor)
{
  if (descriptor > STDERR_FILENO)
    (void)close(descriptor);
}

/* In the child: it has its own three descriptors, the signals as they were at first, and dies with the fork server. */
static _Noreturn void work(const fork_server *f, pid_t parent, const cm_fork_ask *asked, const int passed[CM_FORK_PASSED])
{
  sigset_t none;
  cm_error error;
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(EXIT_FAILURE); /* nobody waits */
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(passed[CM_FORK_OUTPUT], STDOUT_FILENO) < 0 ||
      dup2(passed[CM_FORK_ERRORS], STDERR_FILENO) < 0) {
    (void)cm_fail_errno(&error, errno, "cannot prepare a child for", asked->folder);
    cm_work_say(passed[CM_FORK_OUTPUT], &error);
    _exit(EXIT_FAILURE);
  }
  const int ours[] = {nothing, f->polled[CHILDREN].fd, f->control, f->place, f->data};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    shut(ours[i]);
  for (size_t i = 0; i < CM_FORK_PASSED; i++)
    shut(passed[i]);
  for (size_t i = 0; i < f->count; i++) {
    shut(f->jobs[i].wire);
    shut(f->jobs[i].output);
  }
  (void)signal(SIGTERM, SIG_DFL);
  (void)signal(SIGINT, SIG_DFL);
  (void)signal(SIGHUP, SIG_DFL);
  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  _exit(cm_work_main(asked->folder, asked->attempt, true));
}

static bool grow(fork_server *f)
{
  if (f->count < f->room)
    return true;
  size_t larger = f->room + 64;
  job *jobs = realloc(f->jobs, larger * sizeof *jobs);
  if (jobs != NULL)
    f->jobs = jobs;
  struct pollfd *polled = jobs != NULL ? realloc(f->polled, (FIRST_JOB + larger) * sizeof *polled) : NULL;
  if (polled == NULL)
    return false;
  f->polled = polled;
  f->room = larger;
  return true;
}

static void begin_job(fork_server *f, const cm_fork_ask *asked, int passed[CM_FORK_PASSED])
{
  cm_fork_told said = {0};
  char *folder = grow(f) ? strdup(asked->folder) : NULL;
  pid_t parent = getpid(), pid = folder != NULL ? fork() : -1;
  if (pid == 0)
    work(f, parent, asked, passed);
  if (pid < 0)
    said.failed = folder != NULL ? errno : ENOMEM;
  said.pid = pid;
  (void)cm_fork_send(passed[CM_FORK_WIRE], &said, sizeof said, NULL, 0);
  (void)close(passed[CM_FORK_OUTPUT]);
  (void)close(passed[CM_FORK_ERRORS]);
  const bool lasts = pid >= 0 && asked->lasting != 0 && f->place >= 0;
  if (!lasts)
    (void)close(passed[CM_FORK_HEARD]);
  if (pid >= 0)
    f->jobs[f->count++] = (job){.pid = pid, .wire = passed[CM_FORK_WIRE], .output = lasts ? passed[CM_FORK_HEARD] : -1,
                                .attempt = asked->attempt, .taken = true, .folder = folder};
  else {
    (void)close(passed[CM_FORK_WIRE]);
    free(folder);
  }
}

static void tell_end(job *j)
{
  if (j->wire >= 0)
    (void)cm_fork_send(j->wire, &j->end, sizeof j->end, NULL, 0);
  j->gone = j->gone || j->output < 0;
}

static void end_jobs(fork_server *f)
{
  struct signalfd_siginfo ignored;
  struct rusage used;
  int status;
  while (read(f->polled[CHILDREN].fd, &ignored, sizeof ignored) > 0)
    ;
  for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &used)) > 0;) {
    size_t i = 0;
    while (i < f->count && f->jobs[i].pid != pid)
      i++;
    if (i == f->count)
      continue;
    f->jobs[i].pid = 0;
    f->jobs[i].end = (cm_fork_told){.status = status, .cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                                                                     (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6};
    tell_end(&f->jobs[i]);
  }
}

/* Nobody is to be told of it; what runs is killed, and goes when that is done. */
static void drop(job *j)
{
  if (j->pid > 0)
    (void)kill(j->pid, SIGKILL);
  if (j->output >= 0)
    (void)close(j->output);
  j->output = -1;
  j->gone = j->pid == 0;
}

/* A signal for a child, whose number cannot be another's meanwhile: it is buried here. */
static void pass_signal(job *j)
{
  int32_t number;
  const ssize_t got = recv(j->wire, &number, sizeof number, MSG_DONTWAIT);
  if (got == (ssize_t)sizeof number && number == CM_FORK_FORGET)
    drop(j);
  else if (got == (ssize_t)sizeof number && j->pid > 0)
    (void)kill(j->pid, number);
  else if (got == 0) { /* nobody waits for it any more, or not just now */
    (void)close(j->wire);
    j->wire = -1;
    if (j->output < 0)
      drop(j);
  }
}

static void forget_gone(fork_server *f)
{
  for (size_t i = 0; i < f->count;) {
    job *j = &f->jobs[i];
    if (!j->gone) {
      i++;
      continue;
    }
    if (j->wire >= 0)
      (void)close(j->wire);
    if (j->output >= 0)
      (void)close(j->output);
    free(j->folder);
    *j = f->jobs[--f->count];
  }
}

/* ---- the server ---- */

static const char *last_part(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* Job folders have random names: their last part will do, by whatever path the data folder is called now. */
static void adopt(fork_server *f, const cm_fork_ask *asked, int wire)
{
  cm_fork_told said = {.failed = ENOENT};
  job *found = NULL;
  for (size_t i = 0; i < f->count && found == NULL; i++)
    if (f->jobs[i].output >= 0 && f->jobs[i].attempt == asked->attempt &&
        strcmp(last_part(f->jobs[i].folder), last_part(asked->folder)) == 0)
      found = &f->jobs[i];
  if (found == NULL) {
    (void)cm_fork_send(wire, &said, sizeof said, NULL, 0);
    (void)close(wire);
    return;
  }
  if (found->wire >= 0)
    (void)close(found->wire);
  found->wire = wire;
  found->taken = true;
  said = (cm_fork_told){.pid = found->pid};
  (void)cm_fork_send(wire, &said, sizeof said, &found->output, 1);
  if (found->pid == 0)
    tell_end(found);
}

/* Takes its place in the data folder; the lock of that is the server's, so that it is nobody else's. */
static void keep(fork_server *f, const cm_fork_ask *asked)
{
  struct sockaddr_un place;
  f->seconds = asked->seconds;
  if (f->place >= 0 || cm_fork_place(asked->folder, &f->data, &place) != 0)
    return;
  (void)unlinkat(f->data, CM_FORK_SOCKET, 0);
  f->place = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (f->place < 0 || (bind(f->place, (struct sockaddr *)&place, sizeof place) == 0 && listen(f->place, 1) == 0))
    return;
  (void)close(f->place);
  f->place = -1;
}

static void lose_server(fork_server *f)
{
  if (f->control == STDIN_FILENO) { /* what is opened next is not to be standard input */
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)dup2(nothing, STDIN_FILENO);
    (void)close(nothing);
  } else
    (void)close(f->control);
  f->control = -1;
  f->alone = cm_now();
}

static void take_server(fork_server *f)
{
  cm_fork_hello hello = {0};
  cm_error ignored;
  f->control = accept4(f->place, NULL, NULL, SOCK_CLOEXEC);
  for (size_t i = 0; i < f->count; i++)
    f->jobs[i].taken = false;
  (void)cm_work_program(hello.program, &ignored);
  if (f->control >= 0)
    (void)cm_fork_send(f->control, &hello, sizeof hello, NULL, 0);
}

/* What the server asks next; false: we are to end. */
static bool take_question(fork_server *f)
{
  cm_fork_ask asked;
  int passed[CM_FORK_PASSED];
  const ssize_t got = cm_fork_receive(f->control, &asked, sizeof asked, passed, CM_FORK_PASSED, 0);
  if (got <= (ssize_t)offsetof(cm_fork_ask, folder)) {
    lose_server(f);
    return true;
  }
  asked.folder[sizeof asked.folder - 1] = '\0';
  if (asked.what == CM_FORK_BEGIN && passed[CM_FORK_WIRE] >= 0) /* else no descriptor was free here: the server sees that the job's socket ends */
    begin_job(f, &asked, passed);
  else if (asked.what == CM_FORK_ADOPT && passed[0] >= 0)
    adopt(f, &asked, passed[0]);
  else
    for (size_t i = 0; i < CM_FORK_PASSED; i++)
      if (passed[i] >= 0)
        (void)close(passed[i]);
  if (asked.what == CM_FORK_KEEP)
    keep(f, &asked);
  for (size_t i = 0; asked.what == CM_FORK_SETTLE && i < f->count; i++)
    if (!f->jobs[i].taken)
      drop(&f->jobs[i]);
  return asked.what != CM_FORK_END;
}

/* Whether it is worth to wait for the next server. */
static bool may_wait(const fork_server *f)
{
  struct stat about;
  bool lasting = false;
  for (size_t i = 0; i < f->count && !lasting; i++)
    lasting = f->jobs[i].output >= 0;
  return lasting && cm_now() < f->alone + f->seconds && fstat(f->data, &about) == 0 && about.st_nlink > 0;
}

static bool serve(fork_server *f)
{
  const size_t count = f->count;
  f->polled[SERVER] = (struct pollfd){.fd = f->control >= 0 ? f->control : f->place, .events = POLLIN};
  for (size_t i = 0; i < count; i++)
    f->polled[FIRST_JOB + i] = (struct pollfd){.fd = f->jobs[i].wire, .events = POLLIN};
  if (poll(f->polled, FIRST_JOB + count, f->control >= 0 ? -1 : LOOK_MS) < 0)
    return errno == EINTR;
  for (size_t i = 0; i < count; i++)
    if (f->polled[FIRST_JOB + i].revents != 0)
      pass_signal(&f->jobs[i]);
  if (f->polled[CHILDREN].revents != 0)
    end_jobs(f);
  bool going = true;
  if (f->polled[SERVER].revents != 0 && f->control >= 0)
    going = take_question(f);
  else if (f->polled[SERVER].revents != 0)
    take_server(f);
  forget_gone(f);
  return going && (f->control >= 0 || may_wait(f));
}

int cm_fork_server_main(void)
{
  fork_server f = {.control = STDIN_FILENO, .place = -1, .data = -1};
  sigset_t children;
  (void)setsid();
  (void)sigemptyset(&children);
  (void)sigaddset(&children, SIGCHLD);
  (void)sigprocmask(SIG_BLOCK, &children, NULL);
  (void)signal(SIGTERM, SIG_IGN); /* it ends with the server, or after it, however many are told to end */
  (void)signal(SIGINT, SIG_IGN);
  (void)signal(SIGHUP, SIG_IGN);
  int ended = signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (ended < 0 || nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0 || !grow(&f)) /* who reads what the server says is not to wait for us */
    _exit(EXIT_FAILURE);
  (void)close(nothing);
  f.polled[CHILDREN] = (struct pollfd){.fd = ended, .events = POLLIN};
  while (serve(&f))
    ;
  _exit(EXIT_SUCCESS); /* children die by that */
}
