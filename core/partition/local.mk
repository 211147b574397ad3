libcoremap_a_SOURCES += \
  core/partition/options.h core/partition/partition.h core/partition/fixed.c core/partition/fixed.h core/partition/merge_parts.c core/partition/merge_parts.h core/partition/part_file.c core/partition/part_file.h core/partition/partition.c \
  core/partition/graph.h core/partition/graph.c core/partition/graph_gather.h core/partition/graph_gather.c \
  core/partition/graph_rows.h core/partition/graph_rows.c core/partition/graph_topology.c core/partition/graph_file.c \
  core/partition/fm_walk.h core/partition/fm_search.h core/partition/fm_search.c \
  core/partition/population_tally.h core/partition/population_tally.c \
  core/partition/quality.h core/partition/quality.c \
  core/partition/counts.h core/partition/counts.c core/partition/part_usage.h core/partition/part_usage.c \
  core/partition/legalise.h core/partition/legalise.c core/partition/keep_leaving.h core/partition/keep_leaving.c \
  core/partition/flows.h core/partition/flows.c \
  core/partition/inbound.h core/partition/inbound.c core/partition/synapses.h core/partition/synapses.c \
  core/partition/reference/coarsen.h core/partition/reference/coarsen.c \
  core/partition/reference/bisect.h core/partition/reference/bisect.c \
  core/partition/reference/refine.h core/partition/reference/refine.c \
  core/partition/reference/reference.h core/partition/reference/reference.c \
  core/partition/step/loads.h core/partition/step/loads.c \
  core/partition/step/step_state.h core/partition/step/step_state.c \
  core/partition/step/step_window.h core/partition/step/step_window.c \
  core/partition/step/step_grow.h core/partition/step/step_grow.c \
  core/partition/step/step_anneal.h core/partition/step/step_anneal.c \
  core/partition/step/step_bound.h core/partition/step/step_bound.c \
  core/partition/step/step.h core/partition/step/step.c \
  core/partition/axon/lists.h core/partition/axon/packed_pins.h core/partition/axon/packed_pins.c core/partition/axon/hypergraph.h core/partition/axon/hypergraph_internal.h \
  core/partition/axon/hypergraph.c core/partition/axon/hypergraph_inbound.c core/partition/axon/hypergraph_merge.c \
  core/partition/axon/bands.h core/partition/axon/bands.c \
  core/partition/axon/cluster.h core/partition/axon/cluster.c \
  core/partition/axon/grow.h core/partition/axon/grow.c core/partition/axon/closure.h core/partition/axon/closure.c \
  core/partition/axon/axon_state.h core/partition/axon/axon_state.c core/partition/axon/prices.h \
  core/partition/axon/axon_copies.h core/partition/axon/axon_copies.c core/partition/axon/axon_fill.h core/partition/axon/axon_fill.c \
  core/partition/axon/axon_probe.h core/partition/axon/axon_probe.c \
  core/partition/axon/axon_table.h core/partition/axon/axon_table.c \
  core/partition/axon/locality.h core/partition/axon/locality.c \
  core/partition/axon/sketch.h core/partition/axon/sketch.c \
  core/partition/axon/anneal.h core/partition/axon/anneal.c \
  core/partition/axon/axon_repair.h core/partition/axon/axon_repair.c \
  core/partition/axon/axon_levels.h core/partition/axon/axon_levels.c \
  core/partition/axon/signature.h core/partition/axon/signature.c \
  core/partition/axon/dense.h core/partition/axon/dense.c \
  core/partition/axon/axon.h core/partition/axon/axon.c core/partition/axon/axon_search.h \
  core/partition/axon/axon_descend.c core/partition/axon/axon_starts.c core/partition/axon/axon_flat.c \
  core/partition/axon/axon_cycle.c core/partition/axon/axon_effort.c core/partition/axon/axon_given.c \
  core/partition/axon/axon_places.c \
  core/partition/nets/net_graph.h core/partition/nets/net_graph.c \
  core/partition/nets/net_state.h core/partition/nets/net_state.c \
  core/partition/nets/net_fm.h core/partition/nets/net_fm.c \
  core/partition/nets/net_communities.h core/partition/nets/net_communities.c \
  core/partition/nets/net_levels.h core/partition/nets/net_levels.c \
  core/partition/nets/net_bisection.h core/partition/nets/net_bisection.c \
  core/partition/nets/net_initial.h core/partition/nets/net_initial.c \
  core/partition/nets/nets.h core/partition/nets/nets.c \
  core/partition/nets/net_rebalance.c core/partition/max_flow.h core/partition/max_flow.c \
  core/partition/balanced_cut.h core/partition/balanced_cut.c \
  core/partition/contacts.h core/partition/contacts.c \
  core/partition/refiner.h core/partition/flow_region.h core/partition/flow_region.c core/partition/flow_pairs.h core/partition/flow_pairs.c \
  core/partition/nets/net_flow.h core/partition/nets/net_flow.c \
  core/partition/nets/net_flow_region.h core/partition/nets/net_flow_region.c \
  core/partition/edge/csr_graph.h core/partition/edge/csr_graph.c core/partition/edge/csr_graph_rows.h core/partition/edge/csr_contract.c core/partition/edge/ties.h \
  core/partition/multilevel.h core/partition/multilevel.c \
  core/partition/edge/clustering.h core/partition/edge/clustering.c \
  core/partition/indexed_heap.h core/partition/indexed_heap.c core/partition/unload.h core/partition/unload.c \
  core/partition/edge/two_way_fm.h core/partition/edge/two_way_fm.c \
  core/partition/edge/quotient_fm.h core/partition/edge/quotient_fm.c \
  core/partition/edge/initial.h core/partition/edge/initial.c core/partition/edge/initial_split.c core/partition/edge/initial_deep.c \
  core/partition/edge/kway.h core/partition/edge/kway.c \
  core/partition/edge/kway_anneal.h core/partition/edge/kway_anneal.c core/partition/edge/kway_fm.h \
  core/partition/edge/kway_fm.c core/partition/edge/kway_relieve.c \
  core/partition/edge/edge_flow.h core/partition/edge/edge_flow.c \
  core/partition/edge/rebalance.h core/partition/edge/rebalance.c core/partition/edge/fill_empty.c \
  core/partition/edge/label_propagation.h core/partition/edge/label_propagation.c \
  core/partition/edge/constrained.h core/partition/edge/constrained.c \
  core/partition/edge/part_ties.h core/partition/edge/part_ties.c \
  core/partition/edge/affinity.h core/partition/edge/affinity.c core/partition/edge/affinity_suits.c \
  core/partition/edge/edge.h core/partition/edge/edge.c core/partition/edge/edge_search.c core/partition/edge/edge_topology.c \
  core/partition/edge/edge_search.h core/partition/edge/edge_level.c core/partition/edge/edge_combine.c
