/* Happy path of a backup: take all files that there are, then the database as of one moment, then the files that came
 * meanwhile; what the database does not know goes, and what it knows must be there.
 *
 * What can fail: a file that the database of the backup knows has been deleted between the looks (all is looked at again, a few
 * times); no room; an interruption. The first thing written is a marker that says so, the last one the folder's own in its place: half a
 * backup is none. */
#include "storage/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/audit.h"
#include "storage/check_report.h"
#include "storage/folder.h"
#include "storage/schema.h"

enum { LOOKS_MAX = 5, FAULT_MAX = 400 };

/* What goes from one folder to the other, by the folders' names. */
typedef struct way {
  const char *from, *to;
  const char *since; /* a backup whose files are linked where those of `from` cannot be; NULL: none */
  bool link;         /* where it can be */
  bool verify;       /* every digest, once all is there */
  cm_backup_counts counts;
} way;

/* ---- files ---- */

/* The file is the same in an earlier backup: under its name, of its size. What stands never changes. */
static bool link_earlier(const way *w, const char *name, const struct stat *about, const char *to)
{
  char earlier[CM_PATH_MAX];
  struct stat there;
  cm_error ignored;
  return w->since != NULL && cm_path(earlier, &ignored, "%s/%s", w->since, name) == CM_OK && lstat(earlier, &there) == 0 &&
         S_ISREG(there.st_mode) && there.st_size == about->st_size && link(earlier, to) == 0;
}

/* One file, unless it is there; one that has gone meanwhile is none. */
static cm_status take_file(way *w, const char *name, cm_error *error)
{
  char from[CM_PATH_MAX], to[CM_PATH_MAX];
  struct stat about;
  CM_TRY(cm_path(from, error, "%s/%s", w->from, name));
  CM_TRY(cm_path(to, error, "%s/%s", w->to, name));
  if (stat(to, &about) == 0 || lstat(from, &about) != 0 || !S_ISREG(about.st_mode))
    return CM_OK;
  const bool linked = (w->link && link(from, to) == 0) || link_earlier(w, name, &about, to);
  cm_status status = linked ? CM_OK : cm_file_copy(from, to, 0600, error);
  if (status == CM_NOT_FOUND)
    return CM_OK;
  w->counts.files++;
  w->counts.bytes += (uint64_t)about.st_size;
  w->counts.copied += linked ? 0 : (uint64_t)about.st_size;
  return status;
}

