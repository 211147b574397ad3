/* Constraints of place, as people write them down: what must lie where, together, apart, side by side. One record for all that is placed:
 * neurons of a network on cores of a chip, and nodes of a problem on tiles (problem.h). */
#pragma once

#include <jansson.h>

#include "base/memory.h"
#include "core/chip/json.h"

enum { CM_CONSTRAINTS_MAX = 4096, CM_CONSTRAINT_NAME_MAX = 80, CM_OFFSETS_MAX = 64 };

typedef enum cm_constraint_kind {
  CM_PIN,       /* each of `of` lies in `at` */
  CM_NOT_HERE,  /* none of `of` lies in `at` */
  CM_TOGETHER,  /* all of `of` in one and the same core, router, chip, column or row */
  CM_APART,     /* no two of `of` in the same one; with `to`: none of `of` where one of `to` is */
  CM_ADJACENT,  /* place of `of` minus place of `to` is one of the offsets */
  CM_CONNECTED, /* the routers of `of` hang together by links between them */
  CM_ORDER,     /* `of` lies left of, ... of `to`, or within so many hops */
  CM_CONSTRAINT_KINDS
} cm_constraint_kind;

/* In the same what. */
typedef enum cm_scope { CM_SCOPE_CORE, CM_SCOPE_ROUTER, CM_SCOPE_CHIP, CM_SCOPE_COLUMN, CM_SCOPE_ROW, CM_SCOPES } cm_scope;

typedef enum cm_side { CM_LEFT_OF, CM_RIGHT_OF, CM_ABOVE, CM_BELOW, CM_WITHIN_HOPS, CM_SIDES } cm_side;

typedef struct cm_place_offset {
  int32_t x, y; /* in routers; x grows to the right, y downwards */
} cm_place_offset;

/* Relations between two (adjacent, order) hold between each of `of` and each of `to`; without `to`, between each of `of` and the next in the
 * order that they are given in, and hops between any two. */
typedef struct cm_constraint {
  cm_constraint_kind kind;
  cm_scope scope;
  cm_side side;
  uint32_t hops;
  char name[CM_CONSTRAINT_NAME_MAX]; /* "": it has none */
  uint32_t *of, *to;                 /* [of_count], [to_count] distinct members, in the order given */
  uint32_t of_count, to_count;
  cm_rectangle *at; /* [at_count] of cores */
  uint32_t at_count, offset_count;
  cm_place_offset offset[CM_OFFSETS_MAX];
} cm_constraint;

typedef struct cm_constraints {
  cm_constraint *constraint; /* [count] */
  uint32_t count;
} cm_constraints;

/* What can be named in constraints, and the cores that places are written in. */
typedef struct cm_constraint_world {
  const char *what; /* "node", "neuron" */
  uint32_t count, numbered; /* the first of them can be named by their numbers */
  const char *(*name)(const void *context, uint32_t member); /* NULL: it has none */
  /* Calls `take` for every member of group `name`; false: there is no such group. `kind` is "population", "part", ...: those of `groups`. */
  bool (*group)(const void *context, const char *kind, const json_t *name, void (*take)(void *user, uint32_t member), void *user);
  const char *const *groups; /* NULL-terminated */
  const void *context;
  uint32_t width, height;    /* in cores */
  uint32_t router_x, router_y, chip_x, chip_y; /* cores of a router, of a chip */
  cm_status status; /* of a refusal */
} cm_constraint_world;

/* Reads a list of constraints (docs/reference/constraints.md) that stands at JSON pointer `where`. The caller's: cm_constraints_clear. O(list * members).
 * Errors: the world's status, at the pointer of what is wrong: unknown fields and words, names that match nothing, places outside; memory. */
cm_status cm_constraints_read(const json_t *list, const char *where, const cm_constraint_world *world, cm_memory *memory,
                              cm_constraints *constraints, cm_error *error);

void cm_constraints_clear(cm_constraints *constraints);

/* A constraint in words, "constraint 3 \"io\": pin of 4 nodes"; numbers count from 1. */
void cm_constraint_text(const cm_constraints *constraints, uint32_t number, const char *what, char *text, size_t size);

extern const char *const cm_constraint_kind_names[CM_CONSTRAINT_KINDS + 1]; /* NULL after the last */

/* Whether a name matches a pattern, in which * stands for any text and ? for any character. */
bool cm_name_matches(const char *pattern, const char *name);
