# The coremap command as a user runs it: what it makes, and what it says to bad input.
dist_check_SCRIPTS += tests/cli/coremap tests/cli/claims tests/cli/stages tests/cli/emit tests/cli/quantize tests/cli/rewrites tests/cli/host tests/cli/flags tests/cli/remote tests/cli/login tests/cli/listen tests/cli/made tests/cli/recipes tests/cli/exports tests/cli/readme tests/cli/sources tests/cli/monitoring tests/cli/attacks tests/cli/footprint tests/cli/keeping tests/cli/kept tests/cli/reuse tests/cli/sweep tests/cli/lists tests/cli/choices tests/cli/pacing tests/cli/constraints tests/cli/structure tests/cli/damage tests/cli/bounds tests/cli/progress tests/hostile/server tests/cli/privacy tests/cli/without tests/cli/tutorials tests/cli/newcomer
TESTS += tests/cli/newcomer tests/cli/flags tests/cli/login tests/cli/listen tests/cli/made tests/cli/recipes tests/cli/exports tests/cli/sources tests/cli/monitoring tests/cli/attacks tests/cli/footprint tests/cli/keeping tests/cli/kept tests/cli/reuse tests/cli/sweep tests/cli/lists tests/cli/choices tests/cli/pacing tests/cli/constraints tests/cli/structure tests/cli/damage tests/cli/bounds tests/cli/progress
if !HDF5
TESTS += tests/cli/without
endif
if ONNX
TESTS += tests/cli/coremap tests/cli/claims tests/cli/stages tests/cli/emit tests/cli/quantize tests/cli/rewrites tests/cli/host tests/cli/remote tests/cli/readme tests/cli/tutorials tests/hostile/server tests/cli/privacy
endif
EXTRA_DIST += tests/cli/lists.py tests/cli/expect.sh tests/cli/exports.py tests/hostile/calls.py
# An outside verifier of certificates: it shares nothing with the project.
check_PROGRAMS += tests/certificate
tests_certificate_SOURCES = tests/certificate.c
tests_certificate_LDADD = -lm
