/* The network with copies of neurons, on cores: copies (copy_leaving.h) and neurons that change cores, in turns. */
#pragma once

#include "core/placement/copy_leaving.h"

typedef struct cm_copies {
  cm_copied_parts on;   /* where neurons and copies stand; its `copies` are all of them */
  cm_topology *network; /* with them */
  cm_demand demand;     /* of it, its inputs outside where those of the task's are */
  uint32_t *of;         /* [vertices of it] the neuron that each is */
} cm_copies;

void cm_copies_free(cm_copies *copies); /* harmless on zeroed ones */

/* Makes such a network, where `left` synapses are too many on the task's parts; `part` changes: where few are left in the end, the search begins anew from other
 * parts, `seed` by `seed`. Done where on.left and on.missing are 0. Same input, same copies. Errors: memory, a stop. */
cm_status cm_copies_make(const cm_copy_task *task, uint64_t left, uint64_t seed, uint32_t *part, cm_copies *copies, cm_error *error);
