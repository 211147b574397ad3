libcoremap_a_SOURCES += \
  core/schedule/heap.h core/schedule/dag.h core/schedule/dag.c core/schedule/orders.h
