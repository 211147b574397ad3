/* A network of three neurons on a chip of 2 x 2, and bytes as a file, for targets that read what mappings leave. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/network/topology.h"

static inline cm_topology old_network(void)
{
  static uint64_t first[] = {0, 2, 3, 4}, rate[] = {4, 2, 1};
  static uint32_t pin[] = {1, 2, 0, 2};
  return (cm_topology){.directed = true, .vertex_count = 3, .net_count = 3, .pin_count = 4, .net_first = first,
                       .net_weight = rate, .pin = pin, .size_total = 3, .weight_scale = 1};
}

static inline cm_chip *old_chip(void)
{
  cm_error error;
  cm_chip *chip;
  if (cm_chip_mesh(2, 2, &chip, &error) != CM_OK)
    abort();
  chip->limits.neurons = 2;
  return chip;
}

/* A file in memory with these bytes; its path. The caller closes *handle. */
static inline void old_file(const void *bytes, size_t size, int *handle, char path[64])
{
  *handle = memfd_create("old", MFD_CLOEXEC);
  if (*handle < 0 || write(*handle, bytes, size) != (ssize_t)size)
    abort();
  snprintf(path, 64, "/proc/self/fd/%d", *handle);
}
