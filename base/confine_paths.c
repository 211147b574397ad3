/* Landlock rules what is opened, made and removed; but the kernel looks for what a path names before it asks Landlock, so that the
 * error alone tells anybody what stands where, and stat tells how large it is and whose. So the filter sends all calls by path back to
 * the process (SIGSYS), and these are answered here: what asks, from what may be opened; what does, by a system call of our own, the
 * one place that the filter lets through. Libraries that ask for a file of the job folder get their answer, and of all that lies outside
 * it the answer is EACCES, whether it is there or not.
 *
 * What can fail: nothing; on a machine whose registers are not known here these calls stay as they are. What has taken a process over so
 * far that it returns into that one place is told what exists, as the kernel has it; Landlock's rules stay. */
#include "base/confine_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* cm_confine_ask(number, ...): a system call; cm_confine_asked is behind its one instruction, where the filter sees it come from. */
#if defined __x86_64__
#define REGISTER(context, name) ((context)->uc_mcontext.gregs[REG_##name])
#define RESULT(context) REGISTER(context, RAX)
#define ARGUMENT(context, i)                                                                                                     \
  ((i) == 0   ? REGISTER(context, RDI)                                                                                           \
   : (i) == 1 ? REGISTER(context, RSI)                                                                                           \
   : (i) == 2 ? REGISTER(context, RDX)                                                                                           \
   : (i) == 3 ? REGISTER(context, R10)                                                                                           \
   : (i) == 4 ? REGISTER(context, R8)                                                                                            \
              : REGISTER(context, R9))
__asm__(".pushsection .text\n.hidden cm_confine_ask\n.globl cm_confine_ask\n.type cm_confine_ask, @function\ncm_confine_ask:\n"
        "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n  mov %r8, %r10\n  mov %r9, %r8\n  mov 8(%rsp), %r9\n  syscall\n"
        ".hidden cm_confine_asked\n.globl cm_confine_asked\ncm_confine_asked:\n  ret\n"
        ".size cm_confine_ask, . - cm_confine_ask\n.popsection\n");
#elif defined __aarch64__
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#define ARGUMENT(context, i) ((context)->uc_mcontext.regs[i])
__asm__(".pushsection .text\n.hidden cm_confine_ask\n.globl cm_confine_ask\n.type cm_confine_ask, %function\ncm_confine_ask:\n"
        "  mov x8, x0\n  mov x0, x1\n  mov x1, x2\n  mov x2, x3\n  mov x3, x4\n  mov x4, x5\n  mov x5, x6\n  svc #0\n"
        ".hidden cm_confine_asked\n.globl cm_confine_asked\ncm_confine_asked:\n  ret\n"
        ".size cm_confine_ask, . - cm_confine_ask\n.popsection\n");
#endif

#ifdef RESULT

/* The result, or errno as a negative number. */
extern long cm_confine_ask(long number, long first, long second, long third, long fourth, long fifth, long sixth);
extern const char cm_confine_asked[];

/* None of the calls here has a sixth argument; a filter that was there before may know its own calls by it, so it is handed on. */
static _Thread_local long sixth __attribute__((tls_model("initial-exec")));

static long ask(long number, long first, long second, long third, long fourth, long fifth)
{
  return cm_confine_ask(number, first, second, third, fourth, fifth, sixth);
}

/* ---- what is outside ---- */

static int open_at(int folder, const char *path, long flags, long mode)
{
  return (int)ask(SYS_openat, folder, (long)path, flags, mode, 0);
}

/* Takes the last segment off a path; false: there is none, or it leads upwards. */
static bool shorten(char *path)
{
  size_t end = strlen(path);
  while (end > 0 && path[end - 1] == '/')
    end--;
  size_t begin = end;
  while (begin > 0 && path[begin - 1] != '/')
    begin--;
  const bool up = end - begin == 2 && path[begin] == '.' && path[begin + 1] == '.';
  path[begin] = '\0';
  return end > 0 && !up;
}

