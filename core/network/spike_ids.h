/* Which neuron the id of a spike is: its name, or its position in the network. */
#pragma once

#include "core/network/names.h"
#include "core/network/topology.h"

/* AUTO: a word is a name; a whole number is one where neurons are named by numbers, else a position. */
typedef enum cm_spike_ids_as { CM_SPIKE_IDS_AUTO, CM_SPIKE_IDS_NAME, CM_SPIKE_IDS_POSITION } cm_spike_ids_as;

typedef struct cm_spike_ids {
  uint32_t neurons;            /* of the network */
  const cm_topology *topology; /* whose names may be meant; NULL: it has none */
  cm_spike_ids_as as;
  bool any;       /* the names are not known here: every id will do */
  bool confined;  /* this process is a confined one, and may read HDF5 itself */
  double step_ms; /* of a time step, for files that give times; 0: 1 */

  /* Below: kept by cm_spike_ids_*. */
  cm_names names;
  bool named, numbers; /* the network has names, of which some are whole numbers */
} cm_spike_ids;

/* Makes the table of names where it is needed. CM_BAD_OPTION: names are asked for and two neurons have the same. */
cm_status cm_spike_ids_open(cm_spike_ids *ids, cm_memory *memory, cm_error *error);
void cm_spike_ids_close(cm_spike_ids *ids);

/* The neuron of an id; false, with why: it is none of this network's. */
bool cm_spike_ids_find(const cm_spike_ids *ids, const char *id, uint32_t *neuron, char *why, size_t size);
