# Beside SpiNNaker's own tools: what needs them is run by hand (tests/spinnaker/run), what was recorded of them always.
dist_check_SCRIPTS += tests/spinnaker/flows tests/spinnaker/run
if SHARED_LIBRARY
TESTS += tests/spinnaker/flows
endif
EXTRA_DIST += tests/spinnaker/flows.py tests/spinnaker/inside.py
