libcoremap_a_SOURCES += \
  core/network/topology.h core/network/topology_file.h core/network/import.h core/network/export.h
