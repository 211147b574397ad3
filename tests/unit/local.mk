# Programs on libcheck: tests/unit/core has the folders of core; the headers here hold what they share.
if HAVE_CHECK
UNIT_TESTS = \
  tests/unit/base \
  tests/unit/base_confine \
  tests/unit/base_file \
  tests/unit/base_memory \
  tests/unit/core/chip/chip \
  tests/unit/core/chip/occupancy \
  tests/unit/core/chip/regions \
  tests/unit/core/deploy/chip_neurons \
  tests/unit/core/deploy/made_up \
  tests/unit/core/generate/generate \
  tests/unit/core/learning/letter \
  tests/unit/core/learning/policy \
  tests/unit/core/learning/training \
  tests/unit/core/limits/limits \
  tests/unit/core/look/look \
  tests/unit/core/mapping/combinations \
  tests/unit/core/mapping/options \
  tests/unit/core/measure/metrics \
  tests/unit/core/network/formats \
  tests/unit/core/network/identity \
  tests/unit/core/network/network \
  tests/unit/core/network/signed \
  tests/unit/core/network/text_formats \
  tests/unit/core/operators/work \
  tests/unit/core/output/views \
  tests/unit/core/partition/axon/axon_copies \
  tests/unit/core/partition/axon/axon_moves \
  tests/unit/core/partition/axon/axon_order \
  tests/unit/core/partition/axon/axons \
  tests/unit/core/partition/axon/fill \
  tests/unit/core/partition/axon/growing \
  tests/unit/core/partition/axon/hypergraph \
  tests/unit/core/partition/multilevel \
  tests/unit/core/partition/net_bisection \
  tests/unit/core/partition/net_flow tests/unit/core/partition/edge_flow \
  tests/unit/core/partition/part_usage \
  tests/unit/core/partition/partition \
  tests/unit/core/partition/step \
  tests/unit/core/placement/placement \
  tests/unit/core/schedule/orders \
  tests/unit/core/schedule/schedule \
  tests/unit/core/simulate/simulate \
  tests/unit/core/solver/attempts \
  tests/unit/core/spiking/spiking \
  tests/unit/core/solver/presets
if ONNX
UNIT_TESTS += tests/unit/core/operators/nodes tests/unit/core/operators/operators
endif
if HAVE_IGRAPH
UNIT_TESTS += tests/unit/core/learning/communities
tests_unit_core_learning_communities_LDADD = $(LDADD) $(IGRAPH_LIBS)
endif
check_PROGRAMS += $(UNIT_TESTS)
tests_unit_core_network_formats_SOURCES = tests/unit/core/network/formats.c tests/unit/core/network/formats_arrays.c
tests_unit_core_chip_chip_SOURCES = tests/unit/core/chip/chip.c tests/unit/core/chip/chip_refusals.c
# With tables of its own: a chip more.
tests_unit_core_deploy_made_up_SOURCES = tests/unit/core/deploy/made_up.c core/deploy/chip_neurons.c core/deploy/emitters.c
tests_unit_core_deploy_made_up_CPPFLAGS = $(AM_CPPFLAGS) -DMORE_CHIP_NEURONS='"tests/unit/core/deploy/made_up_neurons.def"' -DMORE_EMITTERS='"tests/unit/core/deploy/made_up_emitters.def"'
TESTS += $(UNIT_TESTS)
endif
EXTRA_DIST += tests/unit/core/deploy/made_up_neurons.def tests/unit/core/deploy/made_up_emitters.def
EXTRA_DIST += tests/property/brute_force.h tests/property/models.h tests/property/judged.h tests/property/turns.h tests/unit/unit.h tests/unit/accounted.h tests/unit/axons.h tests/unit/workloads.h tests/unit/files.h tests/unit/networks.h tests/unit/chips.h tests/unit/truth.h tests/unit/onnx.h tests/unit/graphs.h tests/unit/parts.h tests/unit/store.h tests/unit/shares.h tests/unit/queue.h tests/unit/imports.h tests/property/random_models.def
EXTRA_DIST += tests/data
