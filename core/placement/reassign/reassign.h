/* Assigns unmapped neurons to parts: core limits hold, and each goes where it adds the least traffic. */
#pragma once

#include "base/run.h"
#include "core/chip/classes.h"
#include "core/chip/occupancy.h"
#include "core/network/demand.h"

#define CM_NOWHERE UINT32_MAX

typedef struct cm_assignment {
  const cm_demand *demand;
  const cm_chip *chip;
  cm_limits limits;   /* that no core exceeds; of one kind of core alone: of_kind */
  uint32_t parts_max; /* cores that there are for parts: so many parts may have neurons */
  uint32_t kinds;     /* of cores (core/chip/classes.h), 1 where they do not differ */
  uint32_t cores[CM_KINDS_MAX];    /* [kinds] of those cores */
  cm_limits of_kind[CM_KINDS_MAX]; /* [kinds] */
  uint64_t *allowed;  /* [vertex_count] kinds that may take each neuron, as bits; NULL: any */
  /* Kinds that free neurons may have. The others are pinned: of parts that ask too much the freer ones leave, for which pinned ones press into full parts; whoever
   * moves is let onto free cores, where that is nearer. 0: nobody is pinned. */
  uint64_t anywhere;
  uint8_t *held; /* [vertex_count] of these, too: neurons that stay where they are; NULL: none */
  const cm_occupancy *occupancy; /* where somebody is pinned */
  uint8_t *kind;      /* [room + 1] of the core that each part needs */
  uint32_t room;      /* at least parts_max and parts */
  uint32_t *part;     /* [vertex_count] CM_NOWHERE: none yet */
  uint32_t *core;     /* [room + 1] of each part, CM_NOWHERE: none yet */
  uint32_t parts;     /* numbers in use, some may be empty */
} cm_assignment;

/* What a part may hold. O(1). */
static inline const cm_limits *cm_assigned_limits(const cm_assignment *assignment, uint32_t part)
{
  return &assignment->of_kind[assignment->kind[part]];
}

/* Whether a neuron may be on cores of a kind. O(1). */
static inline bool cm_kind_takes(const cm_assignment *assignment, uint32_t vertex, uint32_t kind)
{
  return assignment->allowed == NULL || (assignment->allowed[vertex] >> kind & 1) != 0;
}

static inline bool cm_is_pinned(const cm_assignment *assignment, uint32_t vertex)
{
  return (assignment->held != NULL && assignment->held[vertex]) ||
         (assignment->allowed != NULL && (assignment->allowed[vertex] & assignment->anywhere) != assignment->anywhere);
}

/* Parts without a core are told which kind of core they are to have, the largest first: of those with cores left the one that takes most of
 * their neurons. Those for which none is left are dissolved, counted in *dissolved. O(vertices * kinds + parts log parts). */
cm_status cm_dissolve(cm_assignment *assignment, cm_run *run, uint32_t *dissolved, cm_error *error);

/* Gives every neuron a part so that no limit is broken: neurons leave parts on cores that do not take them, and parts that break a
 * limit, those least tied to them first; neurons without a part join the part with room where their packets travel least, or a new one. *legal
 * is false when some limit or the number of cores forbids it by this way. */
cm_status cm_reassign(cm_assignment *assignment, cm_run *run, bool *legal, cm_error *error);

/* Closes the gaps that empty parts leave and gives every part without a core the free one where its packets travel
 * least to those that have one; nobody else moves. Fills part_at [cores of the chip] with the part on each, CM_NOWHERE:
 * none, and *placed with how many got a core, which is of the kind that the part needs. O(pins + routers looked at * partners) a part. CM_NO_ROOM when cores run
 * out. */
cm_status cm_place_new_parts(cm_assignment *assignment, const cm_occupancy *occupancy, uint32_t *part_at, cm_run *run,
                             uint32_t *placed, cm_error *error);
