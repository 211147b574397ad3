/* Objective pareto: mappings between the shortest time step and the least energy, in one job (docs/step-time.md). */
#ifndef CM_SOLVER_PARETO_PARETO_H
#define CM_SOLVER_PARETO_PARETO_H

#include <stdio.h>

#include "core/solver/once.h"

enum { CM_PARETO_POINTS_MAX = 10, CM_PARETO_NAME_MAX = 32 };

/* Files of a folder. */
#define CM_PARETO_TABLE "pareto.json"
#define CM_PARETO_PLOT "pareto.svg"

/* That of a mapping of the set, "pareto-1.json". */
void cm_pareto_name(uint32_t number, char name[CM_PARETO_NAME_MAX]);

/* Maps for time, for energy, and for energy within budgets of time between these; what another one beats in both is left
 * out. *mapping becomes the one with the least product of step time and network energy, with the job's options, the
 * table "pareto" in its report and all of them as its points, by rising time.
 * Errors: as cm_map. */
cm_status cm_map_pareto(const cm_map_input *input, cm_map_once *once, const cm_step_bound *bound, cm_run *run,
                        cm_mapping **mapping, cm_error *error);

/* Draws the table "pareto" of a report as SVG: time of the busiest core against network energy, both logarithmic, with the
 * lower bounds. The stream keeps errors; CM_BAD_MAPPING when the table cannot be drawn. */
cm_status cm_pareto_draw(const json_t *table, FILE *stream, cm_error *error);

/* Writes pareto.json (the table), pareto.svg and pareto-1.json, ... (each mapping as a file of its own) into a folder, which
 * is made if missing; nothing where the mapping has no points. */
cm_status cm_pareto_write_folder(const cm_mapping *mapping, const cm_topology *topology, const cm_chip *chip,
                                 const char *network_id, const char *folder, cm_error *error);

#endif
