libcoremap_a_SOURCES += \
  core/mapping/candidate.c core/mapping/candidate.h core/mapping/detail.c core/mapping/detail.h core/mapping/input.h core/mapping/mapping.c core/mapping/mapping.h core/mapping/options.c core/mapping/options.h \
  core/mapping/measure/border.c core/mapping/measure/border.h core/mapping/measure/congestion.c core/mapping/measure/link_tally.h core/mapping/measure/spread.h \
  core/mapping/measure/links.c core/mapping/measure/measure.c core/mapping/measure/measure.h core/mapping/measure/metrics_count.c \
  core/mapping/measure/metrics_fill.c core/mapping/measure/metrics_tally.h core/mapping/measure/neurons.c core/mapping/measure/neurons.h \
  core/mapping/measure/populations.c core/mapping/measure/populations.h core/mapping/measure/step.c core/mapping/measure/step.h \
  core/mapping/measure/ways.c core/mapping/measure/ways.h core/mapping/window.c core/mapping/measure/scenarios.h core/mapping/measure/scenarios.c core/mapping/measure/binary.h core/mapping/measure/binary.c core/mapping/window.h
