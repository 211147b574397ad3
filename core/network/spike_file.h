/* Spikes in HDF5, as SONATA keeps them: /spikes/POPULATION with node_ids and timestamps, or lists of the old layout (gids). */
#pragma once

#include "base/run.h"

/* Takes spike `number` of the file, from 0: of node `id` of a population ("": the old layout has none), at a time in milliseconds. */
typedef cm_status (*cm_spike_take)(void *user, uint64_t number, const char *population, uint64_t id, double ms, cm_error *error);

/* Reads them in this process, which is to be a confined one. CM_BAD_NETWORK: it holds none, or is damaged; and errors of `take`. */
cm_status cm_spike_file_read(const char *path, cm_run *run, cm_spike_take take, void *user, cm_error *error);

/* The same in a confined child of this process. */
cm_status cm_spike_file_apart(const char *path, cm_run *run, cm_spike_take take, void *user, cm_error *error);
