/* How operators let permutations pass: source 3's rules z101 (intra-dimension) and z102 (inter-dimension).
 *
 * A rule is given the layout of one input or output and says which layouts the others must then have, so that the
 * operator computes the same elements, only stored otherwise. The rewrite then makes it so: axes, pads, weights and
 * shapes. */
#pragma once

#include "core/operators/permute/layout.h"
#include "core/operators/operator.h"

typedef struct cm_crossing {
  cm_model *model;
  uint32_t node; /* nodes may move while a rewrite adds constants: always by number */
  cm_maps *maps;
  cm_run *run;
  uint32_t input_count, slot_count; /* slots: inputs, then outputs */
  uint32_t from;                    /* the slot that is given (rule only) */
  cm_layout *layout;                /* per slot; the rule fills those it ties to the given one */
  bool *tied;                       /* per slot */
  bool exchanged;                   /* the rewrite: the first two inputs changed places */
  bool independent;                 /* the rule: other slots may get layouts of their own beside these */
} cm_crossing;

/* Asks the rule of the node's operator. False: a wall. Slots that need the identity are left untied. */
bool cm_cross(cm_crossing *crossing);

/* Rewrites the node for the layouts of its slots (identity where not tied): attributes and constant inputs. Its data
 * values and their shapes are still the old ones; the caller exchanges them afterwards. */
cm_status cm_cross_rewrite(cm_crossing *crossing, cm_error *error);

/* ---- for the rules ---- */

const cm_node *cm_crossing_node(const cm_crossing *c);

/* The value at a slot, NULL when it is left out. */
const cm_value *cm_crossing_value(const cm_crossing *c, uint32_t slot);

/* The value at an input, NULL when it is left out. */
const cm_value *cm_crossing_input(const cm_crossing *c, uint32_t input);

/* A slot that is there, no constant, of known shape. */
bool cm_crossing_is_data(const cm_crossing *c, uint32_t slot);

/* Ties a slot to a layout; false when it was tied to another. */
bool cm_crossing_tie(cm_crossing *c, uint32_t slot, const cm_layout *layout);

/* The layout of a slot: what it is tied to, or the identity. */
cm_layout cm_crossing_layout(const cm_crossing *c, uint32_t slot);

/* Axis attribute brought to 0 .. rank-1; CM_NONE when it makes no sense. */
uint32_t cm_crossing_axis(const cm_crossing *c, int64_t otherwise, uint32_t rank);

/* Replaces a constant input by itself stored under a layout (of the rank it has). */
cm_status cm_crossing_permute_constant(cm_crossing *c, uint32_t input, const cm_layout *layout, cm_error *error);

/* Replaces an input by a new int64 constant. */
cm_status cm_crossing_set_integers(cm_crossing *c, uint32_t input, const int64_t *numbers, size_t count, cm_error *error);

/* Integers of an attribute or of a constant input; false when they are not known or too many. */
bool cm_crossing_integers(const cm_crossing *c, const char *attribute, uint32_t input, int64_t *numbers, size_t *count);
