/* The search for copies of neurons, under way (copy_leaving.h). Instances are neurons, then copies. */
#pragma once

#include "core/placement/copy_leaving.h"

enum { CM_NO_COPY = UINT32_MAX, CM_COPY_OWN = 0, CM_COPY_NEAR = 1, CM_COPY_FAR = 2, CM_COPY_WAYS = 3 };

typedef struct cm_copying {
  const cm_copy_task *t;
  uint32_t n, count;          /* neurons; instances */
  size_t most;                /* instances that there is room for */
  uint64_t *in_first;         /* [n + 2] a neuron's inputs */
  uint32_t *source;           /* [pins] the neuron that each comes from */
  uint64_t *input;            /* [pins] which input of its target each pin is */
  uint32_t *net;              /* [n + 1] a neuron's net */
  uint32_t *of, *part, *next; /* [most]; next: another instance of the neuron, CM_NO_COPY */
  cm_leaving *leaving;        /* [most] */
  uint64_t *row;              /* [most] where its inputs begin in `server` */
  uint32_t *server;           /* the instance that each input comes from */
  uint64_t served, room;
  uint32_t parts, missing;
  uint32_t *core, *cluster;     /* [parts, and one that may open] */
  uint64_t *neurons, *synapses; /* [parts] */
  uint32_t *seen, *candidate;   /* [parts] */
  uint32_t stamp, candidates;
  uint8_t *usable;              /* [cores] free, and no part on it */
  uint64_t excess;              /* synapses too many */
  double work;                  /* of copies with copies of their sources */
  uint32_t *set, *in_set, *need, *needed; /* [most] who is copied together; stamps; synapses that it needs of one, and their stamps */
} cm_copying;

/* What a copy on a part may take over. */
typedef struct cm_copy_takes {
  uint64_t over[CM_COPY_WAYS], room[CM_COPY_WAYS]; /* that leaves its neuron and is too much; that may leave the copy */
  uint32_t moved;
} cm_copy_takes;

/* How a synapse goes from part to part; how many may, and do, leave an instance so; its synapses too many. O(1). */
int cm_copying_way(const cm_copying *s, uint32_t from, uint32_t to);
uint64_t cm_copying_limit(const cm_copying *s, int way);
uint32_t cm_copying_leaves(const cm_copying *s, uint32_t v, int way);
uint32_t cm_copying_excess(const cm_copying *s, uint32_t v);

/* Of the instances of a neuron, the one for which a synapse to a part costs least. O(instances). */
uint32_t cm_copying_cheapest(const cm_copying *s, uint32_t neuron, uint32_t to, int64_t *cost);

/* Goes through what an instance serves, first what lies on the part, last what lies far from it; a copy takes it over, as far as it is too much or lies with
 * it. CM_NO_COPY: it is only counted. O(targets). */
cm_copy_takes cm_copying_takes(const cm_copying *s, uint32_t v);
void cm_copying_take_over(cm_copying *s, uint32_t v, uint32_t part, uint32_t copy, cm_copy_takes *t);

/* A copy of an instance, where there is room. O(degree). Errors: memory. */
cm_status cm_copying_make(cm_copying *s, uint32_t v, uint32_t part, cm_error *error);

/* The free core of a cluster (CM_NO_COPY: of any) that is nearest to an instance; CM_NO_COPY. O(cores). */
uint32_t cm_copying_free_core(const cm_copying *s, uint32_t v, uint32_t cluster);

/* Copies each of which mends more than it breaks, until there are none; then copies with copies of their sources. Errors: memory, a stop. */
cm_status cm_copying_mend(cm_copying *s, cm_error *error);
cm_status cm_copying_mend_together(cm_copying *s, cm_error *error);
