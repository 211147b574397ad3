/* Writing mappings. docs/reference/mapping-formats.md describes each. Bulk never passes a JSON DOM.
 * No view holds a time, a thread count or a fact of the machine: the same network, chip, options and seed give the
 * same bytes. */
#pragma once

#include <stdio.h>

#include "core/chip/chip.h"
#include "core/mapping/mapping.h"

typedef enum cm_mapping_view {
  CM_VIEW_SUMMARY_JSON, /* everything but the bulk: network, chip, options, region, metrics, report */
  CM_VIEW_FULL_JSON,    /* summary plus "cores" (part -> core and budgets) and "neurons" (part of each): map -o */
  CM_VIEW_NEURONS_JSON, CM_VIEW_NEURONS_CSV, CM_VIEW_NEURONS_BINARY,
  CM_VIEW_CORES_JSON, CM_VIEW_CORES_CSV, CM_VIEW_CORES_BINARY,
  CM_VIEW_LINKS_JSON, CM_VIEW_LINKS_CSV, CM_VIEW_LINKS_BINARY,
  CM_VIEW_PART,          /* one part number a line */
  CM_VIEW_PLACEMENT_CSV, /* part,x,y */
  CM_VIEWS,
  /* Files beside these that other functions write: cm_routes_write, cm_certificate_write, cm_structure_write. */
  CM_VIEW_ROUTES_JSON = CM_VIEWS, CM_VIEW_ROUTES_CSV, CM_VIEW_ROUTES_BINARY,
  CM_VIEW_CERTIFICATE_JSON,
  CM_VIEW_STRUCTURE, /* what questions are answered from (core/output/structure) */
  CM_VIEWS_ALL
} cm_mapping_view;

/* The file name that a view has in a stored mapping ("summary.json", "neurons.csv", ...). */
const char *cm_mapping_view_name(cm_mapping_view view);

/* Writes one view below CM_VIEWS to a stream. `network_id` may be NULL. O(vertices + cores of the window). Errors: CM_IO,
 * CM_DISK_FULL on a failed write, CM_NO_MEMORY. */
cm_status cm_mapping_write(const cm_mapping *mapping, const cm_demand *demand, const cm_chip *chip,
                           const char *network_id, cm_mapping_view view, FILE *stream, cm_error *error);

/* Writes every view below CM_VIEWS as a file of its own into the folder (made if missing), each synced. */
cm_status cm_mapping_write_folder(const cm_mapping *mapping, const cm_demand *demand, const cm_chip *chip, const char *network_id,
                                  const char *folder, cm_error *error);
