/* Happy path: count the threads, walk through what it writes to, add the files without a name that the child has open.
 * What can fail: the child ends meanwhile, and what cannot be looked at counts as nothing. */
#include "daemon/child_limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* A job has a few files in few folders. */
enum { DEPTH_MAX = 8, ENTRY_BYTES = 4096, OWN_THREADS = 16, THREADS_FACTOR = 4 };

static uint64_t bytes_of(const struct stat *about)
{
  return (uint64_t)about->st_blocks * 512 + ENTRY_BYTES;
}

/* All that is below a folder, until it is more than `most`. Closes `folder`. */
static uint64_t bytes_below(int folder, int depth, uint64_t most)
{
  DIR *listing = folder >= 0 ? fdopendir(folder) : NULL;
  uint64_t bytes = 0;
  struct dirent *item;
  struct stat about;
  if (listing == NULL && folder >= 0)
    (void)close(folder);
  while (listing != NULL && bytes <= most && (item = readdir(listing)) != NULL) {
    if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0 ||
        fstatat(dirfd(listing), item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    bytes += bytes_of(&about);
    if (!S_ISDIR(about.st_mode))
      continue;
    if (depth == DEPTH_MAX) { /* no job makes such */
      bytes = UINT64_MAX;
      break;
    }
    const int below = openat(dirfd(listing), item->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const uint64_t more = bytes_below(below, depth + 1, bytes < most ? most - bytes : 0);
    bytes = more > UINT64_MAX - bytes ? UINT64_MAX : bytes + more;
  }
  if (listing != NULL)
    (void)closedir(listing);
  return bytes;
}

/* Files without a name that the child has open: scratch files. */
static uint64_t bytes_open(pid_t pid)
{
  char path[64];
  struct stat about;
  uint64_t bytes = 0;
  (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  DIR *listing = opendir(path);
  for (struct dirent *item; listing != NULL && (item = readdir(listing)) != NULL;)
    if (fstatat(dirfd(listing), item->d_name, &about, 0) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0)
      bytes += bytes_of(&about);
  if (listing != NULL)
    (void)closedir(listing);
  return bytes;
}

/* The same as far as they are mapped, also when they are not open any more. */
static uint64_t bytes_mapped(pid_t pid, const char *out)
{
  char path[64], line[CM_PATH_MAX + 128];
  unsigned long long from, to;
  uint64_t bytes = 0;
  (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *maps = fopen(path, "re");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, out) != NULL && strstr(line, " (deleted)\n") != NULL && sscanf(line, "%llx-%llx", &from, &to) == 2)
      bytes += to - from;
  if (maps != NULL)
    (void)fclose(maps);
  return bytes;
}

/* Of its threads, each has a folder. */
static unsigned threads_of(pid_t pid)
{
  char path[64];
  struct stat about;
  (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  return stat(path, &about) == 0 && about.st_nlink > 2 ? (unsigned)about.st_nlink - 2 : 0;
}

static uint64_t bytes_held(const cm_child_limits *l)
{
  const uint64_t named = bytes_below(open(l->out, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), 0, l->bytes);
  const uint64_t opened = bytes_open(l->pid), mapped = bytes_mapped(l->pid, l->out);
  const uint64_t unnamed = opened > mapped ? opened : mapped;
  return named > UINT64_MAX - unnamed ? UINT64_MAX : named + unnamed;
}

cm_status cm_child_limits_threads(const cm_child_limits *l, cm_error *error)
{
  const unsigned most = THREADS_FACTOR * l->threads + OWN_THREADS, threads = threads_of(l->pid);
  if (l->threads == 0 || threads <= most)
    return CM_OK;
  return cm_fail(error, CM_INTERNAL,
                 "the job's process started %u threads, and may have %u; it was killed, the server and all other jobs went on",
                 threads, most);
}

cm_status cm_child_limits_bytes(const cm_child_limits *l, cm_error *error)
{
  if (l->bytes == 0 || bytes_held(l) <= l->bytes)
    return CM_OK;
  return cm_fail(error, CM_DISK_FULL, "the job's process held more than the %llu bytes that the disk had for it; it was killed",
                 (unsigned long long)l->bytes);
}
