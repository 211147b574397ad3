#include "storage/chips.h"

#include "storage/audit.h"
#include "storage/clock.h"
#include "storage/holders.h"
#include "storage/internal.h"

bool cm_chips_name_is_sound(const char *name)
{
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
  return length > 0 && name[length] == '\0' && length < LIBRARY_CHIP_NAME_MAX && name[0] != '.';
}

typedef struct chip_work {
  const char *name, *text, *if_match;
  const cm_owner *owner;
  const cm_viewer *viewer;
  bool created, mismatch, only_new;
} chip_work;

cm_status cm_chips_text(cm_store *store, const char *name, char **text, bool *preset, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, cm_chips_text_in(r.handle, name, text, preset, error));
  return cm_reading_end(&r, status);
}

cm_status cm_chips_open(cm_store *store, const char *name, coremap_chip **chip, cm_error *error)
{
  char *text = NULL;
  bool preset;
  CM_TRY(cm_chips_text(store, name, &text, &preset, error));
  cm_status status = library_chip_read(text, NULL, 0, chip, error);
  free(text);
  return status;
}

/* Fails with CM_CONFLICT while somebody relies on the chip as it is. */
static cm_status check_unused(sqlite3 *handle, const char *name, const cm_viewer *viewer, cm_error *error)
{
  int64_t leases;
  CM_TRY(cm_holders_check_in(handle, CM_OBJECT_CHIP, name, viewer, error));
  CM_TRY(cm_sql_number(handle, 0, &leases, error, "SELECT count(*) FROM leases WHERE chip = ? AND expires > " CM_NOW("?"), "td",
                       name, cm_clock_steady()));
  if (leases == 0)
    return CM_OK;
  cm_fail(error, CM_CONFLICT, "%lld leases need the chip \"%.64s\" as it is", (long long)leases, name);
  cm_error_figure(error, "leases", (uint64_t)leases);
  return error->status;
}

static cm_status forget_state(sqlite3 *handle, const char *name, cm_error *error)
{
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM leases WHERE chip = ?", "t", name));
  return cm_sql_run(handle, NULL, error, "DELETE FROM occupancy WHERE chip = ?", "t", name);
}

void cm_chips_tag(const char *text, char *tag)
{
  cm_store_sha256(text, strlen(text), tag);
}

/* Whether the caller's condition holds for the chip as it is (NULL: there is none). */
static cm_status check_match(chip_work *work, const char *text, cm_error *error)
{
  char tag[CM_CHIP_TAG_MAX];
  work->mismatch = false;
  if (work->only_new && text != NULL) {
    work->mismatch = true;
    return cm_fail(error, CM_CONFLICT, "there is a chip \"%.64s\" already", work->name);
  }
  if (work->if_match == NULL)
    return CM_OK;
  work->mismatch = true;
  if (text == NULL)
    return cm_fail(error, CM_CONFLICT, "there is no chip \"%.64s\" that could match", work->name);
  cm_chips_tag(text, tag);
  if (strcmp(work->if_match, "*") != 0 && strcmp(work->if_match, tag) != 0)
    return cm_fail(error, CM_CONFLICT, "the chip has changed since it was read: its entity tag is \"%s\" now", tag);
  work->mismatch = false;
  return CM_OK;
}

/* From another description to the one that is put. */
static cm_status replace(sqlite3 *handle, const chip_work *work, cm_error *error)
{
  CM_TRY(check_unused(handle, work->name, work->viewer, error));
  return cm_occupancy_carry_in(handle, work->name, work->text, error);
}

/* Names of chips are the lab's: one may learn that a name is taken, and no more. */
static cm_status check_owner(sqlite3 *handle, chip_work *work, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_owner owner = {0};
  work->mismatch = false;
  cm_status status =
      cm_sql_prepare(handle, &statement, error, "SELECT user, team, visibility FROM chips WHERE name = ?", "t", work->name);
  if (cm_sql_next(statement, &status, error))
    cm_owner_from_row(statement, 0, &owner);
  status = cm_sql_end(statement, status, error);
  return status == CM_OK && !cm_owner_lets(&owner, work->viewer)
             ? cm_fail(error, CM_CONFLICT, "the name \"%.64s\" is taken; take another one", work->name)
             : status;
}

/* Descriptions by their entity tags; NULL: there was none. */
static void tell_change(const chip_work *work, const char *before)
{
  char was[CM_CHIP_TAG_MAX], is[CM_CHIP_TAG_MAX], words[CM_OWNER_WORDS_MAX];
  cm_chips_tag(work->text, is);
  if (before == NULL) {
    cm_audit_effect("chip %s, %s, description %.12s", work->name, cm_owner_words(work->owner, words), is);
    return;
  }
  cm_chips_tag(before, was);
  cm_audit_effect("chip %s, description %.12s -> %.12s", work->name, was, is);
}

