/* The sweep at start: what no row of the database knows is put aside, never deleted. */
#pragma once

#include "storage/store.h"

/* Moves what the database does not know from networks/, mappings/, incoming/ and cache/ to lost+found/, one line of the
 * log each; *moved counts. Removed are only scratch files of uploads and jobs that a stop has interrupted, which carry
 * our own random names and were never acknowledged; those of running jobs stay. What cannot be moved stays, and is logged. */
cm_status cm_sweep(cm_store *store, uint64_t *moved, cm_error *error);
