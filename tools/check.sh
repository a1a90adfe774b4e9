#!/bin/sh
# Static checks of the sources: who may know whom, and what must not be in the repository.
# Prints each fault, then "N passed, N failed".
set -eu
cd "$(dirname "$0")/.."
results=$(mktemp)
trap 'rm -f "$results"' EXIT

check() {  # check TITLE: standard input lists the faults
  faults=$(cat)
  if [ -z "$faults" ]; then
    echo pass >>"$results"
  else
    echo fail >>"$results"
    printf 'check failed: %s\n%s\n' "$1" "$faults" | head -n 20
  fi
}

# The floors of the engine: a folder includes those above it and the ground (engine/*.h), never those below.
floors="model hardware plan training compute serving advice report"
grep -rnE '^ *# *include "engine/' engine --include='*.h' --include='*.cc' --include='*.def' |
  awk -v floors="$floors" '
    BEGIN { n = split(floors, names, " "); for (i = 1; i <= n; i++) rank[names[i]] = i }
    {
      split($0, at, ":"); depth = split(at[1], from, "/")
      match($0, /"engine\/[^"]*"/); m = split(substr($0, RSTART + 1, RLENGTH - 2), to, "/")
      own = depth > 2 ? rank[from[2]] : 0
      used = m > 2 ? rank[to[2]] : 0
      if (depth > 2 && !(from[2] in rank)) print "not a floor: " $0
      else if (used > own) print $0
    }' | check "the engine's floors: $floors"

grep -rnE '^ *# *include [<"](imgui|GLFW|GLES|emscripten|iostream|fstream|filesystem|ctime|time\.h|chrono|thread|random|web/|cli/)' engine |
  check 'the engine knows no screen, no files, no clock'
grep -rnE '\b(throw|try|catch|getenv|dynamic_cast|typeid|printf|fprintf|puts|fopen)\b *[({]' engine --include='*.h' --include='*.cc' |
  grep -vE ':[0-9]+: *//' | check 'the engine throws nothing, prints nothing, reads no environment'
grep -rnE '.' engine --include='*.h' --include='*.cc' | sed -e 's|//.*||' -e 's/"[^"]*"//g' |
  grep -E '\b(long|setlocale|std::locale|wchar_t)\b|\b(fma|pow|exp|exp2|log|log2|log10|cbrt|tanh|erf|sin|cos)f?\([^)]' |
  check 'same bits everywhere: no long, no locale, no function that C libraries round each their own way'
grep -rnE '^ *# *include <nlohmann/json\.hpp>' engine cli web --include='*.h' |
  check 'nlohmann/json.hpp is included in .cc files only (it costs seconds a file)'
grep -rnE '^ *# *include [<"](emscripten|web/)' cli | check 'the command line does not know the page'

# One way to lay out code, no arguing about it; versions of the tool differ, so the one of Debian 12 decides.
case $(clang-format --version 2>/dev/null) in
  *" version 14."*)
    find engine cli web tests -name '*.cc' -o -name '*.h' | grep -v node_modules |
      xargs clang-format --dry-run 2>&1 | sed -n 's/: warning:.*//p' | cut -d: -f1 | uniq |
      check 'laid out by clang-format (clang-format -i FILE)' ;;
  *) echo 'check: clang-format 14 is not here; the layout of the code is not checked' ;;
esac

# Workflows run elsewhere, and late: that they name what is here is known now.
grep -nE '^ *(- )?uses:' .github/workflows/*.yml | grep -vE '@[0-9a-f]{40} # v[0-9.]+$' | check 'actions are pinned to a commit'
grep -hoE '\b(tools|tests)/[A-Za-z0-9_/.-]+[A-Za-z0-9]' .github/workflows/*.yml README.md CONTRIBUTING.md docs/*.md | sort -u |
  while read -r file; do [ -e "$file" ] || echo "$file"; done | check 'workflows and documents name files that are here'

# What must not be committed. git lists the files, so that what is not tracked does not count.
if git rev-parse --git-dir >/dev/null 2>&1; then
  git ls-files -z | xargs -0 grep -lI --null -E '^(<<<<<<<|>>>>>>>) ' 2>/dev/null | tr '\0' '\n' | check 'no conflict markers'
  git ls-files -z | xargs -0 grep -nIE '(^|[^A-Za-z0-9_.$}/])/(home|root|work|Users)/[a-z]' 2>/dev/null |
    check 'no absolute path of one machine'
  git ls-files | grep -E '(^|/)(package-lock\.json|node_modules|.*\.(o|a|wasm|otf|ttf|woff2?|zip|gz|xz))$' |
    check 'nothing built and nothing of others'
fi

echo "$(grep -c pass "$results") passed, $(grep -c fail "$results") failed"
! grep -q fail "$results"
