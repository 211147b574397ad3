/* Where neurons may lie by the constraints of a mapping: the chip's kinds of cores (core/chip/classes.h) are split until each is all inside or all outside
 * what a constraint names, and each neuron is told which of these kinds take it. So all methods that know kinds keep pins. */
#pragma once

#include "base/run.h"
#include "core/chip/classes.h"
#include "core/chip/occupancy.h"
#include "core/constraints/subjects.h"
#include "core/network/demand.h"

/* What the constraints of a job are about. */
typedef struct cm_area_input {
  const json_t *list; /* of constraints */
  const cm_demand *demand;
  const cm_chip *chip;
  const cm_occupancy *occupancy;
  const uint32_t *part; /* [vertices] parts that are given, and can be named; NULL: none */
  uint32_t part_count;
  uint64_t part_size_max; /* neurons of a core; 0: as many as the chip says */
} cm_area_input;

typedef struct cm_areas {
  cm_subjects subjects;
  cm_constraints constraints;
  cm_chip chip;        /* the job's with finer kinds; the rest of it is borrowed */
  uint8_t base[CM_KINDS_MAX]; /* the job's kind that each is of */
  uint32_t *choice_of; /* [vertices] neurons of one choice are pinned alike */
  uint64_t *takes;     /* [choices] kinds of `chip` whose cores take them, as bits */
  uint32_t *before, *by; /* [choices] the choice that it was split from, and the constraint that did it; of the first: itself, none */
  bool *pinned;        /* [choices] a pin names them, so that cores for pinned neurons alone take them */
  uint64_t *inside;    /* [constraints] kinds whose cores lie in `at` */
  uint32_t choices;
  uint32_t *cell_of; /* [vertices] neurons that relations between them name alike; parts hold neurons of one cell */
  bool *whole;       /* [cells] its neurons share a core */
  uint32_t cells;
  bool relations;    /* there are some: constraints that say more than where somebody may lie */
} cm_areas;

/* Reads the constraints and lays out the areas. The caller's: cm_areas_close. O(constraints * cores + neurons named + choices * kinds). Errors: CM_BAD_OPTION at
 * the JSON pointer under /options/constraints of what is wrong; a set of pins that leaves too little room, of which none can be left out; more kinds than
 * there can be; memory. */
cm_status cm_areas_open(const cm_area_input *input, cm_run *run, cm_areas **areas, cm_error *error);
void cm_areas_close(cm_areas *areas); /* NULL is allowed */

/* Whether a constraint says where somebody may lie, whoever lies elsewhere; the others are relations. O(1). */
static inline bool cm_is_area(const cm_constraint *constraint)
{
  return constraint->kind == CM_PIN || constraint->kind == CM_NOT_HERE;
}

/* Kinds of cores that a constraint lets a neuron that it names lie on. O(1). */
static inline uint64_t cm_area_of(const cm_areas *areas, uint32_t constraint)
{
  return areas->constraints.constraint[constraint].kind == CM_PIN ? areas->inside[constraint] : ~areas->inside[constraint];
}

/* cells.c: of zeroed fields. O(neurons named + vertices). Errors: CM_BAD_OPTION: neurons are to share a core and may not; memory. */
cm_status cm_areas_make_cells(cm_areas *areas, uint32_t vertices, cm_memory *memory, cm_error *error);

/* The cell whose neurons a constraint puts into one core; UINT32_MAX: it does not, or names nobody. O(subjects). */
uint32_t cm_cell_together(const cm_areas *areas, uint32_t constraint);

/* areas_room.c: CM_BAD_OPTION where the neurons that pins name need more room than their cores have, whatever else is done. */
cm_status cm_areas_check_room(const cm_areas *areas, const cm_area_input *input, cm_run *run, cm_error *error);
