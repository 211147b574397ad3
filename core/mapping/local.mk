libcoremap_a_SOURCES += \
  core/mapping/mapping.h core/mapping/metrics.h core/mapping/export.h core/mapping/check.h core/mapping/map.h
