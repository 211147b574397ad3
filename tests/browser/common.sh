# What both test programs here need: the tools, the folders, a copy of the viewer that node takes as ES modules.
# shellcheck shell=bash
: "${CM_SOURCE:?the source folder}" "${CM_BUILD:?the build folder}"
here=$CM_SOURCE/tests/browser
work=$CM_BUILD/tests/browser/run
mkdir -p "$work"
command -v node >/dev/null || { echo "skipped: no node"; exit 77; }

# Prints node's count of tests in the form that ./check adds up.
tally() { # tally LOG
  awk '/^# tests/ { tests = $3 } /^# fail/ { fail = $3 }
       END { printf "%d%%: Checks: %d, Failures: %d, Errors: 0\n", tests ? 100 * (tests - fail) / tests : 0, tests, fail }' "$1"
}
