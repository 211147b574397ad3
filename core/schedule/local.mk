libcoremap_a_SOURCES += \
  core/schedule/dag.h core/schedule/dag.c core/schedule/orders.h core/schedule/orders.c \
  core/schedule/order_piece.h core/schedule/subgraphs.c core/schedule/orders_tree.c \
  core/schedule/target_command.h core/schedule/target_command.c \
  core/schedule/workload.h core/schedule/workload.c core/schedule/read.h core/schedule/read.c core/schedule/read_text.c \
  core/schedule/read_text.h core/schedule/read_psplib.c \
  core/schedule/schedule.h core/schedule/schedule.c core/schedule/solving.c core/schedule/solve.h core/schedule/schedule_check.c \
  core/schedule/schedule_bound.h core/schedule/schedule_bound.c core/schedule/generate.h core/schedule/generate.c \
  core/schedule/request.h core/schedule/request.c core/schedule/trace.h core/schedule/trace.c core/schedule/project_search.c core/schedule/heterogeneous.c
