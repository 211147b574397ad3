/* Which kinds of cores (core/chip/classes.h) neurons and parts may run on, and on which they shall. */
#pragma once

#include "core/constraints/areas.h"
#include "core/mapping/input.h"

/* Whether constraints relate neurons to each other, so that those of different cells share no part. O(1). */
static inline bool cm_has_relations(const cm_map_input *input)
{
  return input->areas != NULL && input->areas->relations;
}

/* Free cores of each kind that can talk to each other: cores [kinds]. O(cores). */
cm_status cm_count_kinds(const cm_map_input *input, cm_run *run, uint32_t *cores, cm_error *error);

/* The kinds that may take each neuron, as bits: allowed [vertices]. Those whose classes take the neuron's label (name or model
 * of its population), whose limits hold it alone and where constraints let it lie; inputs outside the chip go anywhere. Kinds without cores take nobody.
 * CM_LIMIT_BROKEN: 'label "X": no core class takes it'; CM_NEURON_TOO_LARGE where only limits are in the way. O(pins +
 * vertices * kinds). */
cm_status cm_allowed_kinds(const cm_map_input *input, const uint32_t *cores, cm_run *run, uint64_t *allowed, cm_error *error);

/* A kind for every neuron: kind [vertices]. Neurons of one label stay together where one kind has room for them, by bounds on
 * the cores that they need; those with the least choice come first, each label where it needs the fewest cores. `room`
 * [kinds] is what is given out of each. O(pins * kinds). */
cm_status cm_choose_kinds(const cm_map_input *input, const uint64_t *allowed, const double *room, cm_run *run, uint8_t *kind,
                          cm_error *error);

/* A kind for every part that the input has already, by what its neurons and its use [parts * CM_RESOURCES] allow: kind [parts], at most cores [kinds] of each.
 * CM_LIMIT_BROKEN where a part may run nowhere, CM_NO_ROOM where cores do not suffice. O(vertices + parts * kinds^2). */
cm_status cm_match_kinds(const cm_map_input *input, const uint64_t *allowed, const uint64_t *use, const uint32_t *cores,
                         cm_run *run, uint8_t *kind, cm_error *error);

/* "N neurons of label "X"", or of several, for messages: of those neurons whose kind [vertices] is the one. */
void cm_name_labels(const cm_demand *demand, const uint8_t *kind, uint32_t which, char *text, size_t size);

/* "cores of class "A"" or "cores of no class", for messages. */
const char *cm_name_kind(const cm_chip *chip, uint32_t kind, char *text, size_t size);
