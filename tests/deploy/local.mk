# Images of cores, against what the chip's own Verilog made of them.
dist_check_SCRIPTS += tests/deploy/run
if HDF5
TESTS += tests/deploy/run
endif
