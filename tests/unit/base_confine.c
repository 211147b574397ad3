/* base: a confined process can do what its job asks of the kernel, and nothing to others or with what is not its own. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "base/confine.h"
#include "base/confine_internal.h"

static cm_error error;

/* Of the confined process: its job folder, the process that waits for it, and how many tries there were. */
static char job[CM_PATH_MAX];
static pid_t other;
static int tries, bad;

/* A path beside the job folder's; several live at a time. */
static const char *at(const char *name)
{
  static char paths[4][CM_PATH_MAX + 64];
  static unsigned next;
  char *path = paths[next++ % 4];
  (void)snprintf(path, sizeof paths[0], "%s/%s", job, name);
  return path;
}

/* Something that has to be refused: by a rule, and not because there is nothing to try it on. */
static void refused(const char *what, long told)
{
  const int why = errno;
  const bool rule = told < 0 && (why == EPERM || why == EACCES || why == ENOSYS);
  tries++;
  bad += !rule;
  if (!rule)
    (void)fprintf(stderr, "%s: %s\n", told < 0 ? strerror(why) : "it worked", what);
}

static void works(const char *what, bool done)
{
  bad += !done;
  if (!done)
    (void)fprintf(stderr, "refused (%s): %s\n", strerror(errno), what);
}

#define REFUSED(call) refused(#call, (errno = 0, (long)(call)))
#define WORKS(condition) works(#condition, (errno = 0, condition))

static void *do_nothing(void *argument)
{
  return argument;
}

