#!/usr/bin/env bash
# Runs all tests that were built, in three processes: many tests wait, for servers and for time to pass, and one process runs no more
# of them at once than there are processors. The suites that compare times or the memory of a process run after them, one by one.
# With ONLY=REGEX it runs the tests whose ids match, in one process.
set -uo pipefail
cd "$(dirname "$0")/.."
program=$(swift build --show-bin-path)/realm-restPackageTests.xctest
measuring='\.(AsyncOpeningRowTests|ConnectionStormTests|CredentialEndTests|EndingTests|FollowTests|ProxyTests|SchemaBudgetTests|UpkeepUnderLoadTests)\b'
# Converted files of tests are kept for this run only.
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
tests() { "$program" --testing-library swift-testing "$@"; }
if [ -n "${ONLY:-}" ]; then
  tests --parallel --filter "$ONLY"
  exit
fi
logs=(.build/test.log .build/test-http-1.log .build/test-http-2.log .build/test-measuring.log)
tests --parallel --filter '^RealmHTTPTests\.[A-M]' --skip "$measuring" >"${logs[1]}" 2>&1 &
first=$!
tests --parallel --filter '^RealmHTTPTests\.[^A-M]' --skip "$measuring" >"${logs[2]}" 2>&1 &
second=$!
tests --parallel --skip '^RealmHTTPTests\.' --skip "$measuring" 2>&1 | tee "${logs[0]}"
failed=$?
for process in "$first" "$second"; do wait "$process" || failed=1; done
cat "${logs[1]}" "${logs[2]}"
tests --no-parallel --filter "$measuring" 2>&1 | tee "${logs[3]}" || failed=1
[ "$failed" = 0 ] && exit
# What failed is said once more, where it is not lost among thousands of lines; ↳ tells what was expected.
echo '--- failed:'
grep -ahE '✘|↳|recorded an issue|Fatal error|error:' "${logs[@]}" | tail -80
exit 1
