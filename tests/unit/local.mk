# One program per room, on libcheck. tests/unit/unit.h holds what they share.
if HAVE_CHECK
UNIT_LIBS = $(CORE_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/unit/base
TESTS += tests/unit/base
tests_unit_base_SOURCES = tests/unit/base.c tests/unit/unit.h
tests_unit_base_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_LDADD = $(UNIT_LIBS)
endif
