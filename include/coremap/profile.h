/* coremap: networks that run. */
#ifndef COREMAP_PROFILE_H
#define COREMAP_PROFILE_H

#include <coremap/network.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a network did when it ran. */
typedef struct coremap_profile coremap_profile;

/* Runs a network from rest. `options` is a JSON object (docs/explanation/running.md: steps, semantics, dt, poisson, ...); given spikes are its "spikes",
 * text, or "spikes_file", the path of a file, as coremap_simulate takes them, and rates in hertz of its inputs "poisson_file", a table
 * as of coremap_network_read's "rates". "alone": true lets it give the network's synapses back to the system once it runs: nothing but this profile
 * may be asked of the network afterwards. The same input, options and seed give the same spikes for any number of threads. Errors: bad-option (dt is
 * missing, or makes a neuron unstable or a delay no whole number of steps; spikes of another network, of neurons that are no inputs, or
 * behind the last step), bad-network (it does not say how its neurons behave), too-large, not-found, memory-limit, time-limit, cancelled, no-memory, io. */
int coremap_profile_run(const coremap_network *network, const char *options, coremap_progress progress, void *user, coremap_profile **profile,
                        coremap_error **error);

/* The report of docs/explanation/running.md, as JSON that is the caller's (coremap_text_free). Errors: no-memory. */
int coremap_profile_report(const coremap_profile *profile, char **json, coremap_error **error);

/* Spikes of every neuron [neurons]; the profile's. Divided by the steps they are rates as coremap_network_set_rates takes them. */
const uint64_t *coremap_profile_counts(const coremap_profile *profile);

/* Neurons that spike in step s: (*neuron)[(*first)[s]] .. (*neuron)[(*first)[s + 1] - 1], ascending; the profile's. Returns the number of steps. */
uint32_t coremap_profile_spikes(const coremap_profile *profile, const uint64_t **first, const uint32_t **neuron);

/* Writes "rates", a table of spikes a step that coremap_network_read takes, or "spikes", lines STEP,NEURON, whole or not at all. Errors:
 * not-found (another name), disk-full, io. */
int coremap_profile_write(const coremap_profile *profile, const char *what, const char *path, coremap_error **error);

void coremap_profile_free(coremap_profile *profile); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
