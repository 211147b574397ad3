/* The log: what a program does to files below a folder, in the order in which it was done. One lock, in the shared page, over
 * a call and its record, so that the order is that of the file system for all processes. */
#include "tests/lib/interpose_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 1024 };

static int log_descriptor = -1;
static char root[PATH_SIZE];
static size_t root_length;
static dev_t root_device;

bool interpose_log_open(const char *log, const char *folder)
{
  struct stat about;
  (void)snprintf(root, sizeof root, "%s", folder);
  root_length = strlen(root);
  /* Beyond the descriptors that a daemon closes or counts. */
  int low = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  log_descriptor = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 200);
  if (log_descriptor < 0 || stat(folder, &about) != 0)
    return false;
  (void)close(low);
  root_device = about.st_dev;
  return true;
}

bool interpose_logs(void)
{
  return log_descriptor >= 0;
}

static uint64_t now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void lock(void)
{
  while (atomic_exchange(&interpose_page->lock, 1) != 0)
    (void)interpose_direct(SYS_sched_yield, 0, 0, 0, 0, 0);
}

static void unlock(void)
{
  atomic_store(&interpose_page->lock, 0);
}

static void record(interpose_record *r, const char *path, const char *other, const void *data)
{
  static const char zeros[8];
  r->path_bytes = path != NULL ? (uint32_t)strlen(path) : 0;
  r->other_bytes = other != NULL ? (uint32_t)strlen(other) : 0;
  uint64_t data_bytes = data != NULL ? r->size : 0;
  r->bytes = (uint32_t)(sizeof *r + r->path_bytes + r->other_bytes + data_bytes);
  struct iovec parts[4] = {
    {r, sizeof *r},
    {(void *)(uintptr_t)(path != NULL ? path : zeros), r->path_bytes},
    {(void *)(uintptr_t)(other != NULL ? other : zeros), r->other_bytes},
    {(void *)(uintptr_t)(data != NULL ? data : zeros), data_bytes},
  };
  if (interpose_direct(SYS_writev, log_descriptor, (long)parts, 4, 0, 0) != (long)r->bytes)
    _exit(98); /* a log with holes would prove nothing */
}

/* The file behind a descriptor, when it is a regular one beside the root. */
static bool file_of(int descriptor, struct stat *about)
{
  return interpose_direct(SYS_fstat, descriptor, (long)about, 0, 0, 0) == 0 && about->st_dev == root_device &&
         (S_ISREG(about->st_mode) || S_ISDIR(about->st_mode));
}

/* The whole path, when it is below the root. */
static bool path_below(int folder, const char *path, char *whole)
{
  size_t used = 0;
  if (path[0] != '/') {
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    long got = interpose_direct(SYS_readlink, (long)(folder == AT_FDCWD ? "/proc/self/cwd" : link), (long)whole, PATH_SIZE - 1, 0, 0);
    if (got <= 0)
      return false;
    used = (size_t)got;
    whole[used++] = '/';
  }
  size_t length = strlen(path);
  if (used + length + 1 > PATH_SIZE)
    return false;
  memcpy(whole + used, path, length + 1);
  return strncmp(whole, root, root_length) == 0 && (whole[root_length] == '/' || whole[root_length] == '\0');
}

static long log_write(long number, const long *a)
{
  struct stat about;
  int descriptor = (int)a[0];
  long result = interpose_direct(number, a[0], a[1], a[2], a[3], a[4]);
  if (result <= 0 || !file_of(descriptor, &about))
    return result;
  interpose_record r = {.operation = INTERPOSE_DID_WRITE, .time = now(), .file = about.st_ino, .size = (uint64_t)result};
  bool placed = number == SYS_pwrite64 || number == SYS_pwritev;
  r.offset = placed ? (uint64_t)a[3] : (uint64_t)(interpose_direct(SYS_lseek, descriptor, 0, SEEK_CUR, 0, 0) - result);
  if (number == SYS_write || number == SYS_pwrite64) {
    record(&r, NULL, NULL, (const void *)a[1]);
    return result;
  }
  const struct iovec *parts = (const struct iovec *)a[1];
  uint64_t left = (uint64_t)result;
  for (long i = 0; i < a[2] && left > 0; i++) {
    r.size = parts[i].iov_len < left ? parts[i].iov_len : left;
    record(&r, NULL, NULL, parts[i].iov_base);
    r.offset += r.size;
    left -= r.size;
  }
  return result;
}