/* A folder with the files in it and, `deep`, with the folders of files in it. */
static cm_status take_folder(way *w, const char *name, bool deep, cm_error *error)
{
  char path[CM_PATH_MAX], made[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/%s", w->from, name));
  CM_TRY(cm_path(made, error, "%s/%s", w->to, name));
  CM_TRY(cm_folder_make(made, error));
  DIR *listing;
  cm_status status = cm_folder_list(path, &listing, error);
  if (status != CM_OK)
    return status == CM_NOT_FOUND ? CM_OK : status;
  for (const char *item; status == CM_OK && (item = cm_folder_next(listing)) != NULL;) {
    char inner[CM_PATH_MAX];
    struct stat about;
    if (item[0] == '.' || fstatat(dirfd(listing), item, &about, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (cm_path(inner, error, "%s/%s", name, item) != CM_OK)
      status = error->status;
    else if (S_ISDIR(about.st_mode))
      status = deep ? take_folder(w, inner, false, error) : CM_OK;
    else
      status = take_file(w, inner, error);
  }
  (void)closedir(listing);
  return status == CM_OK ? cm_folder_sync(made, error) : status;
}

static cm_status take_files(way *w, cm_error *error)
{
  return take_folder(w, "networks", false, error) != CM_OK ? error->status : take_folder(w, "mappings", true, error);
}

/* ---- the database ---- */

static cm_status open_database(const char *folder, int flags, sqlite3 **handle, cm_error *error)
{
  char path[CM_PATH_MAX];
  sqlite3 *made = NULL;
  CM_TRY(cm_path(path, error, "%s/coremapd.db", folder));
  if ((flags & SQLITE_OPEN_CREATE) == 0 && access(path, F_OK) != 0)
    return cm_fail(error, CM_NOT_FOUND, "there is no database %s", path);
  int code = sqlite3_open_v2(path, &made, flags, NULL);
  if (code != SQLITE_OK) {
    (void)cm_sql_fail(made, code, "open", error);
    sqlite3_close_v2(made);
    return error->status;
  }
  sqlite3_busy_timeout(made, 10000);
  *handle = made;
  return CM_OK;
}

/* The database as of one moment, while others write. */
static cm_status take_database(const way *w, cm_error *error)
{
  sqlite3 *source = NULL, *target = NULL;
  cm_status status = open_database(w->from, SQLITE_OPEN_READWRITE, &source, error);
  CM_THEN(status, open_database(w->to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &target, error));
  sqlite3_backup *copy = status == CM_OK ? sqlite3_backup_init(target, "main", source, "main") : NULL;
  CM_THEN_IF(status, copy == NULL, cm_sql_fail(target, sqlite3_errcode(target), "backup", error));
  if (copy != NULL) {
    int code = sqlite3_backup_step(copy, -1);
    (void)sqlite3_backup_finish(copy);
    if (code != SQLITE_DONE)
      status = cm_sql_fail(target, code, "backup", error);
  }
  /* Halves of uploads are not taken along, and one file is easier to carry than three. */
  CM_THEN(status, cm_sql_execute(target, "DELETE FROM uploads", error));
  CM_THEN(status, cm_sql_execute(target, "PRAGMA journal_mode = DELETE", error));
  sqlite3_close_v2(target);
  sqlite3_close_v2(source);
  return status;
}

/* ---- what belongs together ---- */

/* Whether each row has its files; *missing counts those that have not. */
static cm_status count_missing(const way *w, sqlite3 *handle, const char *query, uint64_t *missing, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, query, "");
  while (cm_sql_next(statement, &status, error)) {
    char name[CM_SHA_MAX + 16], path[CM_PATH_MAX];
    cm_sql_copy(statement, 0, name, sizeof name);
    status = cm_path(path, error, "%s/%s", w->to, name);
    *missing += status == CM_OK && access(path, F_OK) != 0;
  }
  return cm_sql_end(statement, status, error);
}

/* Removes what no row of the backup knows. */
static cm_status drop_strangers(const way *w, sqlite3 *handle, const char *part, const char *query, cm_error *error)
{
  char path[CM_PATH_MAX], one[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/%s", w->to, part));
  DIR *listing;
  CM_TRY(cm_folder_list(path, &listing, error));
  cm_status status = CM_OK;
  for (const char *item; status == CM_OK && (item = cm_folder_next(listing)) != NULL;) {
    int64_t known = 1;
    if (item[0] == '.')
      continue;
    status = cm_sql_number(handle, 0, &known, error, query, "t", item);
    CM_THEN_IF(status, known == 0 && cm_path(one, error, "%s/%s", path, item) == CM_OK, cm_folder_remove(one, error));
  }
  (void)closedir(listing);
  return status;
}

/* What the release that wrote a database had; each came with a step of its own. */
typedef struct kept {
  bool blobs, packs, bin;
} kept;

static cm_status look_back(sqlite3 *handle, kept *had, cm_error *error)
{
  const struct {
    const char *table;
    bool *there;
  } tables[] = {{"blobs", &had->blobs}, {"packs", &had->packs}, {"bin", &had->bin}};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    int64_t count;
    CM_TRY(cm_sql_number(handle, 0, &count, error, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", "t", tables[i].table));
    *tables[i].there = count != 0;
  }
  return CM_OK;
}

static cm_status drop_unknown(const way *w, sqlite3 *handle, const kept *had, cm_error *error)
{
  char query[200];
  const char *bin = had->bin ? "UNION ALL SELECT id FROM bin" : "";
  (void)snprintf(query, sizeof query, "SELECT count(*) FROM (SELECT id FROM networks %s) WHERE id || '.zip' = ?", bin);
  CM_TRY(drop_strangers(w, handle, "networks", query, error));
  (void)snprintf(query, sizeof query, "SELECT count(*) FROM (SELECT id FROM mappings %s %s) WHERE id = ?", had->packs ? "WHERE form <> 2" : "", bin);
  return drop_strangers(w, handle, "mappings", query, error);
}

static cm_status count_known(const way *w, sqlite3 *handle, const kept *had, uint64_t *missing, cm_error *error)
{
  const struct {
    const char *query;
    bool asked;
  } all[] = {
    {"SELECT 'networks/' || id || '.zip' FROM networks", true},
    {"SELECT 'networks/' || id || '.zip' FROM bin WHERE kind = 'network'", had->bin},
    {"SELECT 'mappings/' || id FROM mappings", !had->packs},
    {"SELECT 'mappings/' || id FROM mappings WHERE form <> 2", had->packs},
    {"SELECT 'mappings/' || id FROM bin WHERE kind IN ('mapping', 'program') AND id NOT IN (SELECT mapping FROM packs)", had->bin},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].asked && count_missing(w, handle, all[i].query, missing, error) != CM_OK)
      return error->status;
  return CM_OK;
}

static cm_status match(const way *w, uint64_t *missing, cm_error *error)
{
  sqlite3 *handle = NULL;
  kept had;
  *missing = 0;
  cm_status status = open_database(w->to, SQLITE_OPEN_READWRITE, &handle, error);
  if (status == CM_OK && look_back(handle, &had, error) == CM_OK && drop_unknown(w, handle, &had, error) == CM_OK)
    status = count_known(w, handle, &had, missing, error);
  else
    status = error->status;
  sqlite3_close_v2(handle);
  return status;
}

/* ---- whether it is as it was stored ---- */

/* Keeps the first fault. */
static void keep_first(void *user, const char *line)
{
  char *first = user;
  if (first[0] == '\0' && strncmp(line, "FAULT ", 6) == 0)
    (void)snprintf(first, FAULT_MAX, "%s", line + 6);
}

static cm_status check_tables(cm_checking *c, cm_error *error)
{
  kept had;
  if (look_back(c->handle, &had, error) != CM_OK || (had.blobs && cm_checking_blobs(c, error) != CM_OK))
    return error->status;
  if (!had.packs)
    return CM_OK;
  return cm_checking_old_rows(c, error) != CM_OK ? error->status : cm_checking_packs(c, error);
}

static cm_status verify(const way *w, cm_error *error)
{
  char first[FAULT_MAX] = "";
  const cm_check_report report = {.say = keep_first, .user = first};
  cm_checking c = {.folder = w->to, .report = &report, .digests = true};
  cm_status status = open_database(w->to, SQLITE_OPEN_READWRITE, &c.handle, error);
  CM_THEN(status, check_tables(&c, error));
  sqlite3_close_v2(c.handle);
  return status != CM_OK || c.faults == 0
             ? status
             : cm_fail(error, CM_DAMAGED, "%llu stored things of %s are damaged, and nothing is restored; %s. coremapd --check-data --data %s"
                       " names all; take an older backup, or a copy of this one as it is", (unsigned long long)c.faults, w->from,
                       first, w->from);
}

/* ---- the two ways ---- */

/* A copy within what it is a copy of would go with it. */
static cm_status check_outside(const way *w, cm_error *error)
{
  char path[CM_PATH_MAX];
  struct stat from, at = {0}, before;
  if (stat(w->from, &from) != 0)
    return cm_fail_errno(error, errno, "cannot look at", w->from);
  CM_TRY(cm_path(path, error, "%s%s", w->to[0] == '/' ? "" : "./", w->to));
  for (char *slash; stat(path, &at) != 0 && (slash = strrchr(path, '/')) != NULL;) /* what is there of the way */
    slash[slash == path && slash[1] != '\0' ? 1 : 0] = '\0';
  int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool inside = false;
  for (before = (struct stat){0}; folder >= 0 && fstat(folder, &at) == 0 && !(at.st_ino == before.st_ino && at.st_dev == before.st_dev);
       before = at) {
    inside = inside || (at.st_ino == from.st_ino && at.st_dev == from.st_dev);
    int above = openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)close(folder);
    folder = above;
  }
  if (folder >= 0)
    (void)close(folder);
  return inside ? cm_fail(error, CM_CONFLICT, "%s lies within %s, and would go with it; name a folder elsewhere, best on another disk",
                          w->to, w->from)
                : CM_OK;
}

/* Leaves the folder empty, as it was; its marker goes last. */
static void take_back(const way *w)
{
  static const char *const parts[] = {"networks", "mappings", "coremapd.db", "coremapd.db-journal", "coremapd.json"};
  char path[CM_PATH_MAX];
  cm_error ignored;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (cm_path(path, &ignored, "%s/%s", w->to, parts[i]) == CM_OK)
      (void)cm_folder_remove(path, &ignored);
}

static cm_status check_empty(const char *path, cm_error *error)
{
  CM_TRY(cm_folder_make_durable(path, error));
  DIR *listing;
  CM_TRY(cm_folder_list(path, &listing, error));
  const bool empty = cm_folder_next(listing) == NULL;
  (void)closedir(listing);
  return empty ? CM_OK : cm_fail(error, CM_CONFLICT, "%s is not empty; name a new folder", path);
}

/* The source is a data folder or a backup, of a version that is known. */
static cm_status check_source(const char *path, cm_folder *found, cm_error *error)
{
  sqlite3 *handle = NULL;
  int64_t version = 0;
  CM_TRY(cm_folder_examine(path, found, error));
  if (!found->marked)
    return cm_fail(error, CM_CONFLICT, "%s is no data folder and no whole backup: it has no coremapd.json", path);
  cm_status status = open_database(path, SQLITE_OPEN_READWRITE, &handle, error);
  CM_THEN(status, cm_sql_number(handle, 0, &version, error, "PRAGMA user_version", ""));
  sqlite3_close_v2(handle);
  if (status == CM_OK && version > cm_schema_version)
    status = cm_fail(error, CM_CONFLICT, "%s was written by a newer version (schema %lld, this program knows %d); use that version",
                     path, (long long)version, cm_schema_version);
  return status;
}

static cm_status take_all(way *w, cm_error *error)
{
  uint64_t missing = 1;
  CM_TRY(take_files(w, error));
  for (int looks = 0; missing > 0 && looks < LOOKS_MAX; looks++)
    if (take_database(w, error) != CM_OK || take_files(w, error) != CM_OK || match(w, &missing, error) != CM_OK)
      return error->status;
  if (missing > 0)
    return cm_fail(error, CM_DAMAGED, "%llu files that the database of %s knows are not there; coremapd --check-data names them",
                   (unsigned long long)missing, w->from);
  return w->verify ? verify(w, error) : CM_OK;
}

static cm_status carry(way *w, cm_error *error)
{
  cm_folder found;
  if (check_source(w->from, &found, error) != CM_OK || check_outside(w, error) != CM_OK || check_empty(w->to, error) != CM_OK ||
      cm_folder_mark_unfinished(w->to, error) != CM_OK)
    return error->status;
  if (take_all(w, error) == CM_OK)
    return cm_folder_mark(w->to, found.id, error);
  take_back(w);
  return error->status;
}

/* The audit trail of a folder tells of its backups, and of what it was restored from; a folder of an earlier release stays as it is. */
static cm_status note(const way *w, const char *folder, const char *action, const char *other, cm_error *error)
{
  sqlite3 *handle = NULL;
  int64_t version = 0;
  cm_audit_entry entry = {.address = "local"};
  (void)snprintf(entry.action, sizeof entry.action, "%s", action);
  (void)snprintf(entry.object, sizeof entry.object, "%s", other);
  (void)snprintf(entry.effect, sizeof entry.effect, "the database and %llu files, %llu bytes", (unsigned long long)w->counts.files,
                 (unsigned long long)w->counts.bytes);
  cm_status status = open_database(folder, SQLITE_OPEN_READWRITE, &handle, error);
  CM_THEN(status, cm_sql_number(handle, 0, &version, error, "PRAGMA user_version", ""));
  CM_THEN_IF(status, version == cm_schema_version, cm_audit_note_in(handle, &entry, error));
  sqlite3_close_v2(handle);
  return status;
}

cm_status cm_backup_make(const char *data, const char *to, const char *since, cm_backup_counts *counts, cm_error *error)
{
  way w = {.from = data, .to = to, .since = since, .link = true};
  CM_TRY(carry(&w, error));
  CM_TRY(note(&w, data, "backup", to, error));
  *counts = w.counts;
  return CM_OK;
}

cm_status cm_backup_restore(const char *from, const char *data, cm_backup_counts *counts, cm_error *error)
{
  way w = {.from = from, .to = data, .verify = true};
  CM_TRY(carry(&w, error));
  CM_TRY(note(&w, data, "restore", from, error));
  *counts = w.counts;
  return CM_OK;
}
