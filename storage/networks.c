/* A network is there when its row is there; its file is renamed into place before the row is written and removed
 * after the row has gone, both under the blob lock. A file without a row (a crash in between) is swept at start. */
#include "storage/networks.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <sodium.h>

#include "storage/audit.h"
#include "storage/blobs.h"
#include "storage/holders.h"
#include "storage/quotas.h"

#define COLUMNS \
  "rowid, id, sha256, name, format, gzipped, directed, neurons, hyperedges, synapses, bytes, plain_bytes," \
  " duplicates, self_loops, empty_nets, labels, created, operators, zeros, inputs, inhibitory, populations, delays, user, team, visibility, read_as, reading, label_set"

static cm_status from_row(sqlite3_stmt *row, cm_network *n, cm_error *error)
{
  memset(n, 0, sizeof *n);
  cm_owner_from_row(row, 23, &n->owner);
  return cm_sql_columns(row, error, "itttt" "bbuuuuu" "uuubdu" "uuuub---ttt", &n->sequence, CM_INTO(n->id), CM_INTO(n->sha256), CM_INTO(n->name),
                        CM_INTO(n->format), &n->gzipped, &n->directed, &n->neurons, &n->hyperedges, &n->synapses, &n->bytes, &n->plain_bytes,
                        &n->duplicates, &n->self_loops, &n->empty_nets, &n->named, &n->created, &n->operators, &n->zeros, &n->inputs, &n->inhibitory,
                        &n->populations, &n->delays, CM_INTO(n->read_as), CM_INTO(n->reading), CM_INTO(n->labels));
}

/* Ends a search for one. */
static cm_status take(sqlite3_stmt *statement, cm_status status, cm_network *network, bool *found, cm_error *error)
{
  *found = cm_sql_next(statement, &status, error);
  if (*found)
    status = from_row(statement, network, error);
  return cm_sql_end(statement, status, error);
}

cm_status cm_networks_path(const cm_store *store, const char *id, char *path, cm_error *error)
{
  return cm_path(path, error, "%s/networks/%s.zip", store->folder, id);
}

static cm_status get(sqlite3 *handle, const char *id, cm_network *network, cm_error *error)
{
  sqlite3_stmt *statement;
  bool found;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " COLUMNS " FROM networks WHERE id = ?", "t", id);
  CM_TRY(take(statement, status, network, &found, error));
  return found ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is no network %.64s", id);
}

cm_status cm_networks_get(cm_store *store, const char *id, cm_network *network, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, get(r.handle, id, network, error));
  return cm_reading_end(&r, status);
}

static cm_status find_known(sqlite3 *handle, const char *sha256, const cm_owner *o, cm_network *network, cm_error *error)
{
  sqlite3_stmt *statement;
  bool found;
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT " COLUMNS " FROM networks WHERE sha256 = ?1 AND visibility = ?2"
                                    " AND (?2 = 'lab' OR (?2 = 'group' AND team = ?3) OR (?2 = 'private' AND user = ?4))"
                                    " ORDER BY rowid LIMIT 1", "tttt", sha256, cm_visibility_name(o->visibility), o->group, o->user);
  CM_TRY(take(statement, status, network, &found, error));
  return found ? CM_OK : cm_fail(error, CM_NOT_FOUND, "no network has these bytes: upload them");
}

cm_status cm_networks_known(cm_store *store, const char *sha256, const cm_owner *owner, cm_network *network, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, find_known(r.handle, sha256, owner, network, error));
  return cm_reading_end(&r, status);
}

void cm_networks_id(const char *sha256, const cm_owner *owner, char id[CM_SHA_MAX])
{
  unsigned char bytes[(CM_SHA_MAX - 1) / 2];
  if (owner->visibility == CM_VISIBLE_LAB) {
    (void)snprintf(id, CM_SHA_MAX, "%s", sha256);
    return;
  }
  randombytes_buf(bytes, sizeof bytes);
  sodium_bin2hex(id, CM_SHA_MAX, bytes, sizeof bytes);
}

typedef struct publish_work {
  const cm_network *network;
  cm_blob blob;
  bool known;
} publish_work;

