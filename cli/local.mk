bin_PROGRAMS += coremap
coremap_SOURCES = cli/main.c cli/cli.h cli/common.c cli/job.h cli/job.c cli/map.c cli/partition.c cli/check.c cli/compile.c \
  cli/show.c cli/convert.c cli/generate.c cli/schedule.c
coremap_LDADD = $(CORE_LIBS)
