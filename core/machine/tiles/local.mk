libcoremap_a_SOURCES += \
  core/machine/tiles/tiles.h core/machine/tiles/tiles.c core/machine/tiles/compile.c core/machine/tiles/topology.c core/machine/tiles/schedule.c
