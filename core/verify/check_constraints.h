/* Who lies on cores that are for pinned neurons alone. */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/mapping/mapped.h"

/* Neurons that no pin names, by the classes of their cores. */
typedef struct cm_check_unpinned_found {
  uint32_t first; /* UINT32_MAX: there is none */
  uint64_t count[CM_CORE_CLASSES_MAX + 1];
} cm_check_unpinned_found;

/* Finds them; `list` of constraints, NULL: none. O(vertices + neurons named). Errors: CM_BAD_OPTION: constraints that cannot be read; memory. */
cm_status cm_check_unpinned(const cm_mapped *mapped, const json_t *list, cm_run *run, cm_check_unpinned_found *found, cm_error *error);
