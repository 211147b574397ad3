/* Two sides of one socket. The server's: start the fork server, tell it a job folder with the descriptors for its child.
 * The fork server's, happy path: fork, let the child do its work, tell of its end by the socket that came with the job;
 * when the server is gone, end, and all children with it.
 *
 * What can fail: it cannot be started, or dies (it is started anew, once a job); a fork fails (told, with errno). */
#include "daemon/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/job/work.h"

enum { OUTPUT, ERRORS, WIRE, PASSED }; /* the descriptors that come with a job */

/* How often the fork server is looked at while it is waited for, and how long it may keep us waiting. */
enum { LOOK_MS = 500, PATIENCE_MS = 30000 };

/* What the fork server tells on a job's own socket: first whether there is a child, then how it ended. */
typedef struct told {
  int32_t failed; /* errno of the fork, 0 */
  int32_t pid;    /* the child's */
  int32_t status; /* wait status */
  double cpu_seconds;
} told;

/* ---- the server's side ---- */

static struct {
  pthread_mutex_t lock;
  pid_t pid;
  int control; /* -1: there is none */
} forker = {PTHREAD_MUTEX_INITIALIZER, 0, -1};

/* Ours, and what makes libraries start faster: jobs use OpenBLAS from one thread at a time, and it starts its own before
 * main; of the HTTP library's TLS a child has no use. */
static char **child_environment(void)
{
  static char settings[][32] = {"OPENBLAS_NUM_THREADS=1", "GNUTLS_NO_IMPLICIT_INIT=1"};
  enum { SETTINGS = sizeof settings / sizeof *settings };
  size_t count = 0, kept = 0;
  while (environ[count] != NULL)
    count++;
  char **made = calloc(count + SETTINGS + 1, sizeof *made);
  for (size_t i = 0; made != NULL && i < count; i++) {
    bool ours = false;
    for (size_t s = 0; s < SETTINGS; s++)
      ours = ours || strncmp(environ[i], settings[s], strcspn(settings[s], "=") + 1) == 0;
    if (!ours)
      made[kept++] = environ[i];
  }
  for (size_t s = 0; made != NULL && s < SETTINGS; s++)
    made[kept++] = settings[s];
  return made;
}

/* errno, 0. */
static int spawn(int control, pid_t *pid)
{
  char program[] = "/proc/self/exe", name[] = "coremapd", flag[] = "--fork-server";
  char *words[] = {name, flag, NULL};
  char **all = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, every;
  if (all == NULL)
    return ENOMEM;
  (void)sigemptyset(&none);
  (void)sigfillset(&every);
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed == 0) {
    failed = posix_spawnattr_init(&attributes);
    if (failed == 0) {
      if ((failed = posix_spawn_file_actions_adddup2(&actions, control, STDIN_FILENO)) == 0 &&
          (failed = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)) == 0 &&
          (failed = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
          (failed = posix_spawnattr_setsigdefault(&attributes, &every)) == 0 &&
          (failed = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                              POSIX_SPAWN_SETPGROUP)) == 0)
        failed = posix_spawn(pid, program, &actions, &attributes, words, all);
      (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  free(all);
  return failed;
}

/* The following have the lock. */

static void bury(void)
{
  (void)close(forker.control); /* if it still lives, it ends by that */
  forker.control = -1;
  (void)waitpid(forker.pid, NULL, 0);
}

static int begin(void)
{
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return errno;
  int failed = spawn(pair[1], &forker.pid);
  (void)close(pair[1]);
  if (failed == 0)
    forker.control = pair[0];
  else
    (void)close(pair[0]);
  return failed;
}

static int tell(const char *folder, int attempt, const int passed[PASSED])
{
  struct iovec parts[] = {{&attempt, sizeof attempt}, {(void *)(uintptr_t)folder, strlen(folder) + 1}};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(PASSED * sizeof(int))];
  } room = {0};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(PASSED * sizeof(int));
  memcpy(CMSG_DATA(rights), passed, PASSED * sizeof(int));
  return sendmsg(forker.control, &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}

void cm_fork_give_up(void)
{
  (void)pthread_mutex_lock(&forker.lock);
  if (forker.control >= 0)
    (void)kill(forker.pid, SIGKILL);
  (void)pthread_mutex_unlock(&forker.lock);
}

