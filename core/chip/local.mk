libcoremap_a_SOURCES += \
  core/chip/chip.h core/chip/occupancy.h core/chip/region.h
