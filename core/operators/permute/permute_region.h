/* Between the steps of placing a permutation: growing its region (permute_grow.c), deciding (permute_region.c) and carrying out
 * (permute_carry.c). A region and all it points to live in its arena. */
#pragma once

#include "core/operators/permute/mincut.h"
#include "core/operators/permute/permute.h"

/* Slots of one node that change form together. */
typedef struct cm_tie_group {
  uint32_t node, variable;
  uint8_t phase; /* of the present form: 0 before, 1 after */
  bool independent, switched;
  bool *tied;        /* per slot */
  cm_layout *layout; /* per slot */
  uint32_t slot_count, next; /* next group of the same node + 1 */
} cm_tie_group;

typedef struct cm_region_value {
  bool in;
  uint8_t phase;
  cm_layout other;   /* the form that it does not have now */
  uint32_t variable; /* of the form in which it is made; source or sink when that is fixed */
  bool made_switched;
  bool turned;       /* a matrix product makes it, and can make the other form too */
} cm_region_value;

typedef struct cm_region {
  cm_permute *p;
  cm_arena arena;
  cm_cut cut;
  cm_region_value *value;    /* by value */
  uint32_t *group_of;     /* by node: first group + 1 */
  cm_tie_group *groups;
  size_t group_count, group_capacity;
  uint32_t *queue;
  size_t queue_head, queue_tail;
  uint32_t *reader_first, *reader; /* nodes that read a value */
} cm_region;

/* Grows the region from the permutation at the layout node `seed`: values, and the groups that tie them. */
cm_status cm_region_grow(cm_region *r, uint32_t seed, cm_error *error);

/* The group in which a slot of a node changes form, or NULL; the one in which a value is made. */
const cm_tie_group *cm_region_group_at(const cm_region *r, uint32_t node, uint32_t slot);
const cm_tie_group *cm_region_making_group(const cm_region *r, uint32_t value);

/* Rewrites r->p->model so that every value has the form that was decided, and normalises it. */
cm_status cm_region_carry_out(cm_region *r, cm_error *error);
