#!/bin/sh
# Everything that must hold, from a clean clone: sets up, checks, builds and tests natively, under sanitizers, under
# Node and in a browser. Prints a table of what ran; exit status 0 if all of it passed.
# Each test runs natively once: those of the engine and the fuzzers' inputs under sanitizers, those of data without.
# VRAM_NO_BROWSER=1 leaves the browser out (where there is none); VRAM_FUZZ=1 adds the fuzzers, ten seconds each.
set -u
cd "$(dirname "$0")/.."
logs=build/logs
mkdir -p $logs
rm -f $logs/*
jobs=$(getconf _NPROCESSORS_ONLN)
failures=0 total_passed=0 total_failed=0

# Sums what the test programs say of themselves: Catch2's closing lines, "N passed, N failed", and ctest's verdict on
# a test that says nothing of the kind.
count() {
  awk '
    /^All tests passed \(/ { for (i = 1; i < NF; i++) if ($i == "in") p += $(i + 1); said = 1 }
    /^test cases: / {
      for (i = 3; i <= NF; i++) { if ($i ~ /^passed/) p += $(i - 1); if ($i ~ /^failed/) f += $(i - 1) }
      said = 1
    }
    /^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; said = 1 }
    /^Test Passed\.$/ { if (!said) p++; said = 0 }
    /^Test Failed\.$/ { if (!said) f++; said = 0 }
    END { print p + 0, f + 0 }' "$@" /dev/null
}

# step NAME LOG COMMAND...: runs the command; its tests are counted in LOG ("-" where its output is the log).
step() {
  name=$1 log=$2
  shift 2
  [ "$log" != - ] || log=$logs/$name.log
  printf '\n=== %s ===\n' "$name"
  start=$(date +%s)
  { "$@" 2>&1; echo $? >$logs/status; } | tee $logs/$name.log
  status=$(cat $logs/status)
  seconds=$(($(date +%s) - start))
  passed=0 failed=0
  if [ -e "$log" ]; then
    read -r passed failed <<COUNTS
$(count "$log")
COUNTS
  fi
  result=ok
  if [ "$status" != 0 ]; then
    result=FAILED
    failures=$((failures + 1))
    [ "$failed" != 0 ] || failed=1
  fi
  total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
  printf '%-14s %-7s %6s passed %4s failed %5s s\n' "$name" $result "$passed" "$failed" "$seconds" >>$logs/table
}

build_and_test() {  # build_and_test PRESET TARGETS CTEST-OPTION...: all targets if empty
  preset=$1 targets=$2
  shift 2
  rm -f "build/$preset/Testing/Temporary/LastTest.log"
  VRAM_TARGET=$targets sh tools/build.sh "$preset" && ctest --preset "$preset" -j "$jobs" "$@"
}

browser() {
  [ -n "$CHROMIUM" ] || { echo 'no Chromium found (CHROMIUM=path names one)'; return 1; }
  SITE=$PWD/build/web VRAM_LEDGER=$PWD/build/native/vram-ledger node tests/browser/run.mjs
}

page_size() {
  [ -e build/web/index.html ] || return 0
  for file in index.html vram-ledger.js vram-ledger.wasm vram-ledger-rest.wasm; do
    printf '%-21s %8s bytes %8s gzipped\n' $file "$(wc -c <build/web/$file)" "$(gzip -9c build/web/$file | wc -c)"
  done
}

begin=$(date +%s)
step setup - sh tools/setup.sh
. tools/env.sh
step check - sh tools/check.sh
step native build/native/Testing/Temporary/LastTest.log \
  build_and_test native 'vram-ledger vram-accuracy vram-hash vram-bench native_tests' -E '^engine_tests'
step web build/web/Testing/Temporary/LastTest.log build_and_test web ''
if [ -e tests/browser/run.mjs ] && [ -z "${VRAM_NO_BROWSER:-}" ]; then
  step browser - browser
fi
step native-asan build/native-asan/Testing/Temporary/LastTest.log \
  build_and_test native-asan 'vram-ledger vram-hash engine_tests fuzzers' -E '^native_tests'
step same-bits - sh tools/same_bits.sh 400 native native-asan web
[ -n "${VRAM_FUZZ:-}" ] &&
  step native-fuzz build/native-fuzz/Testing/Temporary/LastTest.log build_and_test native-fuzz ''

printf '\n=== what ran ===\n'
cat $logs/table
page_size
printf 'all in %s s\n\n' $(($(date +%s) - begin))
echo "$total_passed passed, $total_failed failed"
[ $failures = 0 ]
