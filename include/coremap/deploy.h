/* coremap: images of cores for chips that execute networks. */
#ifndef COREMAP_DEPLOY_H
#define COREMAP_DEPLOY_H

#include <coremap/map.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Images of cores, and the spikes that are to come out of them. */
typedef struct coremap_deployment coremap_deployment;

/* Deploys a network on a chip whose file has "images" (docs/reference/core-images.md): runs it as coremap_profile_run does, with the same `options`,
 * finds the chip's integers that spike most as it does, makes images of the cores by the mapping in the file that option "mapping_file" names (without
 * it one is made, on a single core where that is enough), and runs them with the chip's queues. The same input, options and seed give the same bytes
 * for any number of threads. Errors: as of coremap_profile_run, coremap_mapping_open and coremap_map; bad-chip (it takes no images); bad-option
 * (semantics that it has not); conflict (neurons, delays or loops that it cannot be); limit-broken (it would lose spikes: core, step and number). */
int coremap_deploy(const coremap_network *network, const coremap_chip *chip, const char *options, coremap_progress progress, void *user,
                   coremap_deployment **deployment, coremap_error **error);

/* The report of docs/reference/core-images.md, as JSON that is the caller's (coremap_text_free). Errors: no-memory. */
int coremap_deployment_report(const coremap_deployment *deployment, char **json, coremap_error **error);

/* Writes all its files into a folder, made if missing. Errors: conflict (the chip's words have no room for it), disk-full, io. */
int coremap_deployment_write(const coremap_deployment *deployment, const char *folder, coremap_error **error);

/* Checks the images in a folder by code of its own: limits of the chip, each synapse once, and that the network that they make spikes as expected.txt
 * says. *report is JSON, the caller's: {"legal", "violations", "listed", "cores", "neurons", "synapses", "spikes"}. Errors: bad-mapping (a file is
 * damaged, with its place), not-found, cancelled, no-memory, io. */
int coremap_images_check(const char *folder, const coremap_chip *chip, coremap_progress progress, void *user, char **report, coremap_error **error);

void coremap_deployment_free(coremap_deployment *deployment); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
