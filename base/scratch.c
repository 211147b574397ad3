/* A block is a mapping of a file without a name. One thread watches all of them while there are any: when more pages of
 * an account's blocks are mapped than it leaves room for, it unmaps them; those that are used come back from the
 * kernel's cache. Only the blocks themselves are counted, so that what else the process does takes no pages from them.
 * What is in them does not depend on when that happens. What can fail: the disk, address space. */
#include "base/hold.h"
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { WATCH_NANOSECONDS = 2000000 };

/* Room for mapped pages where an account is used up. */
static const uint64_t room_least = UINT64_C(1) << 20;

struct cm_scratch {
  cm_memory *memory;
  void *block;
  size_t bytes;
  int file;
  cm_scratch *next;
};

static uint64_t round_to_pages(uint64_t bytes)
{
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/* All blocks. `life` is held while blocks come, change and go, `lock` while the list is walked or changed. */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static cm_scratch *blocks;
static pthread_t watcher;
static atomic_bool crowded; /* too much is mapped */
static int pagemap = -1;    /* /proc/self/pagemap while there are blocks */
static bool prepared;       /* it stays open */
static atomic_llong looked; /* when somebody looked last, in nanoseconds; 0: there are no blocks */
static atomic_llong pace;   /* from one look to the next */

/* ---- how much is mapped ---- */

/* As in linux/fs.h since Linux 6.7: the header may be older than the kernel. */
enum { PAGES_AT_ONCE = 512, PAGE_PRESENT = 1 << 3 };

struct pages {
  uint64_t start, end, categories;
};

struct scan {
  uint64_t size, flags, start, end, walk_end, into, into_count, most;
  uint64_t inverted, all_of, any_of, told;
};

_Static_assert(_IOWR('f', 16, struct scan) == CM_SCAN_PAGES, "what the kernel scans pages by");

/* Bytes of a block that are mapped, counted until there are more than `enough`; false: this kernel scans no pages. */
static bool scan_pages(const cm_scratch *s, uint64_t enough, uint64_t *mapped)
{
  struct pages found[PAGES_AT_ONCE];
  struct scan scan = {.size = sizeof scan, .into = (uintptr_t)found, .into_count = PAGES_AT_ONCE};
  scan.start = (uintptr_t)s->block;
  scan.end = scan.start + round_to_pages(s->bytes);
  scan.all_of = scan.told = PAGE_PRESENT;
  for (*mapped = 0; scan.start < scan.end && *mapped <= enough; scan.start = scan.walk_end) {
    int count = ioctl(pagemap, CM_SCAN_PAGES, &scan);
    if (count < 0)
      return false;
    for (int i = 0; i < count; i++)
      *mapped += found[i].end - found[i].start;
  }
  return true;
}

/* The same by eight bytes a page; all of it where the system does not tell. */
static uint64_t read_pages(const cm_scratch *s, uint64_t enough)
{
  uint64_t entries[PAGES_AT_ONCE], page = (uint64_t)sysconf(_SC_PAGESIZE), mapped = 0;
  uint64_t first = (uintptr_t)s->block / page, count = round_to_pages(s->bytes) / page;
  for (uint64_t at = 0; at < count && mapped <= enough; at += PAGES_AT_ONCE) {
    uint64_t here = count - at < PAGES_AT_ONCE ? count - at : PAGES_AT_ONCE;
    if (pread(pagemap, entries, here * sizeof *entries, (off_t)((first + at) * sizeof *entries)) !=
        (ssize_t)(here * sizeof *entries))
      return s->bytes;
    for (uint64_t i = 0; i < here; i++)
      mapped += (entries[i] >> 63) * page; /* present */
  }
  return mapped;
}

/* Half of what the account has left: the other half is for what it takes until the watcher looks again. */
static uint64_t room_for_pages(const cm_memory *memory)
{
  uint64_t used = atomic_load(&memory->used_bytes), limit = memory->limit_bytes;
  uint64_t left = limit > used ? (limit - used) / 2 : 0;
  return left > room_least ? left : room_least;
}

/* Whether more of an account's blocks is mapped than it has room for. `lock` is held. */
static bool is_crowded(const cm_memory *memory)
{
  uint64_t room = room_for_pages(memory);
  for (const cm_scratch *s = blocks; s != NULL; s = s->next) {
    uint64_t mapped;
    if (s->memory != memory)
      continue;
    if (!scan_pages(s, room, &mapped))
      mapped = read_pages(s, room);
    if (mapped > room)
      return true;
    room -= mapped;
  }
  return false;
}

static bool is_first_of_account(const cm_scratch *block)
{
  const cm_scratch *first = blocks;
  while (first->memory != block->memory)
    first = first->next;
  return first == block;
}

static long long nanoseconds(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void unmap_pages(const cm_memory *memory)
{
  atomic_store(&crowded, true);
  for (cm_scratch *s = blocks; s != NULL; s = s->next)
    if (s->memory == memory)
      madvise(s->block, s->bytes, MADV_DONTNEED);
  atomic_store(&crowded, false);
}

/* Unmaps the blocks of the accounts of which too much is mapped. `lock` is held. A look at blocks of many gigabytes
 * takes long: the next is not before as much time has gone by. */
static void look(void)
{
  long long began = nanoseconds(CLOCK_MONOTONIC);
  for (const cm_scratch *s = blocks; s != NULL; s = s->next)
    if (is_first_of_account(s) && is_crowded(s->memory))
      unmap_pages(s->memory);
  long long now = nanoseconds(CLOCK_MONOTONIC);
  atomic_store(&pace, now - began > WATCH_NANOSECONDS ? now - began : WATCH_NANOSECONDS);
  atomic_store(&looked, now);
}

static void *watch(void *none)
{
  CM_HOLD(&lock);
  if (!prepared)
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  while (blocks != NULL) {
    long long until = nanoseconds(CLOCK_MONOTONIC) + atomic_load(&pace);
    struct timespec moment = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &moment);
    look();
  }
  atomic_store(&looked, 0);
  if (!prepared && pagemap >= 0)
    close(pagemap);
  pagemap = prepared ? pagemap : -1;
  return none;
}

/* Where the processors are busy with others the watcher comes late: whoever works looks in its place. */
static void look_if_late(void)
{
  long long last = atomic_load_explicit(&looked, memory_order_relaxed);
  if (last == 0 || nanoseconds(CLOCK_MONOTONIC) - last < 2 * atomic_load_explicit(&pace, memory_order_relaxed) ||
      pthread_mutex_trylock(&lock) != 0)
    return;
  if (atomic_load(&looked) != 0)
    look();
  pthread_mutex_unlock(&lock);
}

void cm_scratch_pause(void)
{
  if (!atomic_load_explicit(&crowded, memory_order_relaxed)) {
    look_if_late();
    return;
  }
  pthread_mutex_lock(&lock); /* held while pages are unmapped */
  pthread_mutex_unlock(&lock);
}

void cm_scratch_prepare(void)
{
  pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  prepared = pagemap >= 0;
}

static cm_status start_watching(cm_error *error)
{
  sigset_t all, masked;
  sigfillset(&all);
  sigdelset(&all, SIGSYS); /* by which a confined process answers its own calls (confine_paths.c) */
  pthread_sigmask(SIG_BLOCK, &all, &masked); /* signals are for the other threads */
  int cause = pthread_create(&watcher, NULL, watch, NULL);
  pthread_sigmask(SIG_SETMASK, &masked, NULL);
  return cause == 0 ? CM_OK : cm_fail(error, CM_NO_MEMORY, "no thread can be had for the watch over scratch files");
}

/* ---- a disk that fails ---- */

/* A page that the disk does not give back faults where the array is used, deep in a method: nothing there could go on
 * without it, and no number after it could be trusted. The process says why and ends. */
static void on_bus_error(int number, siginfo_t *info, CM_UNUSED void *context)
{
  static const char text[] = ": the disk failed under a scratch file; a larger memory limit needs none\n";
  if (info->si_code != BUS_ADRERR && info->si_code != BUS_OBJERR) {
    signal(number, SIG_DFL);
    return;
  }
  (void)!write(STDERR_FILENO, program_invocation_short_name, strlen(program_invocation_short_name));
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(EXIT_FAILURE);
}

static void mind_bus_errors(void)
{
  struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  (void)sigaction(SIGBUS, &action, NULL);
}

/* ---- blocks ---- */

/* Takes the space on the disk now: a full disk is an error here, and would be a crash later. */
static cm_status take_space(int file, size_t bytes, const char *folder, cm_error *error)
{
  int cause;
  do
    cause = posix_fallocate(file, 0, (off_t)bytes);
  while (cause == EINTR);
  return cause == 0 ? CM_OK : cm_fail_errno(error, cause, "cannot make a scratch file in", folder);
}

static cm_status open_file(cm_scratch *s, cm_error *error)
{
  char path[CM_PATH_MAX];
  const char *folder = s->memory->scratch_folder;
  CM_TRY(cm_path(path, error, "%s/coremap-XXXXXX", folder));
  s->file = mkostemp(path, O_CLOEXEC);
  if (s->file < 0)
    return cm_fail_errno(error, errno, "cannot make a scratch file in", folder);
  (void)unlink(path);
  return take_space(s->file, s->bytes, folder, error);
}

static cm_status map_file(cm_scratch *s, cm_error *error)
{
  void *block = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
  if (block == MAP_FAILED)
    return cm_fail(error, CM_NO_MEMORY, "no address space for a scratch file of %zu bytes", s->bytes);
  s->block = block;
  return CM_OK;
}

static cm_status enlist(cm_scratch *s, cm_error *error)
{
  cm_status status = CM_OK;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, mind_bus_errors);
  pthread_mutex_lock(&life);
  pthread_mutex_lock(&lock);
  s->next = blocks;
  blocks = s;
  pthread_mutex_unlock(&lock);
  if (s->next == NULL && (status = start_watching(error)) != CM_OK)
    blocks = NULL;
  pthread_mutex_unlock(&life);
  return status;
}

