/* The ledger: what each user has used by month (UTC), for good. Processor time counts where a job ends or a request was answered; stored
 * bytes are what was his at the month's last change; time of leased cores is split over the months in which it passed, and comes here
 * when the quotas let a lease that is over go. A removed user's months stand under a name that no user can have. */
#pragma once

#include "storage/store.h"

enum { CM_LEDGER_NAME_MAX = CM_USER_MAX + 16, CM_MONTH_MAX = 8 };

typedef struct cm_ledger_row {
  char month[CM_MONTH_MAX];      /* "2026-11" */
  char user[CM_LEDGER_NAME_MAX]; /* "": nobody, where there are no users */
  double core_hours, cpu_seconds;
  uint64_t bytes;                /* stored at the month's end, or now */
} cm_ledger_row;

/* Whether a text is a month as above. */
bool cm_ledger_is_month(const char *text);

/* Inside closures: processor time; leases that ended before `before` and go from the quotas' table; the months of a user who is removed,
 * whose leases are nobody's from now on. */
cm_status cm_ledger_note_cpu_in(sqlite3 *handle, const char *user, double seconds, cm_error *error);
cm_status cm_ledger_close_leases_in(sqlite3 *handle, double before, cm_error *error);
cm_status cm_ledger_remove_user_in(sqlite3 *handle, const char *user, cm_error *error);

/* Months from `since` (NULL: the first) to this one, by month and name, of one user (NULL: all), leases that last up to now; the caller
 * frees *rows. */
cm_status cm_ledger_list(cm_database *database, const char *since, const char *user, cm_ledger_row **rows, size_t *count, cm_error *error);
