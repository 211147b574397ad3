/* Executor `slurm`: a job folder is carried out on a node of a cluster. Slurm is never believed: whether a run works or has ended stands in the
 * shared folder (wire.h), and what Slurm has forgotten is submitted again. */
#pragma once

#include "daemon/executor.h"

extern const cm_executor cm_executor_slurm;

/* Before the first job: where the bridge listens, and the folder that all nodes see, which is from now on that of the server on `data` alone.
 * CM_BAD_OPTION: it is another one's, or none that we can write to. */
cm_status cm_cluster_open(const char *bridge, const char *shared, const char *data, cm_error *error);

/* The shared folder; NULL: there is no cluster. */
const char *cm_cluster_shared(void);

/* Where the bridge listens; "": there is none. */
const char *cm_cluster_bridge(void);

/* Whether runs are another user's: what they read is to be open to the folder's group. */
bool cm_cluster_is_foreign(void);
