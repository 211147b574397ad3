/* The partition stage where cores are of several kinds. */
#pragma once

#include "core/solver/stage/by_population.h"

/* Every neuron gets a kind of core (kinds_of_neurons.h), and those of each kind are partitioned alone by the job's own method, which
 * costs what it costs in the whole network, less a constant (core/limits/populations.h); the partition says which kind
 * of core each part needs. Where parts of one kind find no room and some of its neurons may run elsewhere, they are given
 * out again. Fills partition, use, quality, attempts and limits of a zeroed *made. CM_NO_ROOM: "N neurons of label X need
 * M cores of class A, K are free"; other errors as cm_make_parts and cm_allowed_kinds. */
cm_status cm_partition_by_class(const cm_by_population *job, cm_candidate *made, cm_error *error);
