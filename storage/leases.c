/* Leases are rows; which cores they hold stands in the chip's occupancy (leases_read.c).
 * What can fail: a core is taken or broken (CM_CONFLICT), nothing fits (CM_NO_ROOM), the lease has expired
 * (CM_NOT_FOUND). */
#include "base/json.h"
#include "storage/audit.h"
#include "storage/clock.h"
#include "storage/leases_read.h"
#include "storage/quotas.h"

const double cm_lease_ttl_default_s = 3600, cm_lease_ttl_max_s = 30.0 * 24 * 3600;

/* {"occupy": [...], "owner": "lease:ID"} for cores or rectangles; NULL when out of memory. */
static json_t *occupy_change(const cm_lease_take *take, uint32_t width, const char *owner)
{
  json_t *list = take->rectangles != NULL ? json_deep_copy(take->rectangles) : json_array();
  for (uint32_t i = 0; take->rectangles == NULL && list != NULL && i < take->count; i++)
    if (json_array_append_new(list, json_pack("[i,i]", (int)(take->cores[i] % width),
                                              (int)(take->cores[i] / width))) != 0) {
      json_decref(list);
      return NULL;
    }
  return list != NULL ? json_pack("{s:o, s:s}", "occupy", list, "owner", owner) : NULL;
}

static cm_status take_on(sqlite3 *handle, const cm_lease_take *take, coremap_chip *chip, char *id, cm_error *error)
{
  char fresh[CM_ID_MAX], owner[OWNER_MAX];
  uint32_t free_before = coremap_chip_free_cores(chip);
  cm_store_id(fresh);
  (void)snprintf(owner, sizeof owner, "%s%s", cm_lease_prefix, fresh);
  json_t *change = occupy_change(take, coremap_chip_width(chip), owner);
  CM_TRY(cm_whole(change != NULL, "taking a lease", error));
  cm_status status = library_cores_change(chip, change, error);
  json_decref(change);
  if (status == CM_CONFLICT)
    cm_error_figure(error, "free", free_before);
  CM_THEN_IF(status, coremap_chip_free_cores(chip) == free_before, cm_fail(error, CM_BAD_REQUEST, "a lease needs at least one core"));
  CM_THEN(status, cm_occupancy_save_in(handle, chip, take->chip, error));
  if (status == CM_OK)
    status = cm_sql_run(handle, NULL, error,
                        "INSERT INTO leases(id, user, team, visibility, chip, owner, job, ttl, expires, created)"
                        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ? + " CM_NOW("?") ", ?)", "tttttttdddd", fresh, take->whose.user,
                        take->whose.group, cm_visibility_name(take->whose.visibility), take->chip,
                        take->owner, take->job, take->ttl, take->ttl, cm_clock_steady(), cm_store_time());
  uint64_t cores = free_before - coremap_chip_free_cores(chip);
  cm_audit_effect("lease %s of %llu cores", fresh, (unsigned long long)cores);
  CM_THEN(status, cm_quota_check_in(handle, take->whose.user, CM_QUOTA_CORE_HOURS, (double)cores * take->ttl / 3600, error));
  CM_THEN(status, cm_quota_note_lease_in(handle, fresh, take->whose.user, cores, cm_store_time() + take->ttl, error));
  CM_END(status, memcpy(id, fresh, sizeof fresh), );
}

cm_status cm_leases_take_in(sqlite3 *handle, const cm_lease_take *take, char *id, cm_error *error)
{
  coremap_chip *chip = NULL;
  CM_TRY(cm_occupancy_load_in(handle, take->chip, &chip, error));
  cm_status status = take_on(handle, take, chip, id, error);
  coremap_chip_free(chip);
  return status;
}

typedef struct lease_work {
  const cm_lease_request *wanted;
  const char *chip, *id;
  cm_lease lease;
  uint64_t expired;
} lease_work;

static cm_status create(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  const cm_lease_request *wanted = work->wanted;
  coremap_chip *chip = NULL;
  uint32_t *chosen = NULL;
  cm_lease_take take = {.chip = wanted->chip, .whose = wanted->whose, .owner = wanted->owner, .job = wanted->job,
                        .ttl = wanted->ttl, .rectangles = wanted->cores};
  char id[CM_ID_MAX];
  CM_TRY(cm_occupancy_load_in(handle, wanted->chip, &chip, error));
  cm_status status = CM_OK;
  if (wanted->cores == NULL) {
    status = library_cores_choose(chip, wanted->count, &chosen, error);
    take.cores = chosen;
    take.count = wanted->count;
  }
  CM_THEN(status, take_on(handle, &take, chip, id, error));
  cm_lease made = {0};
  CM_THEN(status, cm_lease_find_in(handle, wanted->chip, id, &made, error));
  CM_THEN(status, cm_lease_cores_of(chip, &made, error));
  if (status == CM_OK) {
    cm_lease_clear(&work->lease);
    work->lease = made;
  }
  free(chosen);
  coremap_chip_free(chip);
  return status;
}

/* Writes, and hands over the lease that the work ends with. A transaction that fails at its end may have made one
 * already. */
