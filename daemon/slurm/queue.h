/* What Slurm knows of our runs, by its commands alone: what is in its queue, as of a moment, by our tokens. */
#pragma once

#include "daemon/slurm/wire.h"

#include "base/status.h"

typedef struct cm_slurm_queue cm_slurm_queue;

/* `shared`: the folder whose lists say which runs a submission has. CM_NO_MEMORY. */
cm_status cm_slurm_queue_new(const char *shared, cm_slurm_queue **queue, cm_error *error);

/* What Slurm says of a run now, or said a moment ago: state and text of `told`. Of several of one token, the one that got furthest. */
void cm_slurm_queue_look(cm_slurm_queue *queue, cm_slurm_told *told);

/* What is read from now on is asked for anew. */
void cm_slurm_queue_age(cm_slurm_queue *queue);

/* Cancels all runs of a token that Slurm knows. */
void cm_slurm_queue_cancel(cm_slurm_queue *queue, const char *token);
