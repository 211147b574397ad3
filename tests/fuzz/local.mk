# libFuzzer targets: fuzz_NAME.c, with NAME.dict and seeds/NAME beside it; scripts/fuzz builds and runs them.
if FUZZERS
FUZZ_TARGETS = \
  tests/fuzz/fuzz_certificate \
  tests/fuzz/fuzz_chip \
  tests/fuzz/fuzz_edges \
  tests/fuzz/fuzz_hypergraph \
  tests/fuzz/fuzz_import \
  tests/fuzz/fuzz_job \
  tests/fuzz/fuzz_mapping \
  tests/fuzz/fuzz_matrix \
  tests/fuzz/fuzz_metis \
  tests/fuzz/fuzz_nir \
  tests/fuzz/fuzz_npy \
  tests/fuzz/fuzz_onnx \
  tests/fuzz/fuzz_part \
  tests/fuzz/fuzz_policy \
  tests/fuzz/fuzz_program \
  tests/fuzz/fuzz_remap \
  tests/fuzz/fuzz_snn \
  tests/fuzz/fuzz_topology \
  tests/fuzz/fuzz_workload
EXTRA_PROGRAMS += $(FUZZ_TARGETS)
tests_fuzz_fuzz_certificate_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_remap_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_chip_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_mapping_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_edges_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_hypergraph_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_matrix_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_import_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_job_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_metis_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_nir_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_npy_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_part_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_policy_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_onnx_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_program_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_snn_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_topology_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_workload_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzzers: $(FUZZ_TARGETS)
.PHONY: fuzzers
endif
EXTRA_DIST += tests/fuzz/seeds tests/fuzz/chip.dict tests/fuzz/mapping.dict tests/fuzz/fuzz_chip.c tests/fuzz/fuzz_mapping.c \
  tests/fuzz/network.h tests/fuzz/fuzz_edges.c tests/fuzz/edges.dict tests/fuzz/fuzz_import.c tests/fuzz/import.dict tests/fuzz/fuzz_metis.c tests/fuzz/metis.dict tests/fuzz/fuzz_snn.c tests/fuzz/snn.dict tests/fuzz/fuzz_topology.c tests/fuzz/topology.dict \
  tests/fuzz/fuzz_hypergraph.c tests/fuzz/hypergraph.dict tests/fuzz/fuzz_matrix.c tests/fuzz/matrix.dict \
  tests/fuzz/old.h tests/fuzz/whole_job.h tests/fuzz/fuzz_job.c tests/fuzz/fuzz_certificate.c tests/fuzz/certificate.dict tests/fuzz/fuzz_remap.c tests/fuzz/remap.dict \
  tests/fuzz/fuzz_nir.c tests/fuzz/fuzz_npy.c tests/fuzz/npy.dict tests/fuzz/fuzz_part.c tests/fuzz/part.dict tests/fuzz/fuzz_policy.c tests/fuzz/policy.dict tests/fuzz/job.dict \
  tests/fuzz/fuzz_onnx.c tests/fuzz/onnx.dict tests/fuzz/fuzz_program.c tests/fuzz/fuzz_workload.c tests/fuzz/workload.dict
