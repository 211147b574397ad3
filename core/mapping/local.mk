libcoremap_a_SOURCES += \
  core/mapping/mapping.h core/mapping/mapping.c \
  core/mapping/map.h core/mapping/map.c core/mapping/proposal.h core/mapping/proposal.c core/mapping/contest.h core/mapping/contest.c core/mapping/fitting.h core/mapping/fitting.c core/mapping/stage/stage.h core/mapping/stage/stage.c core/mapping/stage/attempts.h core/mapping/stage/attempts.c \
  core/mapping/stage/whynot.h core/mapping/stage/whynot.c core/mapping/stage/populations.h core/mapping/stage/populations.c core/mapping/stage/classes.h core/mapping/stage/classes.c core/mapping/stage/kinds.h core/mapping/stage/kinds.c core/mapping/stage/kinds_match.c \
  core/mapping/stage/merge_parts.h core/mapping/stage/merge_parts.c \
  core/mapping/mappers/engine.h core/mapping/mappers/engine.c core/mapping/mappers/nets_engine.h core/mapping/mappers/nets_engine.c core/mapping/mappers/mesh_engine.c core/mapping/mappers/mesh_axons.c core/mapping/mappers/step_engine.h core/mapping/mappers/step_engine.c core/mapping/mappers/learned.h core/mapping/mappers/learned.c \
  core/mapping/place/place.h core/mapping/place/place.c core/mapping/place/methods.h core/mapping/place/methods.c core/mapping/place/kinds.c \
  core/mapping/scenarios/scenarios.h core/mapping/scenarios/scenarios.c \
  core/mapping/pareto/pareto.h core/mapping/pareto/pareto.c core/mapping/pareto/plot.c \
  core/mapping/options.h core/mapping/options.c core/mapping/stage/part_file.h core/mapping/stage/part_file.c \
  core/mapping/remap/remap.h core/mapping/remap/remap.c core/mapping/remap/identity.h core/mapping/remap/identity.c core/mapping/remap/hasten.h core/mapping/remap/hasten.c core/mapping/remap/settle.h core/mapping/remap/settle.c core/mapping/remap/dissolve.c core/mapping/remap/seat.c \
  core/mapping/stage/levels.h core/mapping/stage/levels.c core/mapping/stage/cache.h core/mapping/stage/cache.c core/mapping/stage/cache_lend.c \
  core/mapping/metrics.h core/mapping/metrics.c core/mapping/metrics_internal.h core/mapping/metrics_count.c core/mapping/metrics_fill.c core/mapping/metric_table.c core/mapping/ways.h core/mapping/ways.c core/mapping/step.h core/mapping/step.c core/mapping/border.h core/mapping/border.c core/mapping/populations.h core/mapping/populations.c core/mapping/neurons.h core/mapping/neurons.c core/mapping/congestion.c core/mapping/links.c core/mapping/internal.h core/mapping/window.h core/mapping/window.c \
  core/mapping/export.h core/mapping/export.c core/mapping/export_internal.h core/mapping/export_binary.c \
  core/mapping/exports/exports.h core/mapping/exports/exports.c core/mapping/exports/exports_internal.h core/mapping/exports/exports_flows.c \
  core/mapping/exports/exports_sanafe.c core/mapping/exports/exports_spinnaker.c core/mapping/exports/exports_plain.c core/mapping/exports/exports_units.c core/mapping/exports/mapped.c \
  core/mapping/picture/picture.h core/mapping/picture/picture_internal.h core/mapping/picture/picture.c core/mapping/picture/picture_svg.c \
  core/mapping/picture/picture_png.c \
  core/mapping/routes/routes.h core/mapping/routes/routes.c core/mapping/routes/routes_internal.h core/mapping/routes/routes_flows.c \
  core/mapping/routes/routes_ways.c core/mapping/routes/words.h core/mapping/routes/words.c \
  core/mapping/routes/tables.c core/mapping/routes/routes_export.c core/mapping/routes/tables_fit.c core/mapping/routes/key_order.c \
  core/mapping/routes/minimise.h core/mapping/routes/minimise.c core/mapping/routes/minimise_ternary.c \
  core/mapping/simulate/simulate.h core/mapping/simulate/simulate.c core/mapping/simulate/internal.h \
  core/mapping/simulate/traffic.h core/mapping/simulate/traffic.c core/mapping/simulate/events.h core/mapping/simulate/events.c \
  core/mapping/simulate/fabric.h core/mapping/simulate/fabric.c core/mapping/simulate/fabric_new.c core/mapping/simulate/ways.h core/mapping/simulate/ways.c core/mapping/simulate/histogram.h core/mapping/simulate/histogram.c \
  core/mapping/simulate/frames.h core/mapping/simulate/frames.c \
  core/mapping/simulate/request.h core/mapping/simulate/request.c \
  core/mapping/simulate/spikes.h core/mapping/simulate/spikes.c \
  core/mapping/simulate/steps.c core/mapping/simulate/stream.c core/mapping/simulate/arrivals.h core/mapping/simulate/arrivals.c \
  core/mapping/check/beside.h core/mapping/check/beside.c core/mapping/check/certificate.h core/mapping/check/certificate.c core/mapping/check/bounds.c core/mapping/check/bounds_near.h core/mapping/check/bounds_near.c core/mapping/check/bounds_ways.h core/mapping/check/bounds_ways.c core/mapping/check/bounds_step.c \
  core/mapping/check/check.h core/mapping/check/check.c core/mapping/check/check_read.c core/mapping/check/check_facts.c core/mapping/check/check_measure.c core/mapping/check/check_step.c core/mapping/check/check_scenarios.c core/mapping/check/check_border.c core/mapping/check/check_places.c core/mapping/check/check_populations.c core/mapping/check/check_classes.c core/mapping/check/check_copies.c core/mapping/check/units_check.h core/mapping/check/units_check.c \
  core/mapping/check/again.h core/mapping/check/again.c \
  core/mapping/check/routes_check.h core/mapping/check/routes_check_internal.h core/mapping/check/routes_check.c \
  core/mapping/check/routes_tables.c core/mapping/check/routes_tables_read.c core/mapping/check/routes_paths.c core/mapping/check/routes_ways.c \
  core/mapping/check/check_internal.h core/mapping/check/check_ways.h core/mapping/check/check_ways.c
