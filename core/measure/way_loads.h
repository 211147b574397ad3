/* Loads of the links of an interconnect (core/chip/interconnect): what link_tally.c and congestion.c are to a plain mesh. Every packet
 * takes the way of cm_interconnect_last; an axon's packet goes once over the union of its ways, which is a tree. */
#ifndef CM_MEASURE_WAY_LOADS_H
#define CM_MEASURE_WAY_LOADS_H

#include "core/chip/chip.h"
#include "core/mapping/mapping.h"
#include "core/measure/link_tally.h"

/* What one task adds up. */
typedef struct cm_way_tally {
  const cm_chip *chip;
  uint64_t *packets; /* [links] */
  uint64_t *trees;   /* [links] one packet an axon */
  uint32_t *stamp;   /* [routers] last net whose tree has the router, plus 1 */
} cm_way_tally;

cm_status cm_way_tally_new(const cm_chip *chip, cm_memory *memory, cm_way_tally *tally, cm_error *error);
void cm_way_tally_free(cm_way_tally *tally);
void cm_way_tally_add(cm_way_tally *sum, const cm_way_tally *other);

/* What a packet passes from core to core, and what that takes. */
typedef struct cm_passage {
  uint64_t hops;
  double ns;
} cm_passage;

/* Books packets from core to core, and tells the way of one. O(hops). CM_NO_ROUTE where dead links leave no way. */
cm_status cm_way_book(cm_way_tally *tally, uint32_t source_core, uint32_t target_core, uint64_t packets, cm_passage *way,
                      cm_error *error);

/* Grows the tree of a net from its core to another one by what is missing of its way. */
void cm_way_book_tree(cm_way_tally *tally, const cm_cast *cast, uint32_t target_core);

/* Sums over links in units of the weights: loads [links] (NULL: not wanted), the highest, packets times links, and times
 * what these cost in pJ and ns. */
typedef struct cm_way_sums {
  double most, hops, energy_pj, latency_ns;
} cm_way_sums;
cm_way_sums cm_way_sum(const cm_chip *chip, const uint64_t *tally, double unit, double *load);

/* Packets through each router, congestion [routers with cores]: those that begin there and those that come by links; returns the
 * most of any router, switches included. `begun` [routers with cores] in units of the weights. */
double cm_way_congestion(const cm_chip *chip, const uint64_t *packets, const double *begun, double unit, double *congestion);

/* Links that are not dead. */
uint32_t cm_living_links(const cm_chip *chip);

/* Refuses what only a plain mesh or torus has: CM_BAD_OPTION or CM_BAD_CHIP names `what`. */
cm_status cm_refuse_ways(const cm_chip *chip, const char *what, cm_error *error);

#endif
