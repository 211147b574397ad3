/* Multicast trees on a fabric, and the entries that lead packets along them. */
#pragma once

#include "base/run.h"
#include "core/fabric/fabric_flows.h"

/* Where packets of a sender, or of all senders of a family that come by, go from a chip's router. */
typedef struct cm_fabric_entry {
  uint32_t chip, family;
  uint32_t sender; /* CM_NO_CHIP: all of the family that come by */
  uint32_t route;  /* bits 0 to 5: links, the rest: what flows' vertices have as `local` */
  uint32_t from;   /* the link that they come in by; CM_NO_CHIP: from a core, or by several links */
} cm_fabric_entry;

typedef struct cm_fabric_routes {
  cm_fabric_entry *entry; /* by chip, family, sender */
  uint64_t count;
  uint64_t links; /* of the trees of all senders */
} cm_fabric_routes;

/* Routes each sender's packets by a tree over links that work both ways from its chip to those of its targets; `chip` [vertices] says where vertices stand. A tree grows from the sender by the nearest target that it lacks (Takahashi, Matsuyama 1980), branches at targets rather than at its beginning, and of ways as short takes what earlier
 * trees took. Senders of a family on a chip take parts of one tree; those with common targets take one undirected tree in common, so that beyond their own chips one entry serves all. The caller's: cm_fabric_routes_clear. O(chips of the trees, and those searched between them). Errors: CM_NO_ROUTE names
 * the chips, CM_BAD_NETWORK, CM_MEMORY_LIMIT, CM_NO_MEMORY, CM_CANCELLED. */
cm_status cm_fabric_route(const cm_flows *flows, const uint32_t *chip, cm_run *run, cm_fabric_routes *routes, cm_error *error);

void cm_fabric_routes_clear(cm_fabric_routes *routes);
