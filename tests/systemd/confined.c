/* confined CALLS COMMAND...: runs a command under a unit's rules as far as a process can put them on itself: the system calls
 * that the file CALLS names and no others (SystemCallFilter=), no memory that is written and run (MemoryDenyWriteExecute=),
 * unix sockets alone (RestrictAddressFamilies=), no network of the machine's (PrivateNetwork=, where namespaces are allowed),
 * no new privileges, no core. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void must(int failed, const char *what)
{
  if (failed == 0)
    return;
  fprintf(stderr, "confined: %s: %s\n", what, strerror(failed < 0 ? -failed : failed));
  exit(126);
}

static void allow(scmp_filter_ctx filter, const char *path)
{
  char name[64];
  FILE *names = fopen(path, "r");
  must(names == NULL ? errno : 0, path);
  while (fscanf(names, "%63s", name) == 1) {
    int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR || call < 0) /* of another machine, or newer than the library */
      continue;
    if (strcmp(name, "socket") == 0)
      must(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0)), name);
    else if (strcmp(name, "mmap") == 0)
      for (unsigned code = 0; code < 2; code++) /* written or run, not both */
        must(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, code == 0 ? PROT_EXEC : PROT_WRITE, 0)), name);
    else if (strcmp(name, "mprotect") == 0)
      must(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)), name);
    else
      must(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0), name);
  }
  fclose(names);
}

int main(int count, char **words)
{
  if (count < 3)
    return 2;
  (void)unshare(CLONE_NEWNET);
  must(setrlimit(RLIMIT_CORE, &(struct rlimit){0}) != 0 ? errno : 0, "core");
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? errno : 0, "no new privileges");
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  must(filter == NULL ? ENOMEM : 0, "filter");
  allow(filter, words[1]);
  must(seccomp_load(filter), "filter");
  execv(words[2], words + 2);
  perror(words[2]);
  return 127;
}
