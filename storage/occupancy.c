/* Happy path: load the chip and its state, free what has expired, apply the change, check that leased cores kept their
 * leases, store the state; all in one transaction of the one writer.
 * What can fail: a core is taken or broken (CM_CONFLICT), the state has changed under the caller (*mismatch). */
#include "storage/occupancy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "storage/audit.h"
#include "storage/clock.h"
#include "storage/internal.h"

const char cm_lease_prefix[] = "lease:";
enum { PREFIX = sizeof cm_lease_prefix - 1 };

static bool is_lease(const char *owner)
{
  return strncmp(owner, cm_lease_prefix, PREFIX) == 0;
}

static void tag_of(const char *text, char *etag)
{
  char hex[CM_SHA_MAX];
  cm_store_sha256(text, strlen(text), hex);
  (void)snprintf(etag, CM_ETAG_MAX, "%.24s", hex);
}

/* The lease id behind an owner name of the occupancy, or NULL. */
static const char *holder(const cm_occupancy *occupancy, uint32_t core)
{
  if (occupancy->state[core] != CM_CORE_TAKEN)
    return NULL;
  const char *owner = occupancy->owners[occupancy->owner[core]];
  return is_lease(owner) ? owner + PREFIX : NULL;
}

void cm_occupancy_free_lease(cm_occupancy *occupancy, const char *id)
{
  uint32_t cores = occupancy->width * occupancy->height, core = cm_occupancy_next(occupancy, 0, CM_CORE_TAKEN);
  for (; core < cores; core = cm_occupancy_next(occupancy, core + 1, CM_CORE_TAKEN)) {
    const char *held_by = holder(occupancy, core);
    if (held_by != NULL && strcmp(held_by, id) == 0) {
      occupancy->state[core] = CM_CORE_FREE;
      occupancy->owner[core] = 0;
    }
  }
}

/* Frees in memory every core whose lease is not alive. */
static cm_status expire_in_memory(sqlite3 *handle, const char *chip, cm_occupancy *occupancy, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = true;
  bool *alive; /* by owner */
  if (CM_HEAP(alive, occupancy->owner_count + 1, "the leases", error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < occupancy->owner_count; i++)
    alive[i] = !is_lease(occupancy->owners[i]);
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT id FROM leases WHERE chip = ? AND expires > "
                                    CM_NOW("?"), "td", chip, cm_clock_steady());
  while (status == CM_OK && row) {
    status = cm_sql_step(statement, &row, error);
    const char *id = status == CM_OK && row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    for (uint32_t i = 0; id != NULL && i < occupancy->owner_count; i++)
      if (!alive[i] && strcmp(occupancy->owners[i] + PREFIX, id) == 0)
        alive[i] = true;
  }
  status = cm_sql_end(statement, status, error);
  uint32_t cores = occupancy->width * occupancy->height, core = cm_occupancy_next(occupancy, 0, CM_CORE_TAKEN);
  for (; status == CM_OK && core < cores; core = cm_occupancy_next(occupancy, core + 1, CM_CORE_TAKEN))
    if (!alive[occupancy->owner[core]]) {
      occupancy->state[core] = CM_CORE_FREE;
      occupancy->owner[core] = 0;
    }
  free(alive);
  return status;
}

cm_status cm_occupancy_load_in(sqlite3 *handle, const char *name, cm_chip **chip, cm_occupancy **occupancy, cm_error *error)
{
  cm_chip *c = NULL;
  cm_occupancy *o = NULL;
  sqlite3_stmt *statement = NULL;
  bool row = false;
  cm_status status = cm_chips_open_in(handle, name, &c, error);
  if (status == CM_OK)
    status = cm_sql_prepare(handle, &statement, error, "SELECT state FROM occupancy WHERE chip = ?", "t", name);
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  const char *text = status == CM_OK && row ? (const char *)sqlite3_column_text(statement, 0) : "";
  if (text == NULL)
    status = cm_sql_whole(statement, error);
  if (status == CM_OK && row)
    status = cm_occupancy_parse(c, text, (size_t)sqlite3_column_bytes(statement, 0), &o, error);
  else if (status == CM_OK)
    status = cm_occupancy_new(c, &o, error);
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK)
    status = expire_in_memory(handle, name, o, error);
  if (status != CM_OK) {
    cm_occupancy_free(o);
    cm_chip_free(c);
    return status;
  }
  *chip = c;
  *occupancy = o;
  return CM_OK;
}

