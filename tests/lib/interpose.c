/* Stands between a program and the system: records what it does to files, or fails the Nth call of a kind.
 *
 * Preloaded (LD_PRELOAD) or linked into a harness, with interpose_log.c, interpose_names.c and interpose_spawn.c. A seccomp filter traps the system calls on files wherever they come
 * from, the C library's streams included; the handler carries them out itself, marked by a cookie in the sixth argument,
 * which none of these calls has and which the filter lets through. Allocations, mmap and pthread_create are replaced by
 * name. CM_INTERPOSE names the file of the control page (interpose.h), CM_INTERPOSE_LOG the log; without the
 * first nothing is touched.
 *
 * What can fail: no seccomp (the program ends with a line that says so). Not seen: writes through shared mappings;
 * SQLite's index of its log is one, which is made anew after a crash and need not last. */
#include "tests/lib/interpose_internal.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static interpose_control nothing;
interpose_control *interpose_page = &nothing;

/* ---- faults ---- */

/* Notes the call `number` of a kind where it is the first from its place: from its innermost frames. */
static void note_place(uint64_t number)
{
  static _Thread_local bool busy; /* looking at the stack may allocate at first */
  void *frames[INTERPOSE_FRAMES];
  uint64_t place = 14695981039346656037ULL;
  const unsigned fewer = atomic_load_explicit(&interpose_page->frames, memory_order_relaxed);
  if (busy)
    return;
  busy = true;
  int count = backtrace(frames, fewer > 0 && fewer < INTERPOSE_FRAMES ? (int)fewer : INTERPOSE_FRAMES);
  for (int i = 0; i < count; i++)
    place = (place ^ (uintptr_t)frames[i]) * 1099511628211ULL;
  place |= 1;
  for (uint64_t probe = 0, at = place >> 32; probe < INTERPOSE_PLACES; probe++, at++) {
    unsigned long long there = 0;
    if (atomic_compare_exchange_strong(&interpose_page->places[at % INTERPOSE_PLACES], &there, place))
      atomic_store(&interpose_page->first[atomic_fetch_add(&interpose_page->gathered, 1)], number);
    if (there == 0 || there == place)
      break;
  }
  busy = false;
}

bool interpose_due(interpose_kind kind)
{
  uint64_t number = atomic_fetch_add_explicit(&interpose_page->calls[kind], 1, memory_order_relaxed) + 1;
  if (atomic_load_explicit(&interpose_page->gather, memory_order_relaxed) == (uint32_t)kind)
    note_place(number);
  if (atomic_load_explicit(&interpose_page->kind, memory_order_relaxed) != (uint32_t)kind)
    return false;
  uint64_t hit = atomic_fetch_add(&interpose_page->hits, 1) + 1;
  uint64_t at = atomic_load(&interpose_page->at), every = atomic_load(&interpose_page->every);
  if (hit != at && (every == 0 || hit < at || (hit - at) % every != 0))
    return false;
  atomic_fetch_add(&interpose_page->fired, 1);
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

/* ---- the trap ---- */

/* Writes to what is no file are no matter of a disk. */
static bool to_a_file(long number, const long *a)
{
  struct stat about;
  return (number != SYS_write && number != SYS_writev) ||
         (interpose_direct(SYS_fstat, a[0], (long)&about, 0, 0, 0) == 0 && S_ISREG(about.st_mode));
}

static long carry_out(long number, const long *a)
{
  if (!to_a_file(number, a))
    return interpose_direct(number, a[0], a[1], a[2], a[3], a[4]);
  interpose_kind kind = kind_of(number);
  if (kind != INTERPOSE_NOTHING && interpose_due(kind)) {
    long size = a[2];
    /* Half a write is what a full disk gives first. */
    if (kind == INTERPOSE_WRITE && (number == SYS_write || number == SYS_pwrite64) && size > 1)
      (void)interpose_direct(SYS_pwrite64, a[0], a[1], size / 2, number == SYS_pwrite64 ? a[3] : interpose_direct(SYS_lseek, a[0], 0, SEEK_CUR, 0, 0), 0);
    return -(long)atomic_load(&interpose_page->error);
  }
  return interpose_logs() ? interpose_log_call(number, a) : interpose_direct(number, a[0], a[1], a[2], a[3], a[4]);
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
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)INTERPOSE_COOKIE, 0, 3);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]) + 4);
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(INTERPOSE_COOKIE >> 32), 0, 1);
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
  if (descriptor < 0 || ftruncate(descriptor, (off_t)sizeof *interpose_page) != 0)
    _exit(97);
  void *shared = mmap(NULL, sizeof *interpose_page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (shared == MAP_FAILED)
    _exit(97);
  (void)close(descriptor);
  if (log != NULL && folder != NULL && !interpose_log_open(log, folder))
    _exit(97);
  interpose_page = shared;
  trap();
  return interpose_page;
}

__attribute__((constructor)) static void start_from_environment(int count, char **words)
{
  const char *page = getenv("CM_INTERPOSE");
  if (page == NULL)
    return;
  interpose_spawner_start(count, words);
  (void)interpose_start(page, getenv("CM_INTERPOSE_LOG"), getenv("CM_INTERPOSE_ROOT"));
}