static void delist(cm_scratch *s)
{
  pthread_mutex_lock(&life);
  pthread_mutex_lock(&lock);
  for (cm_scratch **at = &blocks; *at != NULL; at = &(*at)->next)
    if (*at == s) {
      *at = s->next;
      break;
    }
  bool last = blocks == NULL;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  if (last)
    pthread_join(watcher, NULL);
  pthread_mutex_unlock(&life);
}

static void release(cm_scratch *s)
{
  if (s->block != NULL)
    munmap(s->block, s->bytes);
  if (s->file >= 0)
    close(s->file);
  free(s);
}

cm_status cm_scratch_new(cm_memory *memory, size_t bytes, cm_scratch **scratch, cm_error *error)
{
  cm_scratch *s;
  CM_TRY(CM_HEAP(s, 1, "a scratch file", error));
  s->memory = memory;
  s->bytes = bytes;
  s->file = -1;
  CM_TRY_OR(open_file(s, error), release(s));
  CM_TRY_OR(map_file(s, error), release(s));
  CM_TRY_OR(enlist(s, error), release(s));
  *scratch = s;
  return CM_OK;
}

void *cm_scratch_block(const cm_scratch *scratch)
{
  return scratch->block;
}

cm_status cm_scratch_read(const cm_scratch *s, uint64_t offset, size_t bytes, void *into, cm_error *error)
{
  for (char *at = into; bytes > 0;) {
    ssize_t got = pread(s->file, at, bytes, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return cm_fail_errno(error, got < 0 ? errno : EIO, "cannot read a scratch file in", s->memory->scratch_folder);
    at += got;
    offset += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return CM_OK;
}

cm_status cm_scratch_resize(cm_scratch *s, size_t bytes, cm_error *error)
{
  if (bytes > s->bytes && take_space(s->file, bytes, s->memory->scratch_folder, error) != CM_OK)
    return error->status;
  pthread_mutex_lock(&lock);
  void *block = mremap(s->block, s->bytes, bytes, MREMAP_MAYMOVE);
  bool moved = block != MAP_FAILED;
  bool cut = moved && bytes < s->bytes;
  if (moved) {
    s->block = block;
    s->bytes = bytes;
  }
  pthread_mutex_unlock(&lock);
  if (!moved)
    return cm_fail(error, CM_NO_MEMORY, "no address space for a scratch file of %zu bytes", bytes);
  if (cut)
    (void)!ftruncate(s->file, (off_t)bytes);
  return CM_OK;
}

void cm_scratch_free(cm_scratch *scratch)
{
  if (scratch == NULL)
    return;
  delist(scratch);
  release(scratch);
}
