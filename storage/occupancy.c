/* Happy path: load the chip and its state, free what has expired, apply the change, check that leased cores kept their
 * leases, store the state; all in one transaction of the one writer.
 * What can fail: a core is taken or broken (CM_CONFLICT), the state has changed under the caller (*mismatch). */
#include "storage/occupancy.h"

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

/* The lease id behind the owner of a core, or NULL. */
static const char *holder(library_core core)
{
  return core.owner != NULL && is_lease(core.owner) ? core.owner + PREFIX : NULL;
}

static bool is_of(const char *owner, const void *id)
{
  return is_lease(owner) && strcmp(owner + PREFIX, id) == 0;
}

void cm_occupancy_free_lease(coremap_chip *chip, const char *id)
{
  library_cores_release(chip, is_of, id);
}

/* A lease that is not among those alive, " ID ID ... ". */
static bool has_expired(const char *owner, const void *alive)
{
  char id[CM_ID_MAX + 3];
  (void)snprintf(id, sizeof id, " %s ", is_lease(owner) ? owner + PREFIX : "");
  return is_lease(owner) && strstr(alive, id) == NULL;
}

/* Frees in memory every core whose lease is not alive. */
static cm_status expire_in_memory(sqlite3 *handle, const char *name, coremap_chip *chip, cm_error *error)
{
  char *alive = NULL;
  cm_status status = cm_sql_find(handle, NULL, error, "SELECT ' ' || coalesce(group_concat(id, ' '), '') || ' ' FROM leases"
                                 " WHERE chip = ? AND expires > " CM_NOW("?"), "td>s", name, cm_clock_steady(), &alive);
  if (status == CM_OK)
    library_cores_release(chip, has_expired, alive);
  free(alive);
  return status;
}

static cm_status read_state_in(sqlite3 *handle, const char *name, const char *text, coremap_chip **chip, cm_error *error)
{
  char *state = NULL;
  cm_status status = cm_sql_find(handle, NULL, error, "SELECT state FROM occupancy WHERE chip = ?", "t>s", name, &state);
  CM_THEN(status, library_chip_read(text, state, state != NULL ? strlen(state) : 0, chip, error));
  free(state);
  return status;
}

cm_status cm_occupancy_load_in(sqlite3 *handle, const char *name, coremap_chip **chip, cm_error *error)
{
  char *text;
  bool preset;
  coremap_chip *read = NULL;
  CM_TRY(cm_chips_text_in(handle, name, &text, &preset, error));
  cm_status status = read_state_in(handle, name, text, &read, error);
  free(text);
  CM_THEN(status, expire_in_memory(handle, name, read, error));
  CM_END(status, *chip = read, coremap_chip_free(read));
}

static cm_status save(sqlite3 *handle, const char *chip, const char *text, cm_error *error)
{
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM leases WHERE chip = ? AND expires <= " CM_NOW("?"), "td", chip,
                    cm_clock_steady()));
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO occupancy(chip, state) VALUES(?, ?)"
                    " ON CONFLICT(chip) DO UPDATE SET state = excluded.state", "tt", chip, text);
}

cm_status cm_occupancy_save_in(sqlite3 *handle, const coremap_chip *chip, const char *name, cm_error *error)
{
  char *text;
  CM_TRY(library_cores_print(chip, &text, error));
  cm_status status = save(handle, name, text, error);
  free(text);
  return status;
}

typedef struct occupancy_work {
  const cm_occupancy_change *change;
  char *text;
  char etag[CM_ETAG_MAX];
  bool mismatch;
} occupancy_work;

cm_status cm_occupancy_open(cm_store *store, const char *name, coremap_chip **chip, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  CM_THEN(status, cm_occupancy_load_in(r.handle, name, chip, error));
  return cm_reading_end(&r, status);
}

cm_status cm_occupancy_read(cm_store *store, const char *name, char **text, char *etag, cm_error *error)
{
  coremap_chip *chip = NULL;
  CM_TRY(cm_occupancy_open(store, name, &chip, error));
  cm_status status = library_cores_print(chip, text, error);
  if (status == CM_OK)
    tag_of(*text, etag);
  coremap_chip_free(chip);
  return status;
}

