/* Happy path: lock, look whose folder it is, open the database as it is, then one subject after the other (files: check_files.c).
 * A fault is a line of the report and a count, never an end: the whole folder is looked at. */
#include "storage/check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "storage/check_report.h"
#include "storage/folder.h"
#include "storage/holders.h"
#include "storage/log.h"
#include "storage/schema.h"

enum { FAULTS_LOGGED_MAX = 20 };

/* ---- at start ---- */

typedef struct start_log {
  uint64_t lines;
} start_log;

static void log_fault(void *user, const char *line)
{
  start_log *log = user;
  if (log->lines++ < FAULTS_LOGGED_MAX)
    cm_log("%s", line);
}

cm_status cm_check_sizes(cm_store *store, uint64_t *faults, cm_error *error)
{
  start_log log = {0};
  cm_check_report report = {log_fault, &log};
  cm_checking c = {.folder = store->folder, .report = &report};
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  c.handle = r.handle;
  CM_THEN(status, cm_checking_blobs(&c, error));
  CM_THEN(status, cm_checking_old_rows(&c, error));
  CM_TRY(cm_reading_end(&r, status));
  if (c.faults > 0)
    cm_log("%llu stored files are missing or have another size; what needs them will fail: see coremapd --check-data",
           (unsigned long long)c.faults);
  *faults = c.faults;
  return CM_OK;
}

/* ---- the whole check ---- */

static cm_status check_database(cm_checking *c, cm_error *error)
{
  sqlite3_stmt *statement;
  uint64_t before = c->faults;
  cm_status status = cm_sql_prepare(c->handle, &statement, error, "PRAGMA integrity_check", "");
  while (cm_sql_next(statement, &status, error)) {
    const char *damage = NULL;
    status = cm_sql_verdict(statement, &damage, error);
    if (damage != NULL)
      cm_checking_fault(c, "coremapd.db: %s", damage);
  }
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK && c->faults == before)
    cm_checking_say(c, "database: pages and indexes are whole");
  return status;
}

/* A count that must be 0. */
static cm_status check_none(cm_checking *c, const char *what, const char *query, cm_error *error)
{
  int64_t count;
  CM_TRY(cm_sql_number(c->handle, 0, &count, error, query, ""));
  if (count != 0)
    cm_checking_fault(c, "coremapd.db: %lld %s", (long long)count, what);
  return CM_OK;
}

static cm_status check_rows(cm_checking *c, cm_error *error)
{
  uint64_t before = c->faults;
  int64_t jobs;
  CM_TRY(check_none(c, "counts of queued jobs are wrong",
                    "SELECT count(*) FROM (SELECT user, lane, priority, ready, ready_ms, queued FROM queue_totals EXCEPT"
                    " SELECT user, lane, priority, sum(waits_for IS NULL AND retry_at IS NULL),"
                    " sum(expected_ms * (waits_for IS NULL AND retry_at IS NULL)), count(*) FROM jobs"
                    " WHERE state = 'queued' GROUP BY 1, 2, 3)", error));
  CM_TRY(check_none(c, "queued jobs are not counted",
                    "SELECT (SELECT total(queued) FROM queue_totals) <> (SELECT count(*) FROM jobs WHERE state = 'queued')", error));
  CM_TRY(check_none(c, "blocks of the queue are counted wrongly",
                    "SELECT count(*) FROM (SELECT user, lane, priority, bucket, jobs FROM queue_ranks WHERE level = 0 EXCEPT"
                    " SELECT user, lane, priority, sequence >> 6, count(*) FROM jobs WHERE state = 'queued' AND waits_for IS NULL"
                    " AND retry_at IS NULL GROUP BY 1, 2, 3, 4)", error));
  CM_TRY(check_none(c, "states have another number of jobs than is counted",
                    "SELECT count(*) FROM (SELECT state, jobs FROM job_totals WHERE jobs <> 0 EXCEPT SELECT state, count(*)"
                    " FROM jobs GROUP BY 1)", error));
  CM_TRY(check_none(c, "users have stored more or less than is counted",
                    "WITH stored(user, kind, things, bytes) AS (SELECT user, 'networks', count(*), sum(bytes) FROM networks GROUP BY user"
                    " UNION ALL SELECT user, 'mappings', count(*), sum(bytes) FROM mappings GROUP BY user"
                    " UNION ALL SELECT user, 'uploads', count(*), sum(size) FROM uploads GROUP BY user"
                    " UNION ALL SELECT user, 'bin', count(*), sum(bytes) FROM bin GROUP BY user)"
                    " SELECT (SELECT count(*) FROM (SELECT * FROM stored EXCEPT SELECT * FROM stored_totals)) +"
                    " (SELECT count(*) FROM (SELECT * FROM stored_totals EXCEPT SELECT * FROM stored))", error));
  CM_TRY(check_none(c, "queued jobs need a network that is not there",
                    "SELECT count(*) FROM jobs WHERE state = 'queued' AND (network NOT IN (SELECT id FROM networks) OR " CM_JOB_LEVELS
                    " NOT IN (SELECT id FROM networks))", error));
  CM_TRY(cm_sql_number(c->handle, 0, &jobs, error, "SELECT count(*) FROM jobs", ""));
  if (c->faults == before)
    cm_checking_say(c, "jobs: %lld, counters and rows agree", (long long)jobs);
  return CM_OK;
}