void cm_fork_attend(void)
{
  siginfo_t about = {0};
  (void)pthread_mutex_lock(&forker.lock);
  if (forker.control >= 0 && waitid(P_PID, (id_t)forker.pid, &about, WSTOPPED | WNOHANG) == 0 && about.si_pid != 0)
    (void)kill(forker.pid, SIGCONT);
  (void)pthread_mutex_unlock(&forker.lock);
}

/* Whether there is something to be read on a job's socket within so many milliseconds. */
static bool await(int child, int milliseconds)
{
  struct pollfd wire = {.fd = child, .events = POLLIN};
  for (int left = milliseconds; left > 0; left -= LOOK_MS) {
    int ready = poll(&wire, 1, left < LOOK_MS ? left : LOOK_MS);
    if (ready > 0)
      return true;
    cm_fork_attend();
  }
  return false;
}

/* Tells the fork server, which it starts when there is none or when what there was has died. */
static int tell_some(const char *folder, int attempt, const int passed[PASSED])
{
  int failed = forker.control < 0 ? ECONNRESET : tell(folder, attempt, passed);
  if (failed != EPIPE && failed != ECONNRESET)
    return failed;
  if (forker.control >= 0)
    bury();
  failed = begin();
  return failed != 0 ? failed : tell(folder, attempt, passed);
}

/* Without the lock: errno, 0 when there is a child, ECONNRESET when the fork server died over it, or had to. */
static int hear(int child, pid_t *pid)
{
  told said;
  ssize_t got;
  if (!await(child, PATIENCE_MS))
    cm_fork_give_up();
  do
    got = recv(child, &said, sizeof said, 0);
  while (got < 0 && errno == EINTR);
  if (got != (ssize_t)sizeof said)
    return ECONNRESET;
  *pid = said.pid;
  return said.failed;
}

cm_status cm_fork_child(const char *folder, int attempt, int output, int *child, pid_t *pid, cm_error *error)
{
  int failed = ECONNRESET;
  for (int tries = 0; tries < 2 && failed == ECONNRESET; tries++) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
      return cm_fail_errno(error, errno, "cannot start a child for", folder);
    const int passed[PASSED] = {[OUTPUT] = output, [ERRORS] = STDERR_FILENO, [WIRE] = pair[1]};
    (void)pthread_mutex_lock(&forker.lock);
    failed = tell_some(folder, attempt, passed);
    (void)pthread_mutex_unlock(&forker.lock);
    (void)close(pair[1]);
    if (failed == 0)
      failed = hear(pair[0], pid);
    if (failed == 0)
      *child = pair[0];
    else
      (void)close(pair[0]);
  }
  if (failed == ECONNRESET)
    return cm_fail(error, CM_NO_MEMORY, "the process that starts children died twice over %s", folder);
  return failed == 0 ? CM_OK : cm_fail_errno(error, failed, "cannot start a child for", folder);
}

void cm_fork_signal(int child, int number)
{
  int32_t wanted = number;
  (void)send(child, &wanted, sizeof wanted, MSG_NOSIGNAL);
}

