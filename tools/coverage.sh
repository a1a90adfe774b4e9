#!/bin/sh
# tools/coverage.sh: which lines of engine/ the native tests run. Prints a line a file, those least covered last, and
# fails below 95%. Built without precompiled headers, so that a missing #include shows. Needs gcovr; minutes of time.
set -eu
cd "$(dirname "$0")/.."
command -v gcovr >/dev/null || { echo 'coverage: gcovr is missing (apt-get install gcovr)' >&2; exit 1; }
build=build/coverage
cmake --preset native -B $build -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DVRAM_OPTIMIZE='-Og;--coverage' -DCMAKE_EXE_LINKER_FLAGS=--coverage >/dev/null
cmake --build $build
find $build -name '*.gcda' -delete
ctest --test-dir $build -j "$(getconf _NPROCESSORS_ONLN)" --output-on-failure
gcovr --root . --filter engine/ --exclude-throw-branches --sort-percentage --fail-under-line 95 \
  --txt $build/coverage.txt --html-details $build/lines.html $build
cat $build/coverage.txt
