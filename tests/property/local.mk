# Invariants on random inputs, one program per subject.
if HAVE_CHECK
PROPERTY_TESTS = \
  tests/property/affinity \
  tests/property/axons_on_mesh \
  tests/property/blocks \
  tests/property/region_search \
  tests/property/portfolio \
  tests/property/detours \
  tests/property/edges \
  tests/property/efforts \
  tests/property/groups \
  tests/property/jobs \
  tests/property/mapping \
  tests/property/memory_limit \
  tests/property/mesh \
  tests/property/metrics \
  tests/property/minimise \
  tests/property/network \
  tests/property/permutations \
  tests/property/placing \
  tests/property/programs \
  tests/property/refusals \
  tests/property/relief \
  tests/property/remap \
  tests/property/rewards \
  tests/property/routes \
  tests/property/schedules \
  tests/property/snn_batches \
  tests/property/space \
  tests/property/recurrent tests/property/sums \
  tests/property/tamper \
  tests/property/tiles \
  tests/property/topology_bytes \
  tests/property/trees \
  tests/property/turns \
  tests/property/ways \
  tests/property/vast
if ONNX
PROPERTY_TESTS += tests/property/permuted_networks tests/property/random_models
endif
check_PROGRAMS += $(PROPERTY_TESTS)
TESTS += $(PROPERTY_TESTS)
endif
