# What a crash leaves: harnesses in Python over a server, run by ./check; tests/lib holds what harnesses share.
EXTRA_DIST += tests/lib/daemon.py tests/lib/topology.py \
  tests/crash/run tests/crash/clients.py tests/crash/judge.py tests/crash/ledger.py
