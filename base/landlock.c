/* Landlock (Linux 5.13 and later; linux/landlock.h) by raw system calls: glibc has no wrappers. */
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine_internal.h"
#include "base/file.h"

/* Known since ABI 1 to 3; the header may be older than the kernel, and the kernel older than the header. */
enum {
  READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
  WRITE = READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
          LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG,
  OTHERS = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK |
           LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM,
  REFER = 1 << 13,    /* ABI 2 */
  TRUNCATE = 1 << 14, /* ABI 3 */
  DEVICES = 1 << 15,  /* ABI 5: ioctl on them */
};

/* struct landlock_ruleset_attr of ABI 6. A kernel refuses what it does not know, unless it is 0. */
struct rules {
  uint64_t files, network, scopes;
};

enum {
  TCP = 1 << 0 | 1 << 1,    /* ABI 4: bind, connect */
  SCOPES = 1 << 0 | 1 << 1, /* ABI 6: abstract sockets, signals */
};

static int allow(int ruleset, const char *path, uint64_t access)
{
  struct landlock_path_beneath_attr rule = {.allowed_access = access};
  rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
  if (rule.parent_fd < 0)
    return -1;
  int failed = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  (void)close(rule.parent_fd);
  return failed;
}

int cm_confine_files(const cm_confinement *c)
{
  char in[CM_PATH_MAX], job[CM_PATH_MAX] = "";
  cm_error ignored;
  int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  bool folder = c->folder != NULL;
  if (abi < 1 || cm_path(in, &ignored, "%s%s", folder ? c->folder : c->input, folder ? "/in" : "") != CM_OK ||
      (folder && cm_path(job, &ignored, "%s/job.json", c->folder) != CM_OK))
    return 0;
  uint64_t writing = WRITE | (abi >= 2 ? (uint64_t)REFER : 0) | (abi >= 3 ? (uint64_t)TRUNCATE : 0);
  const struct rules rules = {.files = writing | OTHERS | (abi >= 5 ? (uint64_t)DEVICES : 0),
                              .network = abi >= 4 ? TCP : 0,
                              .scopes = abi >= 6 ? SCOPES : 0};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (ruleset < 0)
    return 0;
  uint64_t reading = folder ? (uint64_t)READ : (uint64_t)LANDLOCK_ACCESS_FS_READ_FILE;
  int failed = allow(ruleset, in, reading) != 0 || allow(ruleset, c->output, writing) != 0 ||
               (folder && allow(ruleset, job, LANDLOCK_ACCESS_FS_READ_FILE) != 0) ||
               (cm_has_sanitizer() && allow(ruleset, "/proc/self", LANDLOCK_ACCESS_FS_READ_FILE) != 0) ||
               syscall(SYS_landlock_restrict_self, ruleset, 0) != 0;
  (void)close(ruleset);
  return failed ? 0 : abi;
}
