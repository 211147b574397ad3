libcoremap_a_SOURCES += \
  core/verify/areas_check.c core/verify/areas_check.h core/verify/bounds.c core/verify/bounds_near.c core/verify/bounds_near.h core/verify/bounds_step.c core/verify/bounds_ways.c \
  core/verify/bounds_ways.h core/verify/certificate.c core/verify/certificate.h core/verify/certificate_facts.c core/verify/certificate_facts.h core/verify/check.c core/verify/check.h core/verify/check_border.c \
  core/verify/check_classes.c core/verify/check_copies.c core/verify/check_facts.c core/verify/check_figures.c core/verify/check_read.h core/verify/check_report.h core/verify/check_measure.h core/verify/check_measure.c \
  core/verify/check_places.c core/verify/check_populations.c core/verify/check_read.c core/verify/check_report.c core/verify/check_scenarios.c core/verify/check_step.c core/verify/check_walk.c \
  core/verify/check_walk.h core/verify/check_ways.c core/verify/check_ways.h core/verify/checker.h core/verify/images_check.c core/verify/images_check.h core/verify/images_read.c core/verify/images_read.h core/verify/problem_check.c core/verify/problem_check.h core/verify/routes_check.c core/verify/routes_hops.c core/verify/routes_mesh.c core/verify/routes_checking.h \
  core/verify/routes_paths.c core/verify/routes_tables.c core/verify/routes_tables_read.c core/verify/routes_ways.c core/verify/units_check.c
