libcoremap_a_SOURCES += \
  core/network/topology.h core/network/topology.c core/network/internal.h core/network/symmetry.c \
  core/network/topology_file.h core/network/topology_format.h core/network/topology_whole.c \
  core/network/topology_writer.c core/network/topology_reader.h core/network/topology_reader.c core/network/topology_manifest.c core/network/topology_stream.c \
  core/network/import.h core/network/import.c core/network/source.h core/network/source.c core/network/rows.c core/network/weighted.c \
  core/network/names.h core/network/names.c core/network/import_topology.c \
  core/network/import_snn.c core/network/import_metis.c core/network/import_edges.c \
  core/network/import_hypergraph.c core/network/import_matrix.c core/network/tokens.c \
  core/network/export.h core/network/export_internal.h core/network/export.c core/network/export_metis.c core/network/sink.h core/network/sink.c
