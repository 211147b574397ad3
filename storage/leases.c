/* Leases are rows; which cores they hold stands in the chip's occupancy.
 * What can fail: a core is taken or broken (CM_CONFLICT), nothing fits (CM_NO_ROOM), the lease has expired
 * (CM_NOT_FOUND). */
#include "storage/leases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/chip/region.h"
#include "storage/clock.h"
#include "storage/internal.h"
#include "storage/quotas.h"

const double cm_lease_ttl_default_s = 3600, cm_lease_ttl_max_s = 30.0 * 24 * 3600;

enum { OWNER_MAX = 8 + CM_ID_MAX }; /* cm_lease_prefix and an id */

void cm_lease_clear(cm_lease *lease)
{
  free(lease->cores);
  lease->cores = NULL;
}

/* The rectangles of one lease, out of the printed state: a new JSON text, and the number of cores. */
static cm_status cores_of(const cm_occupancy *occupancy, const cm_chip *chip, cm_lease *lease, cm_error *error)
{
  char *text, owner[OWNER_MAX];
  if (cm_occupancy_print(occupancy, chip, &text, error) != CM_OK)
    return error->status;
  uint64_t refusals = cm_json_refusals();
  json_t *state = cm_json_loadb(text, strlen(text), 0, NULL), *group, *item;
  size_t i, j;
  free(text);
  (void)snprintf(owner, sizeof owner, "%s%s", cm_lease_prefix, lease->id);
  char *cores = NULL;
  uint64_t count = 0;
  json_array_foreach(json_object_get(state, "taken"), i, group)
  {
    const char *name = json_string_value(json_object_get(group, "owner"));
    if (name == NULL || strcmp(name, owner) != 0)
      continue;
    json_array_foreach(json_object_get(group, "cores"), j, item) count +=
        (uint64_t)((json_integer_value(json_array_get(item, 2)) - json_integer_value(json_array_get(item, 0)) + 1) *
                   (json_integer_value(json_array_get(item, 3)) - json_integer_value(json_array_get(item, 1)) + 1));
    cores = cm_json_dumps(json_object_get(group, "cores"), JSON_COMPACT);
    break;
  }
  json_decref(state);
  if (cm_json_whole(refusals, "reading a lease", error) != CM_OK) {
    free(cores);
    return error->status;
  }
  if (cores == NULL && (cores = strdup("[]")) == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for reading a lease");
  lease->cores = cores;
  lease->core_count = count;
  return CM_OK;
}

#define LEASE_COLUMNS "id, chip, owner, coalesce(job, ''), ttl, expires, created, user, team, visibility"

static void lease_from_row(sqlite3_stmt *row, cm_lease *lease)
{
  memset(lease, 0, sizeof *lease);
  cm_sql_copy(row, 0, lease->id, sizeof lease->id);
  cm_sql_copy(row, 1, lease->chip, sizeof lease->chip);
  cm_sql_copy(row, 2, lease->owner, sizeof lease->owner);
  cm_sql_copy(row, 3, lease->job, sizeof lease->job);
  lease->ttl = sqlite3_column_double(row, 4);
  lease->expires = sqlite3_column_double(row, 5);
  lease->created = sqlite3_column_double(row, 6);
  cm_owner_from_row(row, 7, &lease->whose);
}

static cm_status no_lease(const char *chip, const char *id, cm_error *error)
{
  return cm_fail(error, CM_NOT_FOUND, "there is no lease %.40s on chip \"%.64s\"; it may have expired", id, chip);
}

/* One lease that has not expired, without its cores. */
static cm_status find_lease(sqlite3 *handle, const char *chip, const char *id, cm_lease *lease, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = false;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " LEASE_COLUMNS " FROM leases"
                                    " WHERE id = ? AND chip = ? AND expires > " CM_NOW("?"), "ttd", id, chip,
                                    cm_clock_steady());
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK && row)
    lease_from_row(statement, lease);
  status = cm_sql_end(statement, status, error);
  return status == CM_OK && !row ? no_lease(chip, id, error) : status;
}

