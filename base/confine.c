/* Happy path: limits, no new privileges, rules on files, filter of system calls. What can fail: a kernel without one of
 * them; the job runs all the same, and its log says what is missing. */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/confine_internal.h"
#include "base/scratch.h"

/* All that a job and its libraries ask of the kernel. What is not here fails with EPERM. */
static const int calls[] = {
  SCMP_SYS(read),
  SCMP_SYS(write),
  SCMP_SYS(readv),
  SCMP_SYS(writev),
  SCMP_SYS(pread64),
  SCMP_SYS(close),
  SCMP_SYS(fstat),
  SCMP_SYS(fstatfs),
  SCMP_SYS(getdents64),
  SCMP_SYS(getcwd),
  SCMP_SYS(fsync),
  SCMP_SYS(fdatasync),
  SCMP_SYS(sync_file_range),
  SCMP_SYS(fadvise64),
  SCMP_SYS(umask),
  SCMP_SYS(munmap),
  SCMP_SYS(mremap),
  SCMP_SYS(madvise),
  SCMP_SYS(mincore),
  SCMP_SYS(msync),
  SCMP_SYS(brk),
  SCMP_SYS(membarrier),
  SCMP_SYS(rt_sigaction),
  SCMP_SYS(rt_sigprocmask),
  SCMP_SYS(rt_sigreturn),
  SCMP_SYS(sigaltstack),
  SCMP_SYS(restart_syscall),
  SCMP_SYS(futex),
  SCMP_SYS(set_robust_list),
  SCMP_SYS(get_robust_list),
  SCMP_SYS(rseq),
  SCMP_SYS(set_tid_address),
  SCMP_SYS(sched_yield),
  SCMP_SYS(getcpu),
  SCMP_SYS(nanosleep),
  SCMP_SYS(clock_nanosleep),
  SCMP_SYS(clock_gettime),
  SCMP_SYS(clock_getres),
  SCMP_SYS(gettimeofday),
  SCMP_SYS(time),
  SCMP_SYS(getrusage),
  SCMP_SYS(sysinfo),
  SCMP_SYS(uname),
  SCMP_SYS(getrandom),
  SCMP_SYS(getpid),
  SCMP_SYS(gettid),
  SCMP_SYS(getppid),
  SCMP_SYS(getuid),
  SCMP_SYS(geteuid),
  SCMP_SYS(getgid),
  SCMP_SYS(getegid),
  SCMP_SYS(getrlimit),
  SCMP_SYS(poll),
  SCMP_SYS(ppoll),
  SCMP_SYS(exit),
  SCMP_SYS(exit_group),
};

/* What goes by path: sent back to the process, which answers itself (confine_paths.c). */
static const int by_path[] = {
  SCMP_SYS(stat),      SCMP_SYS(lstat),      SCMP_SYS(newfstatat), SCMP_SYS(access),   SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
  SCMP_SYS(readlink),  SCMP_SYS(readlinkat), SCMP_SYS(rename),     SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(unlink),
  SCMP_SYS(unlinkat),  SCMP_SYS(rmdir),      SCMP_SYS(mkdir),      SCMP_SYS(mkdirat),
};

/* The same, and allowed where the process cannot answer, unless files are merely named: what is merely named no rule on files sees. */
static const struct {
  int call;
  unsigned flags; /* its argument with them */
} openings[] = {{SCMP_SYS(open), 1}, {SCMP_SYS(openat), 2}};

/* What changes a file, or holds it back, of ours alone: the standard descriptors are the server's too. */
static const int on_own_files[] = {
  SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(dup), SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(fchmod),
};

/* Commands of fcntl that touch nothing but this process. Not F_SETFL, by which a file that others write to would wait no more,
 * nor locks, leases, owners and signals. */
static const scmp_datum_t commands[] = {F_GETFD, F_SETFD, F_GETFL};

/* One rule. The library goes on without those for which it found no memory, and says nothing: errno does. */
#define ALLOW(made, action, call, ...) (errno = 0, seccomp_rule_add((made), (action), (call), __VA_ARGS__) != 0 || errno == ENOMEM)

