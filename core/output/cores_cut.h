/* Some of the cores of a stored mapping: a box of them, or what blocks of them hold. Bulk is read from the view alone, without its network. */
#pragma once

#include <stdio.h>

#include "base/status.h"

typedef struct cm_cores_cut {
  uint32_t x, y, columns, rows; /* the box; columns 0: the whole chip */
  uint32_t block;               /* cores each way that become one record; 0: each is one */
} cm_cores_cut;

/* Writes what `cores`, an open view of cores in binary or in JSON, has of the cut, in the view's own format: CMCORES2, or CMCORES3 of blocks
 * (docs/reference/mapping-formats.md); of blocks of JSON the used ones, with the most that a core of each has. The caller closes `cores`. O(cores of the
 * box); of JSON O(used cores). Errors: CM_BAD_OPTION (the box is not on the chip, more than 1048576 records or 65536 objects), CM_DAMAGED, CM_NO_MEMORY,
 * CM_IO; what went wrong with `stream` it keeps. */
cm_status cm_cores_cut_write(int cores, cm_cores_cut cut, FILE *stream, cm_error *error);
