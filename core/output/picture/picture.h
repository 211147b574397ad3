/* Pictures of mappings, fit for a paper: the cores of a chip, or their links, coloured by one figure. */
#pragma once

#include <stdio.h>

#include "core/output/exports/exports.h"

/* Names of layers, NULL after the last: "neurons", "congestion", "links", ... */
extern const char *const cm_picture_layers[];

typedef enum cm_picture_format { CM_PICTURE_SVG, CM_PICTURE_PNG } cm_picture_format;

/* Draws a layer of a mapping. The whole chip is drawn up to 65536 cores, else the box around the cores in use. Same mapping, same
 * bytes. Errors: CM_BAD_OPTION names the layers; CM_CONFLICT: the network has no populations, or the box is too large; those of
 * cm_metrics_compute; CM_DISK_FULL. O(metrics + cores drawn). */
cm_status cm_picture_write(const cm_mapped *mapped, const char *layer, cm_picture_format format, cm_run *run, FILE *stream,
                           cm_error *error);
