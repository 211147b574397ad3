/* The chips of a server that a network may be tried on. */
#pragma once

#include "library/private/cores.h"
#include "storage/owners.h"

/* All chips that the viewer sees and networks are mapped on, with their occupancies, presets first, as many as there is room for. The
 * caller frees each. */
cm_status cm_fits_open_all(cm_store *store, const cm_viewer *viewer, size_t most, coremap_chip **made, size_t *count, cm_error *error);
