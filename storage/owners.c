#include "storage/owners.h"

#include "storage/audit.h"
#include "storage/internal.h"

static const char *const visibility_names[CM_VISIBILITIES] = {"lab", "group", "private"};

const char *cm_visibility_name(cm_visibility visibility)
{
  return visibility < CM_VISIBILITIES ? visibility_names[visibility] : "unknown";
}

cm_visibility cm_visibility_of(const char *name)
{
  int i = 0;
  while (i < CM_VISIBILITIES && strcmp(visibility_names[i], name) != 0)
    i++;
  return (cm_visibility)i;
}

bool cm_owner_lets(const cm_owner *owner, const cm_viewer *viewer)
{
  return viewer == NULL || viewer->all || (owner->user[0] != '\0' && strcmp(owner->user, viewer->user) == 0);
}

bool cm_owner_shows(const cm_owner *owner, const cm_viewer *viewer)
{
  return cm_owner_lets(owner, viewer) || owner->visibility == CM_VISIBLE_LAB ||
         (owner->visibility == CM_VISIBLE_GROUP && owner->group[0] != '\0' && strcmp(owner->group, viewer->group) == 0);
}

const char *cm_owner_words(const cm_owner *owner, char words[CM_OWNER_WORDS_MAX])
{
  (void)snprintf(words, CM_OWNER_WORDS_MAX, owner->visibility == CM_VISIBLE_GROUP ? "%s %s" : "%s", cm_visibility_name(owner->visibility),
                 owner->group);
  return words;
}

void cm_owner_from_row(sqlite3_stmt *row, int first, cm_owner *owner)
{
  char name[16];
  cm_sql_copy(row, first, owner->user, sizeof owner->user);
  cm_sql_copy(row, first + 1, owner->group, sizeof owner->group);
  cm_sql_copy(row, first + 2, name, sizeof name);
  owner->visibility = cm_visibility_of(name);
  if (owner->visibility == CM_VISIBILITIES)
    owner->visibility = CM_VISIBLE_PRIVATE;
}

void cm_owner_domain(const cm_owner *owner, char domain[CM_USER_MAX + 16])
{
  domain[0] = '\0';
  if (owner->visibility == CM_VISIBLE_GROUP)
    (void)snprintf(domain, CM_USER_MAX + 16, "group %s", owner->group);
  else if (owner->visibility == CM_VISIBLE_PRIVATE)
    (void)snprintf(domain, CM_USER_MAX + 16, "user %s", owner->user);
}

/* ---- one thing ---- */

#define FIRST(table, key) "SELECT user, team, visibility FROM " table " WHERE " key " = ?1"
#define KIND(table, key, missing) {table, key, FIRST(table, key), missing, false}
/* What lies in the bin is shown to nobody but its owners. */
#define SHARED(table, shown, missing) {table, "id", FIRST(table, "id") " UNION ALL SELECT user, team, " shown " FROM owners" \
  " WHERE thing = ?1 AND EXISTS (SELECT 1 FROM " table " WHERE id = ?1)", missing, true}
static const struct {
  const char *table, *key, *query, *missing;
  bool shared; /* has owners beside the first (storage/holders.h) */
} kinds[] = {
  [CM_OBJECT_NETWORK] = SHARED("networks", "visibility", "there is no network %.64s"),
  [CM_OBJECT_CHIP] = KIND("chips", "name", "there is no chip \"%.64s\"; GET /v1/chips lists those there are"),
  [CM_OBJECT_LEASE] = KIND("leases", "id", "there is no lease %.40s on this chip; it may have expired"),
  [CM_OBJECT_JOB] = KIND("jobs", "id", "there is no job %.40s"),
  [CM_OBJECT_MAPPING] = SHARED("mappings", "visibility", "there is no mapping %.64s"),
  [CM_OBJECT_PROGRAM] = SHARED("mappings", "visibility", "there is no program %.64s"),
  [CM_OBJECT_UPLOAD] = KIND("uploads", "id", "there is no upload %.40s"),
  [CM_OBJECT_BINNED] = SHARED("bin", "'private'", "the bin has nothing of the id %.64s"),
};

typedef struct owner_work {
  cm_object object;
  const char *id;
  const cm_owner *given;
  cm_owner owner; /* before */
} owner_work;

static cm_status missing(cm_object object, const char *id, cm_error *error)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  return cm_fail(error, CM_NOT_FOUND, kinds[object].missing, id);
#pragma GCC diagnostic pop
}

/* How much the word of an owner counts for who looks. */
static int rank(const cm_owner *owner, const cm_viewer *viewer)
{
  if (viewer == NULL)
    return 0;
  return cm_owner_lets(owner, &(cm_viewer){viewer->user, viewer->group, false}) ? 2 : cm_owner_shows(owner, viewer) ? 1 : 0;
}

/* Of several the viewer, else one who shows it to him, else the first. */
static cm_status get(sqlite3 *handle, cm_object object, const char *id, const cm_viewer *viewer, cm_owner *found, cm_error *error)
{
  sqlite3_stmt *statement;
  int best = -1;
  cm_status status = cm_sql_prepare(handle, &statement, error, kinds[object].query, "t", id);
  while (cm_sql_next(statement, &status, error)) {
    cm_owner owner = {0};
    cm_owner_from_row(statement, 0, &owner);
    if (rank(&owner, viewer) > best) {
      *found = owner;
      best = rank(&owner, viewer);
    }
  }
  status = cm_sql_end(statement, status, error);
  return status == CM_OK && best < 0 ? missing(object, id, error) : status;
}

