/* Executor `slurm`: a job folder is carried out on a node of a cluster. Slurm is never believed: whether a run works or has ended stands in the
 * shared folder (wire.h), and what Slurm has forgotten is submitted again. */
#ifndef CM_DAEMON_SLURM_CLUSTER_H
#define CM_DAEMON_SLURM_CLUSTER_H

#include "daemon/executor.h"

extern const cm_executor cm_executor_slurm;

/* Before the first job: where the bridge listens, and the folder that all nodes see. CM_BAD_OPTION: that is no folder we can write to. */
cm_status cm_cluster_open(const char *bridge, const char *shared, cm_error *error);

/* The shared folder; NULL: there is no cluster. */
const char *cm_cluster_shared(void);

/* Whether runs are another user's: what they read is to be open to the folder's group. */
bool cm_cluster_is_foreign(void);

/* What the bridge or Slurm wants from an administrator, "" when all is well; any thread. */
void cm_cluster_fault(char *text, size_t size);

#endif
