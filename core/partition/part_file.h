/* Reading OUT.part and .fix files: one part number a line. */
#pragma once

#include "base/run.h"

/* Reads the part of every vertex from a file; *part [vertices] is the caller's (cm_free), *parts counts the parts.
 * CM_BAD_MAPPING with the line as place when a line is no number, lines are missing or too many, or a part below the
 * largest number has no vertex. O(vertices + parts). */
cm_status cm_part_read(const char *path, uint32_t vertices, cm_run *run, uint32_t **part, uint32_t *parts,
                       cm_error *error);

/* Reads a .fix file of hMETIS: a part below `parts` that a vertex is fixed to, or -1. *fixed [vertices], CM_NOT_FIXED: none, is the caller's (cm_free).
 * CM_BAD_MAPPING with the line as place. O(vertices). */
cm_status cm_fix_read(const char *path, uint32_t vertices, uint32_t parts, cm_run *run, uint32_t **fixed, cm_error *error);
