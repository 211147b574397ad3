/* Stands between a program and the system: records what it does to files, or fails the Nth call of a kind.
 *
 * Preloaded (LD_PRELOAD) or linked into a harness. A seccomp filter traps the system calls on files wherever they come
 * from, the C library's streams included; the handler carries them out itself, marked by a cookie in the sixth argument,
 * which none of these calls has and which the filter lets through. Allocations, mmap and pthread_create are replaced by
 * name. CM_INTERPOSE names the file of the control page (interpose.h), CM_INTERPOSE_LOG the log; without the
 * first nothing is touched.
 *
 * What can fail: no seccomp (the program ends with a line that says so). Not seen: writes through shared mappings;
 * SQLite's index of its log is one, which is made anew after a crash and need not last. */
#include "tests/lib/interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/base/sanitized.h"

#if !defined(__x86_64__)
#error "interpose.c knows the registers of x86_64 only"
#endif

#define COOKIE 0x5ca1ab1e0ddba115ULL

enum { PATH_SIZE = 1024 };

static interpose_control nothing, *control = &nothing;
static int log_descriptor = -1;
static char root[PATH_SIZE];
static size_t root_length;
static dev_t root_device;

/* ---- system calls past the filter ---- */

static long direct(long number, long a, long b, long c, long d, long e)
{
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register unsigned long long r9 __asm__("r9") = COOKIE;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static uint64_t now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void lock(void)
{
  while (atomic_exchange(&control->lock, 1) != 0)
    (void)direct(SYS_sched_yield, 0, 0, 0, 0, 0);
}

static void unlock(void)
{
  atomic_store(&control->lock, 0);
}

/* ---- faults ---- */

/* Whether this call of `kind` is the one to fail. */
static bool due(interpose_kind kind)
{
  atomic_fetch_add_explicit(&control->calls[kind], 1, memory_order_relaxed);
  if (atomic_load_explicit(&control->kind, memory_order_relaxed) != (uint32_t)kind)
    return false;
  uint64_t hit = atomic_fetch_add(&control->hits, 1) + 1;
  uint64_t at = atomic_load(&control->at), every = atomic_load(&control->every);
  if (hit != at && (every == 0 || hit < at || (hit - at) % every != 0))
    return false;
  atomic_fetch_add(&control->fired, 1);
  return true;
}

static interpose_kind kind_of(long number)
{
  switch (number) {
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: case SYS_ftruncate: case SYS_truncate:
    case SYS_fallocate: return INTERPOSE_WRITE;
    case SYS_fsync: case SYS_fdatasync: return INTERPOSE_SYNC;
    case SYS_open: case SYS_openat: case SYS_creat: return INTERPOSE_OPEN;
    case SYS_rename: case SYS_renameat: case SYS_renameat2: case SYS_mkdir: case SYS_mkdirat: case SYS_link:
    case SYS_linkat: case SYS_symlink: case SYS_symlinkat: return INTERPOSE_NAME;
    default: return INTERPOSE_NOTHING;
  }
}

/* ---- the log ---- */

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
  if (direct(SYS_writev, log_descriptor, (long)parts, 4, 0, 0) != (long)r->bytes)
    _exit(98); /* a log with holes would prove nothing */
}

/* The file behind a descriptor, when it is a regular one beside the root. */
static bool file_of(int descriptor, struct stat *about)
{
  return direct(SYS_fstat, descriptor, (long)about, 0, 0, 0) == 0 && about->st_dev == root_device &&
         (S_ISREG(about->st_mode) || S_ISDIR(about->st_mode));
}

