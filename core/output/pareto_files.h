/* Files of a set of mappings between time and energy (core/solver/pareto/pareto.h). */
#pragma once

#include <stdio.h>

#include "core/mapping/mapping.h"
#include "core/network/demand.h"

enum { CM_PARETO_NAME_MAX = 32 };

/* Files of a folder. */
#define CM_PARETO_TABLE "pareto.json"
#define CM_PARETO_PLOT "pareto.svg"

/* That of a mapping of the set, "pareto-1.json". */
void cm_pareto_name(uint32_t number, char name[CM_PARETO_NAME_MAX]);

/* Draws the table "pareto" of a report as SVG: time of the busiest core against network energy, both logarithmic, with the
 * lower bounds. The stream keeps errors; CM_BAD_MAPPING when the table cannot be drawn. */
cm_status cm_pareto_draw(const json_t *table, FILE *stream, cm_error *error);

/* Writes pareto.json (the table), pareto.svg and pareto-1.json, ... (each mapping as a file of its own) into a folder, which
 * is made if missing; nothing where the mapping has no points. */
cm_status cm_pareto_write_folder(const cm_mapping *mapping, const cm_demand *demand, const cm_chip *chip,
                                 const char *network_id, const char *folder, cm_error *error);
