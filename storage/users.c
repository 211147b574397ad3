#include "storage/users.h"

#include "storage/audit.h"
#include "storage/holders.h"
#include "storage/internal.h"
#include "storage/tokens.h"

enum { NAME_LENGTH_MAX = 32 };

static const char *const role_names[CM_ROLES] = {"user", "operator", "admin"};

const char *cm_role_name(cm_role role)
{
  return role < CM_ROLES ? role_names[role] : "unknown";
}

cm_role cm_role_of(const char *name)
{
  int role = 0;
  while (role < CM_ROLES && strcmp(role_names[role], name) != 0)
    role++;
  return (cm_role)role;
}

bool cm_user_name_is_sound(const char *name)
{
  size_t length = strlen(name);
  return length >= 1 && length <= NAME_LENGTH_MAX &&
         strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == length && strchr("._-", name[0]) == NULL;
}

static cm_status check_name(const char *what, const char *name, cm_error *error)
{
  if (cm_user_name_is_sound(name))
    return CM_OK;
  return cm_fail(error, CM_BAD_OPTION,
                 "\"%.60s\" is no name for a %s: 1 to %d of a-z, 0-9, '.', '_' and '-', a letter or digit first", name, what,
                 NAME_LENGTH_MAX);
}

typedef struct user_work {
  const char *name;
  const cm_user *given;
  const cm_user_change *change;
  const cm_user *users;
  size_t count;
} user_work;

/* ---- reading ---- */

#define COLUMNS "SELECT name, role, team, disabled, created, share FROM users"

static cm_status from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  cm_user *user = element;
  char role[16];
  CM_TRY(cm_sql_columns(row, error, "tttbdn", CM_INTO(user->name), CM_INTO(role), CM_INTO(user->group), &user->disabled, &user->created, &user->share));
  user->role = cm_role_of(role);
  return CM_OK;
}

static cm_status get(sqlite3 *handle, const char *name, cm_user *user, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_user found = {0};
  cm_status status = cm_sql_prepare(handle, &statement, error, COLUMNS " WHERE name = ?", "t", name);
  if (cm_sql_next(statement, &status, error))
    status = from_row(statement, &found, error);
  else if (status == CM_OK)
    status = cm_fail(error, CM_NOT_FOUND, "there is no user \"%.60s\"", name);
  CM_TRY(cm_sql_end(statement, status, error));
  *user = found;
  return CM_OK;
}

cm_status cm_users_get(cm_database *database, const char *name, cm_user *user, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(database, true, &r, error);
  CM_THEN(status, get(r.handle, name, user, error));
  return cm_reading_end(&r, status);
}

cm_status cm_users_list(cm_database *database, cm_user **users, size_t *count, cm_error *error)
{
  static const cm_row_kind kind = {"", COLUMNS " ORDER BY name", "the list of users", sizeof(cm_user), from_row, NULL};
  return cm_database_list(database, &kind, users, count, error);
}

cm_status cm_users_exist(cm_database *database, bool *some, cm_error *error)
{
  return cm_database_find(database, NULL, error, "SELECT EXISTS (SELECT 1 FROM users)", ">b", some);
}

/* ---- changing ---- */

static cm_status add(sqlite3 *handle, void *context, cm_error *error)
{
  const cm_user *u = ((user_work *)context)->given;
  int changes;
  CM_TRY(cm_sql_run(handle, &changes, error,
                    "INSERT INTO users(name, role, team, disabled, created, share) VALUES(?, ?, ?, 0, ?, ?) ON CONFLICT DO NOTHING",
                 "tttdi", u->name, cm_role_name(u->role), u->group, cm_store_time(), (int64_t)(u->share > 0 ? u->share : 1)));
  cm_audit_effect("user %s, role %s, group \"%s\"", u->name, cm_role_name(u->role), u->group);
  return changes == 1 ? CM_OK : cm_fail(error, CM_CONFLICT, "there is a user \"%s\" already", u->name);
}

cm_status cm_users_check(const cm_user *user, cm_error *error)
{
  cm_status status = check_name("user", user->name, error);
  return status == CM_OK && user->group[0] != '\0' ? check_name("group", user->group, error) : status;
}

cm_status cm_users_add(cm_database *database, const cm_user *user, cm_error *error)
{
  CM_TRY(cm_users_check(user, error));
  return cm_database_write(database, add, &(user_work){.given = user}, error);
}

/* An entry each in the audit trail. */
static cm_status import(sqlite3 *handle, void *context, cm_error *error)
{
  user_work *work = context;
  for (size_t i = 0; i < work->count; i++) {
    work->given = &work->users[i];
    cm_audit_entry entry = {.address = "local", .action = "user import"};
    (void)snprintf(entry.object, sizeof entry.object, "%s", work->given->name);
    CM_TRY(add(handle, work, error));
    CM_TRY(cm_audit_note_in(handle, &entry, error));
    cm_audit_forget_effect();
  }
  cm_audit_effect("%zu users", work->count);
  return CM_OK;
}

