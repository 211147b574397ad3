libcoremap_a_SOURCES += \
  core/solver/driver/under_constraints.c core/solver/driver/under_constraints.h core/solver/driver/with_copies.c core/solver/driver/with_copies.h core/solver/driver/fitting.c core/solver/driver/fitting.h \
  core/solver/driver/leave.c core/solver/driver/leave.h core/solver/driver/into_areas.c core/solver/driver/into_areas.h core/solver/driver/related_pieces.c core/solver/driver/related_pieces.h core/solver/driver/apart_cores.c core/solver/driver/apart_cores.h core/solver/driver/decide.c core/solver/driver/decide.h core/solver/driver/make.c core/solver/driver/make.h core/solver/driver/portfolio.c core/solver/driver/portfolio.h \
  core/solver/incremental/assignment.c core/solver/incremental/assignment.h core/solver/incremental/remap.c core/solver/incremental/remap.h \
  core/solver/incremental/remap_old.c core/solver/incremental/remapping.h \
  core/solver/map.c core/solver/map.h \
  core/solver/mappers/axon_engine.c core/solver/mappers/axon_engine.h \
  core/solver/mappers/engine.c core/solver/mappers/engine.h core/solver/mappers/kept.c core/solver/mappers/kept.h core/solver/mappers/learned.c core/solver/mappers/learned.h \
  core/solver/mappers/mesh_axons.c core/solver/mappers/mesh_axons.h core/solver/mappers/mesh_engine.c core/solver/mappers/nets_engine.c \
  core/solver/mappers/nets_engine.h core/solver/mappers/step_engine.c core/solver/mappers/step_engine.h \
  core/solver/once.h core/solver/presets.c core/solver/presets.h \
  core/solver/pareto/pareto.c core/solver/pareto/pareto.h \
  core/solver/place/methods.c core/solver/place/methods.h core/solver/place/near.c core/solver/place/place.c \
  core/solver/place/place.h core/solver/place/regions_by_kind.c \
  core/solver/scenarios/at_rates.c core/solver/scenarios/at_rates.h core/solver/scenarios/scenarios.c core/solver/scenarios/scenarios.h \
  core/solver/stage/attempts.c core/solver/stage/attempts.h core/solver/stage/attempts_judge.c core/solver/stage/attempts_judge.h \
  core/solver/stage/attempts_mend.c core/solver/stage/attempts_next.c core/solver/stage/by_class.c core/solver/stage/by_class.h \
  core/solver/stage/by_population.c core/solver/stage/by_population.h core/solver/stage/infeasibility.c \
  core/solver/stage/infeasibility.h core/solver/stage/kinds_match.c core/solver/stage/kinds_of_neurons.c \
  core/solver/stage/kinds_of_neurons.h \
  core/solver/stage/stage.c core/solver/stage/stage.h
