# Invariants on random inputs, one program per subject.
if HAVE_CHECK
PROPERTY_TESTS = \
  tests/property/mapping \
  tests/property/metrics \
  tests/property/network
check_PROGRAMS += $(PROPERTY_TESTS)
TESTS += $(PROPERTY_TESTS)
endif
