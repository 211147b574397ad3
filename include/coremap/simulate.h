/* coremap: a mapping's packets in motion. */
#ifndef COREMAP_SIMULATE_H
#define COREMAP_SIMULATE_H

#include <coremap/map.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lets the packets of a mapping run over the routers of its chip, event by event. `options` is a JSON object
 * (docs/reference/simulation.md: steps, load, saturation, traffic_model, ...) or NULL; given spikes are its "spikes", text, or
 * "spikes_file", the path of a file ("spikes_name": what messages call it): lines STEP,NEURON, columns under a header, or an
 * array of NumPy (.npy) with rows [step, neuron]; "spike_ids" says whether NEURON is a name or a position. With "function" spikes come from a run of the
 * mapping's images (coremap/deploy.h), whatever the chip loses then, and given ones are of inputs; "expected_file" and "events_file" are where all spikes, STEP CORE NEURON,
 * and counts of each core and step go (as coremap_calibrate takes them, but for ns). *report is a JSON text, the caller's (coremap_text_free). The same input, options and seed give the same report for
 * any number of threads. Errors: bad-option (also spikes of another network, with their line or row), not-found, memory-limit,
 * time-limit, cancelled, no-memory, io. */
int coremap_simulate(const coremap_mapping *mapping, const char *options, coremap_progress progress, void *user, char **report,
                     coremap_error **error);

/* Checks spikes as options "spikes" are before a mapping is there: text, of a network of so many neurons, by
 * position. Errors: bad-option
 * with the line. O(spikes). */
int coremap_spikes_check(const char *spikes, uint32_t neurons, coremap_error **error);

/* Checks that option "scenario" names one of a mapping's, whose summary (coremap_mapping_text) is `summary`. Errors: bad-option
 * (names those that there are), bad-mapping (the summary is no JSON). */
int coremap_scenario_check(const char *scenario, const char *summary, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
