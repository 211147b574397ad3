/* Between changing leases (leases.c) and reading them (leases_read.c); inside a transaction. */
#pragma once

#include "storage/internal.h"

enum { OWNER_MAX = 8 + CM_ID_MAX }; /* cm_lease_prefix and an id */

/* The refusal of a lease that is not there. */
cm_status cm_lease_missing(const char *chip, const char *id, cm_error *error);

/* One lease that has not expired, without its cores. CM_NOT_FOUND. */
cm_status cm_lease_find_in(sqlite3 *handle, const char *chip, const char *id, cm_lease *lease, cm_error *error);

/* The rectangles of one lease, out of the printed state: a new JSON text, and the number of cores. */
cm_status cm_lease_cores_of(const coremap_chip *chip, cm_lease *lease, cm_error *error);

/* One lease with its cores, in place of what *lease held. CM_NOT_FOUND. */
cm_status cm_lease_get_in(sqlite3 *handle, const char *chip, const char *id, cm_lease *lease, cm_error *error);