/* errno, 0. */
static int add_rules(scmp_filter_ctx made, bool answered)
{
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (ALLOW(made, SCMP_ACT_ALLOW, calls[i], 0))
      return errno != 0 ? errno : EINVAL;
  for (size_t i = 0; i < sizeof by_path / sizeof *by_path; i++)
    if (ALLOW(made, answered ? SCMP_ACT_TRAP : SCMP_ACT_ALLOW, by_path[i], 0))
      return errno != 0 ? errno : EINVAL;
  for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
    if (answered ? ALLOW(made, SCMP_ACT_TRAP, openings[i].call, 0)
                 : ALLOW(made, SCMP_ACT_ALLOW, openings[i].call, 1, SCMP_CMP(openings[i].flags, SCMP_CMP_MASKED_EQ, O_PATH, 0)))
      return errno != 0 ? errno : EINVAL;
  for (size_t i = 0; i < sizeof on_own_files / sizeof *on_own_files; i++)
    if (ALLOW(made, SCMP_ACT_ALLOW, on_own_files[i], 1, SCMP_A0(SCMP_CMP_GT, STDERR_FILENO, 0)))
      return errno != 0 ? errno : EINVAL;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (ALLOW(made, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, commands[i], 0)))
      return errno != 0 ? errno : EINVAL;
  const scmp_datum_t new_name_space =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  const struct {
    int call;
    struct scmp_arg_cmp condition;
  } some[] = {
    /* Memory, but no new code. */
    {SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
    {SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
    /* Threads, but no processes; of clone3 the filter sees no flags, so that libraries must use clone. */
    {SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | new_name_space, CLONE_THREAD)},
    /* abort(): signals to itself only. */
    {SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)},
    /* A reader (HDF5) may hold back writers, not other readers. */
    {SCMP_SYS(flock), SCMP_A1(SCMP_CMP_MASKED_EQ, LOCK_EX, 0)},
    /* The times of an open file, not those of a path. */
    {SCMP_SYS(utimensat), SCMP_A1(SCMP_CMP_EQ, 0, 0)},
    /* How this process is scheduled, and its limits. */
    {SCMP_SYS(sched_getaffinity), SCMP_A0(SCMP_CMP_EQ, 0, 0)},
    {SCMP_SYS(sched_setaffinity), SCMP_A0(SCMP_CMP_EQ, 0, 0)},
    {SCMP_SYS(sched_getparam), SCMP_A0(SCMP_CMP_EQ, 0, 0)},
    {SCMP_SYS(sched_getscheduler), SCMP_A0(SCMP_CMP_EQ, 0, 0)},
    {SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0)},
    /* What is mapped may be asked. */
    {SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, CM_SCAN_PAGES, 0)},
  };
  /* Two conditions each. */
  if (ALLOW(made, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2, SCMP_A0(SCMP_CMP_GT, STDERR_FILENO, 0),
            SCMP_A1(SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0)) ||
      ALLOW(made, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0, 0), SCMP_A2(SCMP_CMP_EQ, 0, 0)))
    return errno != 0 ? errno : EINVAL;
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    if (ALLOW(made, SCMP_ACT_ALLOW, some[i].call, 1, some[i].condition))
      return errno != 0 ? errno : EINVAL;
  /* What the C library does without where the kernel has none; its pthread_getattr_np fails on EPERM. */
  if (ALLOW(made, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) ||
      ALLOW(made, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(sched_getaffinity), 1, SCMP_A0(SCMP_CMP_NE, 0, 0)))
    return errno != 0 ? errno : EINVAL;
  return 0;
}

/* Writes the program of a filter, in which the same may be missing for the same reason, and puts it in force. */
static int load(scmp_filter_ctx made, bool answered)
{
  struct sock_filter steps[BPF_MAXINSNS];
  const size_t own = answered ? cm_confine_own_calls(steps) : 0;
  int file = memfd_create("filter", MFD_CLOEXEC), failed;
  if (file < 0)
    return errno;
  errno = 0;
  failed = seccomp_export_bpf(made, file);
  failed = failed != 0 || errno == ENOMEM ? errno != 0 ? errno : EINVAL : 0;
  ssize_t bytes = failed == 0 ? pread(file, steps + own, sizeof steps - own * sizeof *steps, 0) : -1;
  (void)close(file);
  if (failed != 0 || bytes <= 0)
    return failed != 0 ? failed : EIO;
  const struct sock_fprog program = {(unsigned short)(own + (size_t)bytes / sizeof *steps), steps};
  /* Threads of libraries too. */
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0 ? 0 : errno;
}

