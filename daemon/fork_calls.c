/* The server's side of the fork server: find or start it, tell it a job folder with the descriptors for its child.
 *
 * What can fail: it cannot be started, or dies (it is started anew, once a job); it is stopped or does not answer (it goes on, or is
 * killed); the one that a server before left is of another build (it is ended, and its jobs run again). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/fork_server.h"
#include "base/hold.h"
#include "daemon/fork_wire.h"
#include "daemon/job/work.h"

/* How often the fork server is looked at while it is waited for, and how long it may keep us waiting. */
enum { LOOK_MS = 500, PATIENCE_MS = 30000 };

static struct {
  pthread_mutex_t lock;
  pid_t pid;
  int process; /* a descriptor of it, -1: not known */
  int control; /* -1: there is none */
  char data[CM_PATH_MAX]; /* "": its children last in no data folder */
  unsigned seconds;
} forker = {.lock = PTHREAD_MUTEX_INITIALIZER, .process = -1, .control = -1};

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
          (failed = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)) == 0)
        failed = posix_spawn(pid, program, &actions, &attributes, words, all);
      (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  free(all);
  return failed;
}

/* The following have the lock. */

static void signal_it(int number)
{
  if (forker.process >= 0)
    (void)pidfd_send_signal(forker.process, number, NULL, 0);
}

/* Of one that has died, or is none of ours. */
static void bury(void)
{
  (void)close(forker.control);
  if (forker.process >= 0)
    (void)close(forker.process);
  forker.control = forker.process = -1;
  (void)waitpid(forker.pid, NULL, 0); /* one that a server before started is not ours to wait for */
}

static int ask(cm_fork_what what, int attempt, bool lasting, const char *folder, const int *passed, size_t count)
{
  cm_fork_ask asked = {.what = (int32_t)what, .attempt = attempt, .lasting = lasting, .seconds = forker.seconds};
  (void)snprintf(asked.folder, sizeof asked.folder, "%s", folder);
  return cm_fork_send(forker.control, &asked, cm_fork_ask_size(&asked), passed, count);
}

static int begin(void)
{
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return errno;
  int failed = spawn(pair[1], &forker.pid);
  (void)close(pair[1]);
  if (failed != 0) {
    (void)close(pair[0]);
    return failed;
  }
  forker.control = pair[0];
  forker.process = pidfd_open(forker.pid, 0);
  return forker.data[0] != '\0' ? ask(CM_FORK_KEEP, 0, false, forker.data, NULL, 0) : 0;
}

/* Tells the fork server, which it starts when there is none or when what there was has died. */
static int ask_some(int attempt, bool lasting, const char *folder, const int passed[CM_FORK_PASSED])
{
  int failed = forker.control < 0 ? ECONNRESET : ask(CM_FORK_BEGIN, attempt, lasting, folder, passed, CM_FORK_PASSED);
  if (failed != EPIPE && failed != ECONNRESET)
    return failed;
  if (forker.control >= 0)
    bury();
  failed = begin();
  return failed != 0 ? failed : ask(CM_FORK_BEGIN, attempt, lasting, folder, passed, CM_FORK_PASSED);
}

/* ---- without the lock ---- */

void cm_fork_give_up(void)
{
  CM_HOLD(&forker.lock);
  signal_it(SIGKILL);
}

void cm_fork_attend(void)
{
  CM_HOLD(&forker.lock);
  signal_it(SIGCONT);
}

/* Whether there is something to be read on a socket before our patience ends. */
static bool await(int socket)
{
  struct pollfd wire = {.fd = socket, .events = POLLIN};
  for (int left = PATIENCE_MS; left > 0; left -= LOOK_MS) {
    if (poll(&wire, 1, LOOK_MS) > 0)
      return true;
    cm_fork_attend();
  }
  return false;
}

/* What it says of a child: errno, 0 when there is one, ECONNRESET when the fork server died over it, or had to. */
static int hear(int wire, pid_t *pid, int *output)
{
  cm_fork_told said = {0};
  if (!await(wire))
    cm_fork_give_up();
  if (cm_fork_receive(wire, &said, sizeof said, output, output != NULL, 0) != (ssize_t)sizeof said)
    return ECONNRESET;
  *pid = said.pid;
  return said.failed;
}

/* Its own ends of a child's pipe and wire; errno, 0. */
static int open_ends(int life[2], int pair[2])
{
  if (pipe2(life, O_CLOEXEC) != 0)
    return errno;
  (void)fcntl(life[0], F_SETFL, O_NONBLOCK);
  (void)fcntl(life[1], F_SETFL, O_NONBLOCK); /* a child must not wait for us to read its bytes */
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0)
    return 0;
  const int failed = errno;
  (void)close(life[0]);
  (void)close(life[1]);
  return failed;
}

