/* Parts of a chip that programs are made for too: what runs on a part runs on the whole as fast, so that a chip with more
 * of anything is not slower. Internal to core/machine. */
#pragma once

#include "core/chip/target.h"

/* How often memory, units and ports are halved, and which devices are left out (bit i: device i). Half of an odd number is
 * rounded up. */
typedef struct cm_subchip {
  uint32_t memory, units, ports;
  uint64_t without;
} cm_subchip;

/* Parts that are one step smaller: half of one or of all three, or without a device; whether the others
 * can do all that a model needs is not asked. */
enum { CM_SUBCHIP_STEPS = 4 + CM_TARGET_DEVICES_MAX };

/* Makes *target and *memory_bytes, which are those of the whole, those of a part; false when it has as many lanes
 * and as much memory as the whole, or half or less of it and below 4 KiB, or when nobody is left to move data or to
 * compute. Devices keep their numbers: one that is left out has no units. O(devices^2). */
bool cm_subchip_make(const cm_subchip *part, cm_target *target, uint64_t *memory_bytes);

/* The step from one part to a smaller one; of `target`, which is the part. False when there is none of that number. */
bool cm_subchip_step(const cm_subchip *part, const cm_target *target, uint32_t step, cm_subchip *smaller);

/* What a part is called: "whole", or "half of the memory, without processor". O(devices). */
void cm_subchip_name(const cm_subchip *part, const cm_target *whole, char *name, size_t size);

/* The lane of the whole chip that is the lane of a part. O(devices). */
uint32_t cm_subchip_lane(const cm_target *part, const cm_target *whole, uint32_t lane);
