# What the server keeps. Storage, api and the daemon's parts make one library, so that tests can link them.
SERVER_LIBS = libcoremapd.a $(CORE_LIBS) $(MICROHTTPD_LIBS) $(GNUTLS_LIBS) $(SQLITE_LIBS) $(SECCOMP_LIBS)
noinst_LIBRARIES += libcoremapd.a
libcoremapd_a_SOURCES = \
  storage/database.h storage/database.c storage/connection.h storage/connection.c storage/changes.h storage/changes.c storage/sql.c storage/schema.h storage/schema.c storage/internal.h \
  storage/store.h storage/store.c storage/folder.h storage/folder.c storage/sweep.h storage/sweep.c storage/log.h storage/log.c storage/clock.h storage/clock.c storage/blobs.h storage/blobs.c storage/check.h storage/check_internal.h storage/check.c storage/check_files.c storage/scrub.h storage/scrub.c storage/event_bus.h storage/event_bus.c \
  storage/networks.h storage/networks.c storage/chips.h storage/chips.c storage/chip_change.c storage/occupancy.h storage/occupancy.c storage/drain.h storage/drain.c storage/leases.h storage/leases_internal.h storage/leases.c storage/leases_read.c \
  storage/jobs.h storage/jobs_internal.h storage/jobs.c storage/jobs_read.c storage/job_log.c storage/queue.c storage/positions.h storage/positions_internal.h storage/positions.c storage/turns.c storage/estimates.h storage/estimates.c storage/usage.h storage/usage.c storage/limits.h storage/limits.c storage/quotas.h storage/quotas.c storage/backup.h storage/backup.c storage/monitor.h storage/monitor.c storage/bin.h storage/bin.c storage/retention.h storage/retention.c storage/audit.h storage/audit.c storage/mappings.h storage/mappings.c storage/mappings_keep.c storage/pack.h storage/pack.c \
  storage/uploads.h storage/uploads.c storage/owners.h storage/owners.c storage/users.h storage/users.c storage/tokens.h storage/tokens.c
