/* Readers of the formats that scheduling problems are published in (docs/explanation/scheduling.md). */
#pragma once

#include "core/schedule/workload.h"

enum { CM_TASKS_MAX = 1 << 22, CM_WORKLOAD_BYTES_MAX = 1 << 30 };

/* Reads a workload from text, recognised by content: Standard Task Graphs (.stg), for which `processors` says how many
 * identical processors there are (0: CM_BAD_OPTION); heterogeneous graphs with communication; PSPLIB projects, as
 * Patterson (.rcp) or ProGen (.sm) wrote them. *format is a static name of what it was. The caller's:
 * cm_workload_free. O(size). Errors: CM_BAD_NETWORK with the line, CM_TOO_LARGE; memory. */
cm_status cm_workload_parse(const char *text, uint32_t processors, cm_memory *memory, cm_workload **made,
                            const char **format, cm_error *error);

/* The same from a file; errors also CM_NOT_FOUND, CM_IO. */
cm_status cm_workload_read(const char *path, uint32_t processors, cm_memory *memory, cm_workload **made,
                           const char **format, cm_error *error);