static cm_status save(sqlite3 *handle, const char *chip, const char *text, cm_error *error)
{
  if (cm_sql_run(handle, NULL, error, "DELETE FROM leases WHERE chip = ? AND expires <= " CM_NOW("?"), "td", chip,
                 cm_clock_steady()) != CM_OK)
    return error->status;
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO occupancy(chip, state) VALUES(?, ?)"
                    " ON CONFLICT(chip) DO UPDATE SET state = excluded.state", "tt", chip, text);
}

cm_status cm_occupancy_save_in(sqlite3 *handle, const cm_occupancy *occupancy, const cm_chip *chip, const char *name,
                                cm_error *error)
{
  char *text;
  if (cm_occupancy_print(occupancy, chip, &text, error) != CM_OK)
    return error->status;
  cm_status status = save(handle, name, text, error);
  free(text);
  return status;
}

typedef struct occupancy_work {
  const char *name;
  const cm_occupancy_change *change;
  cm_chip *chip;
  cm_occupancy *occupancy;
  char *text;
  char etag[CM_ETAG_MAX];
  bool mismatch;
} occupancy_work;

static cm_status read_state(sqlite3 *handle, void *context, cm_error *error)
{
  occupancy_work *work = context;
  return cm_occupancy_load_in(handle, work->name, &work->chip, &work->occupancy, error);
}

cm_status cm_occupancy_open(cm_store *store, const char *chip, cm_chip **description,
                            cm_occupancy **occupancy, cm_error *error)
{
  occupancy_work work = {.name = chip};
  if (cm_database_read(store->database, read_state, &work, error) != CM_OK)
    return error->status;
  *description = work.chip;
  *occupancy = work.occupancy;
  return CM_OK;
}

cm_status cm_occupancy_read(cm_store *store, const char *chip, char **text, char *etag, cm_error *error)
{
  cm_chip *description = NULL;
  cm_occupancy *occupancy = NULL;
  if (cm_occupancy_open(store, chip, &description, &occupancy, error) != CM_OK)
    return error->status;
  cm_status status = cm_occupancy_print(occupancy, description, text, error);
  if (status == CM_OK)
    tag_of(*text, etag);
  cm_occupancy_free(occupancy);
  cm_chip_free(description);
  return status;
}

/* Leased cores must stand under the same lease after as before, or be broken; and none may appear. */
static cm_status check_leases_kept(const cm_occupancy *before, const cm_occupancy *after, cm_error *error)
{
  uint32_t cores = before->width * before->height;
  for (uint32_t next = 0; next < cores; next++) {
    uint32_t mine = cm_occupancy_next(before, next, CM_CORE_TAKEN), theirs = cm_occupancy_next(after, next, CM_CORE_TAKEN);
    uint32_t core = next = mine < theirs ? mine : theirs;
    if (core == cores)
      break;
    const char *was = holder(before, core), *is = holder(after, core);
    if (was == is || (was != NULL && is != NULL && strcmp(was, is) == 0))
      continue;
    uint32_t x = core % before->width, y = core / before->width;
    if (was != NULL && after->state[core] != CM_CORE_BROKEN)
      return cm_fail(error, CM_CONFLICT,
                     "core (%u, %u) is held by lease %s; release the lease under /reservations instead", x, y, was);
    if (is != NULL)
      return cm_fail(error, CM_CONFLICT,
                     "core (%u, %u): owners that begin with \"%s\" belong to leases; make one under /reservations",
                     x, y, cm_lease_prefix);
  }
  return CM_OK;
}

