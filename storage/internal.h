/* What the files of the storage room share: steps of transactions. */
#ifndef CM_STORAGE_INTERNAL_H
#define CM_STORAGE_INTERNAL_H

#include "core/chip/occupancy.h"
#include "storage/leases.h"

/* A chip's description inside a transaction. */
cm_status cm_chips_text_in(sqlite3 *handle, const char *name, char **text, bool *preset, cm_error *error);
cm_status cm_chips_open_in(sqlite3 *handle, const char *name, cm_chip **chip, cm_error *error);

/* Leases `cores` [count] (core numbers, or NULL and `rectangles`) inside a write transaction; fills id [CM_ID_MAX]. */
typedef struct cm_lease_take {
  const char *chip, *user, *owner, *job; /* job may be NULL */
  double ttl;
  const uint32_t *cores;
  uint32_t count;
  const json_t *rectangles;
} cm_lease_take;
cm_status cm_leases_take_in(sqlite3 *handle, const cm_lease_take *take, char *id, cm_error *error);

#endif
