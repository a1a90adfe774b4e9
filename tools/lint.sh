#!/bin/sh
# tools/lint.sh [FILE...]: clang-tidy (.clang-tidy) over the given sources, else over the engine's and the command
# line's; fails where it has something to say. Clang 14's is meant, others know other advice. Minutes of time.
set -eu
cd "$(dirname "$0")/.."
sh tools/build.sh native >/dev/null
[ $# -gt 0 ] || set -- $(git ls-files 'engine/*.cc' 'cli/*.cc')
printf '%s\n' "$@" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 4 clang-tidy --quiet -p build/native \
  --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*'
