libcoremap_a_SOURCES += \
  core/partition/options.h \
  core/partition/graph.h core/partition/graph.c \
  core/partition/coarsen.h core/partition/coarsen.c \
  core/partition/bisect.h core/partition/bisect.c \
  core/partition/refine.h core/partition/refine.c \
  core/partition/limits.h core/partition/limits.c \
  core/partition/reference.h core/partition/reference.c
