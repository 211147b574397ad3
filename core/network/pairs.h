/* Pairs of whole numbers in an array of NumPy. */
#pragma once

#include "base/run.h"

/* Takes row `number`, from 0. */
typedef cm_status (*cm_pair_take)(void *user, uint64_t number, uint64_t first, uint64_t second, cm_error *error);

/* Reads a .npy file (gzipped or not) of two columns of whole numbers of 0 and more, row by row. *is_npy false: it is no such file at all, and
 * nothing was read. Errors: CM_BAD_NETWORK for another shape or damage, CM_NOT_FOUND, CM_IO, stops, and those of `take`. */
cm_status cm_pairs_read(const char *path, cm_run *run, cm_pair_take take, void *user, bool *is_npy, cm_error *error);
