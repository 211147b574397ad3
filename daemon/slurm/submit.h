/* Submissions to Slurm: their lists in the shared folder, and the command line of sbatch. */
#pragma once

#include "daemon/slurm/wire.h"

#include "base/file.h"

enum { CM_SLURM_NODE_MAX = 64, CM_SLURM_EXCLUDE_MAX = 2000 };

typedef struct cm_slurm_site {
  const char *shared, *flags;         /* the folder that all see; what a setting adds to sbatch */
  char script[CM_PATH_MAX];           /* what Slurm starts: a line that names this program */
  char exclude[CM_SLURM_EXCLUDE_MAX]; /* nodes that cannot carry out our runs, with commas between */
} cm_slurm_site;

/* Writes site->script. CM_BAD_OPTION: this program's path is none that a script can name. */
cm_status cm_slurm_write_script(cm_slurm_site *site, cm_error *error);

/* CM_BAD_OPTION: a flag of sbatch that a setting may not give. */
cm_status cm_slurm_check_flags(const char *flags, cm_error *error);

/* Runs that need what the first one does, as one submission, an array where they are several; on `node`, NULL: on any. CM_IO: Slurm did
 * not take it, or did not say so. */
cm_status cm_slurm_submit(const cm_slurm_site *site, const cm_slurm_ask *const *runs, size_t count, const char *node, cm_error *error);
