/* What stands beside a stored mapping's views: its routes and its certificate. */
#ifndef CM_MAPPING_BESIDE_H
#define CM_MAPPING_BESIDE_H

#include "core/mapping/map.h"

/* Writes routes and certificate into the folder of a mapping's views. Routes that nobody asked for (option routing is
 * auto) and that are refused or would be too long are no failure: their view says why. */
cm_status cm_mapping_write_beside(const cm_mapping *mapping, const cm_map_input *input, cm_run *run, const char *folder,
                                  cm_error *error);

#endif
