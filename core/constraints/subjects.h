/* What constraints of a mapping are about: single neurons, populations, and parts where these are given. Each is a set of neurons. */
#pragma once

#include "core/constraints/constraints.h"
#include "core/network/topology.h"

/* Numbers: neurons first, then populations, then parts. */
typedef struct cm_subjects {
  const cm_topology *topology;
  cm_memory *memory; /* the account of these and of what is read with them */
  uint32_t part_count, count;
  uint32_t *first, *member; /* neurons of population or part g: member[first[g]] .. member[first[g + 1] - 1] */
} cm_subjects;

/* Parts are `part` [vertices] (NULL: none can be named), numbers below `part_count`. The caller's: cm_subjects_clear. O(vertices). */
cm_status cm_subjects_open(const cm_topology *topology, const uint32_t *part, uint32_t part_count, cm_memory *memory, cm_subjects *subjects,
                           cm_error *error);
void cm_subjects_clear(cm_subjects *subjects);

/* Number of neurons of a subject, and one of them. O(1). */
static inline uint32_t cm_subject_size(const cm_subjects *s, uint32_t subject)
{
  const uint32_t n = s->topology->vertex_count;
  return subject < n ? 1 : s->first[subject - n + 1] - s->first[subject - n];
}

static inline uint32_t cm_subject_neuron(const cm_subjects *s, uint32_t subject, uint32_t i)
{
  const uint32_t n = s->topology->vertex_count;
  return subject < n ? subject : s->member[s->first[subject - n] + i];
}

/* Reads a list of constraints at JSON pointer `where` about them, on cores of a chip. The caller's: cm_constraints_clear. Errors as of cm_constraints_read,
 * CM_BAD_OPTION. */
cm_status cm_subject_constraints(const json_t *list, const char *where, const cm_subjects *subjects, const cm_chip *chip, cm_constraints *constraints,
                                 cm_error *error);

/* A constraint in words, `constraint 3 "io": pin of L4E, neuron 7 and 2 more`; numbers count from 1. */
void cm_subjects_text(const cm_subjects *subjects, const cm_constraints *constraints, uint32_t number, char *text, size_t size);