static int filter(bool answered)
{
  scmp_filter_ctx made = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (made == NULL)
    return ENOMEM;
  int failed = add_rules(made, answered);
  if (failed == 0)
    failed = load(made, answered);
  seccomp_release(made);
  return failed;
}

static void limit(__rlimit_resource_t resource, uint64_t value, uint64_t hard)
{
  struct rlimit present;
  if (getrlimit(resource, &present) != 0)
    return;
  rlim_t most = present.rlim_max < hard ? present.rlim_max : (rlim_t)hard; /* RLIM_INFINITY is the largest number */
  (void)setrlimit(resource, &(struct rlimit){.rlim_cur = value < most ? (rlim_t)value : most, .rlim_max = most});
}

uint64_t cm_confine_memory(uint64_t memory_limit)
{
  struct sysinfo machine;
  uint64_t most = sysinfo(&machine) == 0 ? (uint64_t)machine.totalram * machine.mem_unit / 8 * 7 : UINT64_MAX / 2;
  if (memory_limit == 0 || memory_limit > most / 2)
    return most;
  uint64_t wanted = 2 * memory_limit + (UINT64_C(512) << 20);
  return wanted < most ? wanted : most;
}

/* Should the machine's memory run out, this process is the one to go, not the server. */
static void volunteer(void)
{
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return;
  ssize_t written = write(file, "1000", 4);
  (void)written;
  (void)close(file);
}

/* A server that is root has more than it needs to read and write the job's folder, which is its own. */
static void drop_capabilities(void)
{
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  (void)syscall(SYS_capset, &header, none);
}

cm_status cm_confine(const cm_confinement *confinement, char in_force[CM_IN_FORCE_MAX], cm_error *error)
{
  uint64_t memory = cm_confine_memory(confinement->memory_limit);
  char bytes[64], filtered[96], files[96];
  volunteer();
  limit(RLIMIT_CORE, 0, 0);
  if (!cm_has_sanitizer()) /* it maps its shadow memory, terabytes of it, which no limit on data allows */
    limit(RLIMIT_DATA, memory, memory);
  if (confinement->file_limit > 0)
    limit(RLIMIT_FSIZE, confinement->file_limit, confinement->file_limit);
  if (confinement->cpu_seconds > 0) { /* SIGXCPU says why; SIGKILL follows should it be caught */
    uint64_t seconds = (uint64_t)ceil(confinement->cpu_seconds);
    limit(RLIMIT_CPU, seconds, seconds + 5);
  }
  (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  cm_scratch_prepare();
  const bool answered = cm_confine_paths();
  int abi = cm_confine_files(confinement);
  drop_capabilities();
  int failed = filter(answered);
  if (failed == ENOMEM)
    return cm_whole(false, "what confines the process", error);
  if (cm_has_sanitizer())
    (void)snprintf(bytes, sizeof bytes, "memory without a limit (sanitizer)");
  else
    (void)snprintf(bytes, sizeof bytes, "at most %llu MiB of memory", (unsigned long long)(memory >> 20));
  if (failed == 0)
    (void)snprintf(filtered, sizeof filtered, "system calls filtered (no network)");
  else
    (void)snprintf(filtered, sizeof filtered, "system calls not filtered (%s)", strerror(failed));
  if (abi > 0)
    (void)snprintf(files, sizeof files, "files of the job folder only (Landlock ABI %d)", abi);
  else
    (void)snprintf(files, sizeof files, "files as the server may (this kernel has no Landlock)");
  (void)snprintf(in_force, CM_IN_FORCE_MAX, "confined: %s, %s, %s", bytes, filtered, files);
  return CM_OK;
}
