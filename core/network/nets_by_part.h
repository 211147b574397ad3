/* Nets in the order of a partition. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

/* The nets whose source lies in each part: net (*first)[p] .. (*first)[p + 1] - 1 of *net, ascending. Both arrays
 * are the caller's (cm_free). O(nets + parts). */
cm_status cm_nets_by_part(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                          uint32_t **first, uint32_t **net, cm_error *error);
