EXTRA_DIST += bench/reference-vs-metis bench/agreement bench/axons bench/edges bench/scale bench/wide.json \
  bench/operators bench/permutations bench/permutations.js
noinst_PROGRAMS += bench/metrics
bench_metrics_LDADD = $(CORE_LIBS)
