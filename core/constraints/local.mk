libcoremap_a_SOURCES += \
  core/constraints/constraints.h core/constraints/constraints.c core/constraints/constraints_read.c core/constraints/constraints_option.h core/constraints/constraints_option.c core/constraints/subjects.h \
  core/constraints/subjects.c core/constraints/areas.h core/constraints/areas.c core/constraints/areas_room.c core/constraints/cells.c core/constraints/problem.h \
  core/constraints/problem.c core/constraints/problem_read.c core/constraints/problem_reading.h core/constraints/problem_array.c core/constraints/problem_fields.c core/constraints/problem_circuits.c core/constraints/model.h core/constraints/model.c core/constraints/model_building.h core/constraints/model_tiles.c core/constraints/model_lookup.c core/constraints/domains.h \
  core/constraints/domains.c core/constraints/propagate.c core/constraints/packing_flow.c core/constraints/chains.c core/constraints/place_search.h core/constraints/place_search.c \
  core/constraints/improve.h core/constraints/improve.c core/constraints/explain.c core/constraints/solution.h core/constraints/solution.c core/constraints/solution_report.c
