libcoremap_a_SOURCES += \
  core/machine/plan.h core/machine/plan.c core/machine/grid.c core/machine/view.c \
  core/machine/pager.h core/machine/pager.c core/machine/segment.h core/machine/segment.c \
  core/machine/program.h core/machine/program.c core/machine/object.h core/machine/emit.c core/machine/link.c \
  core/machine/simulate.h core/machine/simulate_internal.h core/machine/simulate.c core/machine/execute.c \
  core/machine/checker.c core/machine/program_write.c core/machine/program_read.c core/machine/codec.h core/machine/codec.c \
  core/machine/disassemble.c core/machine/internal.h core/machine/compile.h core/machine/compile.c \
  core/machine/options.c core/machine/verify.c core/machine/report.c \
  core/machine/order.h core/machine/order.c core/machine/timeline.h core/machine/timeline.c