static void try_work(void)
{
  static char block[1 << 15];
  pthread_t thread;
  struct stat about;
  char text[CM_PATH_MAX];
  (void)signal(SIGXFSZ, SIG_IGN);
  WORKS(pthread_create(&thread, NULL, do_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
  int file = open(at("out/file"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  WORKS(file > 2 && write(file, block, sizeof block) == sizeof block && write(file, block, sizeof block) == sizeof block);
  WORKS(write(file, block, sizeof block) < 0 && errno == EFBIG);
  WORKS(fstat(file, &about) == 0 && about.st_size == 1 << 16 && lseek(file, 0, SEEK_SET) == 0);
  WORKS(stat(at("out/file"), &about) == 0 && about.st_size == 1 << 16 && S_ISREG(about.st_mode));
  WORKS(lstat(at("out"), &about) == 0 && S_ISDIR(about.st_mode));
  WORKS(stat(at("out/none"), &about) != 0 && errno == ENOENT && access(at("in/none"), F_OK) != 0 && errno == ENOENT);
  WORKS(access(at("in/file"), R_OK) == 0 && readlink(at("in/file"), text, sizeof text) < 0 && errno == EINVAL);
  WORKS(realpath(at("out/file"), text) != NULL && strcmp(text, at("out/file")) == 0);
  WORKS(mkdir(at("out/folder"), 0777) == 0 && rename(at("out/file"), at("out/folder/moved")) == 0);
  WORKS(fcntl(file, F_DUPFD_CLOEXEC, 3) > 2 && ftruncate(file, 10) == 0 && futimens(file, NULL) == 0);
  WORKS(unlink(at("out/folder/moved")) == 0 && rmdir(at("out/folder")) == 0);
}

static void try_files(int in)
{
  struct stat about;
  struct statfs system;
  struct statx more;
  struct {
    struct file_handle head;
    char room[MAX_HANDLE_SZ];
  } handle = {.head.handle_bytes = MAX_HANDLE_SZ};
  int mount;
  const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
  const struct timeval times[2] = {{1, 0}, {1, 0}};
  uint64_t how[3] = {O_RDONLY};
  REFUSED(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  REFUSED(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REFUSED(open("/dev/null", O_RDWR | O_CLOEXEC));
  REFUSED(open(at("../beside"), O_RDONLY | O_CLOEXEC));
  REFUSED(open(at("../made"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  REFUSED(open(at("in/file"), O_WRONLY | O_CLOEXEC));
  REFUSED(open(at("in/made"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  REFUSED(open("/etc/passwd", O_PATH | O_CLOEXEC));
  REFUSED(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  REFUSED(syscall(SYS_openat2, AT_FDCWD, at("in/file"), how, sizeof how));
  REFUSED(unlink(at("in/file")));
  REFUSED(rename(at("in/file"), at("out/taken")));
  REFUSED(rename(at("out/kept"), at("../given")));
  REFUSED(link(at("in/file"), at("out/linked")));
  REFUSED(symlink("/etc", at("out/link")));
  REFUSED(mkfifo(at("out/pipe"), 0666));
  REFUSED(truncate(at("out/kept"), 0));
  REFUSED(chmod(at("in/file"), 0777));
  REFUSED(chown(at("in/file"), 1, 1));
  REFUSED(utimensat(AT_FDCWD, at("in/file"), now, 0));
  REFUSED(utimes("/etc/passwd", times));
  REFUSED(setxattr(at("out/kept"), "user.a", "b", 1, 0));
  REFUSED(chdir("/"));
  REFUSED(chroot(at("out")));
  REFUSED(statfs("/", &system));
  REFUSED(statx(AT_FDCWD, "/etc/passwd", 0, STATX_ALL, &more));
  REFUSED(name_to_handle_at(AT_FDCWD, "/etc/passwd", &handle.head, &mount, 0));
  REFUSED(inotify_init1(IN_CLOEXEC));
  REFUSED(fanotify_init(FAN_CLASS_NOTIF, O_RDONLY));
  if (__tsan_init == NULL) {
    REFUSED(stat("/etc/passwd", &about));
    REFUSED(lstat(at("../beside"), &about));
    REFUSED(fstatat(in, "/etc/passwd", &about, AT_EMPTY_PATH));
    REFUSED(access("/etc/passwd", F_OK));
    REFUSED(faccessat(in, "/etc/passwd", R_OK, AT_EACCESS));
  }
}

/* What is answered to a path outside, by one of the calls that go by path; errno, 0: it worked. */
static int answer_of(int call, const char *path)
{
  struct stat about;
  errno = 0;
  long told = call == 0   ? open(path, O_RDONLY | O_CLOEXEC)
              : call == 1 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
              : call == 2 ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
              : call == 3 ? stat(path, &about)
              : call == 4 ? lstat(path, &about)
              : call == 5 ? access(path, F_OK)
              : call == 6 ? mkdir(path, 0777)
              : call == 7 ? unlink(path)
              : call == 8 ? rmdir(path)
              : call == 9 ? rename(path, at("out/taken"))
              : call == 10 ? rename(at("out/kept"), path)
                           : renameat2(AT_FDCWD, path, AT_FDCWD, at("out/kept"), RENAME_EXCHANGE);
  return told < 0 ? errno : 0;
}

/* Whether something is there, what it is, and what is below it: all are told alike. */
static void try_existence(void)
{
  static const char *const outside[] = {
    "/", "/etc", "/etc/passwd", "/etc/none", "/etc/passwd/none", "/none", "/none/none", "/dev/null", "/proc/self/none", "/proc/self/fd",
    "../beside", "../none", "../beside/none", "..", "none", "out/../../beside", "out/../../none", "out/none/../../../none", "in/../.."};
  if (__tsan_init != NULL)
    return;
  for (int call = 0; call < 12; call++)
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
      const int told = answer_of(call, outside[i][0] == '/' ? outside[i] : at(outside[i]));
      tries++;
      bad += told != EACCES;
      if (told != EACCES)
        (void)fprintf(stderr, "%s to call %d at %s\n", strerror(told), call, outside[i]);
    }
  WORKS(open(at("out/none"), O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT);
  WORKS(open(at("out/none/none"), O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT && rmdir(at("out/none")) < 0 && errno == ENOENT);
  WORKS(mkdir(at("out/there"), 0777) == 0 && mkdir(at("out/there"), 0777) < 0 && errno == EEXIST && rmdir(at("out/there")) == 0);
  WORKS(open(at("out/kept/"), O_RDONLY | O_CLOEXEC) < 0 && errno == ENOTDIR && unlink(at("out/../in/none")) < 0 && errno == ENOENT);
}

/* What stands under /proc, of others and of this process. */
static void try_proc(int held)
{
  char path[64];
  (void)snprintf(path, sizeof path, "/proc/%d/status", (int)other);
  REFUSED(open(path, O_RDONLY | O_CLOEXEC));
  REFUSED(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", held);
  REFUSED(open(path, O_WRONLY | O_CLOEXEC));
  REFUSED(open("/proc/self/cwd/../../../../../../../etc/passwd", O_RDONLY | O_CLOEXEC));
  REFUSED(open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
  if (CM_SANITIZED) /* they read what is mapped */
    return;
  REFUSED(open("/proc/self/environ", O_RDONLY | O_CLOEXEC));
  REFUSED(open("/proc/self/net/tcp", O_RDONLY | O_CLOEXEC));
  REFUSED(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
}

/* By files that are open: those of the server, and what others are told of ours. */
static void try_descriptors(int in, int out)
{
  struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  REFUSED(fcntl(in, F_SETLEASE, F_RDLCK));
  REFUSED(fcntl(in, F_SETOWN, other));
  REFUSED(fcntl(in, F_SETSIG, SIGKILL));
  REFUSED(fcntl(in, F_NOTIFY, DN_ACCESS));
  REFUSED(fcntl(in, F_SETLK, &whole));
  REFUSED(fcntl(in, F_OFD_SETLK, &whole));
  REFUSED(fcntl(out, F_SETFL, O_ASYNC));
  REFUSED(fcntl(out, F_ADD_SEALS, F_SEAL_WRITE));
  REFUSED(fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK));
  REFUSED(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  REFUSED(dup(STDERR_FILENO));
  REFUSED(dup2(out, STDERR_FILENO));
  REFUSED(ftruncate(STDERR_FILENO, 0));
  REFUSED(fallocate(STDERR_FILENO, 0, 0, 1 << 20));
  REFUSED(fchmod(STDERR_FILENO, 0777));
  REFUSED(pwrite(STDERR_FILENO, "x", 1, 0));
  REFUSED(flock(in, LOCK_EX | LOCK_NB));
  REFUSED(fchown(out, 1, 1));
  REFUSED(ioctl(STDERR_FILENO, TIOCSTI, "x"));
}

static void try_sockets(void)
{
  int pair[2];
  REFUSED(socket(AF_INET, SOCK_STREAM, 0));
  REFUSED(socket(AF_INET6, SOCK_DGRAM, 0));
  REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
  REFUSED(socket(AF_NETLINK, SOCK_RAW, 0));
  REFUSED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  REFUSED(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
}

static int clone_into(int name_space)
{
  return (int)syscall(SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | name_space, NULL, NULL, NULL,
                      NULL);
}

static int fork_and_end(void)
{
  const pid_t pid = fork();
  if (pid == 0)
    _exit(EXIT_SUCCESS);
  return pid;
}

static void try_processes(void)
{
  char *const words[] = {NULL};
  struct clone_args arguments = {.exit_signal = SIGCHLD};
  siginfo_t info = {.si_code = SI_QUEUE};
  REFUSED(fork_and_end());
  REFUSED(execve("/bin/true", words, words));
  REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", words, words, 0));
  REFUSED(syscall(SYS_clone3, &arguments, sizeof arguments));
  REFUSED(clone_into(CLONE_NEWNET));
  REFUSED(unshare(CLONE_NEWUSER));
  REFUSED(setns(STDIN_FILENO, 0));
  REFUSED(kill(other, 0));
  REFUSED(kill(-1, 0));
  REFUSED(syscall(SYS_tkill, other, 0));
  REFUSED(syscall(SYS_tgkill, other, other, 0));
  REFUSED(syscall(SYS_rt_sigqueueinfo, other, 0, &info));
  REFUSED(syscall(SYS_pidfd_open, other, 0));
  REFUSED(syscall(SYS_pidfd_send_signal, STDIN_FILENO, 0, NULL, 0));
  REFUSED(ptrace(PTRACE_ATTACH, other, NULL, NULL));
  REFUSED(setsid());
  REFUSED(setuid(0));
}

static void try_memory(void)
{
  char byte;
  const struct iovec here = {&byte, 1};
  void *block = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REFUSED(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ? 0 : -1);
  REFUSED(mprotect(block, 4096, PROT_READ | PROT_EXEC));
  REFUSED(memfd_create("a", 0));
  REFUSED(process_vm_readv(other, &here, 1, &here, 1, 0));
  REFUSED(process_vm_writev(other, &here, 1, &here, 1, 0));
  REFUSED(syscall(SYS_userfaultfd, 0));
  REFUSED(syscall(SYS_mlockall, MCL_CURRENT)); /* sanitizers answer mlockall themselves */
}

static void try_machine(void)
{
  cpu_set_t all;
  const struct sched_param plain = {0};
  const struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
  struct rlimit theirs;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  CPU_ZERO(&all);
  CPU_SET(0, &all);
  char ring[128] = "";
  REFUSED(sched_setaffinity(other, sizeof all, &all));
  REFUSED(sched_getaffinity(other, sizeof all, &all));
  REFUSED(sched_setscheduler(0, SCHED_BATCH, &plain));
  REFUSED(sched_getscheduler(other));
  REFUSED(setpriority(PRIO_PROCESS, (id_t)other, 19));
  REFUSED(syscall(SYS_ioprio_set, 1, other, 0));
  REFUSED(prlimit(other, RLIMIT_NOFILE, NULL, &theirs));
  REFUSED(setrlimit(RLIMIT_DATA, &more));
  REFUSED(prctl(PR_SET_DUMPABLE, 1));
  REFUSED(prctl(PR_SET_PDEATHSIG, 0));
  REFUSED(syscall(SYS_capset, &header, none));
  REFUSED(mount("none", at("out"), "tmpfs", 0, NULL));
  REFUSED(umount2("/", MNT_DETACH));
  REFUSED(syscall(SYS_bpf, 0, ring, sizeof ring));
  REFUSED(syscall(SYS_keyctl, 0, -3, 0));
  REFUSED(syscall(SYS_add_key, "user", "a", "b", 1, -3));
  REFUSED(syscall(SYS_io_uring_setup, 4, ring));
  REFUSED(syscall(SYS_perf_event_open, ring, 0, -1, -1, 0));
  REFUSED(syscall(SYS_seccomp, 1, 0, NULL));
  REFUSED(syscall(SYS_init_module, NULL, 0, ""));
  REFUSED(sethostname("a", 1));
  REFUSED(personality(ADDR_NO_RANDOMIZE));
  REFUSED(syscall(SYS_settimeofday, NULL, NULL));
  REFUSED(syscall(SYS_setitimer, ITIMER_REAL, NULL, NULL));
  REFUSED(syscall(SYS_syslog, 10, NULL, 0));
}

/* In a process of its own: how many things are not as they should be. */
static int try_all(void)
{
  char in_force[CM_IN_FORCE_MAX], writable[CM_PATH_MAX];
  ck_ok(cm_path(writable, &error, "%s/out", job));
  const cm_confinement limits = {.folder = job, .output = writable, .memory_limit = 1 << 20, .file_limit = 1 << 16, .cpu_seconds = 30};
  other = getppid();
  const int held = open(at("../beside"), O_RDWR | O_CLOEXEC); /* a log of the server, say */
  if (cm_confine(&limits, in_force, &error) != CM_OK)
    return 100;
  if (strstr(in_force, "system calls filtered") == NULL || strstr(in_force, "Landlock ABI") == NULL)
    return 0; /* a kernel without: the log says so */
  try_work();
  const int in = open(at("in/file"), O_RDONLY | O_CLOEXEC), out = open(at("out/kept"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  WORKS(in > 2 && out > 2 && held > 2);
  try_files(in);
  try_existence();
  try_proc(held);
  try_descriptors(in, out);
  try_sockets();
  try_processes();
  try_memory();
  try_machine();
  WORKS(tries > 100);
  return bad < 99 ? bad : 99;
}

/* What a model or a network that takes its reader over would try next. */
START_TEST(a_confined_process_can_do_its_job_and_nothing_else)
{
  static const char *const folders[] = {"all/job/in", "all/job/out"}, *const files[] = {"all/beside", "all/job/in/file",
                                                                                        "all/job/job.json"};
  char root[CM_PATH_MAX], path[CM_PATH_MAX + 32];
  test_folder(root);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", root, folders[i]);
    ck_ok(cm_folder_make(path, &error));
  }
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", root, files[i]);
    test_write(path, "{}", 2);
  }
  ck_ok(cm_path(job, &error, "%s/all/job", root));
  const pid_t pid = fork();
  if (pid == 0)
    _exit(try_all());
  int status;
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d tries worked or failed otherwise, status %x",
                WEXITSTATUS(status), (unsigned)status);
  ck_ok(cm_folder_remove(root, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("base confine");
  TCase *tests = tcase_create("base confine");
  tcase_add_test(tests, a_confined_process_can_do_its_job_and_nothing_else);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
