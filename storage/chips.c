#include "storage/chips.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/clock.h"
#include "storage/internal.h"

bool cm_chips_name_is_sound(const char *name)
{
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
  return length > 0 && name[length] == '\0' && length < CM_CHIP_NAME_MAX && name[0] != '.';
}

cm_status cm_chips_text_in(sqlite3 *handle, const char *name, char **text, bool *preset, cm_error *error)
{
  const char *known = cm_chip_preset_text(name);
  if (known != NULL) {
    char *copy = strdup(known);
    if (copy == NULL)
      return cm_fail(error, CM_NO_MEMORY, "out of memory while reading a chip");
    *text = copy;
    *preset = true;
    return CM_OK;
  }
  sqlite3_stmt *statement;
  bool row = false;
  cm_status status =
      cm_sql_prepare(handle, &statement, error, "SELECT description FROM chips WHERE name = ?", "t", name);
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK && !row)
    status = cm_fail(error, CM_NOT_FOUND, "there is no chip \"%.64s\"; GET /v1/chips lists those there are", name);
  if (status == CM_OK)
    status = cm_sql_text(statement, 0, text, error);
  sqlite3_finalize(statement);
  if (status == CM_OK)
    *preset = false;
  return status;
}

cm_status cm_chips_open_in(sqlite3 *handle, const char *name, cm_chip **chip, cm_error *error)
{
  char *text = NULL;
  bool preset;
  if (cm_chips_text_in(handle, name, &text, &preset, error) != CM_OK)
    return error->status;
  cm_status status = cm_chip_parse(text, strlen(text), chip, error);
  free(text);
  return status;
}

typedef struct chip_work {
  const char *name, *user, *text;
  char *found;
  bool preset, created;
  cm_chip *chip;
} chip_work;

static cm_status read_text(sqlite3 *handle, void *context, cm_error *error)
{
  chip_work *work = context;
  return cm_chips_text_in(handle, work->name, &work->found, &work->preset, error);
}

cm_status cm_chips_text(cm_store *store, const char *name, char **text, bool *preset, cm_error *error)
{
  chip_work work = {.name = name};
  if (cm_database_read(store->database, read_text, &work, error) != CM_OK)
    return error->status;
  *text = work.found;
  *preset = work.preset;
  return CM_OK;
}

cm_status cm_chips_open(cm_store *store, const char *name, cm_chip **chip, cm_error *error)
{
  char *text = NULL;
  bool preset;
  if (cm_chips_text(store, name, &text, &preset, error) != CM_OK)
    return error->status;
  cm_status status = cm_chip_parse(text, strlen(text), chip, error);
  free(text);
  return status;
}

/* Fails with CM_CONFLICT while somebody relies on the chip as it is. */
static cm_status check_unused(sqlite3 *handle, const char *name, cm_error *error)
{
  int64_t jobs, leases;
  if (cm_sql_number(handle, 0, &jobs, error,
                    "SELECT count(*) FROM jobs WHERE chip = ? AND state IN ('queued', 'running')", "t", name) !=
          CM_OK ||
      cm_sql_number(handle, 0, &leases, error, "SELECT count(*) FROM leases WHERE chip = ? AND expires > " CM_NOW("?"), "td",
                    name, cm_clock_steady()) != CM_OK)
    return error->status;
  if (jobs == 0 && leases == 0)
    return CM_OK;
  cm_fail(error, CM_CONFLICT, "%lld queued or running jobs and %lld leases need the chip \"%.64s\" as it is",
          (long long)jobs, (long long)leases, name);
  cm_error_figure(error, "jobs", (uint64_t)jobs);
  cm_error_figure(error, "leases", (uint64_t)leases);
  return error->status;
}

static cm_status forget_state(sqlite3 *handle, const char *name, cm_error *error)
{
  if (cm_sql_run(handle, NULL, error, "DELETE FROM leases WHERE chip = ?", "t", name) != CM_OK)
    return error->status;
  return cm_sql_run(handle, NULL, error, "DELETE FROM occupancy WHERE chip = ?", "t", name);
}

