/* A digest of what is to be mapped of a network, whatever file it came from. */
#pragma once

#include "core/network/demand.h"

enum { CM_DEMAND_DIGEST_BYTES = 32 };

/* BLAKE2b of all that a partition depends on: neurons and their sizes, axons and their rates in every scenario, synapses (mixed to 64 bits:
 * beside a network's id, which says them already) and their weights, populations; not of names. O(pins). */
void cm_demand_digest(const cm_demand *demand, unsigned char digest[CM_DEMAND_DIGEST_BYTES]);
