/* Distances on grids and hexagonal interconnects with dead links that are too large for a table of all pairs, exact, in linear
 * memory (224 to 352 bytes a router).
 *
 * What is alive of a shortest way is looked up first: every router knows how far it goes straight in each direction before
 * a dead link, so that ways of two straight pieces, and of three in two directions, are told alive in O(1) each. Where none is: A* (Hart,
 * Nilsson and Raphael 1968) with the distance of the whole grid as its estimate, which expands hardly more than the routers
 * between the two and around what is dead. What a search found is kept in a table that forgets, of no influence on answers. */
#pragma once

#include "core/chip/interconnect/interconnect.h"

typedef struct cm_detours cm_detours;

/* O(links). */
cm_status cm_detours_new(const cm_interconnect *net, cm_detours **detours, cm_error *error);
void cm_detours_free(cm_detours *detours); /* NULL is allowed */

/* Hops of the shortest way over living links; CM_NO_WAY where there is none. By any thread. O(1) where two straight pieces are
 * alive, O(hops) where three are or the pair is remembered, else O(links) at worst. */
uint32_t cm_detours_hops(const cm_interconnect *net, cm_detours *detours, uint32_t from, uint32_t to);
