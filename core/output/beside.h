/* What stands beside a stored mapping's views: its routes, its certificate, its structure. Few ask for these, so they are made when
 * somebody first does; only routes whose rule the job named are made with it, for it fails without them. */
#pragma once

#include "core/output/views.h"
#include "core/mapping/input.h"
#include "core/mapping/mapping.h"
#include "core/verify/check.h"

/* Writes the certificate of a mapping (cm_certificate_write). */
cm_status cm_mapping_certify(const cm_mapping *mapping, const cm_check_context *context, FILE *stream, cm_error *error);

/* Writes into the folder of a mapping's views what is asked for beside them, and which cores were free (as
 * cm_occupancy_print), of which a later certificate tells. Errors: CM_NO_ROUTE, CM_TOO_LARGE; CM_IO, CM_DISK_FULL, memory,
 * those of the run. */
cm_status cm_mapping_write_beside(const cm_mapping *mapping, const cm_map_input *input, cm_run *run, const char *folder,
                                  cm_error *error);

/* Makes a view beside the others (from CM_VIEWS on) in a folder that cm_mapping_write_folder and cm_mapping_write_beside
 * have filled: with one of routes all three, for making routes costs more than writing them. `topology` is the mapping's
 * network, and this function's from now on, also on failure. Routes that are refused or would be too long are no failure:
 * their view says why. The bytes are those that the job would have written. Errors: CM_CONFLICT when the folder is of a
 * release that kept no occupancy; CM_BAD_MAPPING, CM_IO, CM_DISK_FULL, memory, those of the run. */
cm_status cm_mapping_write_late(const char *folder, cm_mapping_view view, cm_topology *topology, cm_run *run, cm_error *error);
