/* Open files: sockets get what the files of jobs, imports and replies do not need. */
#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>

#include "api/internal.h"

enum {
  RESERVE = 192,          /* database, listening, cache, readers of handlers */
  RESERVE_OF_WORKER = 16, /* a job reads its network and writes every view */
  EACH = 2,               /* a connection has its socket, and a file that it sends or gets */
  LEAST = 16,             /* connections that are worth a start */
};

cm_status cm_descriptors_raise(cm_error *error)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return cm_fail_errno(error, errno, "cannot read", "the limit of open files");
  limit.rlim_cur = limit.rlim_max;
  /* Refused only where the administrator keeps a process from its own hard limit: what there is must do then. */
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  return CM_OK;
}

static uint64_t allowed(void)
{
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : 0;
}

uint64_t cm_descriptors_reserve(unsigned workers)
{
  return RESERVE + (uint64_t)RESERVE_OF_WORKER * workers;
}

cm_status cm_descriptors_share(unsigned workers, cm_server_limits *limits, cm_error *error)
{
  uint64_t all = allowed(), reserve = cm_descriptors_reserve(workers);
  if (all < reserve + EACH * LEAST)
    return cm_fail(error, CM_BAD_OPTION, "a process may have %llu files open here, and %u workers need %llu: raise"
                   " the hard limit (ulimit -Hn, LimitNOFILE=)", (unsigned long long)all, workers,
                   (unsigned long long)reserve + EACH * LEAST);
  uint64_t most = (all - reserve) / EACH;
  if (limits->connections > most)
    limits->connections = most;
  return CM_OK;
}

bool cm_descriptors_count(uint64_t *open, uint64_t *most)
{
  DIR *listing = opendir("/proc/self/fd");
  if (listing == NULL)
    return false;
  uint64_t count = 0;
  while (readdir(listing) != NULL)
    count++;
  (void)closedir(listing);
  *open = count - 3; /* the two dot names, and the listing */
  *most = allowed();
  return true;
}