static cm_status put(sqlite3 *handle, void *context, cm_error *error)
{
  chip_work *work = context;
  char *before = NULL;
  bool preset;
  cm_status status = cm_chips_text_in(handle, work->name, &before, &preset, error);
  work->created = status == CM_NOT_FOUND;
  if (status == CM_OK) {
    bool same = strcmp(before, work->text) == 0;
    free(before);
    if (same)
      return CM_OK;
    if (check_unused(handle, work->name, error) != CM_OK)
      return error->status;
  } else if (status != CM_NOT_FOUND)
    return status;
  if (forget_state(handle, work->name, error) != CM_OK)
    return error->status;
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO chips(name, user, description, created) VALUES(?, ?, ?, ?)"
                    " ON CONFLICT(name) DO UPDATE SET user = excluded.user, description = excluded.description,"
                    " created = excluded.created", "tttd", work->name, work->user, work->text, cm_store_time());
}

static cm_status refuse_preset(const char *name, cm_error *error)
{
  if (cm_chip_preset_text(name) == NULL)
    return CM_OK;
  return cm_fail(error, CM_CONFLICT,
                 "\"%s\" is a preset, which cannot be changed; put a changed copy under another name", name);
}

cm_status cm_chips_put(cm_store *store, const char *name, const char *user, const char *text, bool *created,
                       cm_error *error)
{
  chip_work work = {.name = name, .user = user, .text = text};
  if (refuse_preset(name, error) != CM_OK || cm_database_write(store->database, put, &work, error) != CM_OK)
    return error->status;
  *created = work.created;
  return CM_OK;
}

static cm_status delete(sqlite3 *handle, void *context, cm_error *error)
{
  const char *name = ((chip_work *)context)->name;
  int changes;
  if (check_unused(handle, name, error) != CM_OK || forget_state(handle, name, error) != CM_OK ||
      cm_sql_run(handle, &changes, error, "DELETE FROM chips WHERE name = ?", "t", name) != CM_OK)
    return error->status;
  return changes == 1 ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is no chip \"%.64s\"", name);
}

cm_status cm_chips_delete(cm_store *store, const char *name, cm_error *error)
{
  if (refuse_preset(name, error) != CM_OK)
    return error->status;
  return cm_database_write(store->database, delete, &(chip_work){.name = name}, error);
}

typedef struct list_work {
  cm_chip_entry *chips;
  size_t count;
} list_work;

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  list_work *work = context;
  const char *const *presets = cm_chip_presets();
  size_t preset_count = 0;
  int64_t others;
  while (presets[preset_count] != NULL)
    preset_count++;
  if (cm_sql_number(handle, 0, &others, error, "SELECT count(*) FROM chips", "") != CM_OK)
    return error->status;
  cm_chip_entry *chips = calloc(preset_count + (size_t)others + 1, sizeof *chips);
  if (chips == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while listing chips");
  size_t count = 0;
  for (; count < preset_count; count++) {
    (void)snprintf(chips[count].name, sizeof chips[count].name, "%s", presets[count]);
    chips[count].preset = true;
  }
  sqlite3_stmt *statement;
  bool row = true;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT name FROM chips ORDER BY name", "");
  while (status == CM_OK && row && count < preset_count + (size_t)others) {
    status = cm_sql_step(statement, &row, error);
    if (status == CM_OK && row)
      cm_sql_copy(statement, 0, chips[count++].name, CM_CHIP_NAME_MAX);
  }
  sqlite3_finalize(statement);
  if (status != CM_OK) {
    free(chips);
    return status;
  }
  work->chips = chips;
  work->count = count;
  return CM_OK;
}

cm_status cm_chips_list(cm_store *store, cm_chip_entry **chips, size_t *count, cm_error *error)
{
  list_work work = {0};
  if (cm_database_read(store->database, list, &work, error) != CM_OK)
    return error->status;
  *chips = work.chips;
  *count = work.count;
  return CM_OK;
}
