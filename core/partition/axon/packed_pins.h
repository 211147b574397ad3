/* The targets of a topology, packed in their own place while a search reads them as lists (lists.h): meanwhile more than half of
 * their memory is free. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

typedef struct cm_packed_pins {
  const cm_topology *topology; /* NULL: nothing is packed */
  uint64_t bytes;              /* that the targets take */
  size_t released;             /* bytes of theirs that are free */
  uint32_t *net;               /* [targets of the largest net, and what is read beyond a list] */
} cm_packed_pins;

/* Whether targets can be packed: they are in memory, and the lists of no first nets take more than these do. O(nets). */
bool cm_pins_packable(const cm_topology *topology);

/* Packs the targets, a list for each net. begin [nets] gets the byte in which a net begins. Nobody else may read topology->pin until
 * cm_pins_unpack, which cannot fail. O(pins). */
cm_status cm_pins_pack(const cm_topology *topology, uint64_t *begin, cm_run *run, cm_packed_pins *packed, cm_error *error);

/* Puts them back; does nothing where nothing is packed. O(pins). */
void cm_pins_unpack(cm_packed_pins *packed);
