/* The programs that a watched one starts. The filter lasts over an exec, the handler of its traps does not: whatever were
 * started would die at the first file that the loader opens. So a process is forked off before the filter is there, at the
 * program's beginning; posix_spawn tells it, and it forks one that goes on to main with the words it was told, under a
 * filter and a handler of its own. That is enough for a program that starts itself with a descriptor as standard input, which
 * is all that ours does (daemon/fork_server.c). */
#include "tests/lib/interpose_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int spawner = -1;
static _Thread_local int standard_input = -1;

/* In the spawner: returns in a process that is to go on to main, with a descriptor as its standard input. */
static void wait_to_begin(int control, char **words)
{
  static char word[64];
  for (;;) {
    union {
      struct cmsghdr header;
      char bytes[CMSG_SPACE(sizeof(int))];
    } room;
    struct iovec text = {word, sizeof word};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
    int input;
    if (recvmsg(control, &message, MSG_CMSG_CLOEXEC) <= 0)
      _exit(0); /* the program is gone */
    const struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    if (rights == NULL)
      continue;
    memcpy(&input, CMSG_DATA(rights), sizeof input);
    if (fork() == 0) {
      (void)signal(SIGCHLD, SIG_DFL);
      (void)dup2(input, STDIN_FILENO);
      (void)close(input);
      (void)close(control);
      words[1] = word;
      return;
    }
    (void)close(input);
  }
}

void interpose_spawner_start(int count, char **words)
{
  int pair[2];
  if (count < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return;
  pid_t pid = fork();
  if (pid == 0) {
    (void)close(pair[0]);
    (void)signal(SIGCHLD, SIG_IGN); /* they bury themselves */
    wait_to_begin(pair[1], words);
    return;
  }
  (void)close(pair[1]);
  spawner = pair[0];
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int from, int to)
{
  static int (*real)(posix_spawn_file_actions_t *, int, int);
  if (real == NULL) {
    void *found = dlsym(RTLD_NEXT, "posix_spawn_file_actions_adddup2");
    memcpy(&real, &found, sizeof found);
  }
  if (to == STDIN_FILENO)
    standard_input = from;
  return real(actions, from, to);
}

int posix_spawn(pid_t *pid, const char *program, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                char *const words[], char *const environment[])
{
  (void)program, (void)actions, (void)attributes, (void)environment;
  struct iovec text = {words[1], strlen(words[1]) + 1};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } room = {0};
  struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(rights), &standard_input, sizeof standard_input);
  if (sendmsg(spawner, &message, MSG_NOSIGNAL) < 0)
    return errno;
  *pid = INT_MAX; /* no child of this process: waiting for it returns at once */
  return 0;
}
