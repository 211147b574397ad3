/* Given spike trains: which neurons fire in which time step (docs/reference/simulation.md). */
#pragma once

#include "base/run.h"
#include "core/network/spike_ids.h"

enum { CM_SPIKE_STEPS_MAX = 100000 };

typedef struct cm_spikes {
  uint32_t neurons;  /* of the network */
  uint32_t steps;    /* one more than the last with a spike */
  uint64_t *first;   /* [steps + 1] */
  uint32_t *neuron;  /* those that fire in step s: neuron[first[s]] .. neuron[first[s + 1] - 1]; twice: two spikes */
} cm_spikes;

typedef struct cm_spike {
  uint32_t step, neuron;
} cm_spike;

/* Makes first and neuron of `spikes`, whose steps are set, from a list in any order: of a step in that of the list or, `ascending`, by neuron.
 * O(count log(of a step)). Errors: memory; then they are NULL or for cm_spikes_free. */
cm_status cm_spikes_sort(const cm_spike *list, uint64_t count, bool ascending, cm_memory *memory, cm_spikes *spikes, cm_error *error);

/* Reads spikes, in any order: lines "step,neuron", steps from 0, or under a header columns of these in any order, with blanks, tabs or
 * semicolons between them as well: of the step `step`, or of the time in milliseconds `time`, `times`, `time_ms`, `timestamps`; of the neuron `neuron`,
 * `name`, `id`, `gid`, `sender`, `senders`, `node_id`, `node_ids`, which where `population` names another column is one of its members;
 * other columns mean nothing. Which neuron an id is, `ids` says. A line "neurons,N" says how many the network has; empty lines and what follows '#'
 * mean nothing. Errors: CM_BAD_OPTION with the line for what is no spike of this network or past CM_SPIKE_STEPS_MAX, and where there
 * is no spike; CM_NOT_FOUND, CM_IO, memory, stops. O(spikes + steps + names). A file may be an array of NumPy too (.npy), a row [step, neuron]
 * each. Messages call the file `name`. */
cm_status cm_spikes_read(const char *path, const char *name, const cm_spike_ids *ids, cm_run *run, cm_spikes *spikes,
                         cm_error *error);
/* The same of text in memory, which messages call `name`. */
cm_status cm_spikes_parse(const char *text, const char *name, const cm_spike_ids *ids, cm_run *run, cm_spikes *spikes,
                          cm_error *error);
/* Whether a network has inputs of which none fires: `note` says so, and what to give. O(neurons + spikes). */
bool cm_spikes_miss_inputs(const cm_spikes *spikes, const cm_topology *topology, char *note, size_t size);
void cm_spikes_free(cm_spikes *spikes); /* harmless on a zeroed one */
