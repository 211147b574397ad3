/* Limits by name, of users and of groups: what quotas (quotas.h) and rules of retention (retention.h) have in common. */
#pragma once

#include "storage/store.h"

enum { CM_LIMITS_MAX = 8 };

/* A kind of limits: the table that keeps them, and what there can be limits of. */
typedef struct cm_limit_kind {
  const char *table;        /* with columns name and most, and is_group where groups may have some */
  const char *column;       /* that says of what */
  const char *const *names; /* [count] */
  size_t count;             /* CM_LIMITS_MAX at most */
  bool groups, zero;        /* groups may have some; 0 is a limit */
} cm_limit_kind;

/* What is set of a user or group; its name "*" is every one that has none of its own. */
typedef struct cm_limit_row {
  bool group;
  char name[CM_USER_MAX];
  double most[CM_LIMITS_MAX]; /* negative: nothing is set here */
} cm_limit_row;

/* The largest number that is a limit. */
extern const double cm_limit_max;

/* Whether this can be a limit of the kind. */
bool cm_limit_is_sound(const cm_limit_kind *kind, double most);

/* Sets what is not NAN; negative takes a limit away. CM_NOT_FOUND: no such user. */
cm_status cm_limits_set(cm_database *database, const cm_limit_kind *kind, const cm_limit_row *row, cm_error *error);

/* All that is set, users before groups, by name; the caller frees *rows. */
cm_status cm_limits_list(cm_database *database, const cm_limit_kind *kind, cm_limit_row **rows, size_t *count, cm_error *error);
