#include "daemon/backup.h"

#include "base/number.h"
#include "daemon/command.h"
#include "storage/backup.h"

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
  const char *folder = NULL, *into = NULL, *keep = NULL, **const named[] = {&folder};
  char made[CM_PATH_MAX];
  const bool restore = strcmp(words[1], "restore") == 0;
  cm_config config;
  cm_error error;
  uint64_t kept = 0;
  cm_backup_counts counts = {0};
  const cm_command_flag flags[] = {{"into", &into, NULL}, {"keep", &keep, NULL}};
  cm_command command = {.name = "backup", .usage = usage, .flags = flags, .words = named, .flag_count = restore ? 0 : 2, .word_count = 1};
  int read = cm_command_read(&command, count, words);
  if (read >= 0)
    return read;
  if (folder != NULL && into != NULL)
    return cm_command_wrong("backup", "a folder, or --into and one, not both: ", folder);
  if (folder == NULL && into == NULL)
    return cm_command_wrong("backup", "a folder is needed after ", words[1]);
  if (keep != NULL && (into == NULL || !cm_whole_parse(keep, &kept) || kept == 0))
    return cm_command_wrong("backup", "--keep goes with --into, and is a whole number from 1 on, not ", keep);
  if ((read = cm_command_settle(&command, &config)) >= 0)
    return read;
  cm_status status = restore        ? cm_backup_restore(folder, config.data, &counts, &error)
                     : into != NULL ? cm_backup_next(config.data, into, kept, made, &counts, &error)
                                    : cm_backup_make(config.data, folder, NULL, &counts, &error);
  if (status != CM_OK)
    return cm_command_fail(&error);
  (void)printf("%s: the database and %llu files, %.1f MB, %.1f MB of them copied\n", restore ? config.data : into != NULL ? made : folder,
               (unsigned long long)counts.files, (double)counts.bytes / 1e6, (double)counts.copied / 1e6);
  return EXIT_SUCCESS;
}
