/* Partitions by the nets themselves (core/partition/nets/nets.h) under the limits of a task. */
#pragma once

#include "core/solver/mappers/engine.h"
#include "core/solver/presets.h"

/* A partition by an effort: into task->parts, or into as few as leave a little room, of at most parts_max. *made is NULL where vertices' sizes found no such partition, or where it would take too long:
 * beyond some million synapses, unless the number of parts is given. */
cm_status cm_engine_nets(const cm_engine_task *task, const cm_effort *effort, cm_run *run, cm_partition **made, cm_error *error);
