# The units: what systemd says of them, and the server under their rules.
if HAVE_CHECK
check_PROGRAMS += tests/systemd/confined
tests_systemd_confined_LDADD = $(SECCOMP_LIBS)
dist_check_SCRIPTS += tests/systemd/service tests/systemd/administration tests/systemd/container tests/systemd/systemctl
TESTS += tests/systemd/service tests/systemd/administration tests/systemd/container
# Said by a variable: automake leaves its own rule for a test out where it finds one with the same name.
UNDER_RULES = tests/systemd/service.log
$(UNDER_RULES): tests/systemd/confined$(EXEEXT) coremapd$(EXEEXT)
endif
