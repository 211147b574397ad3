/* How much of a tensor each device of a chip takes (SPEC TILE-1, TILE-2; seed 4). */
#ifndef CM_OPERATORS_TILE_SHARE_H
#define CM_OPERATORS_TILE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/memory.h"
#include "core/base/status.h"

typedef struct cm_tile_device {
  const char *name;
  uint32_t cores;
  uint64_t length;    /* elements that one core completes at once: a micro-operator */
  double transfer_ns; /* Td: reading the input, or writing the output, of that length */
  double compute_ns;  /* Tc */
  bool pipelined;     /* transfers overlap with computing */
} cm_tile_device;

/* Errors: CM_BAD_CHIP naming the device: no cores, no length, or a time that is negative, not finite, or both 0 (it
 * would have no throughput, or an endless one). */
cm_status cm_tile_devices_check(const cm_tile_device *devices, uint32_t count, cm_error *error);

/* T_i: nanoseconds for one micro-operator of full length: max(Tc, Td) when pipelined, else Tc + 2 Td (read, compute,
 * write). */
double cm_tile_time(const cm_tile_device *device);

/* p_i = K * L_i / T_i: elements a nanosecond of all its cores. */
double cm_tile_capability(const cm_tile_device *device);

/* Shares `cells` among devices in proportion to their capability, by the method of largest remainders (Hamilton), ties
 * to the first device: share[i] is its exact portion rounded down or up, and the sum is `cells`. `cells` at most 2^52.
 * O(count^2). */
void cm_tile_shares(const cm_tile_device *devices, uint32_t count, uint64_t cells, uint64_t *share);

/* n_i: micro-operators that a share of so many elements is cut in. */
uint64_t cm_tile_micro_operators(const cm_tile_device *device, uint64_t elements);

#endif
