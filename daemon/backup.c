#include "daemon/backup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command.h"
#include "daemon/owner.h"
#include "storage/backup.h"

enum { WORDS_MAX = 64 };

static const char usage[] =
  "usage: coremapd backup DIR\n"
  "       coremapd restore DIR\n"
  "\n"
  "backup copies the data folder (--data FOLDER, --config FILE, as of the server) to DIR, a new or empty folder, also while a\n"
  "server works on it: the database as of one moment with the files that it knows, linked where both lie on one file system. Cache\n"
  "and unfinished uploads stay behind. restore makes a data folder, new or empty, of such a backup, which it leaves as it is, if every\n"
  "stored file has its digest; one of a newer version is refused. coremapd --check-data --data FOLDER checks either.\n";

bool cm_backup_knows(const char *word)
{
  return strcmp(word, "backup") == 0 || strcmp(word, "restore") == 0;
}

int cm_backup_run(int count, char **words)
{
  char *rest[WORDS_MAX] = {words[0]};
  const char *folder = NULL;
  const bool restore = strcmp(words[1], "restore") == 0;
  cm_config config;
  cm_error error;
  uint64_t files = 0, bytes = 0;
  int used = 1;
  for (int i = 2; i < count; i++) {
    if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
      (void)fputs(usage, stdout);
      return EXIT_SUCCESS;
    }
    if (used + 2 >= WORDS_MAX)
      return cm_command_wrong("backup", "unexpected argument: ", words[i]);
    if (words[i][0] == '-') {
      rest[used++] = words[i];
      if (strchr(words[i], '=') == NULL && i + 1 < count)
        rest[used++] = words[++i];
    } else if (folder != NULL)
      return cm_command_wrong("backup", "unexpected argument: ", words[i]);
    else
      folder = words[i];
  }
  if (folder == NULL)
    return cm_command_wrong("backup", "a folder is needed after ", words[1]);
  if (cm_owner_config(used, rest, &config, &error) != CM_OK)
    return cm_command_fail(&error);
  cm_status status = restore ? cm_backup_restore(folder, config.data, &files, &bytes, &error)
                             : cm_backup_make(config.data, folder, &files, &bytes, &error);
  if (status != CM_OK)
    return cm_command_fail(&error);
  (void)printf("%s: the database and %llu files, %.1f MB\n", restore ? config.data : folder, (unsigned long long)files,
               (double)bytes / 1e6);
  return EXIT_SUCCESS;
}
