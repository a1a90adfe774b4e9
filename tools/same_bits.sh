#!/bin/sh
# tools/same_bits.sh [COUNT]: the reports of so many random plans (100,000) are the same bytes from GCC and Clang at -O0
# and -O3, and from WebAssembly under Node; builds what it compares (build/bits-*), minutes of time.
# tools/same_bits.sh COUNT PRESET...: compares what is already built there, and nothing else.
# Where they differ: build/PRESET/vram-hash 1 NUMBER --json prints one plan's report.
set -eu
cd "$(dirname "$0")/.."
. tools/env.sh
plans=${1:-100000}
[ $# = 0 ] || shift

build() {  # build COMPILER OPTIMISATION
  [ -e "build/bits-$1$2/build.ninja" ] ||
    cmake -S . -B "build/bits-$1$2" -G Ninja -DCMAKE_CXX_COMPILER="$1" -DVRAM_OPTIMIZE="$2" >/dev/null
  cmake --build "build/bits-$1$2" --target vram-hash >/dev/null
}
if [ $# = 0 ]; then
  for compiler in g++ clang++; do
    for optimisation in -O0 -O3; do
      build $compiler $optimisation
      set -- "$@" "bits-$compiler$optimisation"
    done
  done
  VRAM_TARGET=vram-hash sh tools/build.sh web >/dev/null
  set -- "$@" web
fi

hashes=$(mktemp -d)
trap 'rm -rf "$hashes"' EXIT
passed=0 failed=0
for build; do
  program=build/$build/vram-hash
  if [ -e "$program.js" ]; then node "$program.js" "$plans"; else "$program" "$plans"; fi >"$hashes/$build"
  echo "$(tail -n 1 "$hashes/$build") $build"
  if cmp -s "$hashes/$build" "$hashes/$1"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    diff "$hashes/$1" "$hashes/$build" | head -n 4
  fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
