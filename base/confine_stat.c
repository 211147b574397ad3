/* Landlock rules what is opened; what stands where, how large it is and whose, the kernel tells by path to anybody. So the
 * filter sends calls that ask by path back to the process (SIGSYS), and these are answered here from what may be opened:
 * libraries that ask for a file of the job folder get their answer, and nothing is known of what lies outside.
 *
 * What can fail: nothing; on a machine whose registers are not known here these calls stay as they are. */
#include "base/confine_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined __x86_64__
#define REGISTER(context, name) ((context)->uc_mcontext.gregs[REG_##name])
#define RESULT(context) REGISTER(context, RAX)
#define ARGUMENT(context, i)                                                                                                     \
  ((i) == 0   ? REGISTER(context, RDI)                                                                                           \
   : (i) == 1 ? REGISTER(context, RSI)                                                                                           \
   : (i) == 2 ? REGISTER(context, RDX)                                                                                           \
              : REGISTER(context, R10))
#elif defined __aarch64__
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#define ARGUMENT(context, i) ((context)->uc_mcontext.regs[i])
#endif

#ifdef RESULT

/* 0, or errno as a negative number; `into` may be NULL. */
static long look(int folder, const char *path, int flags, struct stat *into)
{
  const int opened = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
  if (opened < 0)
    return -errno;
  const long told = into == NULL || syscall(SYS_fstat, opened, into) == 0 ? 0 : -errno;
  (void)close(opened);
  return told;
}

static long look_at(int file, const char *path, struct stat *into, long flags)
{
  if ((flags & AT_EMPTY_PATH) != 0 && path[0] == '\0') /* so does the C library's fstat */
    return syscall(SYS_fstat, file, into) == 0 ? 0 : -errno;
  return look(file, path, (flags & AT_SYMLINK_NOFOLLOW) != 0 ? O_NOFOLLOW : 0, into);
}

static struct sigaction before_us; /* a program may have a filter of its own, that sends other calls back */

static void answer(int number, siginfo_t *info, void *about)
{
  ucontext_t *context = about;
  const int before = errno;
  const long first = (long)ARGUMENT(context, 0), second = (long)ARGUMENT(context, 1);
  long told = -EINVAL; /* of readlink: a job folder has no links, and neither has what leads there */
  switch (info->si_syscall) {
#ifdef SYS_stat
    case SYS_stat:
    case SYS_lstat:
      told =
        look_at(AT_FDCWD, (const char *)first, (struct stat *)second, info->si_syscall == SYS_lstat ? AT_SYMLINK_NOFOLLOW : 0);
      break;
    case SYS_access: told = look(AT_FDCWD, (const char *)first, 0, NULL); break;
    case SYS_readlink:
#endif
    case SYS_readlinkat: break;
    case SYS_newfstatat:
      told = look_at((int)first, (const char *)second, (struct stat *)ARGUMENT(context, 2), (long)ARGUMENT(context, 3));
      break;
    case SYS_faccessat:
    case SYS_faccessat2: told = look((int)first, (const char *)second, 0, NULL); break;
    default:
      if ((before_us.sa_flags & SA_SIGINFO) != 0) {
        before_us.sa_sigaction(number, info, about);
        return;
      }
  }
  RESULT(context) = told;
  errno = before;
}

bool cm_confine_stat(void)
{
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
  (void)sigemptyset(&action.sa_mask);
  /* The sanitizer of threads puts signals off. */
  return __tsan_init == NULL && sigaction(SIGSYS, &action, &before_us) == 0;
}

#else

bool cm_confine_stat(void)
{
  return false;
}

#endif
