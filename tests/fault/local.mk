# Calls that fail: tests/fault/nth runs operations (of the library and of storage, in one process) and jobs of a server.
if INTERPOSE
check_PROGRAMS += tests/fault/operations
tests_fault_operations_SOURCES = tests/fault/operations.h tests/fault/operations.c tests/fault/library.c \
  tests/fault/storing.h tests/fault/storing.c tests/fault/storing_chips.c tests/fault/storing_jobs.c \
  tests/lib/interpose.h tests/lib/interpose_internal.h $(INTERPOSER)
tests_fault_operations_LDADD = $(SERVER_LIBS)
endif
EXTRA_DIST += tests/lib/shim.py tests/fault/nth tests/fault/machine tests/soak
