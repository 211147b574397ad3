/* Between the files that unroll control flow. */
#pragma once

#include "core/operators/control.h"

typedef struct cm_unrolling {
  cm_model *model;
  cm_run *run;
  unsigned depth;
  /* Infers a node, or splices what it stands for and infers that. Errors: CM_BAD_NETWORK, CM_TOO_LARGE, memory. */
  cm_status (*walk)(struct cm_unrolling *u, uint32_t node, cm_error *error);
} cm_unrolling;

/* A failure of the node that is unrolled; `why` may be the error's own text. */
cm_status cm_unroll_fail(const cm_node *node, cm_status status, const char *why, cm_error *error);

/* A new constant of rank 0 or 1 with one element. Errors: memory. */
cm_status cm_unroll_constant(cm_unrolling *u, cm_type type, uint32_t rank, int64_t number, uint32_t *value, cm_error *error);

/* A new constant, one number of a type, without dimensions. Errors: memory. */
cm_status cm_unroll_number(cm_unrolling *u, cm_type type, double number, uint32_t *value, cm_error *error);

typedef struct cm_new_node {
  const char *op;
  const uint32_t *inputs;
  uint32_t count;
  const char *attribute; /* NULL: none */
  int64_t number;
} cm_new_node;

/* A node of one output (CM_NONE: a new value), inferred at once. Errors: of walk. */
cm_status cm_unroll_node(cm_unrolling *u, const cm_new_node *node, uint32_t *output, cm_error *error);

/* The same without attributes, of a new value, which may be among its inputs. */
cm_status cm_unroll_new(cm_unrolling *u, const char *op, const uint32_t *inputs, uint32_t count, uint32_t *value, cm_error *error);

/* Gives what was computed to those who read the node's output. Errors: of walk. */
cm_status cm_unroll_hand_over(cm_unrolling *u, uint32_t from, uint32_t output, cm_error *error);

/* Splices a subgraph and infers its nodes. Errors: of walk. */
cm_status cm_unroll_body(cm_unrolling *u, const cm_node *node, const char *attribute, const cm_body_values *values, cm_error *error);

/* The single element of a value that is known; false when it is not. */
bool cm_unroll_known_integer(const cm_model *m, uint32_t value, int64_t *number);

/* Nodes Loop and Scan, unrolled. Errors: of walk. */
cm_status cm_unroll_loop(cm_unrolling *u, const cm_node *n, cm_error *error);
cm_status cm_unroll_scan(cm_unrolling *u, const cm_node *n, cm_error *error);

/* Operators written as others, whose inputs' shapes have to be known. Errors: of walk. */
cm_status cm_unroll_attention(cm_unrolling *u, const cm_node *n, cm_error *error);
cm_status cm_unroll_rotary(cm_unrolling *u, const cm_node *n, cm_error *error);
cm_status cm_unroll_center(cm_unrolling *u, const cm_node *n, cm_error *error);

/* A row of rewrites.def: an operator of others as standard ones. */
typedef struct cm_rewrite {
  const char *domain, *name, *needs, *text;
} cm_rewrite;

/* All rows, the last one without a name; the row of a node, or NULL. */
const cm_rewrite *cm_rewrite_table(void);
const cm_rewrite *cm_rewrite_find(const cm_node *node);

/* Puts what a row says in a node's place. Errors: of walk; CM_BAD_NETWORK for attributes, inputs or outputs that the row does not have. */
cm_status cm_unroll_rewrite(cm_unrolling *u, const cm_node *n, const cm_rewrite *row, cm_error *error);