bool cm_fork_ended(int child, int *status, double *cpu_seconds)
{
  told said = {.status = SIGKILL};
  const ssize_t got = recv(child, &said, sizeof said, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  *status = said.status;
  *cpu_seconds = said.cpu_seconds;
  return true;
}

/* ---- the fork server ---- */

typedef struct job {
  pid_t pid;
  int wire;
} job;

enum { CONTROL, CHILDREN, FIRST_JOB }; /* what is polled: the socket, SIGCHLD, the wires of jobs */

typedef struct fork_server {
  job *jobs;
  struct pollfd *polled;
  size_t count, room;
} fork_server;

/* In the child: it has its own three descriptors, the signals as they were at first, and dies with the fork server. */
static _Noreturn void work(const fork_server *f, pid_t parent, const char *folder, int attempt, const int passed[PASSED])
{
  sigset_t none;
  cm_error error;
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(EXIT_FAILURE); /* nobody waits */
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(passed[OUTPUT], STDOUT_FILENO) < 0 ||
      dup2(passed[ERRORS], STDERR_FILENO) < 0) {
    (void)cm_fail_errno(&error, errno, "cannot prepare a child for", folder);
    cm_work_say(passed[OUTPUT], &error);
    _exit(EXIT_FAILURE);
  }
  (void)close(nothing);
  (void)close(f->polled[CHILDREN].fd);
  for (size_t i = 0; i < PASSED; i++)
    (void)close(passed[i]);
  for (size_t i = 0; i < f->count; i++)
    if (f->jobs[i].wire >= 0)
      (void)close(f->jobs[i].wire);
  (void)signal(SIGTERM, SIG_DFL);
  (void)signal(SIGINT, SIG_DFL);
  (void)signal(SIGHUP, SIG_DFL);
  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  _exit(cm_work_main(folder, attempt, true));
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

static void begin_job(fork_server *f, const char *folder, int attempt, const int passed[PASSED])
{
  told said = {0};
  pid_t parent = getpid(), pid = grow(f) ? fork() : -1;
  if (pid == 0)
    work(f, parent, folder, attempt, passed);
  if (pid < 0)
    said.failed = errno;
  said.pid = pid;
  (void)send(passed[WIRE], &said, sizeof said, MSG_NOSIGNAL);
  (void)close(passed[OUTPUT]);
  (void)close(passed[ERRORS]);
  if (pid < 0)
    (void)close(passed[WIRE]);
  else
    f->jobs[f->count++] = (job){pid, passed[WIRE]};
}

/* The next job; false: the server is gone. */
static bool take_job(fork_server *f)
{
  char folder[CM_PATH_MAX];
  int attempt;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(PASSED * sizeof(int))];
  } room;
  struct iovec parts[] = {{&attempt, sizeof attempt}, {folder, sizeof folder}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  ssize_t got = recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC);
  if (got <= 0)
    return got < 0 && errno == EINTR;
  const struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  int passed[PASSED];
  if (rights == NULL || rights->cmsg_len != CMSG_LEN(sizeof passed))
    return true; /* no descriptor was free here: the server sees that the job's socket ends */
  memcpy(passed, CMSG_DATA(rights), sizeof passed);
  begin_job(f, folder, attempt, passed);
  return true;
}

static void end_jobs(fork_server *f)
{
  struct signalfd_siginfo ignored;
  told said = {0};
  while (read(f->polled[CHILDREN].fd, &ignored, sizeof ignored) > 0)
    ;
  struct rusage used;
  for (pid_t pid; (pid = wait4(-1, &said.status, WNOHANG, &used)) > 0;) {
    said.cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    size_t i = 0;
    while (i < f->count && f->jobs[i].pid != pid)
      i++;
    if (i == f->count)
      continue;
    if (f->jobs[i].wire >= 0) {
      (void)send(f->jobs[i].wire, &said, sizeof said, MSG_NOSIGNAL);
      (void)close(f->jobs[i].wire);
    }
    f->jobs[i] = f->jobs[--f->count];
  }
}

/* A signal for a child, whose number cannot be another's meanwhile: it is buried here. */
static void pass_signal(job *j)
{
  int32_t number;
  ssize_t got = recv(j->wire, &number, sizeof number, MSG_DONTWAIT);
  if (got == (ssize_t)sizeof number)
    (void)kill(j->pid, number);
  else if (got == 0) { /* nobody waits for it any more */
    (void)kill(j->pid, SIGKILL);
    (void)close(j->wire);
    j->wire = -1;
  }
}

int cm_fork_server_main(void)
{
  fork_server f = {0};
  sigset_t children;
  (void)sigemptyset(&children);
  (void)sigaddset(&children, SIGCHLD);
  (void)sigprocmask(SIG_BLOCK, &children, NULL);
  (void)signal(SIGTERM, SIG_IGN); /* it ends with the server, however many are told to end */
  (void)signal(SIGINT, SIG_IGN);
  (void)signal(SIGHUP, SIG_IGN);
  int ended = signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC);
  if (ended < 0 || !grow(&f))
    _exit(EXIT_FAILURE);
  f.polled[CONTROL] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
  f.polled[CHILDREN] = (struct pollfd){.fd = ended, .events = POLLIN};
  for (bool going = true; going;) {
    const size_t count = f.count;
    for (size_t i = 0; i < count; i++)
      f.polled[FIRST_JOB + i] = (struct pollfd){.fd = f.jobs[i].wire, .events = POLLIN};
    if (poll(f.polled, FIRST_JOB + count, -1) < 0 && errno != EINTR)
      break;
    for (size_t i = 0; i < count; i++)
      if (f.polled[FIRST_JOB + i].revents != 0)
        pass_signal(&f.jobs[i]);
    if (f.polled[CHILDREN].revents != 0)
      end_jobs(&f);
    if (f.polled[CONTROL].revents != 0)
      going = take_job(&f);
  }
  _exit(EXIT_SUCCESS); /* children die by that */
}
