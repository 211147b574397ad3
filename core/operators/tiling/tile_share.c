#include "core/operators/tiling/tile_share.h"

#include <math.h>

cm_status cm_tile_devices_check(const cm_tile_device *devices, uint32_t count, cm_error *error)
{
  if (count == 0)
    return cm_fail(error, CM_BAD_CHIP, "the chip names no devices to tile for: its machine needs \"devices\"");
  for (uint32_t i = 0; i < count; i++) {
    const cm_tile_device *d = &devices[i];
    if (d->cores == 0 || d->length == 0)
      return cm_fail(error, CM_BAD_CHIP, "device %s has %u cores that complete %llu elements at once: both must be at "
                     "least 1", d->name, d->cores, (unsigned long long)d->length);
    if (!(d->transfer_ns >= 0) || !(d->compute_ns >= 0) || !isfinite(cm_tile_time(d)) || cm_tile_time(d) <= 0)
      return cm_fail(error, CM_BAD_CHIP, "device %s has no throughput: it transfers in %g ns and computes in %g ns, "
                     "which must not be negative, nor both 0", d->name, d->transfer_ns, d->compute_ns);
  }
  return CM_OK;
}

double cm_tile_time(const cm_tile_device *device)
{
  return device->pipelined ? fmax(device->compute_ns, device->transfer_ns)
                           : device->compute_ns + 2 * device->transfer_ns;
}

double cm_tile_capability(const cm_tile_device *device)
{
  return (double)device->cores * (double)device->length / cm_tile_time(device);
}

void cm_tile_shares(const cm_tile_device *devices, uint32_t count, uint64_t cells, uint64_t *share)
{
  double total = 0;
  uint64_t given = 0;
  for (uint32_t i = 0; i < count; i++)
    total += cm_tile_capability(&devices[i]);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t exact = (uint64_t)((double)cells * (cm_tile_capability(&devices[i]) / total));
    share[i] = exact < cells - given ? exact : cells - given; /* rounding up in the last bit must not give too much */
    given += share[i];
  }
  /* What is left goes to the largest remainders: fewer than `count` cells, one each. */
  for (; given < cells; given++) {
    uint32_t best = 0;
    double most = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
      double left = (double)cells * (cm_tile_capability(&devices[i]) / total) - (double)share[i];
      if (left > most) {
        most = left;
        best = i;
      }
    }
    share[best]++;
  }
}

uint64_t cm_tile_micro_operators(const cm_tile_device *device, uint64_t elements)
{
  return elements / device->length + (elements % device->length != 0);
}
