libcoremap_a_SOURCES += \
  core/network/neuron_models.def core/network/neuron_parameters.def core/network/dynamics.h core/network/dynamics.c core/network/topology.h core/network/demand_digest.c core/network/demand_digest.h core/network/topology.c core/network/demand.h core/network/demand.c core/network/apart.h core/network/apart.c core/network/spike_file.h core/network/spikes.h core/network/spikes.c core/network/spike_ids.h core/network/spikes_option.h core/network/spikes_option.c core/network/spike_ids.c core/network/formats/rows.h core/network/formats/tokens.h core/network/formats/weighted.h core/network/formats/entries.h core/network/formats/readers.h core/network/symmetry.h core/network/symmetry.c core/network/direction.h core/network/direction.c core/network/nets_by_part.h core/network/nets_by_part.c core/network/identity.h core/network/identity.c \
  core/network/names.h core/network/names.c core/network/import_limits.h core/network/import_limits.c core/network/import.h core/network/import.c core/network/formats.h core/network/recognise.h core/network/recognise.c core/network/recognise_text.c core/network/recognise_metis.c core/network/foreign.c \
  core/network/csr.h core/network/csr.c core/network/net_order.h core/network/net_order.c core/network/export.h core/network/export.c \
  core/network/topology_file.h core/network/file/topology_format.h core/network/file/topology_whole.c \
  core/network/file/topology_writer.h core/network/file/topology_writer.c core/network/file/topology_tables.c core/network/file/topology_pack.c core/network/file/topology_stored.c core/network/file/topology_reader.h core/network/file/topology_reader.c core/network/file/topology_read_tables.c \
  core/network/file/plain_edges.h core/network/file/plain_edges.c core/network/file/topology_manifest.c core/network/file/topology_stream.c \
  core/network/formats/table.h core/network/formats/formats.def core/network/formats/table.c core/network/formats/source.h core/network/formats/source.c core/network/formats/tokens.c \
  core/network/formats/rows.c core/network/formats/weighted.c core/network/formats/weighted_rows.c core/network/formats/entries.c core/network/formats/import_topology.c \
  core/network/formats/snn.h core/network/formats/import_snn.c core/network/formats/snn_batch.c core/network/formats/import_metis.c core/network/formats/import_edges.c core/network/formats/import_table_matrix.c core/network/formats/adjacency.h core/network/formats/import_adjacency.c core/network/formats/survey.h core/network/formats/survey.c core/network/formats/reading_report.h core/network/formats/reading_report.c core/network/formats/table_rows.h core/network/formats/table_begin.c core/network/formats/table_rows.c core/network/formats/table_lines.c core/network/formats/table_columns.c core/network/formats/table_order.c core/network/formats/read_options.c core/network/rates.h core/network/formats/rates.c \
  core/network/formats/import_hypergraph.c core/network/formats/import_matrix.c \
  core/network/archive/archive.h core/network/archive/archive.c core/network/archive/tar.c core/network/archive/recognise_zip.c \
  core/network/archive/npy.h core/network/archive/npy.c core/network/pairs.h core/network/archive/pairs.c core/network/archive/numpy.h core/network/archive/import_numpy.c core/network/archive/numpy_arrays.c core/network/archive/numpy_named.c \
  core/network/xml/xml.h core/network/xml/xml.c core/network/xml/recognise_xml.c core/network/xml/xml_graph.h core/network/xml/xml_graph.c core/network/xml/import_graph.c core/network/xml/import_gml.c core/network/xml/import_pajek.c core/network/xml/import_node_link.c core/network/xml/import_sanafe.c \
  core/network/formats/sink.h core/network/formats/sink.c core/network/formats/export_writer.h core/network/formats/export_metis.c
if HDF5
libcoremap_a_SOURCES += \
  core/network/hdf5/h5.h core/network/hdf5/h5.c core/network/hdf5/recognise_hdf5.c core/network/hdf5/nir.h core/network/hdf5/lava_read.c core/network/hdf5/nir_read.c \
  core/network/hdf5/nir_parameters.c core/network/hdf5/nir_inputs.c core/network/hdf5/nir_dynamics.c core/network/hdf5/nir_shapes.c core/network/hdf5/nir_taps.c core/network/hdf5/import_nir.c core/network/hdf5/sonata.h core/network/hdf5/import_sonata.c \
  core/network/hdf5/sonata_edges.c core/network/hdf5/sonata_circuit.h core/network/hdf5/sonata_circuit.c core/network/hdf5/sonata_members.c core/network/hdf5/sonata_types.c core/network/hdf5/sonata_spikes.c core/network/hdf5/sonata_spike_file.c
else
libcoremap_a_SOURCES += core/network/hdf5/hdf5_without.c
endif
