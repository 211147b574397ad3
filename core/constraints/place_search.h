/* A complete search: propagation, the smallest domain by how often it was where it failed (Boussemart et al., ECAI 2004), two branches a decision,
 * restarts with twice the decisions, tiles that cost least first, variables that are alike refuted together. */
#pragma once

#include "base/run.h"
#include "core/constraints/domains.h"

typedef enum cm_answer { CM_IMPOSSIBLE, CM_POSSIBLE, CM_UNKNOWN } cm_answer;

typedef struct cm_search {
  uint64_t work_max;    /* words looked at; the answer is unknown behind it */
  uint64_t decisions_max; /* 0: no limit but the work's */
  uint64_t below;       /* only places that cost less; UINT64_MAX: any */
  bool cheapest;        /* goes on until no cheaper ones are left, or the limit */
  const uint64_t *domain; /* to begin with; NULL: the model's */
  /* Whether places that keep the model are good, too; NULL: all are. */
  cm_status (*judge)(void *context, const uint32_t *place, bool *good, cm_error *error);
  void *context;
} cm_search;

typedef struct cm_found {
  uint32_t *place;  /* [variables] the caller's; filled where the answer is possible */
  cm_answer answer; /* impossible is a proof; unknown: the limit was reached before either */
  bool proved;      /* with `cheapest`: nothing cheaper is left */
} cm_found;

/* Searches. Errors: cancelled, memory. */
cm_status cm_search_places(cm_state *state, const cm_search *search, cm_run *run, cm_found *found, cm_error *error);

/* Half perimeters of all nets. O(pins). */
uint64_t cm_place_model_cost(const cm_place_model *model, const uint32_t *place);
