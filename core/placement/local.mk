libcoremap_a_SOURCES += \
  core/placement/placement.h core/placement/bisection.c core/placement/force.c
