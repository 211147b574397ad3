bin_PROGRAMS += coremapd
libcoremapd_a_SOURCES += \
  daemon/config.h daemon/config.c daemon/log.h daemon/log.c daemon/workers.h daemon/workers.c \
  daemon/running.h daemon/running.c daemon/run_map.c daemon/run_compile.c
coremapd_SOURCES = daemon/main.c
coremapd_CPPFLAGS = $(AM_CPPFLAGS) -DCM_VERSION='"$(PACKAGE_VERSION)"'
coremapd_LDADD = $(SERVER_LIBS) -linih
