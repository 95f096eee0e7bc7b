#!/usr/bin/env bash
# Runs all tests that were built, in two processes: many tests wait, for servers and for time to pass, and one process runs no more
# of them at once than there are processors. With ONLY=REGEX it runs those whose ids match, in one.
set -uo pipefail
cd "$(dirname "$0")/.."
program=$(swift build --show-bin-path)/realm-restPackageTests.xctest
# Converted files of tests are kept for this run only.
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
tests() { "$program" --testing-library swift-testing --parallel "$@"; }
if [ -n "${ONLY:-}" ]; then
  tests --filter "$ONLY"
  exit
fi
tests --filter '^RealmHTTPTests\.' >.build/test-http.log 2>&1 &
first=$!
tests --skip '^RealmHTTPTests\.' 2>&1 | tee .build/test.log
rest=$?
wait "$first"
http=$?
cat .build/test-http.log
[ "$rest" = 0 ] && [ "$http" = 0 ] && exit
# What failed is said once more, where it is not lost among thousands of lines; ↳ tells what was expected.
echo '--- failed:'
grep -ahE '✘|↳|recorded an issue|Fatal error|error:' .build/test.log .build/test-http.log | tail -80
exit 1
