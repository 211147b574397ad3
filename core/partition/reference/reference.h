/* The partition stage of preset `reference`: the source's multilevel method to the letter (source 0, steps s2 to
 * s6). */
#pragma once

#include "core/partition/options.h"
#include "core/partition/partition.h"
#include "core/partition/reference/coarsen.h"

/* Partitions a topology whose coarsened levels lie in these files: initial partition on the coarsest, then refinement and one step of uncoarsening after the other down to the topology itself. Only one
 * level's edges are in memory at a time besides the topology. Parts are numbered without gaps. Opens phases "bisect"
 * and "refine". O(entries of all levels * log(parts)). */
cm_status cm_partition_reference(const cm_demand *demand, const cm_partition_options *options, const cm_level_files *levels,
                                 cm_run *run, cm_partition **partition, cm_error *error);
