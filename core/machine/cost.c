#include "core/machine/cost.h"

double cm_transfer_ns(const cm_target *target, uint64_t bytes)
{
  const cm_unit *data = &target->unit[CM_UNIT_DATA];
  return target->issue_ns + data->latency_ns + (double)bytes / data->bytes_per_ns;
}

double cm_copy_ns(const cm_target *target, uint64_t bytes)
{
  return target->issue_ns + (double)bytes / target->unit[CM_UNIT_DATA].bytes_per_ns;
}

double cm_compute_ns(const cm_target *target, uint64_t work, double rate)
{
  return target->issue_ns + (double)work / rate;
}
