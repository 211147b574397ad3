/* Neurons without a part find one, under the core limits, near what they talk with. */
#ifndef CM_MAPPING_SETTLE_H
#define CM_MAPPING_SETTLE_H

#include "core/base/run.h"
#include "core/chip/occupancy.h"
#include "core/network/topology.h"

#define CM_NOWHERE UINT32_MAX

typedef struct cm_settlement {
  const cm_topology *topology;
  const cm_chip *chip;
  cm_limits limits;
  uint32_t parts_max; /* cores that there are for parts: so many parts may have neurons */
  uint32_t room;      /* at least parts_max and parts */
  uint32_t *part;     /* [vertex_count] CM_NOWHERE: none yet */
  uint32_t *core;     /* [room + 1] of each part, CM_NOWHERE: none yet */
  uint32_t parts;     /* numbers in use, some may be empty */
} cm_settlement;

/* Gives every neuron a part so that no limit is broken: neurons leave parts that break one, those least tied to them
 * first; neurons without a part join the part with room where their packets travel least, or found a new one. *settled
 * is false when some limit or the number of cores forbids it by this way. */
cm_status cm_settle(cm_settlement *settlement, cm_run *run, bool *settled, cm_error *error);

/* Closes the gaps that empty parts leave and gives every part without a core the free one where its packets travel
 * least to those that have one; nobody else moves. Fills tenant [cores of the chip] with the part on each, CM_NOWHERE:
 * none, and *seated with how many got a core. O(pins + routers looked at * partners) a part. CM_NO_ROOM when cores run
 * out. */
cm_status cm_seat(cm_settlement *settlement, const cm_occupancy *occupancy, uint32_t *tenant, cm_run *run,
                  uint32_t *seated, cm_error *error);

#endif
