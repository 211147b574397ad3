#include "daemon/backup.h"

#include "base/number.h"
#include "daemon/command.h"
#include "daemon/owner.h"
#include "storage/backup.h"

enum { WORDS_MAX = 64 };

static const char usage[] =
  "usage: coremapd backup DIR\n"
  "       coremapd backup --into FOLDER [--keep N]\n"
  "       coremapd restore DIR\n"
  "\n"
  "backup copies the data folder (--data FOLDER, --config FILE, as of the server) to DIR, a new or empty folder, also while a\n"
  "server works on it: the database as of one moment with the files that it knows, linked where both lie on one file system. Cache\n"
  "and unfinished uploads stay behind. With --into FOLDER the backup is a folder in it, called by its time, that shares the files of the\n"
  "one before: each is whole, and takes the room of what is new; --keep N removes all but the newest N. restore makes a data folder, new or empty, of such a backup, which it leaves as it is, if every\n"
  "stored file has its digest; one of a newer version is refused. coremapd --check-data --data FOLDER checks either.\n";

bool cm_backup_knows(const char *word)
{
  return strcmp(word, "backup") == 0 || strcmp(word, "restore") == 0;
}

int cm_backup_run(int count, char **words)
{
  char *rest[WORDS_MAX] = {words[0]};
  const char *folder = NULL, *into = NULL, *keep = NULL;
  char made[CM_PATH_MAX];
  const bool restore = strcmp(words[1], "restore") == 0;
  cm_config config;
  cm_error error;
  uint64_t kept = 0;
  cm_backup_counts counts = {0};
  int used = 1;
  for (int i = 2; i < count; i++) {
    if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
      (void)fputs(usage, stdout);
      return EXIT_SUCCESS;
    }
    if (used + 2 >= WORDS_MAX)
      return cm_command_wrong("backup", "unexpected argument: ", words[i]);
    const char **place = restore ? NULL : strcmp(words[i], "--into") == 0 ? &into : strcmp(words[i], "--keep") == 0 ? &keep : NULL;
    if (place != NULL && i + 1 == count)
      return cm_command_wrong("backup", "a value is missing after ", words[i]);
    if (place != NULL) {
      *place = words[++i];
      continue;
    }
    if (words[i][0] == '-') {
      rest[used++] = words[i];
      if (strchr(words[i], '=') == NULL && i + 1 < count)
        rest[used++] = words[++i];
    } else if (folder != NULL)
      return cm_command_wrong("backup", "unexpected argument: ", words[i]);
    else
      folder = words[i];
  }
  if (folder != NULL && into != NULL)
    return cm_command_wrong("backup", "a folder, or --into and one, not both: ", folder);
  if (folder == NULL && into == NULL)
    return cm_command_wrong("backup", "a folder is needed after ", words[1]);
  if (keep != NULL && (into == NULL || !cm_whole_parse(keep, &kept) || kept == 0))
    return cm_command_wrong("backup", "--keep goes with --into, and is a whole number from 1 on, not ", keep);
  if (cm_owner_config(used, rest, &config, &error) != CM_OK)
    return cm_command_fail(&error);
  cm_status status = restore        ? cm_backup_restore(folder, config.data, &counts, &error)
                     : into != NULL ? cm_backup_next(config.data, into, kept, made, &counts, &error)
                                    : cm_backup_make(config.data, folder, NULL, &counts, &error);
  if (status != CM_OK)
    return cm_command_fail(&error);
  (void)printf("%s: the database and %llu files, %.1f MB, %.1f MB of them copied\n", restore ? config.data : into != NULL ? made : folder,
               (unsigned long long)counts.files, (double)counts.bytes / 1e6, (double)counts.copied / 1e6);
  return EXIT_SUCCESS;
}
