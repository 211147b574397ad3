#include "storage/retention.h"

#include "storage/audit.h"
#include "storage/bin.h"
#include "storage/holders.h"

enum { AT_ONCE = 200 };

static const char *const names[CM_KEEPS] = {"networks_days", "mappings_days", "jobs_days", "bytes"};
const cm_limit_kind cm_keep_kind = {.table = "retention", .column = "what", .names = names, .count = CM_KEEPS};

/* ---- what falls ---- */

/* The rule for the user of a row of the table t: his own, or everybody's; NULL: none. */
#define RULE(t, what) \
  "coalesce((SELECT most FROM retention WHERE name = " t ".user AND what = '" what "')," \
  " (SELECT most FROM retention WHERE name = '*' AND what = '" what "'))"
/* Things of a table by owner, and since when each has them. */
#define OWNED(table, columns) \
  "(SELECT id, user, pinned, created, bytes" columns " FROM " table " UNION ALL SELECT t.id, o.user, o.pinned, o.created, t.bytes" columns \
  " FROM owners o, " table " t WHERE t.id = o.thing)"
#define STAYS "(" CM_MAPPING_IS_LEASED("m.job", "?1") " OR " CM_MAPPING_IS_NEEDED("m.id") ")"

/* What falls as of ?1 and whose, at most ?2 of it. */
static const struct {
  const char *query;
  cm_object object;
} falls[CM_KEEPS] = {
  [CM_KEEP_NETWORKS] = {"SELECT n.id, n.user FROM " OWNED("networks", "") " n WHERE n.pinned = 0 AND max(n.created, coalesce((SELECT max(j.created)"
                        " FROM jobs j INDEXED BY jobs_network WHERE j.network = n.id), 0)) < ?1 - 86400 * " RULE("n", "networks_days")
                        " AND NOT " CM_NETWORK_IS_NEEDED("n.id") " LIMIT ?2", CM_OBJECT_NETWORK},
  [CM_KEEP_MAPPINGS] = {"SELECT m.id, m.user FROM " OWNED("mappings", ", job") " m WHERE m.pinned = 0 AND m.created < ?1 - 86400 * "
                        RULE("m", "mappings_days") " AND NOT " STAYS " LIMIT ?2", CM_OBJECT_MAPPING},
  [CM_KEEP_JOBS] = {"SELECT j.id, j.user FROM jobs j WHERE j.state IN ('done', 'failed', 'cancelled') AND j.finished < ?1 - 86400 * "
                    RULE("j", "jobs_days") " LIMIT ?2", CM_OBJECT_JOB},
  [CM_KEEP_BYTES] = {"SELECT m.id, m.user FROM (SELECT id, user, job, pinned, sum(bytes) OVER (PARTITION BY user ORDER BY created DESC, id) AS upto"
                     " FROM " OWNED("mappings", ", job") ") m WHERE m.pinned = 0 AND m.upto > " RULE("m", "bytes") " AND NOT " STAYS " LIMIT ?2",
                     CM_OBJECT_MAPPING},
};

typedef struct falling {
  char id[CM_SHA_MAX], user[CM_USER_MAX];
} falling;

static cm_status from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  falling *f = element;
  return cm_sql_columns(row, error, "tt", CM_INTO(f->id), CM_INTO(f->user));
}

/* The rules are the cause of what happens to a thing from now on. */
static void blame(cm_audit_entry *cause, const char *kind, const char *id)
{
  *cause = (cm_audit_entry){.address = "local", .action = "retention"};
  (void)snprintf(cause->object, sizeof cause->object, "%ss/%s", kind, id);
  cm_audit_cause(cause);
}

static cm_status drop(cm_store *store, cm_object object, const char *id, const char *user, bool keep, cm_error *error)
{
  cm_audit_entry cause;
  bool last;
  const cm_viewer owner = {user, "", false};
  blame(&cause, object == CM_OBJECT_JOB ? "job" : object == CM_OBJECT_NETWORK ? "network" : "mapping", id);
  cm_status status = keep ? cm_bin_put(store, object, id, &owner, &last, error) : cm_bin_pass(store, object, id, &owner, error);
  cm_audit_cause(NULL);
  /* Somebody else has deleted it, or a job has come to need it. */
  return status == CM_NOT_FOUND || status == CM_CONFLICT ? CM_OK : status;
}

static cm_status purge_old(cm_store *store, double before, uint64_t *purged, cm_error *error)
{
  cm_binned *entries;
  size_t count;
  CM_TRY(cm_bin_list(store, &(cm_bin_filter){NULL, before, AT_ONCE}, &entries, &count, error));
  cm_status status = CM_OK;
  for (size_t i = 0; i < count && status == CM_OK; i++) {
    cm_audit_entry cause;
    blame(&cause, entries[i].kind, entries[i].id);
    status = cm_bin_purge(store, entries[i].id, NULL, error);
    cm_audit_cause(NULL);
    *purged += status == CM_OK;
    status = status == CM_NOT_FOUND ? CM_OK : status;
  }
  free(entries);
  return status;
}

cm_status cm_retention_run(cm_store *store, double now, double bin_seconds, cm_retention_done *done, cm_error *error)
{
  uint64_t *const counts[CM_KEEPS] = {&done->networks, &done->mappings, &done->jobs, &done->mappings};
  *done = (cm_retention_done){0};
  cm_status status = CM_OK;
  for (int keep = 0; keep < CM_KEEPS && status == CM_OK; keep++) {
    const cm_row_kind kind = {"di", falls[keep].query, "what is old", sizeof(falling), from_row, NULL};
    falling *found;
    size_t count;
    CM_TRY(cm_database_list(store->database, &kind, &found, &count, error, now, (int64_t)AT_ONCE));
    for (size_t i = 0; i < count && status == CM_OK; i++) {
      status = drop(store, falls[keep].object, found[i].id, found[i].user, bin_seconds > 0, error);
      *counts[keep] += status == CM_OK;
    }
    free(found);
  }
  return status == CM_OK ? purge_old(store, now - bin_seconds, &done->purged, error) : status;
}
