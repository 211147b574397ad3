libcoremap_a_SOURCES += \
  core/mapping/mapping.h core/mapping/mapping.c \
  core/mapping/map.h core/mapping/map.c core/mapping/stage.h core/mapping/stage.c core/mapping/attempts.h core/mapping/attempts.c \
  core/mapping/whynot.h core/mapping/whynot.c \
  core/mapping/engine.h core/mapping/engine.c \
  core/mapping/options.h core/mapping/options.c \
  core/mapping/levels.h core/mapping/levels.c core/mapping/cache.h core/mapping/cache.c \
  core/mapping/metrics.h core/mapping/metrics.c core/mapping/congestion.c core/mapping/links.c core/mapping/internal.h \
  core/mapping/export.h core/mapping/export.c \
  core/mapping/check.h core/mapping/check.c core/mapping/check_read.c core/mapping/check_measure.c \
  core/mapping/check_internal.h