static cm_status apply(const cm_occupancy_change *change, const cm_chip *chip, const cm_occupancy *before,
                       const char *before_text, cm_occupancy **after, cm_error *error)
{
  cm_occupancy *made = NULL;
  cm_status status;
  if (change->whole) {
    status = cm_occupancy_parse(chip, change->json, change->size, &made, error);
    if (status == CM_OK)
      status = cm_occupancy_check_owners(made, error);
  } else {
    json_error_t why;
    uint64_t refusals = cm_json_refusals();
    json_t *fields = cm_json_loadb(change->json, change->size, JSON_REJECT_DUPLICATES, &why);
    if (fields == NULL && cm_json_whole(refusals, "the change", error) != CM_OK)
      return error->status;
    if (fields == NULL) {
      cm_fail(error, CM_BAD_OCCUPANCY, "the change is no JSON: %s", why.text);
      return cm_fail_at(error, "line %d, column %d", why.line, why.column);
    }
    status = cm_occupancy_parse(chip, before_text, strlen(before_text), &made, error);
    if (status == CM_OK)
      status = cm_occupancy_apply(made, chip, fields, error);
    json_decref(fields);
  }
  if (status == CM_OK)
    status = check_leases_kept(before, made, error);
  if (status != CM_OK) {
    cm_occupancy_free(made);
    return status;
  }
  *after = made;
  return CM_OK;
}

static uint32_t count(const cm_occupancy *occupancy, cm_core_state state)
{
  const uint32_t cores = occupancy->width * occupancy->height;
  uint32_t found = 0;
  for (uint32_t core = cm_occupancy_next(occupancy, 0, state); core < cores; core = cm_occupancy_next(occupancy, core + 1, state))
    found++;
  return found;
}

static cm_status write_state(sqlite3 *handle, void *context, cm_error *error)
{
  occupancy_work *work = context;
  const cm_occupancy_change *change = work->change;
  cm_chip *chip = NULL;
  cm_occupancy *before, *after = NULL;
  char *text = NULL;
  work->mismatch = false;
  if (cm_occupancy_load_in(handle, change->chip, &chip, &before, error) != CM_OK)
    return error->status;
  cm_status status = cm_occupancy_print(before, chip, &text, error);
  if (status == CM_OK) {
    tag_of(text, work->etag);
    if (strcmp(change->if_match, "*") != 0 && strcmp(change->if_match, work->etag) != 0) {
      work->mismatch = true;
      status = cm_fail(error, CM_CONFLICT,
                       "the occupancy has changed since it was read: its entity tag is \"%s\" now", work->etag);
    }
  }
  if (status == CM_OK)
    status = apply(change, chip, before, text, &after, error);
  free(text);
  text = NULL;
  if (status == CM_OK)
    status = cm_occupancy_print(after, chip, &text, error);
  if (status == CM_OK)
    status = save(handle, change->chip, text, error);
  if (status == CM_OK) {
    cm_audit_effect("taken %u -> %u, broken %u -> %u", count(before, CM_CORE_TAKEN), count(after, CM_CORE_TAKEN),
                    count(before, CM_CORE_BROKEN), count(after, CM_CORE_BROKEN));
    free(work->text); /* of an earlier run of this closure */
    work->text = text;
    tag_of(text, work->etag);
  } else
    free(text);
  cm_occupancy_free(after);
  cm_occupancy_free(before);
  cm_chip_free(chip);
  return status;
}

cm_status cm_occupancy_write(cm_store *store, const cm_occupancy_change *change, bool *mismatch, char **text,
                             char *etag, cm_error *error)
{
  occupancy_work work = {.change = change};
  if (cm_database_write(store->database, write_state, &work, error) != CM_OK) {
    *mismatch = work.mismatch;
    free(work.text);
    return error->status;
  }
  *text = work.text;
  memcpy(etag, work.etag, sizeof work.etag);
  return CM_OK;
}