static cm_status check_uploads(cm_checking *c, cm_error *error)
{
  sqlite3_stmt *statement;
  uint64_t count = 0;
  cm_status status = cm_sql_prepare(c->handle, &statement, error, "SELECT id, size FROM uploads", "");
  while (cm_sql_next(statement, &status, error)) {
    char path[CM_PATH_MAX];
    struct stat about;
    count++;
    const char *id = (const char *)sqlite3_column_text(statement, 0);
    if (cm_path(path, error, "%s/incoming/%s", c->folder, id) != CM_OK || stat(path, &about) != 0)
      cm_checking_fault(c, "incoming/%s: the bytes of an upload are missing", id);
    else if ((int64_t)about.st_size > sqlite3_column_int64(statement, 1))
      cm_checking_fault(c, "incoming/%s: an upload is longer than announced", id);
  }
  status = cm_sql_end(statement, status, error);
  CM_END(status, cm_checking_say(c, "uploads under way: %llu", (unsigned long long)count), );
}

/* Names in a folder that no row knows: not a fault, the next start puts them aside. */
static cm_status count_strangers(cm_checking *c, const char *part, const char *suffix, const char *query, cm_error *error)
{
  char path[CM_PATH_MAX];
  uint64_t strangers = 0;
  CM_TRY(cm_path(path, error, "%s/%s", c->folder, part));
  DIR *listing;
  if (cm_folder_list(path, &listing, error) != CM_OK) {
    cm_checking_fault(c, "%s: the folder cannot be read", part);
    return CM_OK;
  }
  cm_status status = CM_OK;
  for (const char *item; status == CM_OK && (item = cm_folder_next(listing)) != NULL;) {
    char id[256];
    int64_t known = 0;
    size_t length = strlen(item), cut = strlen(suffix);
    if (length > cut && strcmp(item + length - cut, suffix) == 0) {
      (void)snprintf(id, sizeof id, "%.*s", (int)(length - cut), item);
      status = cm_sql_number(c->handle, 0, &known, error, query, "t", id);
    }
    if (status == CM_OK && known == 0) {
      cm_checking_say(c, "unknown: %s/%s; the next start moves it to lost+found/", part, item);
      strangers++;
    }
  }
  closedir(listing);
  return status;
}

static cm_status check_all(cm_checking *c, cm_error *error)
{
  CM_TRY(check_database(c, error));
  CM_TRY(check_rows(c, error));
  uint64_t before = c->faults;
  CM_TRY(cm_checking_blobs(c, error));
  CM_TRY(cm_checking_old_rows(c, error));
  cm_checking_say(c, "files: %llu with %llu bytes, %s%s", (unsigned long long)c->files, (unsigned long long)c->bytes,
      c->faults == before ? "each has its SHA-256" : "not all as they were stored",
      c->undigested > 0 ? "; some of an earlier release have none noted" : "");
  if (c->undigested > 0)
    cm_checking_say(c, "networks and mappings without a noted digest: %llu (networks are read to their end instead)",
        (unsigned long long)c->undigested);
  CM_TRY(cm_checking_packs(c, error));
  CM_TRY(check_uploads(c, error));
  CM_TRY(count_strangers(c, "networks", ".zip", "SELECT 1 FROM networks WHERE id = ?1 UNION SELECT 1 FROM bin WHERE id = ?1", error));
  return count_strangers(c, "mappings", "", "SELECT 1 FROM mappings WHERE form <> 2 AND id = ?1 UNION SELECT 1 FROM bin WHERE id = ?1", error);
}

static cm_status open_as_it_is(cm_checking *c, cm_error *error)
{
  char path[CM_PATH_MAX];
  int64_t version;
  CM_TRY(cm_path(path, error, "%s/coremapd.db", c->folder));
  if (sqlite3_open_v2(path, &c->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
    return cm_fail(error, CM_IO, "cannot open %s: %s", path, c->handle != NULL ? sqlite3_errmsg(c->handle) : "no memory");
  CM_TRY(cm_sql_number(c->handle, 0, &version, error, "PRAGMA user_version", ""));
  if (version != cm_schema_version)
    return cm_fail(error, CM_CONFLICT, version > cm_schema_version
                     ? "%s has schema %lld, of a newer version (this program knows %d)"
                     : "%s has schema %lld, of an earlier release; start this one once (it knows %d), and check again",
                   path, (long long)version, cm_schema_version);
  return CM_OK;
}

cm_status cm_check_data(const char *folder, const cm_check_report *report, uint64_t *faults, cm_error *error)
{
  cm_checking c = {.folder = folder, .report = report, .digests = true};
  cm_folder found;
  int lock;
  CM_TRY(cm_folder_lock(folder, &lock, error));
  cm_status status = cm_folder_examine(folder, &found, error);
  CM_THEN_IF(status, !found.marked, cm_fail(error, CM_CONFLICT, "%s has no marker coremapd.json: no server of this release has used it", folder));
  CM_THEN(status, open_as_it_is(&c, error));
  CM_THEN(status, check_all(&c, error));
  if (status == CM_DAMAGED) { /* of the database: nothing more can be read */
    cm_checking_fault(&c, "%s", error->detail);
    status = CM_OK;
  }
  sqlite3_close_v2(c.handle);
  close(lock);
  CM_TRY(status);
  cm_checking_say(&c, c.faults == 0 ? "no faults" : c.faults == 1 ? "1 fault" : "%llu faults", (unsigned long long)c.faults);
  *faults = c.faults;
  return CM_OK;
}
