# Formats of other programs, written by their own libraries for Python: what comes in against what these say.
dist_check_SCRIPTS += tests/formats/arrays tests/formats/brian tests/formats/corpus tests/formats/graphs tests/formats/lava tests/formats/neurons tests/formats/nir tests/formats/profiled tests/formats/running tests/formats/sonata
TESTS += tests/formats/arrays tests/formats/corpus tests/formats/graphs
if HDF5
TESTS += tests/formats/lava tests/formats/neurons tests/formats/nir tests/formats/profiled tests/formats/running tests/formats/sonata
endif
