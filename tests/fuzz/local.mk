# libFuzzer targets: fuzz_NAME.c, with NAME.dict and seeds/NAME beside it; scripts/fuzz builds and runs them.
if FUZZERS
FUZZ_TARGETS = \
  tests/fuzz/fuzz_certificate \
  tests/fuzz/fuzz_chip \
  tests/fuzz/fuzz_circuit \
  tests/fuzz/fuzz_config \
  tests/fuzz/fuzz_edges \
  tests/fuzz/fuzz_graph \
  tests/fuzz/fuzz_http \
  tests/fuzz/fuzz_hypergraph \
  tests/fuzz/fuzz_images \
  tests/fuzz/fuzz_import \
  tests/fuzz/fuzz_job \
  tests/fuzz/fuzz_lava \
  tests/fuzz/fuzz_levels \
  tests/fuzz/fuzz_mapping \
  tests/fuzz/fuzz_matrix \
  tests/fuzz/fuzz_metis \
  tests/fuzz/fuzz_nir \
  tests/fuzz/fuzz_numpy \
  tests/fuzz/fuzz_npy \
  tests/fuzz/fuzz_onnx \
  tests/fuzz/fuzz_part \
  tests/fuzz/fuzz_policy \
  tests/fuzz/fuzz_problem \
  tests/fuzz/fuzz_program \
  tests/fuzz/fuzz_remap \
  tests/fuzz/fuzz_routes \
  tests/fuzz/fuzz_snn \
  tests/fuzz/fuzz_sonata \
  tests/fuzz/fuzz_spikes \
  tests/fuzz/fuzz_topology \
  tests/fuzz/fuzz_work \
  tests/fuzz/fuzz_workload
EXTRA_PROGRAMS += $(FUZZ_TARGETS)
tests_fuzz_fuzz_config_LDADD = $(SERVER_LIBS) -linih
tests_fuzz_fuzz_http_LDADD = $(SERVER_LIBS)
tests_fuzz_fuzz_work_LDADD = $(SERVER_LIBS)
$(FUZZ_TARGETS): AM_LDFLAGS = $(CM_LDFLAGS) -fsanitize=fuzzer
fuzzers: $(FUZZ_TARGETS)
.PHONY: fuzzers
endif
EXTRA_DIST += tests/fuzz/seeds tests/fuzz/chip.dict tests/fuzz/mapping.dict tests/fuzz/fuzz_chip.c tests/fuzz/fuzz_mapping.c \
  tests/fuzz/network.h tests/fuzz/fuzz_edges.c tests/fuzz/edges.dict tests/fuzz/fuzz_images.c tests/fuzz/fuzz_import.c tests/fuzz/import.dict tests/fuzz/fuzz_metis.c tests/fuzz/metis.dict tests/fuzz/fuzz_snn.c tests/fuzz/snn.dict tests/fuzz/fuzz_topology.c tests/fuzz/topology.dict \
  tests/fuzz/fuzz_hypergraph.c tests/fuzz/hypergraph.dict tests/fuzz/fuzz_matrix.c tests/fuzz/matrix.dict \
  tests/fuzz/demand.h tests/fuzz/old.h tests/fuzz/old_mapping.h tests/fuzz/hdf5_file.h tests/fuzz/zip_file.h tests/fuzz/whole_job.h tests/fuzz/fuzz_job.c tests/fuzz/fuzz_certificate.c tests/fuzz/certificate.dict tests/fuzz/fuzz_remap.c tests/fuzz/remap.dict \
  tests/fuzz/fuzz_circuit.c tests/fuzz/fuzz_graph.c tests/fuzz/graph.dict tests/fuzz/fuzz_lava.c tests/fuzz/fuzz_nir.c tests/fuzz/fuzz_numpy.c tests/fuzz/fuzz_sonata.c tests/fuzz/fuzz_spikes.c tests/fuzz/spikes.dict tests/fuzz/fuzz_npy.c tests/fuzz/npy.dict tests/fuzz/fuzz_part.c tests/fuzz/part.dict tests/fuzz/fuzz_policy.c tests/fuzz/policy.dict tests/fuzz/fuzz_problem.c tests/fuzz/problem.dict tests/fuzz/job.dict \
  tests/fuzz/fuzz_onnx.c tests/fuzz/onnx.dict tests/fuzz/fuzz_program.c tests/fuzz/fuzz_workload.c tests/fuzz/workload.dict \
  tests/fuzz/fuzz_config.c tests/fuzz/config.dict tests/fuzz/fuzz_http.c tests/fuzz/http.dict tests/fuzz/fuzz_levels.c tests/fuzz/levels.dict \
  tests/fuzz/fuzz_routes.c tests/fuzz/routes.dict tests/fuzz/fuzz_work.c tests/fuzz/work.dict
# Whole jobs by the command, beside what reads bytes: cases are made, rules counted, by Python.
dist_check_SCRIPTS += tests/fuzz/jobs
TESTS += tests/fuzz/jobs
EXTRA_DIST += tests/fuzz/job_cases.py tests/fuzz/job_rules.py
