#include "core/machine/cost.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/operators/operator.h"

double cm_transfer_ns(const cm_target *target, const cm_device *device, uint64_t bytes)
{
  return target->issue_ns + device->latency_ns + (double)bytes / device->bytes_per_ns;
}

double cm_copy_ns(const cm_target *target, const cm_device *device, uint64_t bytes)
{
  return target->issue_ns + (double)bytes / device->bytes_per_ns;
}

double cm_compute_ns(const cm_target *target, const cm_device *device, const cm_work *work, double rate)
{
  double compute = (double)work->operations / rate, before = target->issue_ns + device->latency_ns;
  if (device->bytes_per_ns <= 0)
    return before + compute;
  double read = (double)work->read_bytes / device->bytes_per_ns, write = (double)work->written_bytes / device->bytes_per_ns;
  return before + (device->pipelined ? fmax(compute, fmax(read, write)) : read + compute + write);
}

static double link_ns(const cm_target *target, uint64_t bytes)
{
  return target->link_bytes_per_ns > 0 ? (double)bytes / target->link_bytes_per_ns : 0;
}

double cm_transfer_remote_ns(const cm_target *target, const cm_device *device, uint64_t bytes, const cm_remote *remote)
{
  const double link = link_ns(target, remote->read_bytes + remote->written_bytes);
  return remote->hop_ns + fmax(0, link - (double)bytes / device->bytes_per_ns);
}

double cm_compute_remote_ns(const cm_target *target, const cm_device *device, const cm_work *work, double rate,
                            const cm_remote *remote)
{
  const double read = link_ns(target, remote->read_bytes), written = link_ns(target, remote->written_bytes);
  const double beside = cm_compute_ns(target, device, work, rate) - target->issue_ns - device->latency_ns;
  return remote->hop_ns + (device->pipelined ? fmax(0, fmax(read, written) - beside) : read + written);
}

void cm_rate_name(const cm_node *node, int64_t filters, cm_type type, char name[CM_TARGET_NAME_MAX])
{
  const bool by_depth = node->known->work == CM_WORK_FILTER && filters == cm_node_integer(node, "group", 1);
  (void)snprintf(name, CM_TARGET_NAME_MAX, "%s%s/%s", by_depth ? "Depthwise" : "", node->op, cm_type_name(type));
}

double cm_capability(const cm_target *target, const cm_device *device, const cm_work *work, double rate)
{
  return rate > 0 ? device->units / cm_compute_ns(target, device, work, rate) : 0;
}

cm_power cm_power_for(const cm_target *target, cm_unit_kind kind, cm_type type)
{
  cm_power l = {0};
  double all = 0;
  for (uint32_t d = 0; d < target->device_count; d++) {
    double rate = cm_device_rate(&target->device[d], kind, cm_type_name(type));
    all += rate * target->device[d].units;
    if (rate > l.rate) {
      l.rate = rate;
      l.issue_ns = target->issue_ns + target->device[d].latency_ns;
    }
  }
  l.units = l.rate > 0 ? all / l.rate : 0;
  return l;
}

void cm_share_pieces(const cm_target *target, const double *piece_ns, uint32_t pieces, uint32_t *share)
{
  memset(share, 0, target->device_count * sizeof *share);
  for (uint32_t p = 0; p < pieces; p++) {
    uint32_t best = target->device_count;
    double first = HUGE_VAL;
    for (uint32_t d = 0; d < target->device_count; d++) {
      if (piece_ns[d] <= 0 || target->device[d].units == 0)
        continue;
      double end = piece_ns[d] * (share[d] / target->device[d].units + 1);
      if (end < first) {
        first = end;
        best = d;
      }
    }
    if (best == target->device_count)
      return; /* nobody can */
    share[best]++;
  }
}
