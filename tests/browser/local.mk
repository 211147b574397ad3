# The viewer: pure modules under node, pages in a headless browser. All skip only when node or the browser is absent.
dist_check_SCRIPTS += tests/browser/modules tests/browser/pages tests/browser/questions
TESTS += tests/browser/modules
if ONNX
TESTS += tests/browser/pages tests/browser/questions
endif
EXTRA_DIST += \
  tests/browser/common.sh tests/browser/harness.js tests/browser/server.js tests/browser/pages.test.js \
  tests/browser/questions.test.js tests/browser/unit/modules.test.js \
  tests/browser/package.json tests/browser/package-lock.json
clean-local: clean-browser
.PHONY: clean-browser
clean-browser:
	rm -rf tests/browser/run