static cm_status fill_cores(sqlite3 *handle, cm_lease *lease, cm_error *error)
{
  cm_chip *chip = NULL;
  cm_occupancy *occupancy = NULL;
  if (cm_occupancy_load_in(handle, lease->chip, &chip, &occupancy, error) != CM_OK)
    return error->status;
  cm_status status = cores_of(occupancy, chip, lease, error);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return status;
}

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

static cm_status take_on(sqlite3 *handle, const cm_lease_take *take, const cm_chip *chip, cm_occupancy *occupancy,
                         char *id, cm_error *error)
{
  char fresh[CM_ID_MAX], owner[OWNER_MAX];
  uint32_t free_before = cm_occupancy_free_count(occupancy);
  cm_store_id(fresh);
  (void)snprintf(owner, sizeof owner, "%s%s", cm_lease_prefix, fresh);
  json_t *change = occupy_change(take, chip->width, owner);
  if (change == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while taking a lease");
  cm_status status = cm_occupancy_apply(occupancy, chip, change, error);
  json_decref(change);
  if (status == CM_CONFLICT)
    cm_error_figure(error, "free", free_before);
  if (status == CM_OK && cm_occupancy_free_count(occupancy) == free_before)
    status = cm_fail(error, CM_BAD_REQUEST, "a lease needs at least one core");
  if (status == CM_OK)
    status = cm_occupancy_save_in(handle, occupancy, chip, take->chip, error);
  if (status == CM_OK)
    status = cm_sql_run(handle, NULL, error,
                        "INSERT INTO leases(id, user, team, visibility, chip, owner, job, ttl, expires, created)"
                        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ? + " CM_NOW("?") ", ?)", "tttttttdddd", fresh, take->whose.user,
                        take->whose.group, cm_visibility_name(take->whose.visibility), take->chip,
                        take->owner, take->job, take->ttl, take->ttl, cm_clock_steady(), cm_store_time());
  uint64_t cores = free_before - cm_occupancy_free_count(occupancy);
  if (status == CM_OK)
    status = cm_quota_check_in(handle, take->whose.user, CM_QUOTA_CORE_HOURS, (double)cores * take->ttl / 3600, error);
  if (status == CM_OK)
    status = cm_quota_note_lease_in(handle, fresh, take->whose.user, cores, cm_store_time() + take->ttl, error);
  if (status == CM_OK)
    memcpy(id, fresh, sizeof fresh);
  return status;
}

cm_status cm_leases_take_in(sqlite3 *handle, const cm_lease_take *take, char *id, cm_error *error)
{
  cm_chip *chip = NULL;
  cm_occupancy *occupancy = NULL;
  if (cm_occupancy_load_in(handle, take->chip, &chip, &occupancy, error) != CM_OK)
    return error->status;
  cm_status status = take_on(handle, take, chip, occupancy, id, error);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return status;
}

typedef struct lease_work {
  const cm_lease_request *wanted;
  const char *chip, *id;
  const cm_viewer *viewer;
  double ttl;
  cm_lease lease;
  cm_lease *leases;
  size_t count;
  uint64_t expired;
} lease_work;

