#include "daemon/owner.h"

#include <errno.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_MAX = 80 };

static bool says(int count, char **words, const char *flag)
{
  const size_t length = strlen(flag);
  for (int i = 1; i < count; i++)
    if (strncmp(words[i], flag, length) == 0 && (words[i][length] == '\0' || words[i][length] == '='))
      return true;
  return false;
}

static cm_status become_owner(const char *folder, cm_error *error)
{
  struct stat about;
  if (geteuid() != 0 || stat(folder, &about) != 0 || about.st_uid == 0)
    return CM_OK; /* a folder that is not there is told of where it is opened */
  if (setgroups(0, NULL) != 0 || setgid(about.st_gid) != 0 || setuid(about.st_uid) != 0)
    return cm_fail_errno(error, errno, "cannot become the owner of", folder);
  return CM_OK;
}

cm_status cm_owner_config(int count, char **words, cm_config *config, cm_error *error)
{
  char *all[WORDS_MAX] = {NULL}, flag[] = "--config", file[] = CM_CONFIG_FILE;
  int used = 0;
  if (count + 2 >= WORDS_MAX)
    return cm_fail(error, CM_BAD_OPTION, "too many arguments: %d, at most %d", count, WORDS_MAX - 3);
  for (; used < count; used++)
    all[used] = words[used];
  if (geteuid() == 0 && !says(count, words, "--config") && !says(count, words, "--data") && access(file, R_OK) == 0) {
    all[used++] = flag;
    all[used++] = file;
  }
  CM_TRY(cm_config_read(used, all, config, error));
  return become_owner(config->data, error);
}
