/* The engine of objective axon without places: its starts for objective edge and by nets, and the search that goes on from them. */
#pragma once

#include "core/solver/mappers/engine.h"
#include "core/solver/presets.h"

/* The multilevel method that keeps neurons, synapses and inbound axons within the limits by itself. Where axons are
 * edges, objective edge's has nothing left to gain for it but the limits. */
cm_status cm_engine_by_axons(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition, cm_error *error);

/* An effort on edges, for the limits of a task. */
cm_edge_options cm_engine_edge_options(const cm_engine_task *task, const cm_effort *effort);
