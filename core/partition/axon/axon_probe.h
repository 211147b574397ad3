/* Looking for the best move of a vertex without making it. Any number of probes may look at one state at a time, as
 * long as nothing moves. */
#pragma once

#include "core/partition/axon/axon_copies.h"

/* What draws the vertex under way to a part. */
typedef struct cm_pull {
  uint64_t kept;   /* of what its nets would pay, what a move there saves */
  uint32_t shared; /* inbound nets that the part has already */
  bool touched;
} cm_pull;

typedef struct cm_probe {
  const cm_axon_state *state;
  cm_pull *pull;      /* [part_capacity] zero outside `touched` */
  uint32_t *touched;  /* other parts that the vertex's nets reach or come from */
  uint32_t touched_count;
  uint32_t *open;     /* of `touched`, those that may be the best; all of them as long as others may come */
  uint32_t open_count;
  double *open_cost;  /* of each open part, what entering it costs by the nets looked at */
  bool closed;        /* no others can come */
  bool counted;       /* open_cost is of all nets that are looked at */
  uint64_t in_weight; /* of the inbound nets looked at, those of other sources; with prices of its own as well */
  uint64_t *column, *row; /* with prices: what those nets would pay in every column and row, without the base; and as
                             much scratch behind */
  uint64_t own_pays;  /* with prices: what its own nets pay where it is */
  uint32_t seen;      /* inbound nets looked at */
  cm_copies_owed owed; /* by the move looked at */
  CM_THREADS_APART
} cm_probe;

cm_status cm_probe_init(cm_probe *probe, const cm_axon_state *state, cm_error *error);
void cm_probe_free(cm_probe *probe);

/* A move that was found. Its cost is what it changes in the penalised objective (negative is better). */
typedef struct cm_offer {
  uint32_t to;       /* UINT32_MAX: none */
  uint32_t added;    /* inbound axons that `to` would get */
  double cost;
  double spread;     /* the cost without penalties */
} cm_offer;

/* The cheapest of the other parts that v's nets reach and where it costs less than `bound`. `hard`: only parts that
 * keep every limit. Of equal costs the lowest number. Looks at v's nets from the heaviest on until no part can be cheap
 * enough: O(sum of lambda over them) at the worst. */
cm_offer cm_probe_best(cm_probe *probe, uint32_t v, bool hard, double bound);

/* What leaving its part costs v, wherever it goes. O(1). */
double cm_axon_leaving(const cm_axon_state *state, uint32_t v);
