/* Whether the nodes see the shared folder and have our build: a run on each at the start, which writes the SHA-256 of its program. */
#pragma once

#include "daemon/slurm/queue.h"
#include "daemon/slurm/submit.h"

typedef struct cm_slurm_probes cm_slurm_probes;

/* Has one submitted for each node that works; none where Slurm does not answer, which is told. CM_NO_MEMORY, CM_IO: the folder takes nothing. */
cm_status cm_slurm_probes_begin(const cm_slurm_site *site, cm_slurm_probes **probes, cm_error *error);

/* Whether some have not been heard of yet. */
bool cm_slurm_probes_wait(const cm_slurm_probes *probes);

/* Tells of nodes that cannot carry out our runs, once each, and adds them to site->exclude. */
void cm_slurm_probes_look(cm_slurm_probes *probes, cm_slurm_site *site, cm_slurm_queue *queue);
