/* Circuits of a mapping: pairs of cores of which one sends to the other, whatever packets pass. Each takes the links of its way under the chip's routing, leaves
 * the router of one and enters that of the other; cores of one router take none (chip->circuits). */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/network/demand.h"

static inline bool cm_circuits_are_limited(const cm_chip *chip)
{
  return chip->circuits.link != 0 || chip->circuits.router_in != 0 || chip->circuits.router_out != 0;
}

typedef struct cm_circuits {
  const cm_chip *chip;
  uint32_t parts;
  uint64_t *first;   /* [2 * parts + 1] of those that part p sends to from first[p] on, of those that send to it from first[parts + p] on */
  uint32_t *other;   /* [first[2 * parts]] */
  uint32_t *load;    /* [links, routers, routers] of links, and of circuits into and out of routers */
  uint64_t excess;   /* that are too many, over all of them */
} cm_circuits;

/* The pairs of parts, none booked yet. Undirected, every edge goes each way. O(pins + parts). Errors: memory, a stop. */
cm_status cm_circuits_new(const cm_demand *demand, const cm_chip *chip, const uint32_t *part, uint32_t parts, cm_run *run, cm_circuits *circuits, cm_error *error);
void cm_circuits_free(cm_circuits *circuits); /* harmless on a zeroed one */

/* Books a circuit between cores, or takes it off, and returns its hops. O(hops). */
uint32_t cm_circuits_book(cm_circuits *circuits, uint32_t from_core, uint32_t to_core, bool on);

/* Books all of them on core [parts]. O(pairs * hops). */
void cm_circuits_book_all(cm_circuits *circuits, const uint32_t *core);

/* CM_LIMIT_BROKEN where some are too many: names the link or router that has most of them too many. O(links). */
cm_status cm_refuse_circuits(const cm_circuits *circuits, cm_error *error);