/* The whole path, when it is below the root. */
static bool path_below(int folder, const char *path, char *whole)
{
  size_t used = 0;
  if (path[0] != '/') {
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    long got = direct(SYS_readlink, (long)(folder == AT_FDCWD ? "/proc/self/cwd" : link), (long)whole, PATH_SIZE - 1, 0, 0);
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
  long result = direct(number, a[0], a[1], a[2], a[3], a[4]);
  if (result <= 0 || !file_of(descriptor, &about))
    return result;
  interpose_record r = {.operation = INTERPOSE_DID_WRITE, .time = now(), .file = about.st_ino, .size = (uint64_t)result};
  bool placed = number == SYS_pwrite64 || number == SYS_pwritev;
  r.offset = placed ? (uint64_t)a[3] : (uint64_t)(direct(SYS_lseek, descriptor, 0, SEEK_CUR, 0, 0) - result);
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
  long result = direct(number, a[0], a[1], a[2], a[3], a[4]);
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
    return direct(number, a[0], a[1], a[2], a[3], a[4]);
  bool was = direct(SYS_newfstatat, AT_FDCWD, (long)whole, (long)&before, 0, 0) == 0;
  long result = direct(number, a[0], a[1], a[2], a[3], a[4]);
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
  long result = direct(number, a[0], a[1], a[2], a[3], a[4]);
  if (result == 0 && below) {
    struct stat about = {0};
    uint32_t operation = two ? INTERPOSE_DID_RENAME : number == SYS_mkdir || number == SYS_mkdirat ? INTERPOSE_DID_FOLDER
                                                                                            : INTERPOSE_DID_UNLINK;
    if (number == SYS_link || number == SYS_linkat)
      operation = INTERPOSE_DID_LINK;
    interpose_record r = {.operation = operation, .time = now()};
    if (operation == INTERPOSE_DID_FOLDER && direct(SYS_newfstatat, AT_FDCWD, (long)first, (long)&about, 0, 0) == 0)
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
  long result = direct(number, a[0], a[1], a[2], a[3], a[4]);
  lock();
  r.time = now();
  r.operation = INTERPOSE_DID_SYNC_END;
  if (known && result == 0)
    record(&r, NULL, NULL, NULL);
  return result;
}

static long log_call(long number, const long *a)
{
  switch (number) {
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: return log_write(number, a);
    case SYS_ftruncate: case SYS_truncate: case SYS_fallocate: return log_size(number, a);
    case SYS_open: case SYS_openat: case SYS_creat: return log_open(number, a);
    case SYS_fsync: case SYS_fdatasync: return log_sync(number, a);
    default: return log_name(number, a);
  }
}

/* ---- the trap ---- */

/* Writes to what is no file are no matter of a disk. */
static bool to_a_file(long number, const long *a)
{
  struct stat about;
  return (number != SYS_write && number != SYS_writev) ||
         (direct(SYS_fstat, a[0], (long)&about, 0, 0, 0) == 0 && S_ISREG(about.st_mode));
}

static long carry_out(long number, const long *a)
{
  if (!to_a_file(number, a))
    return direct(number, a[0], a[1], a[2], a[3], a[4]);
  interpose_kind kind = kind_of(number);
  if (kind != INTERPOSE_NOTHING && due(kind)) {
    long size = a[2];
    /* Half a write is what a full disk gives first. */
    if (kind == INTERPOSE_WRITE && (number == SYS_write || number == SYS_pwrite64) && size > 1)
      (void)direct(SYS_pwrite64, a[0], a[1], size / 2, number == SYS_pwrite64 ? a[3] : direct(SYS_lseek, a[0], 0, SEEK_CUR, 0, 0), 0);
    return -(long)atomic_load(&control->error);
  }
  if (log_descriptor < 0)
    return direct(number, a[0], a[1], a[2], a[3], a[4]);
  lock();
  long result = log_call(number, a);
  unlock();
  return result;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
  (void)number;
  greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
  const long a[5] = {g[REG_RDI], g[REG_RSI], g[REG_RDX], g[REG_R10], g[REG_R8]};
  g[REG_RAX] = carry_out(info->si_syscall, a);
}

static const int trapped[] = {
  SYS_open, SYS_openat, SYS_creat, SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_ftruncate, SYS_truncate,
  SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_rename, SYS_renameat, SYS_renameat2, SYS_unlink, SYS_unlinkat,
  SYS_rmdir, SYS_mkdir, SYS_mkdirat, SYS_link, SYS_linkat,
};
enum { TRAPPED = sizeof trapped / sizeof *trapped };

static void trap(void)
{
  /* nr, one comparison a call, allow; low and high half of the cookie, allow; trap. */
  struct sock_filter filter[TRAPPED + 8];
  unsigned short n = 0;
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < TRAPPED; i++, n++)
    filter[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)trapped[i], (uint8_t)(TRAPPED - i), 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]));
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)COOKIE, 0, 3);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]) + 4);
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(COOKIE >> 32), 0, 1);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  struct sock_fprog program = {n, filter};
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
  if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    (void)dprintf(STDERR_FILENO, "interpose: this system has no seccomp filters: %s\n", strerror(errno));
    _exit(99);
  }
}

interpose_control *interpose_start(const char *page, const char *log, const char *folder)
{
  int descriptor = open(page, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0 || ftruncate(descriptor, (off_t)sizeof *control) != 0)
    _exit(97);
  void *shared = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (shared == MAP_FAILED)
    _exit(97);
  (void)close(descriptor);
  if (log != NULL && folder != NULL) {
    struct stat about;
    (void)snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    /* Beyond the descriptors that a daemon closes or counts. */
    int low = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log_descriptor = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 200);
    if (log_descriptor < 0 || stat(folder, &about) != 0)
      _exit(97);
    (void)close(low);
    root_device = about.st_dev;
  }
  control = shared;
  trap();
  return control;
}

__attribute__((constructor)) static void start_from_environment(void)
{
  const char *page = getenv("CM_INTERPOSE");
  if (page != NULL)
    (void)interpose_start(page, getenv("CM_INTERPOSE_LOG"), getenv("CM_INTERPOSE_ROOT"));
}

/* ---- calls replaced by name ---- */

#if !CM_SANITIZED
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static void *counted(void *block)
{
  if (block != NULL)
    atomic_fetch_add_explicit(&control->live, 1, memory_order_relaxed);
  return block;
}

static bool refuse(void)
{
  if (!due(INTERPOSE_ALLOCATION))
    return false;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t size)
{
  return refuse() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
  return refuse() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
  if (refuse())
    return NULL;
  void *moved = __libc_realloc(block, size);
  if (block == NULL)
    return counted(moved);
  if (size == 0)
    atomic_fetch_sub_explicit(&control->live, 1, memory_order_relaxed);
  return moved;
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
  return refuse() ? NULL : counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
  void *made = memalign(alignment, size);
  if (made == NULL)
    return ENOMEM;
  *block = made;
  return 0;
}

void free(void *block)
{
  if (block != NULL)
    atomic_fetch_sub_explicit(&control->live, 1, memory_order_relaxed);
  __libc_free(block);
}
#endif

static void *map(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
  if (due(INTERPOSE_MAP)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
  return map(address, size, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off64_t offset)
{
  return map(address, size, protection, flags, descriptor, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (real == NULL) {
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof found);
  }
  return due(INTERPOSE_THREAD) ? EAGAIN : real(thread, attributes, start, argument);
}
