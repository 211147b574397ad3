# What a crash leaves, and what a hostile client does: harnesses in Python over a server, run by ./check; tests/lib holds what harnesses share.
if INTERPOSE
check_DATA += tests/lib/interpose.so
endif
check_DATA += tests/lib/die.so
tests/lib/die.so: tests/lib/die.c
	$(AM_V_CCLD)$(MKDIR_P) tests/lib && $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $(srcdir)/tests/lib/die.c
CLEANFILES += tests/lib/die.so
INTERPOSER = tests/lib/interpose.c tests/lib/interpose_log.c tests/lib/interpose_names.c tests/lib/interpose_spawn.c
tests/lib/interpose.so: $(INTERPOSER) tests/lib/die.c tests/lib/interpose.h tests/lib/interpose_internal.h
	$(AM_V_CCLD)$(MKDIR_P) tests/lib && \
	$(CC) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $(addprefix $(srcdir)/,$(INTERPOSER))
CLEANFILES += tests/lib/interpose.so
check_PROGRAMS += tests/crash/steps
tests_crash_steps_SOURCES = tests/crash/steps.c
tests_crash_steps_LDADD = $(SERVER_LIBS)
EXTRA_DIST += tests/lib/daemon.py tests/lib/slurm_lab.py tests/lib/onnx_file.py tests/lib/onnx_model.py tests/lib/openapi_client.py tests/lib/ports.py tests/lib/sanafe.py tests/lib/topology.py $(INTERPOSER) tests/lib/die.c tests/lib/interpose.h tests/lib/interpose_internal.h \
  tests/crash/run tests/crash/moments tests/crash/outlive tests/crash/power tests/crash/migrate tests/crash/backups.py tests/crash/clients.py tests/crash/disk.py \
  tests/crash/formats.py tests/crash/judge.py tests/crash/keeping.py tests/crash/lab.py tests/crash/ledger.py \
  tests/load/run tests/hostile/run tests/hostile/attacks.py tests/hostile/mutate.py tests/hostile/schema.py tests/hostile/wire.py tests/hostile/world.py