/* Leased cores must stand under the same lease after as before, or be broken; and none may appear. */
static cm_status check_leases_kept(const coremap_chip *before, const coremap_chip *after, cm_error *error)
{
  uint32_t cores = coremap_chip_width(before) * coremap_chip_height(before);
  for (uint32_t next = 0; next < cores; next++) {
    uint32_t mine = library_core_next(before, next, LIBRARY_CORE_TAKEN), theirs = library_core_next(after, next, LIBRARY_CORE_TAKEN);
    next = mine < theirs ? mine : theirs;
    if (next == cores)
      break;
    const library_core old = library_core_at(before, next), now = library_core_at(after, next);
    const char *was = holder(old), *is = holder(now);
    if (was == is || (was != NULL && is != NULL && strcmp(was, is) == 0))
      continue;
    if (was != NULL && now.state != LIBRARY_CORE_BROKEN)
      return cm_fail(error, CM_CONFLICT,
                     "core (%u, %u) is held by lease %s; release the lease under /reservations instead", old.x, old.y, was);
    if (is != NULL)
      return cm_fail(error, CM_CONFLICT,
                     "core (%u, %u): owners that begin with \"%s\" belong to leases; make one under /reservations",
                     old.x, old.y, cm_lease_prefix);
  }
  return CM_OK;
}

/* A whole new state of a chip. */
static cm_status read_whole(sqlite3 *handle, const cm_occupancy_change *change, coremap_chip **made, cm_error *error)
{
  char *text;
  bool preset;
  CM_TRY(cm_chips_text_in(handle, change->chip, &text, &preset, error));
  cm_status status = library_chip_read(text, change->json, change->size, made, error);
  free(text);
  return status == CM_OK ? library_cores_check_owners(*made, error) : status;
}

/* The present state with a change. */
static cm_status read_change(sqlite3 *handle, const cm_occupancy_change *change, coremap_chip **made, cm_error *error)
{
  json_error_t why;
  uint64_t refusals = cm_json_refusals();
  json_t *fields = cm_json_loadb(change->json, change->size, JSON_REJECT_DUPLICATES, &why);
  if (fields == NULL && cm_json_whole(refusals, "the change", error) != CM_OK)
    return error->status;
  if (fields == NULL) {
    cm_fail(error, CM_BAD_OCCUPANCY, "the change is no JSON: %s", why.text);
    return cm_fail_at(error, "line %d, column %d", why.line, why.column);
  }
  cm_status status = cm_occupancy_load_in(handle, change->chip, made, error);
  CM_THEN(status, library_cores_change(*made, fields, error));
  json_decref(fields);
  return status;
}

static cm_status apply(sqlite3 *handle, const cm_occupancy_change *change, const coremap_chip *before, coremap_chip **after, cm_error *error)
{
  coremap_chip *made = NULL;
  cm_status status = change->whole ? read_whole(handle, change, &made, error) : read_change(handle, change, &made, error);
  CM_THEN(status, check_leases_kept(before, made, error));
  CM_END(status, *after = made, coremap_chip_free(made));
}

static uint32_t count(const coremap_chip *chip, library_core_state state)
{
  const uint32_t cores = coremap_chip_width(chip) * coremap_chip_height(chip);
  uint32_t found = 0;
  for (uint32_t core = 0; (core = library_core_next(chip, core, state)) < cores; core++)
    found++;
  return found;
}

static cm_status write_state(sqlite3 *handle, void *context, cm_error *error)
{
  occupancy_work *work = context;
  const cm_occupancy_change *change = work->change;
  coremap_chip *before, *after = NULL;
  char *text = NULL;
  work->mismatch = false;
  CM_TRY(cm_occupancy_load_in(handle, change->chip, &before, error));
  cm_status status = library_cores_print(before, &text, error);
  if (status == CM_OK) {
    tag_of(text, work->etag);
    if (strcmp(change->if_match, "*") != 0 && strcmp(change->if_match, work->etag) != 0) {
      work->mismatch = true;
      status = cm_fail(error, CM_CONFLICT,
                       "the occupancy has changed since it was read: its entity tag is \"%s\" now", work->etag);
    }
  }
  free(text);
  text = NULL;
  CM_THEN(status, apply(handle, change, before, &after, error));
  CM_THEN(status, library_cores_print(after, &text, error));
  CM_THEN(status, save(handle, change->chip, text, error));
  if (status == CM_OK) {
    cm_audit_effect("taken %u -> %u, broken %u -> %u", count(before, LIBRARY_CORE_TAKEN), count(after, LIBRARY_CORE_TAKEN),
                    count(before, LIBRARY_CORE_BROKEN), count(after, LIBRARY_CORE_BROKEN));
    free(work->text); /* of an earlier run of this closure */
    work->text = text;
    tag_of(text, work->etag);
  } else
    free(text);
  coremap_chip_free(after);
  coremap_chip_free(before);
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