static long log_size(long number, const long *a)
{
  struct stat about;
  long result = interpose_direct(number, a[0], a[1], a[2], a[3], a[4]);
  if (result == 0 && number != SYS_truncate && file_of((int)a[0], &about)) {
    interpose_record r = {.operation = INTERPOSE_DID_TRUNCATE, .time = now(), .file = about.st_ino, .size = (uint64_t)about.st_size};
    record(&r, NULL, NULL, NULL);
  }
  return result;
}

static long log_open(long number, const long *a)
{
  int folder = number == SYS_openat ? (int)a[0] : AT_FDCWD;
  const char *path = (const char *)a[number == SYS_openat];
  long flags = number == SYS_creat ? O_CREAT | O_TRUNC : a[number == SYS_openat ? 2 : 1];
  char whole[PATH_SIZE];
  struct stat before, after;
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || !path_below(folder, path, whole))
    return interpose_direct(number, a[0], a[1], a[2], a[3], a[4]);
  bool was = interpose_direct(SYS_newfstatat, AT_FDCWD, (long)whole, (long)&before, 0, 0) == 0;
  long result = interpose_direct(number, a[0], a[1], a[2], a[3], a[4]);
  if (result >= 0 && file_of((int)result, &after)) {
    interpose_record r = {.operation = was ? INTERPOSE_DID_TRUNCATE : INTERPOSE_DID_CREATE, .time = now(), .file = after.st_ino};
    if (!was)
      record(&r, whole, NULL, NULL);
    else if (flags & O_TRUNC)
      record(&r, NULL, NULL, NULL);
  }
  return result;
}

/* Calls on one name or two: mkdir, unlink, rename, ... */
static long log_name(long number, const long *a)
{
  char first[PATH_SIZE], second[PATH_SIZE];
  bool at = number == SYS_mkdirat || number == SYS_unlinkat || number == SYS_renameat || number == SYS_renameat2 ||
            number == SYS_linkat;
  bool two = number == SYS_rename || number == SYS_renameat || number == SYS_renameat2 || number == SYS_link ||
             number == SYS_linkat;
  bool below = path_below(at ? (int)a[0] : AT_FDCWD, (const char *)a[at ? 1 : 0], first);
  if (two)
    below = path_below(at ? (int)a[2] : AT_FDCWD, (const char *)a[at ? 3 : 1], second) || below;
  long result = interpose_direct(number, a[0], a[1], a[2], a[3], a[4]);
  if (result == 0 && below) {
    struct stat about = {0};
    uint32_t operation = two ? INTERPOSE_DID_RENAME : number == SYS_mkdir || number == SYS_mkdirat ? INTERPOSE_DID_FOLDER
                                                                                            : INTERPOSE_DID_UNLINK;
    if (number == SYS_link || number == SYS_linkat)
      operation = INTERPOSE_DID_LINK;
    interpose_record r = {.operation = operation, .time = now()};
    if (operation == INTERPOSE_DID_FOLDER && interpose_direct(SYS_newfstatat, AT_FDCWD, (long)first, (long)&about, 0, 0) == 0)
      r.file = about.st_ino;
    record(&r, first, two ? second : NULL, NULL);
  }
  return result;
}

/* What was written before it begins is on disk when it has ended. */
static long log_sync(long number, const long *a)
{
  struct stat about;
  bool known = file_of((int)a[0], &about);
  interpose_record r = {.operation = INTERPOSE_DID_SYNC_BEGIN, .time = now(), .file = about.st_ino,
                        .offset = number == SYS_fdatasync};
  if (known)
    record(&r, NULL, NULL, NULL);
  unlock();
  long result = interpose_direct(number, a[0], a[1], a[2], a[3], a[4]);
  lock();
  r.time = now();
  r.operation = INTERPOSE_DID_SYNC_END;
  if (known && result == 0)
    record(&r, NULL, NULL, NULL);
  return result;
}

static long call(long number, const long *a)
{
  switch (number) {
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: return log_write(number, a);
    case SYS_ftruncate: case SYS_truncate: case SYS_fallocate: return log_size(number, a);
    case SYS_open: case SYS_openat: case SYS_creat: return log_open(number, a);
    case SYS_fsync: case SYS_fdatasync: return log_sync(number, a);
    default: return log_name(number, a);
  }
}

long interpose_log_call(long number, const long *a)
{
  lock();
  long result = call(number, a);
  unlock();
  return result;
}
