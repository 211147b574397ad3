#include "storage/holders.h"

#include "storage/audit.h"
#include "storage/internal.h"
#include "storage/ledger.h"

enum { QUERY_MAX = 700 };

static const char *table_of(cm_object object)
{
  return object == CM_OBJECT_NETWORK ? "networks" : object == CM_OBJECT_BINNED ? "bin" : "mappings";
}

/* ---- jobs ---- */

#define NEEDED(words, condition) \
  {words, "SELECT count(*), count(id_seen), min(id_seen) FROM (SELECT CASE WHEN " CM_VIEWER_SEES("jobs", "?2", "?3", "?4") \
   " THEN id END AS id_seen FROM jobs WHERE " condition ")"}
static const struct {
  const char *words, *query;
} needs[] = {
  [CM_OBJECT_NETWORK] = NEEDED("network", CM_JOB_OF_NETWORK("?1")),
  [CM_OBJECT_CHIP] = NEEDED("chip", CM_JOB_OF("chip", "?1")),
  [CM_OBJECT_MAPPING] = NEEDED("mapping", CM_JOB_OF(CM_JOB_SOURCE, "?1")),
  [CM_OBJECT_PROGRAM] = NEEDED("program", CM_JOB_OF(CM_JOB_SOURCE, "?1")),
};

cm_status cm_holders_check_in(sqlite3 *handle, cm_object object, const char *id, const cm_viewer *viewer, cm_error *error)
{
  char job[CM_ID_MAX] = "";
  int64_t jobs = 0, seen = 0;
  CM_TRY(cm_sql_find(handle, NULL, error, needs[object].query, "titt>iit", id, CM_VIEWER_VALUES(viewer), &jobs, &seen, CM_INTO(job)));
  if (jobs == 0)
    return CM_OK;
  /* How many others there are that the viewer does not see is not his to know. */
  if (seen == 0)
    cm_fail(error, CM_CONFLICT, "queued or running jobs that are shown to others only need the %s %.64s; it can go once they have ended",
            needs[object].words, id);
  else
    cm_fail(error, CM_CONFLICT, "%lld queued or running jobs%s need the %s %.64s%s%s; cancel them first", (long long)seen,
            seen < jobs ? " and others" : "", needs[object].words, id, seen > 1 ? ", among them " : ": ", job);
  cm_error_figure(error, "jobs", (uint64_t)seen);
  return error->status;
}

/* ---- owners ---- */

cm_status cm_holders_join_in(sqlite3 *handle, cm_object object, const char *id, const cm_owner *owner, cm_error *error)
{
  char query[QUERY_MAX];
  int changes = 0;
  if (owner->user[0] == '\0')
    return CM_OK;
  (void)snprintf(query, sizeof query, "UPDATE %s SET user = ?2 WHERE id = ?1 AND user = ''", table_of(object));
  CM_TRY(cm_sql_run(handle, &changes, error, query, "tt", id, owner->user));
  if (changes > 0) {
    cm_audit_effect("%s %s, nobody's -> of %s", needs[object].words, id, owner->user);
    return CM_OK;
  }
  (void)snprintf(query, sizeof query, "INSERT OR IGNORE INTO owners(thing, user, team, visibility, pinned, created)"
                 " SELECT id, ?2, ?3, ?4, 0, ?5 FROM %s WHERE id = ?1 AND user <> ?2", table_of(object));
  CM_TRY(cm_sql_run(handle, &changes, error, query, "ttttd", id, owner->user, owner->group, cm_visibility_name(owner->visibility),
                    cm_store_time()));
  if (changes > 0)
    cm_audit_effect("%s %s, of %s too", needs[object].words, id, owner->user);
  return CM_OK;
}

/* *changes: how many things have another first owner now. */
static cm_status hand_over(sqlite3 *handle, const char *table, const char *id, const char *user, int *changes, cm_error *error)
{
  char query[QUERY_MAX];
  (void)snprintf(query, sizeof query, "UPDATE %s SET user = o.user, team = o.team, visibility = o.visibility, pinned = o.pinned,"
                 " created = o.created, label_set = o.label_set FROM owners o WHERE o.thing = %s.id AND %s.user = ?2 AND (?1 IS NULL OR %s.id = ?1)"
                 " AND o.user = (SELECT min(user) FROM owners WHERE thing = o.thing)", table, table, table, table);
  CM_TRY(cm_sql_run(handle, changes, error, query, "tt", id, user));
  if (*changes == 0)
    return CM_OK;
  (void)snprintf(query, sizeof query, "DELETE FROM owners WHERE (?1 IS NULL OR thing = ?1) AND EXISTS"
                 " (SELECT 1 FROM %s t WHERE t.id = owners.thing AND t.user = owners.user)", table);
  return cm_sql_run(handle, NULL, error, query, "t", id);
}

cm_status cm_holders_hand_over_in(sqlite3 *handle, cm_object object, const char *id, const char *user, cm_error *error)
{
  int changes = 0;
  return hand_over(handle, table_of(object), id, user, &changes, error);
}

