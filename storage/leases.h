/* Leases on the cores of chips.
 *
 * A leased core stands in its chip's occupancy under the owner "lease:ID", and nowhere else is it written which
 * cores a lease holds: two leases cannot hold one core. Every change goes through the database's one writer. */
#pragma once

#include <jansson.h>

#include "library/private/cores.h"
#include "storage/owners.h"

extern const double cm_lease_ttl_default_s, cm_lease_ttl_max_s;

typedef struct cm_lease {
  char id[CM_ID_MAX];
  cm_owner whose;
  char chip[LIBRARY_CHIP_NAME_MAX];
  char owner[128];      /* what the holder calls itself */
  char job[CM_ID_MAX];  /* the job whose mapping it holds, "" when none */
  double ttl, expires, created;
  uint64_t core_count;
  char *cores;          /* JSON list of rectangles; free with cm_lease_clear */
} cm_lease;

void cm_lease_clear(cm_lease *lease);

typedef struct cm_lease_request {
  cm_owner whose;
  const char *chip, *owner;
  const char *job;     /* the job whose mapping it is to hold, NULL: none */
  double ttl;
  const json_t *cores; /* list of [x,y] and [x0,y0,x1,y1]; NULL: `count` cores wherever they fit */
  uint32_t count;
} cm_lease_request;

/* CM_NO_ROOM, or CM_CONFLICT when a wanted core is taken or broken; figure "free". */
cm_status cm_leases_create(cm_store *store, const cm_lease_request *wanted, cm_lease *lease, cm_error *error);
cm_status cm_leases_get(cm_store *store, const char *chip, const char *id, cm_lease *lease, cm_error *error);

/* All leases of a chip, NULL: of every chip, that have not expired and that the viewer sees with their chips; the caller clears each and frees the array. */
cm_status cm_leases_list(cm_store *store, const char *chip, const cm_viewer *viewer, cm_lease **leases, size_t *count, cm_error *error);

/* Keepalive of a lease on `wanted->chip`: from now on `ttl` seconds more (0: as many as before), and another holder where `owner` is not NULL.
 * CM_NOT_FOUND once expired. */
cm_status cm_leases_keep(cm_store *store, const char *id, const cm_lease_request *wanted, cm_lease *lease, cm_error *error);
cm_status cm_leases_release(cm_store *store, const char *chip, const char *id, cm_error *error);

/* Frees the cores of all expired leases; *count is their number. Writes only when there are some. Follows the wall clock
 * when it has been set (storage/clock.h), which ends no lease. */
cm_status cm_leases_expire(cm_store *store, uint64_t *count, cm_error *error);