/* Whether a path is one that may be opened, or leads downwards from such a folder; there are no links in these. */
static bool is_inside(int folder, const char *path)
{
  char above[PATH_MAX];
  if (strnlen(path, sizeof above) == sizeof above)
    return false;
  memcpy(above, path, strlen(path) + 1);
  int opened;
  do
    opened = open_at(folder, above[0] != '\0' ? above : ".", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  while (opened < 0 && shorten(above));
  if (opened >= 0)
    (void)close(opened);
  return opened >= 0;
}

/* Whether an error tells nothing of what is at a path. */
static bool is_silent(long told)
{
  static const long silent[] = {EFAULT, EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN, ENOSPC, EDQUOT, EIO};
  for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
    if (told == -silent[i])
      return true;
  return told >= 0;
}

static long settle(long told, int folder, const char *path)
{
  return is_silent(told) || is_inside(folder, path) ? told : -EACCES;
}

/* ---- calls that ask ---- */

/* 0, or errno as a negative number; `into` may be NULL. */
static long look(int folder, const char *path, int flags, struct stat *into)
{
  const int opened = open_at(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0);
  if (opened < 0)
    return settle(opened, folder, path);
  const long told = into == NULL || syscall(SYS_fstat, opened, into) == 0 ? 0 : -errno;
  (void)close(opened);
  return told;
}

static long look_at(int file, const char *path, struct stat *into, long flags)
{
  if ((flags & AT_EMPTY_PATH) != 0 && path[0] == '\0') /* so does the C library's fstat */
    return syscall(SYS_fstat, file, into) == 0 ? 0 : -errno;
  const long told = look(file, path, (flags & AT_SYMLINK_NOFOLLOW) != 0 ? O_NOFOLLOW : 0, into);
  return told == -ELOOP ? look(file, path, 0, into) : told; /* of a link what it leads to: libhdf5 looks so at an input that it has open */
}

/* ---- calls that do ---- */

/* Files may be opened, not merely named: what is merely named no rule on files sees. */
static long open_file(int folder, const char *path, long flags, long mode)
{
  return (flags & O_PATH) != 0 ? -EPERM : settle(open_at(folder, path, flags, mode), folder, path);
}

static long make_folder(int folder, const char *path, long mode)
{
  return settle(ask(SYS_mkdirat, folder, (long)path, mode, 0, 0), folder, path);
}

static long take_away(int folder, const char *path, long flags)
{
  return settle(ask(SYS_unlinkat, folder, (long)path, flags, 0, 0), folder, path);
}

static long give_name(int from_folder, const char *from, int to_folder, const char *to, long flags)
{
  const long told = ask(SYS_renameat2, from_folder, (long)from, to_folder, (long)to, flags);
  return settle(settle(told, from_folder, from), to_folder, to);
}

/* ---- answering ---- */

static struct sigaction before_us; /* a program may have a filter of its own, that sends other calls back */

/* *told: what a call that was sent back gets; false: it was none of ours. */
static bool answered(int call, const ucontext_t *c, long *told)
{
  const long a = (long)ARGUMENT(c, 0), b = (long)ARGUMENT(c, 1);
  const long d = (long)ARGUMENT(c, 2), e = (long)ARGUMENT(c, 3), f = (long)ARGUMENT(c, 4);
  const char *first = (const char *)a, *second = (const char *)b, *fourth = (const char *)e;
  switch (call) {
#ifdef SYS_stat
    case SYS_stat: *told = look_at(AT_FDCWD, first, (struct stat *)b, 0); break;
    case SYS_lstat: *told = look_at(AT_FDCWD, first, (struct stat *)b, AT_SYMLINK_NOFOLLOW); break;
    case SYS_access: *told = look(AT_FDCWD, first, 0, NULL); break;
    case SYS_open: *told = open_file(AT_FDCWD, first, b, d); break;
    case SYS_mkdir: *told = make_folder(AT_FDCWD, first, b); break;
    case SYS_rmdir: *told = take_away(AT_FDCWD, first, AT_REMOVEDIR); break;
    case SYS_unlink: *told = take_away(AT_FDCWD, first, 0); break;
    case SYS_rename: *told = give_name(AT_FDCWD, first, AT_FDCWD, second, 0); break;
    case SYS_readlink:
#endif
    case SYS_readlinkat: *told = -EINVAL; break; /* a job folder has no links, and neither has what leads there */
    case SYS_newfstatat: *told = look_at((int)a, second, (struct stat *)d, e); break;
    case SYS_faccessat:
    case SYS_faccessat2: *told = look((int)a, second, 0, NULL); break;
    case SYS_openat: *told = open_file((int)a, second, d, e); break;
    case SYS_mkdirat: *told = make_folder((int)a, second, d); break;
    case SYS_unlinkat: *told = take_away((int)a, second, d); break;
#ifdef SYS_renameat
    case SYS_renameat: *told = give_name((int)a, second, (int)d, fourth, 0); break;
#endif
    case SYS_renameat2: *told = give_name((int)a, second, (int)d, fourth, f); break;
    default: return false;
  }
  return true;
}

static void answer(int number, siginfo_t *info, void *about)
{
  ucontext_t *context = about;
  const int before = errno;
  const long outer = sixth;
  long told = -EPERM;
  sixth = (long)ARGUMENT(context, 5);
  /* A call of our own that comes back was sent back by a filter that was there before. */
  if ((info->si_call_addr == cm_confine_asked || !answered(info->si_syscall, context, &told)) && (before_us.sa_flags & SA_SIGINFO) != 0)
    before_us.sa_sigaction(number, info, about);
  else
    RESULT(context) = told;
  sixth = outer;
  errno = before;
}

bool cm_confine_paths(void)
{
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
  (void)sigemptyset(&action.sa_mask);
  /* The sanitizer of threads puts signals off. */
  if (__tsan_init != NULL || sigaction(SIGSYS, &action, &before_us) != 0)
    return false;
  (void)sigaddset(&action.sa_mask, SIGSYS); /* blocked, it would end the process */
  return sigprocmask(SIG_UNBLOCK, &action.sa_mask, NULL) == 0;
}

size_t cm_confine_own_calls(struct sock_filter *steps)
{
  enum { LOAD = BPF_LD | BPF_W | BPF_ABS, EQUAL = BPF_JMP | BPF_JEQ | BPF_K, HAS = BPF_JMP | BPF_JSET | BPF_K };
  const uint64_t behind = (uint64_t)(uintptr_t)cm_confine_asked;
  const struct sock_filter own[] = {
    BPF_STMT(LOAD, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(EQUAL, SYS_openat, 3, 0),
    BPF_JUMP(EQUAL, SYS_mkdirat, 4, 0),
    BPF_JUMP(EQUAL, SYS_unlinkat, 3, 0),
    BPF_JUMP(EQUAL, SYS_renameat2, 2, 7),
    BPF_STMT(LOAD, offsetof(struct seccomp_data, args[2])), /* the lower half: all machines here have it first */
    BPF_JUMP(HAS, O_PATH, 5, 0),
    BPF_STMT(LOAD, offsetof(struct seccomp_data, instruction_pointer)),
    BPF_JUMP(EQUAL, (uint32_t)behind, 0, 3),
    BPF_STMT(LOAD, offsetof(struct seccomp_data, instruction_pointer) + 4),
    BPF_JUMP(EQUAL, (uint32_t)(behind >> 32), 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  memcpy(steps, own, sizeof own);
  return sizeof own / sizeof *own;
}

#else

bool cm_confine_paths(void)
{
  return false;
}

size_t cm_confine_own_calls(CM_UNUSED struct sock_filter *steps)
{
  return 0;
}

#endif
