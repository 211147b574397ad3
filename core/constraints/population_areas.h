/* Constraints of populations on the cores of a chip. Pins make kinds of cores that take just who may lie there, so that all methods keep them. */
#ifndef CM_CONSTRAINTS_POPULATION_AREAS_H
#define CM_CONSTRAINTS_POPULATION_AREAS_H

#include "core/chip/occupancy.h"
#include "core/constraints/constraints.h"
#include "core/network/topology.h"

/* Reads {"constraints": [...]} about the populations of a network: pin and not_here; others are refused at their place. The caller's:
 * cm_constraints_clear. Errors as of cm_constraints_read, CM_BAD_OPTION. */
cm_status cm_population_constraints(const char *text, size_t size, const cm_topology *topology, const cm_chip *chip, cm_constraints *constraints,
                                    cm_error *error);

/* A copy of the chip, the caller's, with a class of cores for each set of populations that may lie on some; a class of the chip keeps its limits and takes
 * those of its own labels that may. O(cores * constraints + classes * populations * labels). Errors: CM_BAD_OPTION: a pin has no free core, a population
 * no core at all, two populations have one name, more than CM_CORE_CLASSES_MAX kinds; memory. */
cm_status cm_chip_constrain(const cm_chip *chip, const cm_occupancy *occupancy, const cm_topology *topology, const cm_constraints *constraints,
                            cm_chip **made, cm_error *error);

#endif
