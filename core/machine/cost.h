/* What work costs: the one cost function that shares, cutting, order, schedule, tiles, bound and simulator have. */
#pragma once

#include "core/chip/target.h"
#include "core/operators/graph.h"

/* Nanoseconds that a transfer of `bytes` keeps a port of a device busy. */
double cm_transfer_ns(const cm_target *target, const cm_device *device, uint64_t bytes);

/* Nanoseconds that a copy on the chip keeps a port of a device busy. */
double cm_copy_ns(const cm_target *target, const cm_device *device, uint64_t bytes);

/* A piece of an operator: what it does, and the bytes of its inputs (parameters too) and outputs. */
typedef struct cm_work {
  uint64_t operations, read_bytes, written_bytes;
} cm_work;

/* Nanoseconds that a piece keeps a unit of a device busy that does `rate` of its operations a nanosecond: issue, latency,
 * and T of source 4, max(Tc, Td) where the unit reads, computes and writes at once, else the sum of the three. */
double cm_compute_ns(const cm_target *target, const cm_device *device, const cm_work *work, double rate);

/* What a task reads and writes in memories on other cores, and what the ways to the farthest of them take together. */
typedef struct cm_remote {
  uint64_t read_bytes, written_bytes;
  double hop_ns;
} cm_remote;

/* Nanoseconds that a transfer of `bytes`, a copy of them or a piece take longer than cm_transfer_ns, cm_copy_ns and
 * cm_compute_ns say: bytes go over links beside or after the rest. */
double cm_transfer_remote_ns(const cm_target *target, const cm_device *device, uint64_t bytes, const cm_remote *remote);
double cm_compute_remote_ns(const cm_target *target, const cm_device *device, const cm_work *work, double rate,
                            const cm_remote *remote);

/* What rates of a node's pieces are stated under, "Softmax/float32"; of a convolution that has as many filters as groups,
 * "DepthwiseConv/float32". */
void cm_rate_name(const cm_node *node, int64_t filters, cm_type type, char name[CM_TARGET_NAME_MAX]);

/* p of source 4: pieces a nanosecond of all units of a device; 0 when the device cannot do them (`rate` 0). */
double cm_capability(const cm_target *target, const cm_device *device, const cm_work *work, double rate);

/* Units for a kind of operation on a type, in units of the fastest one; its operations a nanosecond (0: there is none), and what an
 * instruction costs there. */
typedef struct cm_power {
  double units, rate, issue_ns;
} cm_power;
cm_power cm_power_for(const cm_target *target, cm_unit_kind kind, cm_type type);

/* Shares `pieces` of an operator among devices, piece_ns[i] being what one takes on device i, 0: it cannot: in
 * proportion to their capability, rounded to whole pieces so that the last unit ends first, ties to the first device.
 * share[i] are set; their sum is `pieces`. O(pieces * devices). */
void cm_share_pieces(const cm_target *target, const double *piece_ns, uint32_t pieces, uint32_t *share);
