/* Preloaded: ends a server (kill -9) just before the Nth call by which it changes a disk or speaks to another process.
 *
 * CM_DIE names a page of two numbers: which call, 0 for none, and how many there were; a harness reads and writes both while the server runs.
 * What the server starts goes on. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct die_page {
  atomic_ullong at, calls;
} die_page;

static die_page none, *page = &none;
static pid_t watched;

__attribute__((constructor)) static void start(int count, char **words)
{
  const char *path = getenv("CM_DIE");
  int file = path != NULL && (count < 2 || strcmp(words[1], "--fork-server") != 0) ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0)
    return;
  void *shared = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  (void)close(file);
  if (shared == MAP_FAILED)
    _exit(97);
  page = shared;
  watched = getpid();
}

static void step(void)
{
  if (watched == getpid() && atomic_fetch_add(&page->calls, 1) + 1 == atomic_load(&page->at))
    (void)raise(SIGKILL);
}

#define STEP(type, name, given, passed)         \
  type name given                               \
  {                                             \
    static type(*real) given;                   \
    if (real == NULL) {                         \
      void *found = dlsym(RTLD_NEXT, #name);    \
      memcpy(&real, &found, sizeof found);      \
    }                                           \
    step();                                     \
    return real passed;                         \
  }

STEP(int, connect, (int socket, const struct sockaddr *to, socklen_t size), (socket, to, size))
STEP(ssize_t, sendmsg, (int socket, const struct msghdr *message, int flags), (socket, message, flags))
STEP(ssize_t, send, (int socket, const void *bytes, size_t size, int flags), (socket, bytes, size, flags))
STEP(ssize_t, recvmsg, (int socket, struct msghdr *message, int flags), (socket, message, flags))
STEP(int, fsync, (int file), (file))
STEP(int, fdatasync, (int file), (file))
STEP(int, rename, (const char *from, const char *to), (from, to))
STEP(int, link, (const char *from, const char *to), (from, to))
STEP(int, unlink, (const char *path), (path))
STEP(int, mkdir, (const char *path, mode_t mode), (path, mode))
