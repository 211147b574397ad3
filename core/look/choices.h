/* What more cores would do for a step, foreseen by a cheap look (core/look/look.h) where the chip states what a step costs. */
#pragma once

#include "core/look/look.h"
#include "core/mapping/mapping.h"
#include "core/mapping/options.h"

/* Whether a mapping's report has them: the network has directions, and the chip says what a step costs. */
bool cm_choices_are_told(const cm_map_input *input);

/* Sets "choices" of the mapping's report: steps and energies of objective time on fewest cores to those of the least time, with what is
 * proved. Nothing where they are not told. */
cm_status cm_choices_report(const cm_map_input *input, cm_mapping *mapping, cm_run *run, cm_error *error);

/* "choices" as reports have them; NULL: no memory. */
json_t *cm_choices_json(const cm_look_point *point, uint32_t points);

/* Of larger networks a look sees so many synapses. */
uint64_t cm_choices_pins(const cm_topology *topology);

/* Objective knee: the fewest cores whose step times energy is foreseen within a quarter of the least. CM_NO_ROOM: the look finds none that
 * do. */
cm_status cm_choices_knee(const cm_map_input *input, cm_run *run, uint32_t *cores, cm_error *error);
