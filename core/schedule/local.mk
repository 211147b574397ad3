libcoremap_a_SOURCES += \
  core/schedule/dag.h core/schedule/dag.c core/schedule/orders.h core/schedule/orders.c \
  core/schedule/order_piece.h core/schedule/subgraphs.c core/schedule/orders_tree.c \
  core/schedule/measure.h core/schedule/measure.c \
  core/schedule/workload.h core/schedule/workload.c core/schedule/read.h core/schedule/read.c core/schedule/read_text.c \
  core/schedule/read_text.h core/schedule/read_psplib.c \
  core/schedule/schedule.h core/schedule/schedule.c core/schedule/solving.c core/schedule/solve.h core/schedule/check.c \
  core/schedule/bound.h core/schedule/bound.c core/schedule/generate.h core/schedule/generate.c \
  core/schedule/request.h core/schedule/request.c core/schedule/trace.h core/schedule/trace.c core/schedule/project_search.c core/schedule/processors.c
