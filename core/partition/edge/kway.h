/* Book-keeping of a partition of a CSR graph: how strongly every vertex is tied to every part that it touches,
 * which vertices lie at a border, what the parts hold. One place for the refiners that look at many parts at once. */
#pragma once

#include "core/partition/edge/csr_graph.h"

/* What a search asks of a vertex, side by side in memory. */
typedef struct cm_kway_vertex {
  int64_t inner;      /* weight of the edges into its own part */
  int64_t degree;     /* weight of all its edges */
  uint64_t first;     /* where its ties start: as many places as it has edges, or parts where there are fewer */
  uint32_t tie_count; /* of a list; CM_KWAY_FULL: one place for every part */
  uint32_t place;     /* in `border`, UINT32_MAX: inside */
} cm_kway_vertex;

typedef struct cm_kway {
  const cm_csr_graph *graph;
  cm_run *run;
  uint32_t parts;
  uint32_t *part;       /* [vertices] borrowed */
  uint64_t *load;       /* [parts] */
  int64_t cut;
  cm_kway_vertex *vertex; /* [vertices] */
  uint32_t *tie_part;   /* [ties] of a list: the parts touched, in no order; of a full row: unused */
  int64_t *tie_weight;  /* [ties] */
  uint32_t *border;     /* [border_count] vertices with an edge into another part, in no order */
  uint32_t border_count;
} cm_kway;

#define CM_KWAY_FULL UINT32_MAX

/* Builds the tables for part [vertices], whose numbers are below parts. O(entries). */
cm_status cm_kway_new(const cm_csr_graph *graph, uint32_t *part, uint32_t parts, cm_run *run, cm_kway **state,
                      cm_error *error);
void cm_kway_free(cm_kway *state); /* NULL is allowed */

/* Weight of v's edges into a part. O(parts that v touches), O(1) for vertices that touch many. */
static inline int64_t cm_kway_tie(const cm_kway *state, uint32_t v, uint32_t part)
{
  const cm_kway_vertex *own = &state->vertex[v];
  if (own->tie_count == CM_KWAY_FULL)
    return state->tie_weight[own->first + part];
  for (uint64_t i = own->first; i < own->first + own->tie_count; i++)
    if (state->tie_part[i] == part)
      return state->tie_weight[i];
  return 0;
}

/* How many places there are for v's ties; the tie at one of them, and its part. Ties of a full row may be 0. */
static inline uint32_t cm_kway_ties(const cm_kway *state, uint32_t v)
{
  return state->vertex[v].tie_count == CM_KWAY_FULL ? state->parts : state->vertex[v].tie_count;
}

static inline int64_t cm_kway_tie_at(const cm_kway *state, uint32_t v, uint32_t i, uint32_t *part)
{
  uint64_t at = state->vertex[v].first + i;
  *part = state->vertex[v].tie_count == CM_KWAY_FULL ? i : state->tie_part[at];
  return state->tie_weight[at];
}

static inline bool cm_kway_on_border(const cm_kway *state, uint32_t v)
{
  return state->vertex[v].place != UINT32_MAX;
}

/* Moves v into another part. O(degree * parts that its neighbours touch). */
void cm_kway_move(cm_kway *state, uint32_t v, uint32_t to);
