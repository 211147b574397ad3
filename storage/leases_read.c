/* Reading leases: their rows, and the cores that they hold. */
#include "base/json.h"
#include "storage/clock.h"
#include "storage/leases_read.h"

cm_status cm_lease_cores_of(const coremap_chip *chip, cm_lease *lease, cm_error *error)
{
  char *text, owner[OWNER_MAX];
  CM_TRY(library_cores_print(chip, &text, error));
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
  CM_TRY_OR(cm_json_whole(refusals, "reading a lease", error), free(cores));
  if (cores == NULL && cm_whole((cores = strdup("[]")) != NULL, "a lease", error) != CM_OK)
    return error->status;
  lease->cores = cores;
  lease->core_count = count;
  return CM_OK;
}

#define LEASE_COLUMNS "id, chip, owner, coalesce(job, ''), ttl, expires, created, user, team, visibility"

static void lease_from_row(sqlite3_stmt *row, cm_lease *lease)
{
  memset(lease, 0, sizeof *lease);
  (void)cm_sql_columns(row, NULL, "ttttddd", CM_INTO(lease->id), CM_INTO(lease->chip), CM_INTO(lease->owner), CM_INTO(lease->job), &lease->ttl,
                       &lease->expires, &lease->created);
  cm_owner_from_row(row, 7, &lease->whose);
}

cm_status cm_lease_missing(const char *chip, const char *id, cm_error *error)
{
  return cm_fail(error, CM_NOT_FOUND, "there is no lease %.40s on chip \"%.64s\"; it may have expired", id, chip);
}

cm_status cm_lease_find_in(sqlite3 *handle, const char *chip, const char *id, cm_lease *lease, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " LEASE_COLUMNS " FROM leases WHERE id = ? AND chip = ? AND expires > " CM_NOW("?"),
                                    "ttd", id, chip, cm_clock_steady());
  const bool found = cm_sql_next(statement, &status, error);
  if (found)
    lease_from_row(statement, lease);
  status = cm_sql_end(statement, status, error);
  return status == CM_OK && !found ? cm_lease_missing(chip, id, error) : status;
}

static cm_status fill_cores(sqlite3 *handle, cm_lease *lease, cm_error *error)
{
  coremap_chip *chip = NULL;
  CM_TRY(cm_occupancy_load_in(handle, lease->chip, &chip, error));
  cm_status status = cm_lease_cores_of(chip, lease, error);
  coremap_chip_free(chip);
  return status;
}

cm_status cm_lease_get_in(sqlite3 *handle, const char *chip, const char *id, cm_lease *lease, cm_error *error)
{
  cm_lease found;
  CM_TRY(cm_lease_find_in(handle, chip, id, &found, error));
  CM_TRY(fill_cores(handle, &found, error));
  cm_lease_clear(lease);
  *lease = found;
  return CM_OK;
}

typedef struct looking {
  const char *chip;
  const cm_viewer *viewer;
  cm_lease *leases;
  size_t count, capacity;
} looking;

cm_status cm_leases_get(cm_store *store, const char *chip, const char *id, cm_lease *lease, cm_error *error)
{
  cm_reading r;
  cm_lease found = {0};
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  CM_THEN(status, cm_lease_get_in(r.handle, chip, id, &found, error));
  CM_TRY(cm_reading_end(&r, status));
  *lease = found;
  return CM_OK;
}

static cm_status list(sqlite3 *handle, looking *work, cm_error *error)
{
  coremap_chip *chip = NULL;
  sqlite3_stmt *statement = NULL;
  cm_status status = work->chip != NULL ? cm_occupancy_load_in(handle, work->chip, &chip, error) : CM_OK;
  CM_THEN(status, cm_sql_prepare(handle, &statement, error, "SELECT " LEASE_COLUMNS " FROM leases l WHERE (?1 IS NULL OR chip = ?1) AND expires > " CM_NOW("?2")
                                 " AND " CM_VIEWER_SEES("l", "?3", "?4", "?5") " AND NOT EXISTS (SELECT 1 FROM chips c WHERE c.name = l.chip AND NOT "
                                 CM_VIEWER_SEES("c", "?3", "?4", "?5") ") ORDER BY created, id", "tditt", work->chip, cm_clock_steady(),
                                 CM_VIEWER_VALUES(work->viewer)));
  while (cm_sql_next(statement, &status, error) &&
         (status = CM_HEAP_GROW(work->leases, &work->capacity, work->count + 1, "the list of leases", error)) == CM_OK) {
    cm_lease *lease = &work->leases[work->count++];
    lease_from_row(statement, lease);
    status = chip != NULL ? cm_lease_cores_of(chip, lease, error) : fill_cores(handle, lease, error);
  }
  status = cm_sql_end(statement, status, error);
  coremap_chip_free(chip);
  return status;
}

cm_status cm_leases_list(cm_store *store, const char *chip, const cm_viewer *viewer, cm_lease **leases, size_t *count, cm_error *error)
{
  cm_reading r;
  looking work = {.chip = chip, .viewer = viewer};
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  CM_THEN(status, list(r.handle, &work, error));
  status = cm_reading_end(&r, status);
  if (status == CM_OK) {
    *leases = work.leases;
    *count = work.count;
    return CM_OK;
  }
  for (size_t i = 0; i < work.count; i++)
    cm_lease_clear(&work.leases[i]);
  free(work.leases);
  return status;
}

void cm_lease_clear(cm_lease *lease)
{
  free(lease->cores);
  lease->cores = NULL;
}
