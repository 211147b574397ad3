# Sourced by the tests of the command: a folder to work in, checks, and the counts that ./check adds up.
work=$(mktemp -d)
trap 'cleanup; rm -rf "$work"' EXIT
cleanup() { :; }
cd "$work" || exit 1
checks=0 failures=0
fail() { failures=$((failures + 1)); echo "FAILED: $1"; sed 's/^/  | /' out err 2>/dev/null | head -n 6; }

# expect NAME STATUS TEXT COMMAND...: exit status, text on either stream; a refusal is one line on standard error.
expect() {
  local name=$1 status=$2 text=$3; shift 3
  checks=$((checks + 1))
  "$@" >out 2>err; local got=$?
  if [ $got -ne "$status" ]; then fail "$name: exit $got instead of $status"
  elif [ -n "$text" ] && ! grep -qF -- "$text" out err; then fail "$name: does not say \"$text\""
  elif [ "$status" -ne 0 ] && [ "$(wc -l <err)" -ne 1 ]; then fail "$name: not one clear line"; fi
}
same() { checks=$((checks + 1)); cmp -s "$2" "$3" || fail "$1: $2 and $3 differ"; }

# Waits until a command succeeds, for minutes where the machine is busy; what comes of it is for a check to say.
await() { local tries=3000; until "$@" || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done; }

# The last command of a test.
verdict() {
  echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
  [ "$failures" -eq 0 ]
}
