/* Reading OUT.part files: one part number a line. */
#ifndef CM_PARTITION_PART_FILE_H
#define CM_PARTITION_PART_FILE_H

#include "base/run.h"

/* Reads the part of every vertex from a file; *part [vertices] is the caller's (cm_free), *parts counts the parts.
 * CM_BAD_MAPPING with the line as place when a line is no number, lines are missing or too many, or a part below the
 * largest number has no vertex. O(vertices + parts). */
cm_status cm_part_read(const char *path, uint32_t vertices, cm_run *run, uint32_t **part, uint32_t *parts,
                       cm_error *error);

#endif
