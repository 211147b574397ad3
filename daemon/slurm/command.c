#include "daemon/slurm/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/run.h"

enum { LOOK_MS = 200, OUTPUT_MAX = 16 << 20 };

/* What comes by a descriptor. */
typedef struct words {
  int from;
  char *text; /* ended by NUL where it is not NULL */
  size_t used, room;
} words;

/* false: it has ended. */
static bool hear(words *w)
{
  if (w->room - w->used < 4096 && w->room < OUTPUT_MAX) {
    char *grown = realloc(w->text, 2 * w->room + 8192);
    if (grown == NULL)
      return false;
    w->text = grown;
    w->room = 2 * w->room + 8192;
  }
  char *const to = w->text + w->used;
  const ssize_t got = read(w->from, to, w->room - w->used - 1);
  w->used += got > 0 ? (size_t)got : 0;
  w->text[w->used] = '\0';
  return got > 0;
}

/* Its last line. */
static const char *last_line(words *w)
{
  if (w->text == NULL)
    return "";
  while (w->used > 0 && w->text[w->used - 1] == '\n')
    w->text[--w->used] = '\0';
  const char *newline = strrchr(w->text, '\n');
  return newline != NULL ? newline + 1 : w->text;
}

/* errno, 0. */
static int spawn(const char *const *given, int output, int errors, pid_t *pid)
{
  posix_spawn_file_actions_t actions;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed != 0)
    return failed;
  if ((failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) == 0 &&
      (failed = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)) == 0 &&
      (failed = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)) == 0)
    failed = posix_spawnp(pid, given[0], &actions, NULL, (char *const *)(uintptr_t)given, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/* Reads both until both have ended, or the time is over: false. */
static bool listen_to(words *output, words *errors, double seconds)
{
  const double until = cm_now() + seconds;
  struct pollfd both[] = {{.fd = output->from, .events = POLLIN}, {.fd = errors->from, .events = POLLIN}};
  while ((both[0].fd >= 0 || both[1].fd >= 0) && cm_now() < until) {
    if (poll(both, 2, LOOK_MS) <= 0)
      continue;
    if (both[0].revents != 0 && !hear(output))
      both[0].fd = -1;
    if (both[1].revents != 0 && !hear(errors))
      both[1].fd = -1;
  }
  return both[0].fd < 0 && both[1].fd < 0;
}

cm_status cm_command_run(const char *const *given, double seconds, char **output, cm_error *error)
{
  int out[2], err[2], status = 0;
  pid_t pid;
  if (pipe2(out, O_CLOEXEC) != 0)
    return cm_fail_errno(error, errno, "cannot start", given[0]);
  if (pipe2(err, O_CLOEXEC) != 0) {
    (void)cm_fail_errno(error, errno, "cannot start", given[0]);
    (void)close(out[0]);
    (void)close(out[1]);
    return error->status;
  }
  const int failed = spawn(given, out[1], err[1], &pid);
  (void)close(out[1]);
  (void)close(err[1]);
  words said = {.from = out[0]}, complained = {.from = err[0]};
  const bool ended = failed != 0 || listen_to(&said, &complained, seconds);
  if (failed == 0) {
    if (!ended)
      (void)kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
      ;
  }
  (void)close(out[0]);
  (void)close(err[0]);
  cm_status result = CM_OK;
  if (failed != 0)
    result = cm_fail_errno(error, failed, "cannot start", given[0]);
  else if (!ended)
    result = cm_fail(error, CM_IO, "%s has not ended after %.0f s", given[0], seconds);
  else if (status != 0)
    result = cm_fail(error, CM_IO, "%s ended with status %d: %.160s", given[0], WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                     last_line(&complained));
  else if (said.text == NULL && (said.text = calloc(1, 1)) == NULL)
    result = cm_whole(false, "what a program says", error);
  free(complained.text);
  if (result == CM_OK)
    *output = said.text;
  else
    free(said.text);
  return result;
}
