/* A digest of what a network is, whatever file it came from. */
#ifndef CM_NETWORK_TOPOLOGY_DIGEST_H
#define CM_NETWORK_TOPOLOGY_DIGEST_H

#include "core/network/topology.h"

enum { CM_TOPOLOGY_DIGEST_BYTES = 32 };

/* BLAKE2b of all that a partition depends on: neurons and their sizes, axons and their rates in every scenario, synapses and their
 * weights, populations; not of names. O(pins), about a second a gigabyte. */
void cm_topology_digest(const cm_topology *topology, unsigned char digest[CM_TOPOLOGY_DIGEST_BYTES]);

#endif
