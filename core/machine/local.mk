libcoremap_a_SOURCES += \
  core/machine/compile.h core/machine/compile.c core/machine/baselines.h core/machine/baselines.c core/machine/report.h core/machine/tiles/compile_tiles.h core/machine/compile_options.c core/machine/verify.c core/machine/report.c \
  core/machine/order.h core/machine/order.c core/machine/order_report.h core/machine/order_report.c core/machine/order_graph.h core/machine/order_graph.c core/machine/time_bound.h core/machine/bound_cone.h core/machine/time_bound.c core/machine/bound_cone.c core/machine/bound_reads.h core/machine/bound_reads.c core/machine/cost.h core/machine/cost.c core/machine/hops.h core/machine/hops.c \
  core/machine/plan/settings.h core/machine/schedule/lanes.h core/machine/schedule/lanes.c core/machine/schedule/addresses.h \
  core/machine/schedule/addresses.c core/machine/schedule/sequence.h core/machine/schedule/sequence.c \
  core/machine/schedule/subchips.h core/machine/schedule/subchips.c core/machine/schedule/search.h core/machine/schedule/search_parts.h core/machine/schedule/search.c core/machine/schedule/search_parts.c core/machine/schedule/timetable.h core/machine/schedule/timetable.c \
  core/machine/schedule/timing.h core/machine/schedule/timing_memory.c core/machine/schedule/timing_ahead.c core/machine/schedule/timing_pieces.c core/machine/schedule/timing_places.c core/machine/schedule/ready.h core/machine/schedule/ready.c core/machine/schedule/windows.h core/machine/schedule/windows.c core/machine/plan/grid_units.c core/machine/plan/stretches.h core/machine/plan/stretches.c core/machine/plan/shares.c core/machine/emit/emit_timetable.c \
  core/machine/plan/plan.h core/machine/plan/cutter.h core/machine/plan/plan.c core/machine/plan/call.c core/machine/plan/tiles.c core/machine/plan/pieces.c \
  core/machine/plan/packs.h core/machine/plan/packs.c core/machine/plan/partial_sums.h core/machine/plan/partial_sums.c core/machine/plan/partial_sums_cut.h core/machine/plan/partial_sums_cut.c core/machine/plan/sizing.h core/machine/plan/grid.c core/machine/plan/sizing.c core/machine/plan/view.c core/machine/plan/listing.c \
  core/machine/memory/space.h core/machine/memory/space.c core/machine/memory/planner.h core/machine/memory/planner.c \
  core/machine/memory/eviction.c core/machine/memory/ordering.h core/machine/memory/ordering.c core/machine/memory/segment.h core/machine/memory/segment.c \
  core/machine/emit/object.h core/machine/emit/emitter.h core/machine/emit/emit.c core/machine/emit/program_tables.c core/machine/emit/queue.c core/machine/emit/link.c \
  core/machine/program/program.h core/machine/program/program.c core/machine/program/program_write.c core/machine/program/reading.h core/machine/program/program_read.c core/machine/program/reading.c core/machine/program/program_code.c \
  core/machine/program/codec.h core/machine/program/codec.c core/machine/program/disassemble.c \
  core/machine/run/run_lanes.h core/machine/run/runner.h core/machine/run/run_lanes.c core/machine/run/execute.c \
  core/machine/run/checker.c core/machine/run/analysis.h core/machine/run/analysis.c core/machine/run/timeline.h core/machine/run/timeline.c \
  core/machine/tiles/tiles.h core/machine/tiles/network.c core/machine/tiles/tile_cores.c core/machine/tiles/agree.c core/machine/tiles/compile_tiles.c