cm_status cm_users_import(cm_database *database, const cm_user *users, size_t count, cm_error *error)
{
  for (size_t i = 0; i < count; i++)
    CM_TRY(cm_users_check(&users[i], error));
  return cm_database_write(database, import, &(user_work){.users = users, .count = count}, error);
}

/* Somebody must be able to administer while there are users. */
static cm_status check_admins(sqlite3 *handle, cm_error *error)
{
  bool without = false;
  CM_TRY(cm_sql_find(handle, NULL, error, "SELECT EXISTS (SELECT 1 FROM users) AND NOT EXISTS (SELECT 1 FROM users WHERE role = 'admin' AND disabled = 0)",
                     ">b", &without));
  return without ? cm_fail(error, CM_CONFLICT, "no admin would be left; make another one first") : CM_OK;
}

static cm_status has_admin(sqlite3 *handle, bool *has, cm_error *error)
{
  return cm_sql_find(handle, NULL, error, "SELECT EXISTS (SELECT 1 FROM users WHERE role = 'admin' AND disabled = 0)", ">b", has);
}

/* Old and new of what is to be changed. */
static void tell_change(const cm_user *before, const cm_user_change *c)
{
  if (c->role != NULL)
    cm_audit_effect("role %s -> %s", cm_role_name(before->role), cm_role_name(*c->role));
  if (c->group != NULL)
    cm_audit_effect("group \"%s\" -> \"%s\"", before->group, c->group);
  if (c->disabled != NULL)
    cm_audit_effect("%s -> %s", before->disabled ? "disabled" : "enabled", *c->disabled ? "disabled" : "enabled");
  if (c->share != NULL)
    cm_audit_effect("share %d -> %d", before->share, *c->share);
}

static cm_status change(sqlite3 *handle, void *context, cm_error *error)
{
  const user_work *work = context;
  const cm_user_change *c = work->change;
  bool admin_before = false;
  cm_user u;
  CM_TRY(get(handle, work->name, &u, error));
  CM_TRY(has_admin(handle, &admin_before, error));
  tell_change(&u, c);
  if (c->role != NULL)
    u.role = *c->role;
  if (c->group != NULL)
    (void)snprintf(u.group, sizeof u.group, "%s", c->group);
  if (c->disabled != NULL)
    u.disabled = *c->disabled;
  if (c->share != NULL)
    u.share = *c->share;
  CM_TRY(cm_sql_run(handle, NULL, error, "UPDATE users SET role = ?, team = ?, disabled = ?, share = ? WHERE name = ?", "ttiit",
                    cm_role_name(u.role), u.group, (int64_t)u.disabled, (int64_t)u.share, u.name));
  return admin_before ? check_admins(handle, error) : CM_OK;
}

cm_status cm_users_change(cm_database *database, const char *name, const cm_user_change *wanted, cm_error *error)
{
  if (wanted->group != NULL && wanted->group[0] != '\0' && check_name("group", wanted->group, error) != CM_OK)
    return error->status;
  return cm_database_write(database, change, &(user_work){.name = name, .change = wanted}, error);
}

static cm_status remove_user(sqlite3 *handle, void *context, cm_error *error)
{
  const char *name = context;
  bool admin_before = false;
  int64_t jobs;
  int tokens;
  cm_user user;
  CM_TRY(get(handle, name, &user, error));
  CM_TRY(has_admin(handle, &admin_before, error));
  CM_TRY(cm_sql_number(handle, 0, &jobs, error, "SELECT count(*) FROM jobs WHERE user = ? AND state IN ('queued', 'running')", "t", name));
  if (jobs > 0)
    return cm_fail(error, CM_CONFLICT, "%lld jobs of \"%s\" are queued or running; cancel them first, or disable the user",
                   (long long)jobs, user.name);
  CM_TRY(cm_holders_remove_user_in(handle, name, error));
  CM_TRY(cm_sql_run(handle, &tokens, error, "DELETE FROM tokens WHERE user = ?", "t", name));
  CM_TRY(cm_sql_run(handle, NULL, error, "DELETE FROM users WHERE name = ?", "t", name));
  cm_audit_effect("user %s, role %s, group \"%s\", gone with %d tokens", user.name, cm_role_name(user.role), user.group, tokens);
  return admin_before ? check_admins(handle, error) : CM_OK;
}

cm_status cm_users_remove(cm_database *database, const char *name, cm_error *error)
{
  return cm_database_write(database, remove_user, (void *)(uintptr_t)name, error);
}
