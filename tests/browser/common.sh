# What the test programs here need: the tools, the folders, a copy of the viewer that node takes as ES modules.
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

# Runs NAME.test.js in a real browser, with screenshots in a folder of its own. Its packages are installed once per build folder, again
# when a pinned version changes.
in_browser() { # in_browser NAME
  CM_CHROMIUM=${CM_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
  [ -n "$CM_CHROMIUM" ] || { echo "skipped: no chromium"; exit 77; }
  export CM_CHROMIUM CM_SCREENSHOTS=$work/screenshots/$1
  (
    flock 9
    if ! cmp -s "$here/package-lock.json" "$work/npm/installed.json"; then
      rm -rf "$work/npm"
      mkdir -p "$work/npm"
      cp "$here/package.json" "$here/package-lock.json" "$work/npm/"
      (cd "$work/npm" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
      cp "$here/package-lock.json" "$work/npm/installed.json"
    fi
    cp "$here/$1.test.js" "$here/harness.js" "$here/server.js" "$work/npm/"
  ) 9> "$work/npm.lock"
  rm -rf "$CM_SCREENSHOTS"
  mkdir -p "$CM_SCREENSHOTS"
  local status=0
  timeout 1500 node --test --test-reporter=tap "$work/npm/$1.test.js" > "$work/$1.tap" || status=$?
  grep -vE '^ +(---|\.\.\.|duration_ms|type)' "$work/$1.tap" || true
  tally "$work/$1.tap"
  exit "$status"
}