static cm_status insert(sqlite3 *handle, void *context, cm_error *error)
{
  publish_work *work = context;
  const cm_network *n = work->network;
  int changes;
  CM_TRY(cm_quota_check_in(handle, n->owner.user, CM_QUOTA_NETWORKS, 1, error));
  CM_TRY(cm_quota_check_in(handle, n->owner.user, CM_QUOTA_BYTES, (double)n->bytes, error));
  if (cm_sql_run(handle, &changes, error,
                 "INSERT OR IGNORE INTO networks(id, user, name, format, gzipped, directed, neurons, hyperedges,"
                 " synapses, bytes, plain_bytes, duplicates, self_loops, empty_nets, labels, created, operators,"
                 " zeros, inputs, inhibitory, populations, delays, sha256, team, visibility, read_as, reading)"
                 " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                 "ttttiiiiiiiiiiidiiiiiittttt", n->id, n->owner.user, n->name, n->format, (int64_t)n->gzipped,
                 (int64_t)n->directed, (int64_t)n->neurons, (int64_t)n->hyperedges, (int64_t)n->synapses,
                 (int64_t)n->bytes, (int64_t)n->plain_bytes, (int64_t)n->duplicates, (int64_t)n->self_loops,
                 (int64_t)n->empty_nets, (int64_t)n->labels, n->created, (int64_t)n->operators, (int64_t)n->zeros,
                 (int64_t)n->inputs, (int64_t)n->inhibitory, (int64_t)n->populations, (int64_t)n->delays, n->sha256,
                 n->owner.group, cm_visibility_name(n->owner.visibility), n->read_as, n->reading) != CM_OK)
    return error->status;
  char words[CM_OWNER_WORDS_MAX];
  work->known = changes == 0;
  cm_audit_effect("network %s, %s", n->id, cm_owner_words(&n->owner, words));
  /* It is back, by the hash of its bytes, and with it those of its owners who had not deleted it. */
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM bin WHERE id = ?", "t", n->id));
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM owners WHERE thing = ? AND user = (SELECT user FROM networks WHERE id = thing)", "t", n->id));
  return cm_blob_note_in(handle, &work->blob, error);
}

/* Makes the bytes of a file last, whoever wrote them. */
static cm_status sync_file(const char *path, cm_error *error)
{
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return cm_fail_errno(error, errno, "cannot open", path);
  int cause = fdatasync(file) != 0 ? errno : 0;
  close(file);
  return cause == 0 ? CM_OK : cm_fail_errno(error, cause, "cannot sync", path);
}

cm_status cm_networks_publish(cm_store *store, const cm_network *network, const char *scratch, bool *known,
                              cm_error *error)
{
  char path[CM_PATH_MAX], folder[CM_PATH_MAX], known_path[CM_PATH_MAX];
  publish_work work = {.network = network};
  char name[CM_SHA_MAX + 32];
  (void)snprintf(name, sizeof name, "networks/%s.zip", network->id);
  CM_TRY(sync_file(scratch, error));
  CM_TRY(cm_blob_read(scratch, name, &work.blob, error));
  CM_TRY(cm_networks_path(store, network->id, path, error));
  CM_TRY(cm_path(folder, error, "%s/networks", store->folder));
  pthread_mutex_lock(&store->blob_lock);
  cm_network there;
  bool mine = cm_networks_known(store, network->sha256, &network->owner, &there, error) == CM_OK;
  if (mine && cm_networks_path(store, there.id, known_path, error) == CM_OK && access(known_path, R_OK) == 0) {
    pthread_mutex_unlock(&store->blob_lock);
    (void)unlink(scratch);
    *known = true;
    return CM_OK;
  }
  const bool stood = access(path, F_OK) == 0; /* others have these bytes */
  cm_status status = rename(scratch, path) != 0 ? cm_fail_errno(error, errno, "cannot rename", scratch) : CM_OK;
  CM_THEN(status, cm_folder_sync(folder, error));
  CM_THEN(status, cm_database_write(store->database, insert, &work, error));
  if (status == CM_QUOTA_USED && !stood)
    (void)unlink(path); /* a file that nobody has a row of would stay until the next start */
  pthread_mutex_unlock(&store->blob_lock);
  CM_END(status, *known = work.known, );
}

/* ---- owners beside the first ---- */

typedef struct share_work {
  const char *id, *user;
} share_work;

static cm_status join(sqlite3 *handle, void *context, cm_error *error)
{
  const share_work *w = context;
  cm_network there;
  int64_t mine;
  CM_TRY(get(handle, w->id, &there, error));
  CM_TRY(cm_sql_number(handle, 0, &mine, error, "SELECT count(*) FROM owners WHERE thing = ? AND user = ?", "tt", w->id, w->user));
  cm_owner *owner = &there.owner;
  if (mine != 0 || strcmp(owner->user, w->user) == 0)
    return CM_OK;
  (void)snprintf(owner->user, sizeof owner->user, "%s", w->user);
  CM_TRY(cm_quota_check_in(handle, w->user, CM_QUOTA_NETWORKS, 1, error));
  CM_TRY(cm_quota_check_in(handle, w->user, CM_QUOTA_BYTES, (double)there.bytes, error));
  return cm_holders_join_in(handle, CM_OBJECT_NETWORK, w->id, owner, error);
}

cm_status cm_networks_join(cm_store *store, const char *id, const char *user, cm_error *error)
{
  if (user[0] == '\0')
    return CM_OK;
  return cm_database_write(store->database, join, &(share_work){.id = id, .user = user}, error);
}

