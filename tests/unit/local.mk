# One program per room on libcheck, each a single file; unit.h and networks.h hold what they share.
if HAVE_CHECK
UNIT_TESTS = \
  tests/unit/axon_moves \
  tests/unit/axon_order \
  tests/unit/axons \
  tests/unit/base \
  tests/unit/chip \
  tests/unit/fill \
  tests/unit/formats \
  tests/unit/generate \
  tests/unit/hypergraph \
  tests/unit/identity \
  tests/unit/letter \
  tests/unit/limits \
  tests/unit/metrics \
  tests/unit/multilevel \
  tests/unit/network \
  tests/unit/nodes \
  tests/unit/operators \
  tests/unit/orders \
  tests/unit/partition \
  tests/unit/placement \
  tests/unit/policy \
  tests/unit/regions \
  tests/unit/schedule \
  tests/unit/signed \
  tests/unit/simulate \
  tests/unit/step \
  tests/unit/training \
  tests/unit/views
if HAVE_IGRAPH
UNIT_TESTS += tests/unit/communities
tests_unit_communities_LDADD = $(LDADD) $(IGRAPH_LIBS)
endif
check_PROGRAMS += $(UNIT_TESTS)
tests_unit_formats_SOURCES = tests/unit/formats.c tests/unit/formats_arrays.c
tests_unit_chip_SOURCES = tests/unit/chip.c tests/unit/chip_refusals.c
TESTS += $(UNIT_TESTS)
endif
EXTRA_DIST += tests/property/brute_force.h tests/property/models.h tests/unit/unit.h tests/unit/axons.h tests/unit/workloads.h tests/unit/files.h tests/unit/networks.h tests/unit/chips.h tests/unit/truth.h tests/unit/onnx.h tests/unit/graphs.h tests/unit/parts.h tests/unit/store.h
EXTRA_DIST += tests/data
