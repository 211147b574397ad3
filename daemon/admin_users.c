/* coremapd user ... */
#include "base/number.h"
#include "daemon/admin_words.h"
#include "storage/tokens.h"

static int list_users(cm_database *database, const cm_admin_words *a, cm_error *error)
{
  cm_user *users;
  size_t count;
  if (cm_users_list(database, &users, &count, error) != CM_OK)
    return cm_command_fail(error);
  json_t *list = json_array();
  if (!a->json && count == 0)
    (void)puts("no users: whoever reaches the server's loopback address may do all");
  for (size_t i = 0; i < count; i++) {
    const cm_user *u = &users[i];
    if (a->json)
      (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b, s:i}", "name", u->name, "role", cm_role_name(u->role),
                                                  "group", u->group, "disabled", u->disabled, "share",
                                                  u->share));
    else
      (void)printf("%-20s %-9s %-20s share %-4d %s\n", u->name, cm_role_name(u->role), u->group[0] != '\0' ? u->group : "-", u->share,
                   u->disabled ? "disabled" : "enabled");
  }
  free(users);
  if (a->json)
    return cm_admin_print(list, "users");
  json_decref(list);
  return EXIT_SUCCESS;
}

/* 0 when none is named; false: it is no share. */
static bool read_share(const cm_admin_words *a, int *share)
{
  uint64_t value = 0;
  if (a->share != NULL && (!cm_whole_parse(a->share, &value) || value < 1 || value > CM_SHARE_MAX))
    return false;
  *share = (int)value;
  return true;
}

static int change_user(cm_database *database, const cm_admin_words *a, const cm_role *role, cm_error *error)
{
  const bool disable = strcmp(a->verb, "disable") == 0, set = strcmp(a->verb, "set") == 0;
  const char *group = a->group != NULL && strcmp(a->group, "none") == 0 ? "" : a->group;
  int share = 0;
  if (!read_share(a, &share))
    return cm_command_wrong("user", "a share is a whole number from 1 to 1000, not ", a->share);
  if (set && role == NULL && group == NULL && share == 0)
    return cm_command_wrong("user", "nothing to set: --role, --group or --share is needed", "");
  const cm_user_change change = {.role = set ? role : NULL, .group = set ? group : NULL, .disabled = set ? NULL : &disable,
                                 .share = set && share > 0 ? &share : NULL};
  if (cm_users_change(database, a->name, &change, error) != CM_OK)
    return cm_command_fail(error);
  (void)printf("user %s: %s\n", a->name, set ? "changed" : disable ? "disabled; its tokens are not accepted any more" : "enabled");
  return EXIT_SUCCESS;
}

static int add_user(cm_database *database, const cm_admin_words *a, cm_role role, cm_error *error)
{
  cm_user user = {.role = role};
  if (!read_share(a, &user.share))
    return cm_command_wrong("user", "a share is a whole number from 1 to 1000, not ", a->share);
  if (strlen(a->name) >= sizeof user.name || (a->group != NULL && strlen(a->group) >= sizeof user.group))
    return cm_command_wrong("user", "too long a name: ", a->name);
  (void)snprintf(user.name, sizeof user.name, "%s", a->name);
  (void)snprintf(user.group, sizeof user.group, "%s", a->group != NULL && strcmp(a->group, "none") != 0 ? a->group : "");
  if (cm_users_add(database, &user, error) != CM_OK)
    return cm_command_fail(error);
  (void)printf("user %s: added; coremapd token add --user %s makes a token\n", user.name, user.name);
  return EXIT_SUCCESS;
}

static int remove_user(cm_database *database, const cm_admin_words *a, cm_error *error)
{
  if (cm_users_remove(database, a->name, error) != CM_OK)
    return cm_command_fail(error);
  (void)printf("user %s: removed, with all tokens\n", a->name);
  return EXIT_SUCCESS;
}

int cm_admin_users(cm_database *database, const cm_admin_words *a)
{
  cm_error error;
  cm_role role = a->role != NULL ? cm_role_of(a->role) : CM_ROLE_USER;
  if (role == CM_ROLES)
    return cm_command_wrong("user", "a role is user, operator or admin, not ", a->role);
  if (strcmp(a->verb, "list") == 0)
    return list_users(database, a, &error);
  if (a->name == NULL)
    return cm_command_wrong("user", "a user's name is needed after ", a->verb);
  if (strcmp(a->verb, "add") == 0)
    return add_user(database, a, role, &error);
  if (strcmp(a->verb, "remove") == 0)
    return remove_user(database, a, &error);
  return change_user(database, a, a->role != NULL ? &role : NULL, &error);
}