cm_status cm_fork_child(const char *folder, int attempt, bool lasting, cm_forked *child, cm_error *error)
{
  int failed = ECONNRESET;
  for (int tries = 0; tries < 2 && failed == ECONNRESET; tries++) {
    int pair[2], life[2];
    failed = open_ends(life, pair);
    if (failed != 0)
      return cm_fail_errno(error, failed, "cannot start a child for", folder);
    const int passed[] = {[CM_FORK_OUTPUT] = life[1], [CM_FORK_HEARD] = life[0], [CM_FORK_ERRORS] = STDERR_FILENO, [CM_FORK_WIRE] = pair[1]};
    (void)pthread_mutex_lock(&forker.lock);
    failed = ask_some(attempt, lasting, folder, passed);
    (void)pthread_mutex_unlock(&forker.lock);
    (void)close(pair[1]);
    (void)close(life[1]);
    *child = (cm_forked){.wire = pair[0], .output = life[0]};
    if (failed == 0)
      failed = hear(child->wire, &child->pid, NULL);
    if (failed == 0)
      return CM_OK;
    (void)close(pair[0]);
    (void)close(life[0]);
  }
  if (failed == ECONNRESET)
    return cm_fail(error, CM_NO_MEMORY, "the process that starts children died twice over %s", folder);
  return cm_fail_errno(error, failed, "cannot start a child for", folder);
}

cm_status cm_fork_adopt(const char *folder, int attempt, cm_forked *child, cm_error *error)
{
  int pair[2], failed = ECONNRESET;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return cm_fail_errno(error, errno, "cannot ask for the child of", folder);
  (void)pthread_mutex_lock(&forker.lock);
  if (forker.control >= 0)
    failed = ask(CM_FORK_ADOPT, attempt, true, folder, &pair[1], 1);
  (void)pthread_mutex_unlock(&forker.lock);
  (void)close(pair[1]);
  *child = (cm_forked){.wire = pair[0], .output = -1};
  if (failed == 0)
    failed = hear(child->wire, &child->pid, &child->output);
  if (failed == 0 && child->output >= 0)
    return CM_OK;
  (void)close(child->wire);
  return cm_fail(error, CM_NOT_FOUND, "no child works on %s", folder);
}

void cm_fork_settle(void)
{
  CM_HOLD(&forker.lock);
  if (forker.control >= 0)
    (void)ask(CM_FORK_SETTLE, 0, false, "", NULL, 0);
}

void cm_fork_signal(int wire, int number)
{
  const int32_t wanted = number;
  (void)send(wire, &wanted, sizeof wanted, MSG_NOSIGNAL);
}

void cm_fork_forget(int wire)
{
  cm_fork_signal(wire, CM_FORK_FORGET);
}

bool cm_fork_ended(int wire, int *status, double *cpu_seconds)
{
  cm_fork_told said = {.status = SIGKILL};
  const ssize_t got = recv(wire, &said, sizeof said, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  *status = said.status;
  *cpu_seconds = said.cpu_seconds;
  return true;
}

/* ---- one that a server before has left ---- */

/* Connects to it; false: there is none. */
static bool reach(const char *data)
{
  struct sockaddr_un place;
  struct ucred peer;
  socklen_t size = sizeof peer;
  int folder = -1;
  if (cm_fork_place(data, &folder, &place) != 0)
    return false;
  const int control = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const bool there = control >= 0 && connect(control, (struct sockaddr *)&place, sizeof place) == 0 &&
                     getsockopt(control, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  (void)close(folder);
  if (!there && control >= 0)
    (void)close(control);
  if (!there)
    return false;
  forker.control = control;
  forker.pid = peer.pid;
  forker.process = pidfd_open(peer.pid, 0);
  return true;
}

void cm_fork_prepare(const char *data, unsigned seconds)
{
  cm_fork_hello hello = {0};
  char ours[65];
  cm_error ignored;
  (void)snprintf(forker.data, sizeof forker.data, "%s", data);
  forker.seconds = seconds;
  if (forker.control >= 0 || !reach(data))
    return;
  const bool answers = await(forker.control) && recv(forker.control, &hello, sizeof hello, 0) == (ssize_t)sizeof hello;
  if (answers && cm_work_program(ours, &ignored) == CM_OK && strcmp(hello.program, ours) == 0 &&
      ask(CM_FORK_KEEP, 0, false, data, NULL, 0) == 0)
    return;
  if (!answers || ask(CM_FORK_END, 0, false, "", NULL, 0) != 0 || !await(forker.control))
    signal_it(SIGKILL);
  bury();
}
