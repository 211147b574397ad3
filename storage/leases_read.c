/* Reading leases: their rows, and the cores that they hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
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
  if (cm_json_whole(refusals, "reading a lease", error) != CM_OK) {
    free(cores);
    return error->status;
  }
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
  cm_sql_copy(row, 0, lease->id, sizeof lease->id);
  cm_sql_copy(row, 1, lease->chip, sizeof lease->chip);
  cm_sql_copy(row, 2, lease->owner, sizeof lease->owner);
  cm_sql_copy(row, 3, lease->job, sizeof lease->job);
  lease->ttl = sqlite3_column_double(row, 4);
  lease->expires = sqlite3_column_double(row, 5);
  lease->created = sqlite3_column_double(row, 6);
  cm_owner_from_row(row, 7, &lease->whose);
}

cm_status cm_lease_missing(const char *chip, const char *id, cm_error *error)
{
  return cm_fail(error, CM_NOT_FOUND, "there is no lease %.40s on chip \"%.64s\"; it may have expired", id, chip);
}

cm_status cm_lease_find_in(sqlite3 *handle, const char *chip, const char *id, cm_lease *lease, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = false;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " LEASE_COLUMNS " FROM leases"
                                    " WHERE id = ? AND chip = ? AND expires > " CM_NOW("?"), "ttd", id, chip,
                                    cm_clock_steady());
  CM_THEN(status, cm_sql_step(statement, &row, error));
  if (status == CM_OK && row)
    lease_from_row(statement, lease);
  status = cm_sql_end(statement, status, error);
  return status == CM_OK && !row ? cm_lease_missing(chip, id, error) : status;
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
  const char *chip, *id;
  const cm_viewer *viewer;
  cm_lease lease;
  cm_lease *leases;
  size_t count;
} looking;

static cm_status get(sqlite3 *handle, void *context, cm_error *error)
{
  looking *work = context;
  return cm_lease_get_in(handle, work->chip, work->id, &work->lease, error);
}

cm_status cm_leases_get(cm_store *store, const char *chip, const char *id, cm_lease *lease, cm_error *error)
{
  looking work = {.chip = chip, .id = id};
  CM_TRY(cm_database_read(store->database, get, &work, error));
  *lease = work.lease;
  return CM_OK;
}

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  looking *work = context;
  int64_t total;
  coremap_chip *chip = NULL;
  CM_TRY(cm_sql_number(handle, 0, &total, error, "SELECT count(*) FROM leases WHERE ?1 IS NULL OR chip = ?1", "t", work->chip));
  if (work->chip != NULL)
    CM_TRY(cm_occupancy_load_in(handle, work->chip, &chip, error));
  work->leases = calloc((size_t)total + 1, sizeof *work->leases);
  cm_status status = cm_whole(work->leases != NULL, "the list of leases", error);
  sqlite3_stmt *statement = NULL;
  bool row = true;
  if (status == CM_OK)
    status = cm_sql_prepare(handle, &statement, error, "SELECT " LEASE_COLUMNS " FROM leases l WHERE (?1 IS NULL OR chip = ?1)"
                            " AND expires > " CM_NOW("?2") " AND " CM_VIEWER_SEES("l", "?3", "?4", "?5")
                            " AND NOT EXISTS (SELECT 1 FROM chips c WHERE c.name = l.chip AND NOT " CM_VIEWER_SEES("c", "?3", "?4", "?5") ")"
                            " ORDER BY created, id", "tditt", work->chip, cm_clock_steady(),
                            CM_VIEWER_VALUES(work->viewer));
  while (status == CM_OK && row && work->count < (size_t)total) {
    status = cm_sql_step(statement, &row, error);
    if (status == CM_OK && row) {
      lease_from_row(statement, &work->leases[work->count]);
      status = chip != NULL ? cm_lease_cores_of(chip, &work->leases[work->count], error) : fill_cores(handle, &work->leases[work->count], error);
      work->count++;
    }
  }
  status = cm_sql_end(statement, status, error);
  coremap_chip_free(chip);
  return status;
}

cm_status cm_leases_list(cm_store *store, const char *chip, const cm_viewer *viewer, cm_lease **leases, size_t *count,
                         cm_error *error)
{
  looking work = {.chip = chip, .viewer = viewer};
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

void cm_lease_clear(cm_lease *lease)
{
  free(lease->cores);
  lease->cores = NULL;
}
