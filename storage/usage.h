/* Whose turn it is: how much of the workers' time each user has had, as it fades with time.
 *
 * A start is charged what the job is expected to take, and its end what it took instead. Who has had least, for his share,
 * comes first (storage/positions.h). Who comes after a pause is ahead of those at work by an hour of one worker at most. */
#pragma once

#include "storage/store.h"

/* The time in which a use of the workers counts half, seconds; to be set at start and when the settings change. */
cm_status cm_usage_set_half_life(cm_store *store, double seconds, cm_error *error);
cm_status cm_usage_half_life_in(sqlite3 *handle, double *seconds, cm_error *error);

/* What is left of an amount after so many seconds. */
double cm_usage_faded(double amount_ms, double age, double half_life);

/* Adds to the use of a user (or takes away, never below nothing). */
cm_status cm_usage_charge_in(sqlite3 *handle, const char *user, double ms, cm_error *error);

/* Before the first job is queued of a user who has none queued or running. */
cm_status cm_usage_enter_in(sqlite3 *handle, const char *user, cm_error *error);
