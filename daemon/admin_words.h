/* What the commands of admin.h share: their words, and what they print. */
#pragma once

#include <jansson.h>

#include "daemon/command.h"
#include "storage/database.h"

/* What the words say; NULL: not said. */
typedef struct cm_admin_words {
  const char *verb, *name;
  const char *role, *group, *user, *label, *scope, *expires, *share;
  bool json;
  cm_config config;
} cm_admin_words;

/* Prints {name: list}, of which the list is taken; returns the exit status. */
int cm_admin_print(json_t *list, const char *name);

int cm_admin_users(cm_database *database, const cm_admin_words *a);
int cm_admin_import(cm_database *database, const cm_admin_words *a);
int cm_admin_tokens(cm_database *database, const cm_admin_words *a);
