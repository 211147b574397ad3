#include "core/schedule/target_command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 4096, POLL_MS = 50 };

typedef struct child {
  pid_t pid;
  int from; /* the reading end of its standard output */
  char output[OUTPUT_MAX + 1]; /* the end of what it said */
  size_t size;
} child;

/* In the child, between fork and exec: only what is safe there. */
static void become(const char *command, const char *path, int to)
{
  int nothing = open("/dev/null", O_RDONLY);
  setpgid(0, 0); /* so that its children can be killed with it */
  if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0) {
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)command, (char *)"sh", (char *)path, NULL};
    execv("/bin/sh", argv);
  }
  _exit(127);
}

static cm_status start(const char *command, const char *path, child *c, cm_error *error)
{
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return cm_fail_errno(error, errno, "cannot open a pipe for", command);
  c->pid = fork();
  if (c->pid == 0)
    become(command, path, ends[1]);
  close(ends[1]);
  if (c->pid < 0) {
    cm_status status = cm_fail_errno(error, errno, "cannot start", command);
    close(ends[0]);
    return status;
  }
  setpgid(c->pid, c->pid); /* whoever of the two is first */
  c->from = ends[0];
  return CM_OK;
}

/* Keeps the end of what the command says. */
static void keep(child *c, const char *bytes, size_t size)
{
  if (c->size + size > OUTPUT_MAX) {
    size_t lost = c->size + size - OUTPUT_MAX;
    memmove(c->output, c->output + lost, c->size - lost);
    c->size -= lost;
  }
  memcpy(c->output + c->size, bytes, size);
  c->size += size;
  c->output[c->size] = '\0';
}

static cm_status listen_to(child *c, const char *command, double deadline, cm_run *run, cm_error *error)
{
  struct pollfd wait = {.fd = c->from, .events = POLLIN};
  for (;;) {
    char bytes[512];
    CM_TRY(cm_run_check(run, error));
    if (cm_now() > deadline)
      return cm_fail(error, CM_TIME_LIMIT, "the measuring command \"%s\" takes too long", command);
    int ready = poll(&wait, 1, POLL_MS);
    ssize_t got = ready > 0 ? read(c->from, bytes, sizeof bytes) : 0;
    if ((ready < 0 || got < 0) && errno != EINTR)
      return cm_fail_errno(error, errno, "cannot hear", command);
    if (ready > 0 && got == 0)
      return CM_OK;
    if (ready > 0 && got > 0)
      keep(c, bytes, (size_t)got);
  }
}

/* The last line as a whole number. */
static cm_status understand(const child *c, const char *command, uint64_t *nanoseconds, cm_error *error)
{
  size_t end = c->size;
  while (end > 0 && isspace((unsigned char)c->output[end - 1]))
    end--;
  size_t begin = end;
  while (begin > 0 && c->output[begin - 1] != '\n')
    begin--;
  char *rest;
  errno = 0;
  unsigned long long value = strtoull(c->output + begin, &rest, 10);
  bool number = errno == 0 && rest > c->output + begin && isdigit((unsigned char)c->output[begin]);
  if (number && *rest == '.')
    rest += 1 + strspn(rest + 1, "0123456789");
  if (!number || rest != c->output + end)
    return cm_fail(error, CM_IO,
                   "the measuring command \"%s\" says \"%.*s\" where the time in nanoseconds is expected on its last "
                   "line",
                   command, (int)(end - begin > 80 ? 80 : end - begin), c->output + begin);
  *nanoseconds = value;
  return CM_OK;
}

cm_status cm_measure(const char *command, const char *path, double seconds_max, cm_run *run, uint64_t *nanoseconds,
                     cm_error *error)
{
  child c = {.size = 0};
  int how = 0;
  CM_TRY(start(command, path, &c, error));
  cm_status status = listen_to(&c, command, cm_now() + seconds_max, run, error);
  if (status != CM_OK)
    kill(-c.pid, SIGKILL);
  close(c.from);
  while (waitpid(c.pid, &how, 0) < 0 && errno == EINTR)
    continue;
  if (status != CM_OK)
    return status;
  if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
    return cm_fail(error, CM_IO, "the measuring command \"%s\" %s %d", command,
                   WIFEXITED(how) ? "ended with status" : "was ended by signal",
                   WIFEXITED(how) ? WEXITSTATUS(how) : WTERMSIG(how));
  return understand(&c, command, nanoseconds, error);
}
