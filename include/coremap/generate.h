/* coremap: networks of published recipes, for tuning and measuring. */
#ifndef COREMAP_GENERATE_H
#define COREMAP_GENERATE_H

#include <coremap/network.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COREMAP_FAN_OUT_MAX 65536

/* Makes a network of a recipe of docs/reference/generators.md: "reservoir", "layered", "chain", "connectome". `options` is a JSON object
 * or NULL: "neurons" (of a reservoir needed), "fan_out", "layers", "width", "height", "spread", "populations", "size", "seed",
 * "threads". Equal options give equal networks for any number of threads. O(synapses). Errors: bad-option, not-found (no such
 * recipe), too-large, cancelled, no-memory. */
int coremap_generate(const char *recipe, const char *options, coremap_progress progress, void *user, coremap_network **network,
                     coremap_error **error);

/* Writes it to a file as coremap_network_write_as does; also recipe "microcircuit" (options "scale", "rates": true), row by row
 * straight into a topology file, in 32 bytes a neuron. *report is the caller's: {"neurons", "synapses"}, and "hyperedges", or of
 * a microcircuit "pairs" of neurons. Errors: also disk-full, io. */
int coremap_generate_file(const char *recipe, const char *options, const char *path, const char *as, coremap_progress progress, void *user,
                          char **report, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
