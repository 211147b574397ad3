# Jobs on a Slurm of the machine's own (scripts/slurm-lab), where its packages are.
if HAVE_CHECK
dist_check_SCRIPTS += tests/slurm/lab tests/slurm/jobs
TESTS += tests/slurm/lab tests/slurm/jobs
endif