/* In the bin no owner is the first one. *changes 0: he is none of the owners, or the last. */
static cm_status leave_bin(sqlite3 *handle, const char *id, const char *user, int *changes, cm_error *error)
{
  int64_t others;
  if (cm_sql_number(handle, 0, &others, error, "SELECT (SELECT count(*) FROM owners WHERE thing = ?1 AND user <> ?2)"
                    " + (SELECT count(*) FROM bin WHERE id = ?1 AND user NOT IN ('', ?2))", "tt", id, user) != CM_OK)
    return error->status;
  if (others == 0)
    return CM_OK;
  if (cm_sql_run(handle, changes, error, "DELETE FROM owners WHERE thing = ? AND user = ?", "tt", id, user) != CM_OK || *changes > 0)
    return *changes > 0 ? CM_OK : error->status;
  return cm_sql_run(handle, changes, error, "UPDATE bin SET user = '' WHERE id = ? AND user = ?", "tt", id, user);
}

static cm_status leave(sqlite3 *handle, const char *table, const char *id, const char *user, int *changes, cm_error *error)
{
  if (cm_sql_run(handle, changes, error, "DELETE FROM owners WHERE thing = ? AND user = ?", "tt", id, user) != CM_OK || *changes > 0)
    return *changes > 0 ? CM_OK : error->status;
  return hand_over(handle, table, id, user, changes, error);
}

cm_status cm_holders_leave_in(sqlite3 *handle, cm_object object, const char *id, const cm_viewer *viewer, bool *last, cm_error *error)
{
  int changes = 0;
  *last = true;
  if (viewer == NULL || viewer->user[0] == '\0')
    return CM_OK;
  cm_status status = object == CM_OBJECT_BINNED ? leave_bin(handle, id, viewer->user, &changes, error)
                                                : leave(handle, table_of(object), id, viewer->user, &changes, error);
  *last = changes == 0;
  return status;
}

cm_status cm_holders_remove_user_in(sqlite3 *handle, const char *user, cm_error *error)
{
  /* A later user of the name must neither own nor be given any of it. */
  static const char *const changes[] = {
    "UPDATE networks SET user = '' WHERE user = ?",
    "UPDATE bin SET user = '' WHERE user = ?",
    "DELETE FROM retention WHERE name = ?",
    "UPDATE chips SET user = '' WHERE user = ?",
    "UPDATE leases SET user = '' WHERE user = ?",
    "UPDATE uploads SET user = '' WHERE user = ?",
    "UPDATE jobs SET user = '', idempotency_key = NULL WHERE user = ?",
    "UPDATE mappings SET user = '', fingerprint = CASE visibility WHEN 'lab' THEN fingerprint END WHERE user = ?",
    "DELETE FROM quotas WHERE is_group = 0 AND name = ?",
    "DELETE FROM cpu_use WHERE user = ?",
    "DELETE FROM usage WHERE user = ?",
  };
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM owners WHERE user = ?", "t", user));
  CM_TRY(cm_holders_hand_over_in(handle, CM_OBJECT_NETWORK, NULL, user, error));
  CM_TRY(cm_holders_hand_over_in(handle, CM_OBJECT_MAPPING, NULL, user, error));
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    CM_TRY(cm_sql_run(handle, NULL, error, changes[i], "t", user));
  return cm_ledger_remove_user_in(handle, user, error);
}

/* ---- pins ---- */

typedef struct pin_work {
  const char *table, *words, *id, *user;
  bool pinned;
} pin_work;

static cm_status pin(sqlite3 *handle, void *context, cm_error *error)
{
  const pin_work *w = context;
  char query[QUERY_MAX];
  int changes = 0;
  cm_audit_effect("%s %s %s, of %s", w->words, w->id, w->pinned ? "pinned" : "pinned no longer", w->user[0] != '\0' ? w->user : "nobody");
  if (cm_sql_run(handle, &changes, error, "UPDATE owners SET pinned = ?3 WHERE thing = ?1 AND user = ?2", "tti", w->id, w->user,
                 (int64_t)w->pinned) != CM_OK || changes > 0)
    return changes > 0 ? CM_OK : error->status;
  (void)snprintf(query, sizeof query, "UPDATE %s SET pinned = ?2 WHERE id = ?1", w->table);
  CM_TRY(cm_sql_run(handle, &changes, error, query, "ti", w->id, (int64_t)w->pinned));
  return changes == 1 ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is nothing of the id %.64s", w->id);
}

cm_status cm_pin(cm_store *store, cm_object object, const char *id, const char *user, bool pinned, cm_error *error)
{
  return cm_database_write(store->database, pin,
                           &(pin_work){table_of(object), needs[object].words, id, user, pinned}, error);
}

cm_status cm_pinned(cm_store *store, cm_object object, const char *id, const char *user, bool *pinned, cm_error *error)
{
  char query[QUERY_MAX];
  *pinned = false;
  (void)snprintf(query, sizeof query, "SELECT coalesce((SELECT pinned FROM owners WHERE thing = ?1 AND user = ?2),"
                 " (SELECT pinned FROM %s WHERE id = ?1))", table_of(object));
  return cm_database_find(store->database, NULL, error, query, "tt>b", id, user, pinned);
}
