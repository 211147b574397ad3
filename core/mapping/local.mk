libcoremap_a_SOURCES += \
  core/mapping/candidate.c core/mapping/candidate.h core/mapping/detail.c core/mapping/detail.h core/mapping/input.h core/mapping/mapping.c core/mapping/mapping.h core/mapping/options.c core/mapping/options.h \
  core/mapping/levels/cache.c core/mapping/levels/cache.h core/mapping/levels/cache_entries.c core/mapping/levels/cache_entries.h \
  core/mapping/levels/cache_lend.c core/mapping/levels/cache_manifest.c core/mapping/levels/cache_open.c \
  core/mapping/levels/levels.c core/mapping/levels/levels.h \
  core/mapping/measure/border.c core/mapping/measure/border.h core/mapping/measure/congestion.c core/mapping/measure/link_tally.h core/mapping/measure/spread.h \
  core/mapping/measure/links.c core/mapping/measure/measure.c core/mapping/measure/measure.h core/mapping/measure/metrics_count.c \
  core/mapping/measure/metrics_fill.c core/mapping/measure/metrics_tally.h core/mapping/measure/neurons.c core/mapping/measure/neurons.h \
  core/mapping/measure/populations.c core/mapping/measure/populations.h core/mapping/measure/step.c core/mapping/measure/step.h \
  core/mapping/measure/ways.c core/mapping/measure/ways.h core/mapping/window.c core/mapping/measure/scenarios.h core/mapping/measure/scenarios.c core/mapping/measure/binary.h core/mapping/measure/binary.c core/mapping/window.h \
  core/mapping/simulate/arrivals.c core/mapping/simulate/arrivals.h core/mapping/simulate/events.c core/mapping/simulate/events.h \
  core/mapping/simulate/fabric.c core/mapping/simulate/fabric.h core/mapping/simulate/fabric_new.c core/mapping/simulate/frames.c \
  core/mapping/simulate/frames.h core/mapping/simulate/histogram.c core/mapping/simulate/histogram.h core/mapping/simulate/outcomes.h \
  core/mapping/simulate/request.c core/mapping/simulate/request.h core/mapping/simulate/simulate.c core/mapping/simulate/simulate.h \
  core/mapping/simulate/spikes.c core/mapping/simulate/spikes.h core/mapping/simulate/steps.c core/mapping/simulate/stream.c \
  core/mapping/simulate/traffic.c core/mapping/simulate/traffic.h core/mapping/simulate/ways.c core/mapping/simulate/ways.h
