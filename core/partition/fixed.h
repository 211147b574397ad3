/* Fixed vertices: some belong to parts that are given beforehand (.fix files of hMETIS). */
#pragma once

#include "core/limits/limits.h"

typedef struct cm_fixed_task {
  const uint32_t *fixed; /* [vertices] the part of each, CM_NOT_FIXED: any */
  uint32_t parts;
  cm_limits limits;
  bool edges; /* what is cut of edges counts, else how many parts sources reach */
  uint64_t seed;
} cm_fixed_task;

enum { CM_NOT_FIXED = UINT32_MAX };

/* Changes part [vertices], made as if nothing were fixed, into one that keeps what is: parts swap numbers so that most fixed vertices are where they belong, the
 * others move there, and then single free vertices as long as limits are broken less or less is cut. *legal: the limits hold. Memory as of
 * cm_part_usage_open. O(passes * pins * parts that a vertex talks to). Errors: cancelled, memory. */
cm_status cm_fix_parts(const cm_demand *demand, const cm_fixed_task *task, cm_run *run, uint32_t *part, bool *legal, cm_error *error);
