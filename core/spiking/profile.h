/* What a network does when it runs: who spikes how often and when. */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/network/spikes.h"
#include "core/network/topology.h"
#include "core/spiking/semantics.h"
#include "core/spiking/simulator.h"
#include "core/spiking/stimulus.h"

typedef struct cm_profile {
  const cm_topology *topology;
  const cm_semantics *semantics;
  double dt;
  uint32_t steps;
  uint64_t *count;   /* [neurons] spikes */
  uint64_t events;   /* synaptic */
  cm_spikes spikes;  /* all, of `steps` steps */
} cm_profile;

/* Runs a network from rest. The profile keeps pointing to it. Opens phases "load" and "run". Errors as of cm_simulator_new, and stops.
 * O(pins + steps * neurons + events). */
cm_status cm_profile_run(const cm_topology *topology, const cm_profile_setting *setting, cm_stimulus *stimulus, cm_run *run, cm_profile *profile,
                         cm_error *error);
void cm_profile_free(cm_profile *profile); /* harmless on a zeroed one */

/* The report of docs/explanation/running.md; with `peaks` also the spikes of every step. A new reference; NULL: no memory. */
json_t *cm_profile_report(const cm_profile *profile, bool peaks);

/* Spikes in boxes, a list of rows: rows are even slices of the neurons, at most 40, columns of the steps, at most 100. A new reference; NULL: no memory. */
json_t *cm_spikes_raster(const cm_spikes *spikes);

/* Writes tables: rates, "neuron,rate", in spikes a step, as cm_rates_read takes them; spikes, "step,neuron", as cm_spikes_read does. Whole or
 * not at all. Errors: CM_IO. */
cm_status cm_profile_write_rates(const cm_profile *profile, const char *path, cm_error *error);
cm_status cm_profile_write_spikes(const cm_profile *profile, const char *path, cm_error *error);