static cm_status write_lease(cm_store *store, cm_status (*change)(sqlite3 *handle, void *context, cm_error *error),
                             lease_work *work, cm_lease *lease, cm_error *error)
{
  CM_END(cm_database_write(store->database, change, work, error), *lease = work->lease, cm_lease_clear(&work->lease));
}

cm_status cm_leases_create(cm_store *store, const cm_lease_request *wanted, cm_lease *lease, cm_error *error)
{
  return write_lease(store, create, &(lease_work){.wanted = wanted}, lease, error);
}

/* A longer lease counts for its end, as a new one would. */
static cm_status prolong(sqlite3 *handle, const lease_work *work, cm_error *error)
{
  char user[CM_USER_MAX] = "";
  double more = 0;
  CM_TRY(cm_sql_find(handle, NULL, error, "SELECT u.user, (l.expires - u.ends) * u.cores / 3600 FROM leases l JOIN lease_use u ON u.lease = l.id"
                     " WHERE l.id = ?", "t>td", work->id, CM_INTO(user), &more));
  CM_TRY_IF(more > 0, cm_quota_check_in(handle, user, CM_QUOTA_CORE_HOURS, more, error));
  return cm_sql_run(handle, NULL, error, "UPDATE lease_use SET ends = (SELECT expires FROM leases WHERE id = ?1) WHERE lease = ?1", "t", work->id);
}

static cm_status keep(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  const char *owner = work->wanted->owner;
  int changes;
  cm_status status = cm_sql_run(handle, &changes, error,
                                "UPDATE leases SET ttl = CASE WHEN ?1 > 0 THEN ?1 ELSE ttl END, owner = coalesce(?5, owner),"
                                " expires = " CM_NOW("?2") " + CASE WHEN ?1 > 0 THEN ?1 ELSE ttl END"
                                " WHERE id = ?3 AND chip = ?4 AND expires > " CM_NOW("?2"), "ddttt", work->wanted->ttl,
                                cm_clock_steady(), work->id, work->chip, owner);
  CM_THEN_IF(status, changes != 1, cm_lease_missing(work->chip, work->id, error));
  CM_THEN(status, prolong(handle, work, error));
  if (owner != NULL)
    cm_audit_effect("lease %s handed over to %s", work->id, owner);
  else
    cm_audit_effect("lease %s kept", work->id);
  return status == CM_OK ? cm_lease_get_in(handle, work->chip, work->id, &work->lease, error) : status;
}

cm_status cm_leases_keep(cm_store *store, const char *id, const cm_lease_request *wanted, cm_lease *lease, cm_error *error)
{
  return write_lease(store, keep, &(lease_work){.wanted = wanted, .chip = wanted->chip, .id = id}, lease, error);
}

static cm_status release(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  cm_lease found;
  coremap_chip *chip = NULL;
  CM_TRY(cm_lease_find_in(handle, work->chip, work->id, &found, error));
  CM_TRY(cm_occupancy_load_in(handle, work->chip, &chip, error));
  const uint32_t free_before = coremap_chip_free_cores(chip);
  cm_occupancy_free_lease(chip, work->id);
  cm_audit_effect("lease %s of %u cores gone", work->id, coremap_chip_free_cores(chip) - free_before);
  cm_status status = cm_occupancy_save_in(handle, chip, work->chip, error);
  CM_THEN(status, cm_sql_run(handle, NULL, error, "DELETE FROM leases WHERE id = ?", "t", work->id));
  CM_THEN(status, cm_sql_run(handle, NULL, error, "UPDATE lease_use SET ends = min(ends, ?) WHERE lease = ?", "dt",
                             cm_store_time(), work->id));
  coremap_chip_free(chip);
  return status;
}

cm_status cm_leases_release(cm_store *store, const char *chip, const char *id, cm_error *error)
{
  return cm_database_write(store->database, release, &(lease_work){.chip = chip, .id = id}, error);
}

static cm_status expire(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  coremap_chip *chip = NULL;
  int64_t count;
  CM_TRY(cm_sql_number(handle, 0, &count, error, "SELECT count(*) FROM leases WHERE chip = ? AND expires <= " CM_NOW("?"), "td",
                       work->chip, cm_clock_steady()));
  CM_TRY(cm_occupancy_load_in(handle, work->chip, &chip, error));
  cm_status status = cm_occupancy_save_in(handle, chip, work->chip, error);
  work->expired = (uint64_t)count;
  coremap_chip_free(chip);
  return status;
}

cm_status cm_leases_expire(cm_store *store, uint64_t *count, cm_error *error)
{
  uint64_t total = 0;
  char name[LIBRARY_CHIP_NAME_MAX];
  CM_TRY(cm_clock_follow(store, error));
  for (;;) {
    bool some = false;
    CM_TRY(cm_database_find(store->database, &some, error, "SELECT chip FROM leases WHERE expires <= " CM_NOW("?") " LIMIT 1", "d>t", cm_clock_steady(),
                            CM_INTO(name)));
    if (!some)
      break;
    lease_work work = {.chip = name};
    CM_TRY(cm_database_write(store->database, expire, &work, error));
    total += work.expired;
  }
  *count = total;
  return CM_OK;
}