static cm_status create(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  const cm_lease_request *wanted = work->wanted;
  cm_chip *chip = NULL;
  cm_occupancy *occupancy = NULL;
  cm_region *region = NULL;
  cm_lease_take take = {.chip = wanted->chip, .whose = wanted->whose, .owner = wanted->owner, .job = wanted->job,
                        .ttl = wanted->ttl, .rectangles = wanted->cores};
  char id[CM_ID_MAX];
  if (cm_occupancy_load_in(handle, wanted->chip, &chip, &occupancy, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  if (wanted->cores == NULL) {
    cm_run run;
    cm_run_init(&run);
    status = cm_region_choose(chip, occupancy, wanted->count, &run, &region, error);
    if (status == CM_OK) {
      take.cores = region->cores;
      take.count = region->core_count;
    }
  }
  if (status == CM_OK)
    status = take_on(handle, &take, chip, occupancy, id, error);
  cm_lease made = {0};
  if (status == CM_OK)
    status = find_lease(handle, wanted->chip, id, &made, error);
  if (status == CM_OK)
    status = cores_of(occupancy, chip, &made, error);
  if (status == CM_OK) {
    cm_lease_clear(&work->lease);
    work->lease = made;
  }
  cm_region_free(region);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return status;
}

/* Writes, and hands over the lease that the work ends with. A transaction that fails at its end may have made one
 * already. */
static cm_status write_lease(cm_store *store, cm_status (*change)(sqlite3 *handle, void *context, cm_error *error),
                             lease_work *work, cm_lease *lease, cm_error *error)
{
  if (cm_database_write(store->database, change, work, error) != CM_OK) {
    cm_lease_clear(&work->lease);
    return error->status;
  }
  *lease = work->lease;
  return CM_OK;
}

cm_status cm_leases_create(cm_store *store, const cm_lease_request *wanted, cm_lease *lease, cm_error *error)
{
  return write_lease(store, create, &(lease_work){.wanted = wanted}, lease, error);
}

static cm_status get(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  cm_lease found;
  if (find_lease(handle, work->chip, work->id, &found, error) != CM_OK || fill_cores(handle, &found, error) != CM_OK)
    return error->status;
  cm_lease_clear(&work->lease);
  work->lease = found;
  return CM_OK;
}

cm_status cm_leases_get(cm_store *store, const char *chip, const char *id, cm_lease *lease, cm_error *error)
{
  lease_work work = {.chip = chip, .id = id};
  if (cm_database_read(store->database, get, &work, error) != CM_OK)
    return error->status;
  *lease = work.lease;
  return CM_OK;
}

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  int64_t total;
  cm_chip *chip = NULL;
  cm_occupancy *occupancy = NULL;
  if (cm_sql_number(handle, 0, &total, error, "SELECT count(*) FROM leases WHERE chip = ?", "t", work->chip) != CM_OK ||
      cm_occupancy_load_in(handle, work->chip, &chip, &occupancy, error) != CM_OK)
    return error->status;
  work->leases = calloc((size_t)total + 1, sizeof *work->leases);
  cm_status status = work->leases != NULL ? CM_OK : cm_fail(error, CM_NO_MEMORY, "out of memory while listing leases");
  sqlite3_stmt *statement = NULL;
  bool row = true;
  if (status == CM_OK)
    status = cm_sql_prepare(handle, &statement, error, "SELECT " LEASE_COLUMNS " FROM leases l WHERE chip = ?1"
                            " AND expires > " CM_NOW("?2") " AND " CM_VIEWER_SEES("l", "?3", "?4", "?5")
                            " ORDER BY created, id", "tditt", work->chip, cm_clock_steady(),
                            CM_VIEWER_VALUES(work->viewer));
  while (status == CM_OK && row && work->count < (size_t)total) {
    status = cm_sql_step(statement, &row, error);
    if (status == CM_OK && row) {
      lease_from_row(statement, &work->leases[work->count]);
      status = cores_of(occupancy, chip, &work->leases[work->count], error);
      work->count++;
    }
  }
  status = cm_sql_end(statement, status, error);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return status;
}

cm_status cm_leases_list(cm_store *store, const char *chip, const cm_viewer *viewer, cm_lease **leases, size_t *count,
                         cm_error *error)
{
  lease_work work = {.chip = chip, .viewer = viewer};
  if (cm_database_read(store->database, list, &work, error) != CM_OK) {
    for (size_t i = 0; i < work.count; i++)
      cm_lease_clear(&work.leases[i]);
    free(work.leases);
    return error->status;
  }
  *leases = work.leases;
  *count = work.count;
  return CM_OK;
}

/* A longer lease counts for its end, as a new one would. */
static cm_status prolong(sqlite3 *handle, const lease_work *work, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = false;
  char user[CM_USER_MAX] = "";
  double more = 0;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT u.user, (l.expires - u.ends) * u.cores / 3600 FROM leases l"
                                    " JOIN lease_use u ON u.lease = l.id WHERE l.id = ?", "t", work->id);
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK && row) {
    cm_sql_copy(statement, 0, user, sizeof user);
    more = sqlite3_column_double(statement, 1);
  }
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK && more > 0)
    status = cm_quota_check_in(handle, user, CM_QUOTA_CORE_HOURS, more, error);
  return status == CM_OK ? cm_sql_run(handle, NULL, error, "UPDATE lease_use SET ends = (SELECT expires FROM leases WHERE id = ?1)"
                                      " WHERE lease = ?1", "t", work->id)
                         : status;
}

