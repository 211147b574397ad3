/* Why not: refusals of the partition stage that name the limit in the way and the smallest relaxation that would
 * fit, proved or found by trying (docs/explanation/refusals.md). */
#pragma once

#include "core/limits/bound.h"
#include "core/mapping/input.h"

/* What a run of the attempts is given. */
typedef struct cm_terms {
  cm_limits limits;
  uint32_t cores; /* that may be used */
  bool budget;    /* by option cores, and more are free */
  uint32_t parts; /* exactly so many; 0: the limits decide */
} cm_terms;

/* What these cores are, for a sentence. */
static inline const char *cm_terms_cores(const cm_terms *terms)
{
  return terms->budget ? "allowed" : "free";
}

/* The legal partition that some terms led to. */
typedef struct cm_outcome {
  uint32_t parts;
  uint64_t most[CM_RESOURCES]; /* largest use of any part */
} cm_outcome;

/* Whether a partition keeps some terms. */
bool cm_outcome_keeps(const cm_outcome *outcome, const cm_terms *terms);

typedef struct cm_refusal {
  const cm_map_input *input;
  cm_run *run;
  const cm_terms *terms; /* those that cannot be met */
  const cm_bound *bound; /* of their limits */
  uint32_t parts;          /* that an attempt makes, about */
  uint32_t roomy_parts;  /* of a legal partition that was found and needs more cores than are free; 0: none */
  uint32_t first_parts;  /* of a first partition, which are far too many for it to be refined; 0: no method gave up so */
  /* Runs the attempts under other terms, *left of them at most, and counts those down: CM_NO_ROOM or CM_LIMIT_BROKEN when they
   * cannot be met either. */
  cm_status (*attempt)(void *context, const cm_terms *terms, uint32_t *left, cm_outcome *outcome, cm_error *error);
  void *context;
} cm_refusal;

/* CM_NO_ROOM (or, for a fixed number of parts, CM_LIMIT_BROKEN) when the bound alone says that the terms cannot be
 * met, else CM_OK. Figures: needed, free, largest_free_rectangle, limit, cores_proved, limit_proved. O(pins). */
cm_status cm_refuse_by_bound(const cm_refusal *refusal, cm_error *error);

/* Adds to the failure that *error describes, CM_NO_ROOM or CM_LIMIT_BROKEN after work was done, what was found to
 * fit: the number of cores (cores_found), and one limit (limit_name, limit, limit_found). `first` is the limit to
 * try first, CM_RESOURCES: none in particular. Makes about 10^8 / pins attempts, fewer where they make hundreds of parts, 1 to 16; a limit of time or
 * memory ends the search early. Returns error->status, CM_CANCELLED, or CM_OK when an attempt kept the terms after
 * all. */
cm_status cm_explain_refusal(const cm_refusal *refusal, cm_resource first, cm_error *error);
