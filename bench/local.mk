EXTRA_DIST += bench/ablation bench/reference-vs-metis bench/agreement bench/axons bench/edges bench/reference-scale bench/scale bench/wide.json \
  bench/emit bench/int8 bench/int8.js bench/quantize bench/quantize.js bench/operators bench/permutations bench/permutations.js bench/programs bench/programs.js bench/units bench/units.js bench/devices bench/devices.js bench/recurrent.js
noinst_PROGRAMS += bench/metrics
bench_metrics_LDADD = $(CORE_LIBS)
EXTRA_DIST += bench/profile bench/profiled bench/deploy bench/calibrate bench/clock bench/requests bench/lists bench/lane bench/footprint bench/executors bench/slurm bench/server-job bench/qap bench/mesh bench/axons-on-mesh bench/learned bench/ring bench/multicast bench/step-time bench/step-targets bench/simulate
EXTRA_DIST += bench/interconnects bench/tables bench/pacman bench/pacman_peer.py bench/sanafe bench/connectome bench/billion bench/reuse bench/knee bench/pacing bench/inversions bench/structure
noinst_PROGRAMS += bench/qap_place
bench_qap_place_LDADD = $(CORE_LIBS)
EXTRA_DIST += bench/sched bench/schedule bench/grid bench/grid_peer.c bench/nets bench/progress bench/sweep
noinst_PROGRAMS += bench/sched_gaps
bench_sched_gaps_LDADD = $(CORE_LIBS)
noinst_PROGRAMS += bench/learned_place
bench_learned_place_SOURCES = bench/placers/place.c bench/placers/instance.h bench/placers/instance.c \
  bench/placers/annealing.h bench/placers/annealing.c
bench_learned_place_LDADD = $(CORE_LIBS)
noinst_PROGRAMS += bench/hilbert
bench_hilbert_LDADD = $(CORE_LIBS)
EXTRA_DIST += bench/constraints
noinst_PROGRAMS += bench/constraints_judge bench/regions
bench_regions_LDADD = $(CORE_LIBS)
noinst_PROGRAMS += bench/queue
bench_queue_LDADD = $(SERVER_LIBS) $(CURL_LIBS)
noinst_PROGRAMS += bench/spiking
bench_spiking_LDADD = $(CORE_LIBS)
noinst_PROGRAMS += bench/threads bench/progress_judge
bench_progress_judge_LDADD = $(SERVER_LIBS)
bench_threads_LDADD = $(CORE_LIBS)
