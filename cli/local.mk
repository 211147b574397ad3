bin_PROGRAMS += coremap
coremap_SOURCES = cli/cli.h cli/command.h cli/context.h cli/http.h cli/job.h cli/remote.h cli/table.h cli/upload.h \
  cli/calibrate.c cli/check.c \
  cli/command.c \
  cli/common.c cli/constraints.c \
  cli/compare.c cli/compile.c \
  cli/context.c \
  cli/convert.c \
  cli/cores.c \
  cli/deploy.c cli/download.c \
  cli/emit.c \
  cli/export.c \
  cli/files.c cli/fit.c cli/inputs.c \
  cli/generate.c \
  cli/job.c \
  cli/keep.c cli/label.c \
  cli/lists.c \
  cli/line.c cli/log.c \
  cli/login.c \
  cli/main.c \
  cli/manual.h cli/manual.c \
  cli/map.c \
  cli/partition.c \
  cli/print.h cli/print.c \
  cli/profile.c cli/quantize.c \
  cli/remap.c \
  cli/remote.c \
  cli/remove.c \
  cli/run.c \
  cli/schedule.c \
  cli/solve.c \
  cli/simulate.c \
  cli/table.c cli/tables.c \
  cli/tile.c \
  cli/upload.c \
  cli/show.h cli/show.c cli/show_mapping.c cli/show_chip.c cli/show_network.c cli/operators.c \
  cli/submit.c \
  cli/summary.c \
  cli/sweep.c \
  cli/train.c
coremap_LDADD = $(CORE_LIBS) $(CURL_LIBS)
