/* A network from its mapping to images of a chip's cores, with the spikes that are to come out (docs/reference/core-images.md). */
#pragma once

#include <jansson.h>

#include "core/deploy/images.h"
#include "core/deploy/quantise.h"
#include "core/spiking/profile.h"

typedef struct cm_deployment {
  const cm_profile *reference; /* in floating point, as the network is */
  cm_profile on_chip;          /* the same with loops as long as the chip's */
  cm_integer_network network;
  cm_quantised quantised;
  cm_images images;
  cm_images_result result;
} cm_deployment;

/* Whether a mapping's chip takes images at all, before work is done. CM_BAD_CHIP: no. */
cm_status cm_deploy_check(const cm_chip *chip, cm_error *error);

/* Deploys what `reference` has run, which has to live longer, by a mapping. CM_LIMIT_BROKEN, with core, step and number: it would lose spikes. Errors
 * as of cm_integer_network_make, cm_profile_run, cm_quantise, cm_images_make; CM_INTERNAL: the images spike otherwise. */
cm_status cm_deploy(const cm_profile *reference, const cm_mapped *mapped, cm_run *run, cm_deployment *deployment, cm_error *error);
void cm_deployment_free(cm_deployment *deployment); /* harmless on a zeroed one */

/* The spikes of inputs alone; free them with cm_spikes_free. O(spikes + steps). */
cm_status cm_deploy_inputs(const cm_profile *profile, cm_memory *memory, cm_spikes *inputs, cm_error *error);

/* The same whatever the chip loses, which result.lost and the report tell; with `events` result.events are there. */
cm_status cm_deploy_run(const cm_profile *reference, const cm_mapped *mapped, bool events, cm_run *run, cm_deployment *deployment, cm_error *error);

/* Spikes of the network's neurons in the chip's steps, the caller's. O(spikes). Errors: memory. */
cm_status cm_deployment_spikes(const cm_deployment *deployment, cm_memory *memory, cm_spikes *spikes, cm_error *error);

/* The report; a new reference, NULL: no memory. */
json_t *cm_deployment_report(const cm_deployment *deployment);

/* Writes images.json, images.bin, commands.txt, bench.mem, expected.txt, report.json, inputs.csv and spikes.csv into a folder, made if missing. Errors: CM_CONFLICT, CM_DISK_FULL, CM_IO. */
cm_status cm_deployment_write(const cm_deployment *deployment, const char *folder, cm_error *error);
