/* Happy path: list each folder, ask the database about each name, rename what it does not know, sync both folders.
 * What can fail: reading a folder or the database (the start fails); a move (logged, the file stays). */
#include "storage/sweep.h"

#include <errno.h>
#include <fcntl.h>

#include "storage/folder.h"
#include "storage/log.h"

enum { SAME_NAMES_MAX = 10000, ID_DIGITS = 20, STAMP_DIGITS = 8 };

static size_t hex_digits(const char *name)
{
  return strspn(name, "0123456789abcdef");
}

/* Scratch of uploads and jobs: ID.part, ID.zip, ID.job, the same under construction (.tmp-...), spilled arrays. */
static bool is_scratch(const char *name)
{
  static const char *const kinds[] = {".part", ".zip", ".job"};
  if (strncmp(name, "coremap-", 8) == 0)
    return strlen(name) == 14;
  if (hex_digits(name) != ID_DIGITS)
    return false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t length = strlen(kinds[i]);
    const char *rest = name + ID_DIGITS + length;
    if (strncmp(name + ID_DIGITS, kinds[i], length) == 0 && (*rest == '\0' || strncmp(rest, ".tmp-", 5) == 0))
      return true;
  }
  return false;
}

/* Entries of the cache look after themselves: KEY-STAMP, and new-... while they are made. */
static bool is_cache_entry(const char *name)
{
  size_t key = hex_digits(name);
  return strncmp(name, "new-", 4) == 0 ||
         (key > 0 && name[key] == '-' && hex_digits(name + key + 1) == STAMP_DIGITS &&
          name[key + 1 + STAMP_DIGITS] == '\0');
}

static bool nothing(CM_UNUSED const char *name)
{
  return false;
}

/* A folder to sweep: entries are known when `query` finds their name without `suffix` (NULL: no rows here), skipped
 * when they look after themselves, and removed when they are scratch. */
typedef struct swept_folder {
  const char *name, *suffix, *query;
  bool (*skipped)(const char *name), (*scratch)(const char *name);
} swept_folder;

static const swept_folder swept_folders[] = {
  {"networks", ".zip", "SELECT 1 FROM networks WHERE id = ?1 UNION SELECT 1 FROM bin WHERE id = ?1", nothing, nothing},
  {"mappings", "", "SELECT 1 FROM mappings WHERE form <> 2 AND id = ?1 UNION SELECT 1 FROM bin WHERE id = ?1", nothing, nothing},
  {"incoming", "", "SELECT 1 FROM uploads WHERE id = ?1 UNION SELECT 1 FROM jobs WHERE folder = substr(?1, 1, 20) AND ?1 = folder || '.job'", nothing, is_scratch},
  {"cache", "", NULL, is_cache_entry, nothing},
};

typedef struct sweep_work {
  const char *folder; /* of the store */
  const swept_folder *swept;
  uint64_t moved;
} sweep_work;

static cm_status is_known(sqlite3 *handle, const swept_folder *swept, const char *name, bool *known, cm_error *error)
{
  char id[NAME_MAX + 1];
  size_t length = strlen(name), cut = strlen(swept->suffix);
  *known = false;
  if (swept->query == NULL || length <= cut || strcmp(name + length - cut, swept->suffix) != 0)
    return CM_OK;
  (void)snprintf(id, sizeof id, "%.*s", (int)(length - cut), name);
  return cm_sql_find(handle, known, error, swept->query, "t>", id);
}

/* To lost+found/ROOM/NAME, or NAME.1, NAME.2, ... when that is there. */
static cm_status put_aside(const char *folder, const char *part, const char *name, char *to, cm_error *error)
{
  char from[CM_PATH_MAX], aside[CM_PATH_MAX];
  CM_TRY(cm_path(from, error, "%s/%s/%s", folder, part, name));
  CM_TRY(cm_path(aside, error, "%s/lost+found/%s", folder, part));
  CM_TRY(cm_folder_make_durable(aside, error));
  for (int i = 0; i < SAME_NAMES_MAX; i++) {
    char number[16] = "";
    if (i > 0)
      (void)snprintf(number, sizeof number, ".%d", i);
    CM_TRY(cm_path(to, error, "%s/%s%s", aside, name, number));
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
      return cm_folder_sync(aside, error);
    if (errno != EEXIST)
      return cm_fail_errno(error, errno, "cannot move to", to);
  }
  return cm_fail(error, CM_CONFLICT, "too many files named %s in %s: remove old ones", name, aside);
}

static void handle_stranger(sweep_work *work, const char *name)
{
  cm_error error;
  char path[CM_PATH_MAX];
  if (work->swept->scratch(name)) {
    if (cm_path(path, &error, "%s/%s/%s", work->folder, work->swept->name, name) != CM_OK ||
        cm_folder_remove(path, &error) != CM_OK)
      cm_log("%s/%s of an interrupted upload or job stays: %s", work->swept->name, name, error.detail);
  } else if (put_aside(work->folder, work->swept->name, name, path, &error) == CM_OK) {
    cm_log("moved %s/%s to %s: the database does not know it", work->swept->name, name, path);
    work->moved++;
  } else
    cm_log("%s/%s, which the database does not know, stays where it is: %s", work->swept->name, name, error.detail);
}

static cm_status sweep_one(sqlite3 *handle, sweep_work *work, cm_error *error)
{
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/%s", work->folder, work->swept->name));
  DIR *listing;
  CM_TRY(cm_folder_list(path, &listing, error));
  cm_status status = CM_OK;
  for (const char *item; status == CM_OK && (item = cm_folder_next(listing)) != NULL;) {
    bool known = false;
    if (work->swept->skipped(item))
      continue;
    status = is_known(handle, work->swept, item, &known, error);
    if (status == CM_OK && !known)
      handle_stranger(work, item);
  }
  closedir(listing);
  return status == CM_OK && work->moved > 0 ? cm_folder_sync(path, error) : status;
}

cm_status cm_sweep(cm_store *store, uint64_t *moved, cm_error *error)
{
  sweep_work work = {.folder = store->folder};
  for (size_t i = 0; i < sizeof swept_folders / sizeof *swept_folders; i++) {
    work.swept = &swept_folders[i];
    cm_reading r;
    cm_status status = cm_reading_begin(store->database, false, &r, error);
    CM_THEN(status, sweep_one(r.handle, &work, error));
    CM_TRY(cm_reading_end(&r, status));
  }
  *moved = work.moved;
  return CM_OK;
}
