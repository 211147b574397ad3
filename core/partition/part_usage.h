/* The uses of all five limits by all parts, kept exact while vertices move one at a time. */
#pragma once

#include "core/limits/limits.h"
#include "core/partition/counts.h"
#include "core/partition/population_tally.h"

enum { CM_NO_PART = UINT32_MAX };

/* The members of one part. */
typedef struct cm_member_list {
  uint32_t *vertex, count, room;
} cm_member_list;

typedef struct cm_part_usage {
  const cm_demand *demand;
  cm_limits limits;
  cm_run *run;
  uint32_t *part;        /* [vertices] */
  uint32_t slots, parts; /* part numbers that may be used; parts that have a member */
  bool wide;             /* outbound axons, target cores or source cores are limited */
  uint64_t *in_first;    /* [vertices + 1] */
  uint32_t *in_source;   /* distinct sources that reach a vertex */
  uint32_t *synapses;    /* [vertices] that come in */
  uint32_t *reached;     /* [vertices] parts that it reaches; NULL: any number may be */
  uint32_t *out_net;     /* [vertices + 1] first net of each vertex */
  uint64_t *use;         /* [slots * CM_RESOURCES] */
  cm_counts presence;    /* (part, source) -> targets there */
  cm_counts pair;        /* (part, other part) -> sources that reach it; only when wide */
  cm_population_tally populations;
  cm_member_list *members;         /* [slots] */
  uint32_t *place;       /* [vertices] in its part's members */
  uint32_t *over;        /* parts that break a limit */
  uint32_t *over_place;  /* [slots] in `over`, CM_NO_PART: breaks none */
  uint32_t over_count;
  uint32_t *touched; /* parts whose use the present move changed */
  double *before;    /* [slots] their excess before it, -1: untouched */
  uint32_t touched_count;
  uint32_t *seen; /* [slots] stamps */
  uint32_t stamp;
  int64_t pairs, pairs_before; /* of axon and part; before the present move */
  double pair_price;           /* what the caller wants each further pair to cost; 0 at first */
  double work;                 /* synapses looked at */
} cm_part_usage;

/* Counts the usage of a partition: part [vertices] with numbers below `parts`, which they change from now on; `slots`
 * part numbers may be used, at least `parts`. The caller ends them with cm_part_usage_free, on failure too. O(pins). */
cm_status cm_part_usage_open(cm_part_usage *usage, const cm_demand *demand, const cm_limits *limits, uint32_t *part,
                             uint32_t slots, cm_run *run, cm_error *error);
void cm_part_usage_free(cm_part_usage *usage);

/* A part's use of a resource. */
static inline uint64_t cm_part_usage_use(const cm_part_usage *usage, uint32_t part, cm_resource resource)
{
  return usage->use[(size_t)part * CM_RESOURCES + resource];
}

/* The sum of a part's excesses, each as a share of its limit. */
double cm_part_usage_excess(const cm_part_usage *usage, uint32_t part);

/* Synapses that moving a vertex looks at. */
static inline uint64_t cm_part_usage_degree(const cm_part_usage *u, uint32_t vertex)
{
  const uint64_t *net_first = u->demand->network->net_first;
  return u->in_first[vertex + 1] - u->in_first[vertex] + net_first[u->out_net[vertex + 1]] - net_first[u->out_net[vertex]];
}

/* Moves a vertex to another part, which admits its population. On failure nothing has changed. O(degree). */
cm_status cm_part_usage_move(cm_part_usage *usage, uint32_t vertex, uint32_t to, cm_error *error);

/* The price of the moves since the last call with `keep`: the change of all excesses, and pair_price for every
 * further pair of axon and part. With `keep` the list of parts over a limit follows them. O(parts touched). */
double cm_part_usage_settle(cm_part_usage *usage, bool keep);
