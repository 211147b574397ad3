/* What an instruction costs: the one cost function that cutting, order, schedule, bound and simulator share. */
#ifndef CM_MACHINE_COST_H
#define CM_MACHINE_COST_H

#include "core/chip/target.h"

/* Nanoseconds that a transfer of `bytes` keeps a port busy. */
double cm_transfer_ns(const cm_target *target, uint64_t bytes);

/* Nanoseconds that a copy on the chip keeps a port busy. */
double cm_copy_ns(const cm_target *target, uint64_t bytes);

/* Nanoseconds that `work` operations keep a unit busy that does `rate` of them a nanosecond. */
double cm_compute_ns(const cm_target *target, uint64_t work, double rate);

#endif
