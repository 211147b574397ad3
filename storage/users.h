/* Who may use the server: users with a role and a group. As long as there are none, the server is open to whoever reaches
 * its loopback address (docs/how-to/users.md). All functions take the database alone, so that commands can change users beside a
 * server that runs. */
#pragma once

#include "storage/store.h"

typedef enum cm_role { CM_ROLE_USER, CM_ROLE_OPERATOR, CM_ROLE_ADMIN, CM_ROLES } cm_role;

/* "user", "operator", "admin" and back (CM_ROLES: unknown). */
const char *cm_role_name(cm_role role);
cm_role cm_role_of(const char *name);

typedef struct cm_user {
  char name[CM_USER_MAX];
  cm_role role;
  char group[CM_USER_MAX]; /* "": none */
  bool disabled;
  int share;               /* of the workers' time, beside the others'; 0 in cm_users_add: 1 */
  double created;
} cm_user;

enum { CM_SHARE_MAX = 1000 };

/* True when a user or group may be called so: 1 to 32 of a-z, 0-9, '.', '_' and '-', a letter or digit first. */
bool cm_user_name_is_sound(const char *name);

/* Adds a user; of `user` name, role and group are read. CM_CONFLICT when there is one of this name, CM_BAD_OPTION when a
 * name is not sound. */
cm_status cm_users_add(cm_database *database, const cm_user *user, cm_error *error);

/* CM_BAD_OPTION when its name, or its group's, is not sound. */
cm_status cm_users_check(const cm_user *user, cm_error *error);

/* Adds all or none; the audit trail tells of each. Errors: those of cm_users_add. */
cm_status cm_users_import(cm_database *database, const cm_user *users, size_t count, cm_error *error);

/* What is to change; NULL: stays. */
typedef struct cm_user_change {
  const cm_role *role;
  const char *group;
  const bool *disabled;
  const int *share;
} cm_user_change;

/* CM_NOT_FOUND; CM_CONFLICT when no admin would be left who can sign in. Works at once, for tokens under way too. */
cm_status cm_users_change(cm_database *database, const char *name, const cm_user_change *change, cm_error *error);

/* Removes a user and all its tokens; what it owned is nobody's. CM_NOT_FOUND; CM_CONFLICT as above (the only user of all may go), and while jobs of
 * the user are queued or running. */
cm_status cm_users_remove(cm_database *database, const char *name, cm_error *error);

cm_status cm_users_get(cm_database *database, const char *name, cm_user *user, cm_error *error);

/* All, by name; the caller frees with free(). */
cm_status cm_users_list(cm_database *database, cm_user **users, size_t *count, cm_error *error);
