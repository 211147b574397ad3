# Images of cores, against what the chip's own Verilog made of them, and costs fitted to its clocks.
dist_check_SCRIPTS += tests/deploy/run tests/deploy/calibrate
TESTS += tests/deploy/calibrate
if HDF5
TESTS += tests/deploy/run
endif
