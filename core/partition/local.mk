libcoremap_a_SOURCES += \
  core/partition/options.h core/partition/partition.h core/partition/partition.c \
  core/partition/graph.h core/partition/graph.c \
  core/partition/coarsen.h core/partition/coarsen.c \
  core/partition/bisect.h core/partition/bisect.c \
  core/partition/refine.h core/partition/refine.c \
  core/partition/limits.h core/partition/limits.c core/partition/bound.h core/partition/bound.c \
  core/partition/quality.h core/partition/quality.c \
  core/partition/members.h core/partition/ties.h \
  core/partition/counts.h core/partition/counts.c core/partition/books.h core/partition/books.c \
  core/partition/legalise.h core/partition/legalise.c \
  core/partition/reference.h core/partition/reference.c \
  core/partition/hypergraph.h core/partition/hypergraph.c \
  core/partition/cluster.h core/partition/cluster.c \
  core/partition/grow.h core/partition/grow.c \
  core/partition/axon_state.h core/partition/axon_state.c \
  core/partition/axon_probe.h core/partition/axon_probe.c \
  core/partition/locality.h core/partition/locality.c \
  core/partition/sketch.h core/partition/sketch.c \
  core/partition/anneal.h core/partition/anneal.c \
  core/partition/axon_repair.h core/partition/axon_repair.c \
  core/partition/axon_levels.h core/partition/axon_levels.c \
  core/partition/axon.h core/partition/axon.c \
  core/partition/flows.h core/partition/flows.c \
  core/partition/compact.h core/partition/compact.c \
  core/partition/agglomerate.h core/partition/agglomerate.c \
  core/partition/priority.h core/partition/priority.c \
  core/partition/pairwise.h core/partition/pairwise.c \
  core/partition/initial.h core/partition/initial.c \
  core/partition/kway.h core/partition/kway.c \
  core/partition/kway_anneal.h core/partition/kway_anneal.c \
  core/partition/balance.h core/partition/balance.c \
  core/partition/greedy.h core/partition/greedy.c \
  core/partition/inbound.h core/partition/inbound.c \
  core/partition/profile.h core/partition/profile.c \
  core/partition/edge.h core/partition/edge.c core/partition/edge_topology.c