static cm_status put(sqlite3 *handle, void *context, cm_error *error)
{
  chip_work *work = context;
  char *before = NULL;
  bool preset;
  cm_status status = cm_chips_text_in(handle, work->name, &before, &preset, error);
  if (status != CM_OK && status != CM_NOT_FOUND)
    return status;
  work->created = status == CM_NOT_FOUND;
  status = work->created ? CM_OK : check_owner(handle, work, error);
  CM_THEN(status, check_match(work, before, error));
  bool same = before != NULL && strcmp(before, work->text) == 0;
  if (status == CM_OK)
    tell_change(work, before);
  free(before);
  if (status != CM_OK || same)
    return status;
  /* What may have stayed of an earlier chip of this name is no longer true. */
  status = work->created ? forget_state(handle, work->name, error) : replace(handle, work, error);
  CM_TRY(status);
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO chips(name, user, team, visibility, description, created) VALUES(?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT(name) DO UPDATE SET description = excluded.description, created = excluded.created",
                    "tttttd", work->name, work->owner->user, work->owner->group,
                    cm_visibility_name(work->owner->visibility), work->text, cm_store_time());
}

static cm_status refuse_preset(const char *name, cm_error *error)
{
  if (library_chip_preset_text(name) == NULL)
    return CM_OK;
  return cm_fail(error, CM_CONFLICT,
                 "\"%s\" is a preset, which cannot be changed; put a changed copy under another name", name);
}

static cm_status change(cm_store *store, cm_database_work work, chip_work *context, bool *mismatch, cm_error *error)
{
  *mismatch = false;
  CM_TRY(refuse_preset(context->name, error));
  cm_status status = cm_database_write(store->database, work, context, error);
  *mismatch = status == CM_CONFLICT && context->mismatch;
  return status;
}

cm_status cm_chips_put(cm_store *store, const cm_chip_change *wanted, bool *created, bool *mismatch, cm_error *error)
{
  chip_work work = {.name = wanted->name, .owner = &wanted->owner, .viewer = wanted->viewer, .text = wanted->text, .if_match = wanted->if_match,
                    .only_new = wanted->only_new};
  CM_TRY(change(store, put, &work, mismatch, error));
  *created = work.created;
  return CM_OK;
}

static cm_status delete(sqlite3 *handle, void *context, cm_error *error)
{
  chip_work *work = context;
  char *text;
  bool preset;
  cm_owner owner;
  CM_TRY(cm_chips_text_in(handle, work->name, &text, &preset, error));
  cm_status status = check_match(work, text, error);
  free(text);
  CM_THEN(status, check_unused(handle, work->name, work->viewer, error));
  CM_THEN(status, cm_occupancy_check_free_in(handle, work->name, error));
  CM_THEN(status, forget_state(handle, work->name, error));
  CM_THEN(status, cm_owners_get_in(handle, CM_OBJECT_CHIP, work->name, NULL, &owner, error));
  CM_TRY(status);
  cm_audit_effect("chip %s of %s gone", work->name, owner.user[0] != '\0' ? owner.user : "nobody");
  return cm_sql_run(handle, NULL, error, "DELETE FROM chips WHERE name = ?", "t", work->name);
}

cm_status cm_chips_delete(cm_store *store, const char *name, const cm_viewer *viewer, const char *if_match, bool *mismatch, cm_error *error)
{
  return change(store, delete, &(chip_work){.name = name, .viewer = viewer, .if_match = if_match}, mismatch, error);
}

static cm_status from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  cm_chip_entry *e = element;
  cm_owner_from_row(row, 1, &e->owner);
  return cm_sql_columns(row, error, "t", CM_INTO(e->name));
}

cm_status cm_chips_list(cm_store *store, const cm_viewer *viewer, cm_chip_entry **chips, size_t *count, cm_error *error)
{
  static const cm_row_kind kind = {"itt", "SELECT name, user, team, visibility FROM chips c WHERE " CM_VIEWER_SEES("c", "?1", "?2", "?3") " ORDER BY name",
                                   "the list of chips", sizeof(cm_chip_entry), from_row, NULL};
  cm_chip_entry *all, *others;
  size_t other_count;
  uint32_t presets = 0;
  CM_TRY(cm_database_list(store->database, &kind, &others, &other_count, error, CM_VIEWER_VALUES(viewer)));
  while (coremap_chip_preset(presets) != NULL)
    presets++;
  cm_status status = CM_HEAP(all, presets + other_count + 1, kind.what, error);
  for (uint32_t i = 0; status == CM_OK && i < presets; i++) {
    (void)snprintf(all[i].name, sizeof all[i].name, "%s", coremap_chip_preset(i));
    all[i].preset = true;
  }
  if (status == CM_OK) {
    if (other_count > 0)
      memcpy(all + presets, others, other_count * sizeof *others);
    *chips = all;
    *count = presets + other_count;
  }
  free(others);
  return status;
}
