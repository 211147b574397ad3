libcoremap_a_SOURCES += \
  core/mapping/candidate.c core/mapping/candidate.h core/mapping/map.c core/mapping/map.h core/mapping/once.h core/mapping/mapping.c core/mapping/mapping.h core/mapping/options.c core/mapping/options.h \
  core/mapping/driver/again.c core/mapping/driver/again.h core/mapping/driver/make.c core/mapping/driver/make.h core/mapping/driver/fitting.c \
  core/mapping/driver/fitting.h core/mapping/driver/portfolio.c core/mapping/driver/portfolio.h \
  core/mapping/exports/exports.c core/mapping/exports/exports_groups.c core/mapping/exports/exports.h core/mapping/exports/exports_flows.c core/mapping/exports/writers.h \
  core/mapping/exports/exports_plain.c core/mapping/exports/exports_sanafe.c core/mapping/exports/exports_spinnaker.c \
  core/mapping/exports/exports_units.c core/mapping/exports/mapped.c \
  core/mapping/incremental/dissolve.c core/mapping/incremental/evict.c core/mapping/incremental/hasten.c core/mapping/incremental/hasten.h \
  core/mapping/incremental/place_new.c core/mapping/incremental/reassign.c core/mapping/incremental/reassign.h \
  core/mapping/incremental/reassignment.h core/mapping/incremental/remap.c core/mapping/incremental/remap.h \
  core/mapping/incremental/remapping.h core/mapping/incremental/remap_old.c \
  core/mapping/levels/cache.c core/mapping/levels/cache.h core/mapping/levels/cache_entries.c core/mapping/levels/cache_entries.h \
  core/mapping/levels/cache_lend.c core/mapping/levels/cache_manifest.c core/mapping/levels/cache_open.c \
  core/mapping/levels/levels.c core/mapping/levels/levels.h \
  core/mapping/mappers/axon_engine.c core/mapping/mappers/axon_engine.h core/mapping/mappers/engine.c core/mapping/mappers/edge_engine.c \
  core/mapping/mappers/engine.h core/mapping/mappers/learned.c core/mapping/mappers/learned.h \
  core/mapping/mappers/mesh_axons.c core/mapping/mappers/mesh_engine.c core/mapping/mappers/nets_engine.c core/mapping/mappers/nets_engine.h \
  core/mapping/mappers/step_engine.c core/mapping/mappers/step_engine.h \
  core/mapping/measure/border.c core/mapping/measure/border.h core/mapping/measure/congestion.c core/mapping/measure/link_tally.h core/mapping/measure/spread.h \
  core/mapping/measure/links.c core/mapping/measure/measure.c core/mapping/measure/measure.h core/mapping/measure/metrics_count.c \
  core/mapping/measure/metrics_fill.c core/mapping/measure/metrics_tally.h core/mapping/measure/neurons.c core/mapping/measure/neurons.h \
  core/mapping/measure/populations.c core/mapping/measure/populations.h core/mapping/measure/step.c core/mapping/measure/step.h \
  core/mapping/measure/ways.c core/mapping/measure/ways.h core/mapping/measure/window.c core/mapping/measure/scenarios.h core/mapping/measure/scenarios.c core/mapping/measure/binary.h core/mapping/measure/binary.c core/mapping/measure/window.h \
  core/mapping/pareto/pareto.c core/mapping/pareto/pareto.h core/mapping/pareto/plot.c \
  core/mapping/picture/picture.c core/mapping/picture/picture_colours.c core/mapping/picture/picture.h core/mapping/picture/drawing.h core/mapping/picture/picture_png.c \
  core/mapping/picture/picture_svg.c \
  core/mapping/place/kinds.c core/mapping/place/methods.c core/mapping/place/methods.h core/mapping/place/place.c core/mapping/place/near.c core/mapping/place/place.h \
  core/mapping/result/beside.c core/mapping/result/beside.h core/mapping/result/checking.c core/mapping/result/checking.h core/mapping/result/export.c core/mapping/result/view_writer.c core/mapping/result/export.h \
  core/mapping/result/export_binary.c core/mapping/result/view_writer.h core/mapping/result/export_links.c \
  core/mapping/result/renamed.c core/mapping/result/renamed.h \
  core/mapping/routes/key_order.c core/mapping/routes/minimise.c core/mapping/routes/minimise.h core/mapping/routes/minimise_ternary.c \
  core/mapping/routes/routes.c core/mapping/routes/walk.c core/mapping/routes/routes.h core/mapping/routes/routes_export.c core/mapping/routes/routes_flows.c \
  core/mapping/routes/walk.h core/mapping/routes/tables.h core/mapping/routes/routes_ways.c core/mapping/routes/share.c core/mapping/routes/tables.c core/mapping/routes/tables_fit.c \
  core/mapping/routes/words.c core/mapping/routes/words.h \
  core/mapping/scenarios/scenarios.c core/mapping/scenarios/scenarios.h \
  core/mapping/simulate/arrivals.c core/mapping/simulate/arrivals.h core/mapping/simulate/events.c core/mapping/simulate/events.h \
  core/mapping/simulate/fabric.c core/mapping/simulate/fabric.h core/mapping/simulate/fabric_new.c core/mapping/simulate/frames.c \
  core/mapping/simulate/frames.h core/mapping/simulate/histogram.c core/mapping/simulate/histogram.h core/mapping/simulate/outcomes.h \
  core/mapping/simulate/request.c core/mapping/simulate/request.h core/mapping/simulate/simulate.c core/mapping/simulate/simulate.h \
  core/mapping/simulate/spikes.c core/mapping/simulate/spikes.h core/mapping/simulate/spike_ids.c core/mapping/simulate/spike_ids.h core/mapping/simulate/steps.c core/mapping/simulate/stream.c \
  core/mapping/simulate/traffic.c core/mapping/simulate/traffic.h core/mapping/simulate/ways.c core/mapping/simulate/ways.h \
  core/mapping/stage/attempts.c core/mapping/stage/attempts_judge.c core/mapping/stage/attempts.h core/mapping/stage/attempts_judge.h core/mapping/stage/attempts_mend.c \
  core/mapping/stage/attempts_next.c \
  core/mapping/stage/classes.c core/mapping/stage/classes.h core/mapping/stage/kinds.c core/mapping/stage/kinds.h core/mapping/stage/kinds_match.c \
  core/mapping/stage/merge_parts.c core/mapping/stage/merge_parts.h \
  core/mapping/stage/part_file.c core/mapping/stage/part_file.h core/mapping/stage/populations.c core/mapping/stage/populations.h \
  core/mapping/stage/stage.c core/mapping/stage/stage.h core/mapping/stage/infeasibility.c core/mapping/stage/infeasibility.h
