/* Backups in one folder, each called by its time, each linked with the one before. */
#include <dirent.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "storage/backup.h"
#include "storage/folder.h"

enum { NAME_SIZE = sizeof "2026-11-29T153100Z" };

/* Whether a folder is called as a backup of a series is. */
static bool is_of_series(const char *name)
{
  static const char form[] = "0000-00-00T000000Z";
  if (strlen(name) != sizeof form - 1)
    return false;
  for (size_t i = 0; i < sizeof form - 1; i++)
    if (form[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
      return false;
  return true;
}

static int select_series(const struct dirent *entry)
{
  return is_of_series(entry->d_name);
}

typedef enum state { STATE_WHOLE, STATE_HALF, STATE_STRANGE } state;

/* A half has a marker, which says so, or is empty. */
static state state_of(const char *path)
{
  cm_folder found;
  cm_error ignored;
  char marker[CM_PATH_MAX];
  if (cm_folder_examine(path, &found, &ignored) == CM_OK && found.marked)
    return STATE_WHOLE;
  const bool marked = cm_path(marker, &ignored, "%s/coremapd.json", path) == CM_OK && access(marker, F_OK) == 0;
  return marked || rmdir(path) == 0 ? STATE_HALF : STATE_STRANGE;
}

/* Removes halves, and whole ones but for the newest `keep`; the newest one that stays goes to `newest` ("": there is none). */
static cm_status tidy(const char *folder, uint64_t keep, char *newest, cm_error *error)
{
  struct dirent **list;
  char path[CM_PATH_MAX];
  cm_status status = CM_OK;
  uint64_t whole = 0;
  const int count = scandir(folder, &list, select_series, alphasort);
  newest[0] = '\0';
  if (count < 0)
    return cm_fail_errno(error, errno, "cannot open folder", folder);
  for (int i = count - 1; i >= 0; i--) {
    if (status == CM_OK && (status = cm_path(path, error, "%s/%s", folder, list[i]->d_name)) == CM_OK) {
      const state found = state_of(path);
      whole += found == STATE_WHOLE;
      if (found == STATE_WHOLE && whole == 1)
        (void)memcpy(newest, path, sizeof path);
      if (found == STATE_HALF || (found == STATE_WHOLE && keep > 0 && whole > keep))
        status = cm_folder_remove(path, error);
    }
    free(list[i]);
  }
  free(list);
  return status;
}

cm_status cm_backup_next(const char *data, const char *folder, uint64_t keep, char *made, cm_backup_counts *counts, cm_error *error)
{
  char since[CM_PATH_MAX], name[NAME_SIZE], newest[CM_PATH_MAX];
  const time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc) == NULL || strftime(name, sizeof name, "%Y-%m-%dT%H%M%SZ", &utc) == 0)
    return cm_fail(error, CM_IO, "the clock has no time that a backup can be called by");
  CM_TRY(cm_folder_make_durable(folder, error));
  CM_TRY(tidy(folder, 0, since, error));
  CM_TRY(cm_path(made, error, "%s/%s", folder, name));
  CM_TRY(cm_backup_make(data, made, since[0] != '\0' ? since : NULL, counts, error));
  return tidy(folder, keep, newest, error);
}
