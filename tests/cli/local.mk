# The coremap command as a user runs it: what it makes, and SPEC section 11 row by row.
dist_check_SCRIPTS += tests/cli/coremap
TESTS += tests/cli/coremap