static cm_status keep(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  int changes;
  cm_status status = cm_sql_run(handle, &changes, error,
                                "UPDATE leases SET ttl = CASE WHEN ?1 > 0 THEN ?1 ELSE ttl END,"
                                " expires = " CM_NOW("?2") " + CASE WHEN ?1 > 0 THEN ?1 ELSE ttl END"
                                " WHERE id = ?3 AND chip = ?4 AND expires > " CM_NOW("?2"), "ddtt", work->ttl,
                                cm_clock_steady(), work->id, work->chip);
  if (status == CM_OK && changes != 1)
    status = no_lease(work->chip, work->id, error);
  if (status == CM_OK)
    status = prolong(handle, work, error);
  return status == CM_OK ? get(handle, context, error) : status;
}

cm_status cm_leases_keep(cm_store *store, const char *chip, const char *id, double ttl, cm_lease *lease,
                         cm_error *error)
{
  return write_lease(store, keep, &(lease_work){.chip = chip, .id = id, .ttl = ttl}, lease, error);
}

static cm_status release(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  cm_lease found;
  cm_chip *chip = NULL;
  cm_occupancy *occupancy = NULL;
  if (find_lease(handle, work->chip, work->id, &found, error) != CM_OK ||
      cm_occupancy_load_in(handle, work->chip, &chip, &occupancy, error) != CM_OK)
    return error->status;
  cm_occupancy_free_lease(occupancy, work->id);
  cm_status status = cm_occupancy_save_in(handle, occupancy, chip, work->chip, error);
  if (status == CM_OK)
    status = cm_sql_run(handle, NULL, error, "DELETE FROM leases WHERE id = ?", "t", work->id);
  if (status == CM_OK)
    status = cm_sql_run(handle, NULL, error, "UPDATE lease_use SET ends = min(ends, ?) WHERE lease = ?", "dt", cm_store_time(),
                        work->id);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return status;
}

cm_status cm_leases_release(cm_store *store, const char *chip, const char *id, cm_error *error)
{
  return cm_database_write(store->database, release, &(lease_work){.chip = chip, .id = id}, error);
}

/* The chip of some expired lease; "" when there is none. */
static cm_status find_expired(sqlite3 *handle, void *context, cm_error *error)
{
  char *name = context;
  sqlite3_stmt *statement;
  bool row = false;
  name[0] = '\0';
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT chip FROM leases WHERE expires <= " CM_NOW("?")
                                    " LIMIT 1", "d", cm_clock_steady());
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK && row)
    cm_sql_copy(statement, 0, name, CM_CHIP_NAME_MAX);
  return cm_sql_end(statement, status, error);
}

static cm_status expire(sqlite3 *handle, void *context, cm_error *error)
{
  lease_work *work = context;
  cm_chip *chip = NULL;
  cm_occupancy *occupancy = NULL;
  int64_t count;
  if (cm_sql_number(handle, 0, &count, error, "SELECT count(*) FROM leases WHERE chip = ? AND expires <= " CM_NOW("?"),
                    "td", work->chip, cm_clock_steady()) != CM_OK ||
      cm_occupancy_load_in(handle, work->chip, &chip, &occupancy, error) != CM_OK)
    return error->status;
  cm_status status = cm_occupancy_save_in(handle, occupancy, chip, work->chip, error);
  work->expired = (uint64_t)count;
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return status;
}

cm_status cm_leases_expire(cm_store *store, uint64_t *count, cm_error *error)
{
  uint64_t total = 0;
  char name[CM_CHIP_NAME_MAX];
  if (cm_clock_follow(store, error) != CM_OK)
    return error->status;
  for (;;) {
    if (cm_database_read(store->database, find_expired, name, error) != CM_OK)
      return error->status;
    if (name[0] == '\0')
      break;
    lease_work work = {.chip = name};
    if (cm_database_write(store->database, expire, &work, error) != CM_OK)
      return error->status;
    total += work.expired;
  }
  *count = total;
  return CM_OK;
}
