# What a crash leaves, and what a hostile client does: harnesses in Python over a server, run by ./check; tests/lib holds what harnesses share.
if INTERPOSE
check_DATA += tests/lib/interpose.so
endif
tests/lib/interpose.so: tests/lib/interpose.c tests/lib/interpose.h
	$(AM_V_CCLD)$(MKDIR_P) tests/lib && \
	$(CC) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $(srcdir)/tests/lib/interpose.c
CLEANFILES += tests/lib/interpose.so
EXTRA_DIST += tests/lib/daemon.py tests/lib/topology.py tests/lib/interpose.c tests/lib/interpose.h \
  tests/crash/run tests/crash/power tests/crash/clients.py tests/crash/disk.py tests/crash/judge.py tests/crash/ledger.py \
  tests/hostile/run tests/hostile/attacks.py tests/hostile/mutate.py tests/hostile/schema.py tests/hostile/wire.py tests/hostile/world.py