cm_status cm_owners_get_in(sqlite3 *handle, cm_object object, const char *id, const cm_viewer *viewer, cm_owner *owner, cm_error *error)
{
  cm_owner found;
  CM_TRY(get(handle, object, id, viewer, &found, error));
  if (!cm_owner_shows(&found, viewer))
    return missing(object, id, error);
  *owner = found;
  return CM_OK;
}

cm_status cm_owners_get(cm_database *database, cm_object object, const char *id, const char *chip, const cm_viewer *viewer,
                        cm_owner *owner, cm_error *error)
{
  cm_reading r;
  CM_TRY_IF(object == CM_OBJECT_LEASE, cm_owners_get(database, CM_OBJECT_CHIP, chip, NULL, viewer, &(cm_owner){0}, error));
  if (object == CM_OBJECT_CHIP && library_chip_preset_text(id) != NULL) {
    *owner = (cm_owner){0};
    return CM_OK;
  }
  cm_status status = cm_reading_begin(database, true, &r, error);
  CM_THEN(status, cm_owners_get_in(r.handle, object, id, viewer, owner, error));
  return cm_reading_end(&r, status);
}

/* Nobody may see a network's lab no longer, who may know it by the hash of its bytes. */
static cm_status check_widening(const owner_work *work, cm_error *error)
{
  const cm_owner *from = &work->owner, *to = work->given;
  bool same_group = from->visibility == CM_VISIBLE_GROUP && strcmp(from->group, to->group) == 0;
  if (work->object != CM_OBJECT_NETWORK || to->visibility == CM_VISIBLE_LAB || from->visibility == CM_VISIBLE_PRIVATE ||
      (to->visibility == CM_VISIBLE_GROUP && same_group))
    return CM_OK;
  return cm_fail(error, CM_CONFLICT, "a network that others have seen stays so; upload it again as %s, and delete this one",
                 cm_visibility_name(to->visibility));
}

/* Who asks is an owner: his word changes, else that of all. */
static bool is_mine(const owner_work *work)
{
  return work->given->user[0] != '\0' && strcmp(work->owner.user, work->given->user) == 0;
}

static void tell_change(const owner_work *work)
{
  char before[CM_OWNER_WORDS_MAX], after[CM_OWNER_WORDS_MAX];
  cm_audit_effect("visibility %s -> %s, of %s", cm_owner_words(&work->owner, before), cm_owner_words(work->given, after),
                  kinds[work->object].shared && !is_mine(work) ? "all owners" : work->owner.user[0] != '\0' ? work->owner.user : "nobody");
}

static cm_status show_in(sqlite3 *handle, const owner_work *work, const char *table, const char *key, cm_error *error)
{
  char query[160];
  const cm_owner *to = work->given;
  const bool mine = is_mine(work);
  (void)snprintf(query, sizeof query, "UPDATE %s SET visibility = ?, team = ? WHERE %s = ? AND (? = 0 OR user = ?)", table, key);
  return cm_sql_run(handle, NULL, error, query, "tttit", cm_visibility_name(to->visibility), to->group, work->id, (int64_t)mine, to->user);
}

static cm_status show(sqlite3 *handle, void *context, cm_error *error)
{
  owner_work *work = context;
  const cm_viewer viewer = {work->given->user, "", true};
  CM_TRY(get(handle, work->object, work->id, &viewer, &work->owner, error));
  CM_TRY(check_widening(work, error));
  CM_TRY(show_in(handle, work, kinds[work->object].table, kinds[work->object].key, error));
  CM_TRY_IF(kinds[work->object].shared, show_in(handle, work, "owners", "thing", error));
  tell_change(work);
  if (work->object == CM_OBJECT_JOB && cm_owner_widens(&work->owner, work->given))
    return cm_sql_run(handle, NULL, error, "UPDATE jobs SET widened = 1 WHERE id = ?", "t", work->id);
  /* Jobs of the domain that it leaves must not be given it any more. */
  return strcmp(kinds[work->object].table, "mappings") == 0
             ? cm_sql_run(handle, NULL, error, "UPDATE mappings SET fingerprint = NULL WHERE id = ?", "t", work->id)
             : CM_OK;
}

cm_status cm_owners_show(cm_database *database, cm_object object, const char *id, const cm_owner *owner, cm_error *error)
{
  if (object == CM_OBJECT_CHIP && library_chip_preset_text(id) != NULL)
    return cm_fail(error, CM_CONFLICT, "\"%.64s\" is a preset, which everybody sees", id);
  return cm_database_write(database, show, &(owner_work){.object = object, .id = id, .given = owner}, error);
}

bool cm_owner_widens(const cm_owner *from, const cm_owner *to)
{
  cm_owner both = *to;
  cm_owner_narrow(&both, from);
  return both.visibility != to->visibility || strcmp(both.group, to->group) != 0;
}

void cm_owner_narrow(cm_owner *made, const cm_owner *source)
{
  if (source->visibility == CM_VISIBLE_LAB || made->visibility == CM_VISIBLE_PRIVATE)
    return;
  const bool groups = made->visibility == CM_VISIBLE_GROUP && source->visibility == CM_VISIBLE_GROUP;
  made->visibility = groups && strcmp(made->group, source->group) != 0 ? CM_VISIBLE_PRIVATE : source->visibility;
  memset(made->group, 0, sizeof made->group);
  if (made->visibility == CM_VISIBLE_GROUP)
    memcpy(made->group, source->group, sizeof made->group);
}
