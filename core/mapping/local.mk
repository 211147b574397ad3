libcoremap_a_SOURCES += \
  core/mapping/mapping.h core/mapping/mapping.c \
  core/mapping/map.h core/mapping/map.c core/mapping/stage.h core/mapping/stage.c core/mapping/attempts.h core/mapping/attempts.c \
  core/mapping/whynot.h core/mapping/whynot.c \
  core/mapping/engine.h core/mapping/engine.c core/mapping/mesh_engine.c core/mapping/mesh_axons.c core/mapping/learned.h core/mapping/learned.c \
  core/mapping/options.h core/mapping/options.c core/mapping/part_file.h core/mapping/part_file.c \
  core/mapping/remap.h core/mapping/remap.c core/mapping/identity.h core/mapping/identity.c core/mapping/settle.h core/mapping/settle.c core/mapping/seat.c \
  core/mapping/levels.h core/mapping/levels.c core/mapping/cache.h core/mapping/cache.c \
  core/mapping/metrics.h core/mapping/metrics.c core/mapping/congestion.c core/mapping/links.c core/mapping/internal.h \
  core/mapping/export.h core/mapping/export.c \
  core/mapping/routes.h core/mapping/routes.c core/mapping/routes_internal.h core/mapping/routes_flows.c \
  core/mapping/tables.c core/mapping/routes_export.c \
  core/mapping/beside.h core/mapping/beside.c core/mapping/certificate.h core/mapping/certificate.c core/mapping/bounds.c \
  core/mapping/check.h core/mapping/check.c core/mapping/check_read.c core/mapping/check_measure.c \
  core/mapping/check_internal.h
