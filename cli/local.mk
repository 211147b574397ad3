bin_PROGRAMS += coremap
coremap_SOURCES = cli/main.c cli/cli.h cli/common.c cli/map.c cli/check.c cli/show.c cli/convert.c cli/generate.c
coremap_LDADD = $(CORE_LIBS)
