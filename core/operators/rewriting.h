/* A text of rewrites.def while it is read: words, numbers, and the attributes of a node. */
#pragma once

#include "core/operators/operator.h"
#include "core/operators/unrolling.h"

enum { CM_REWRITE_NAME_MAX = 48, CM_REWRITE_BOUND_MAX = 12 };

/* One reading of a text. */
typedef struct cm_rewriting {
  cm_unrolling *u;
  const cm_node *n;
  const char *at;
  struct {
    char name[CM_REWRITE_NAME_MAX];
    uint32_t value;
  } bound[CM_REWRITE_BOUND_MAX];
  size_t bound_count;
  unsigned dry;      /* what is read is left out */
  uint32_t shift;    /* of the numbers of inputs, in what is repeated */
  uint64_t named;    /* inputs that the text names */
  uint32_t inputs_read; /* so many times one was named */
} cm_rewriting;

/* Whether this comes next, behind spaces; it is passed then. */
bool cm_rewriting_takes(cm_rewriting *r, const char *text);

/* Passes it where it comes next, and spaces. */
void cm_rewriting_skip(cm_rewriting *r, const char *text);

void cm_rewriting_name(cm_rewriting *r, char name[CM_REWRITE_NAME_MAX]);
double cm_rewriting_number(cm_rewriting *r);

/* An attribute as a number; `otherwise`: it is NULL, or none. */
double cm_rewriting_attribute_number(const cm_attribute *a, double otherwise);

/* {...}, if it comes next, into the attributes of a node without inputs or outputs. Errors: memory. */
cm_status cm_rewriting_attributes(cm_rewriting *r, cm_node *to, cm_error *error);
