libcoremap_a_SOURCES += \
  core/measure/binary.c core/measure/binary.h core/measure/border.c core/measure/border.h core/measure/congestion.c \
  core/measure/link_tally.c core/measure/link_tally.h core/measure/haste.c core/measure/haste.h core/measure/measure.c core/measure/measure.h core/measure/metrics_count.c \
  core/measure/metrics_fill.c core/measure/metrics_tally.h core/measure/neurons.c core/measure/neurons.h \
  core/measure/populations_of_parts.c core/measure/populations_of_parts.h core/measure/scenario_metrics.c \
  core/measure/scenario_metrics.h core/measure/core_shares.c core/measure/core_shares.h core/measure/spread.h core/measure/step_by_step.c core/measure/step_by_step.h core/measure/step_time.c core/measure/step_time.h core/measure/way_loads.c \
  core/measure/mesh_loads.c
