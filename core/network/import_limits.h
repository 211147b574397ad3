/* How large a network file may be. */
#pragma once

#include <stdint.h>
#include "base/status.h"

typedef struct cm_import_limits {
  uint64_t bytes_max;    /* of the file after decompression */
  double ratio_max;      /* of decompression */
  uint32_t vertices_max;
  uint64_t pins_max;
} cm_import_limits;

/* 64 GiB, 1:1000, 2^30 vertices, 2^36 pins. */
cm_import_limits cm_import_limits_default(void);

/* CM_TOO_LARGE with both figures when a count exceeds its limit. */
cm_status cm_over_limit(const char *what, uint64_t count, uint64_t limit, cm_error *error);
