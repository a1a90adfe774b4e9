#!/bin/sh
# tools/build.sh [PRESET...]: configures what is not configured yet and builds. Presets: native native-asan
# native-fuzz web web-single-file; without any, native and web. The results are in build/PRESET. VRAM_TARGET="name…" builds those alone.
set -eu
cd "$(dirname "$0")/.."
. tools/env.sh
[ $# -gt 0 ] || set -- native web
for preset; do
  [ -e "build/$preset/build.ninja" ] || cmake --preset "$preset"
  # shellcheck disable=SC2086
  cmake --build "build/$preset" ${VRAM_TARGET:+--target $VRAM_TARGET}
done
