/* Partitioning under all core limits of networks whose neurons have thousands of inbound axons each, of which no two
 * share many more than chance has them share: nothing to coarsen by. Parts are filled one after another. */
#pragma once

#include "core/partition/axon/axon.h"

/* Whether this way suits: many synapses in all, and a good part of the possible ones. */
bool cm_dense_suits(const cm_demand *demand);

/* What is at hand of its memory though the lists of sources stand in files: the sets of sources. */
uint64_t cm_dense_hot_bytes(const cm_topology *topology);

/* As cm_partition_axons, but greedily: neurons of one kind (cm_order_by_sources) wait together; of those that wait the
 * ones go next into the part under way that have the largest share of their sources there already, until none fits; the
 * next part begins with the one that has most sources. Of `options` limits and seed count; parts may be more
 * than parts_max. Memory: a list of
 * sources by target (cm_synapses) and 2048 sets of sources. O(pins + 2 * vertices squared). Errors: memory,
 * I/O and run errors. Phases "index", "initial". */
cm_status cm_partition_dense(const cm_demand *demand, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error);
