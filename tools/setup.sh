#!/bin/sh
# Installs what building and testing need and the machine lacks: packages (Debian 12 and 13, Ubuntu 24.04), then the
# sources of Dear ImGui and Catch2 and the browser driver, in the cache. A second run does nothing.
set -eu
cd "$(dirname "$0")/.."
. tools/env.sh

missing=
need() {  # need PACKAGE COMMAND...: unless the command succeeds
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
need cmake command -v cmake
need ninja-build command -v ninja
need g++ command -v c++
need clang command -v clang++
grep -q '^VERSION_ID="12"' /etc/os-release 2>/dev/null && need clang-format command -v clang-format
need libclang-rt-dev sh -c 'ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a /usr/lib/clang/*/lib/*/libclang_rt.fuzzer*.a 2>/dev/null | grep .'
need git command -v git
need python3 command -v python3
need xz-utils command -v xz
need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
need nlohmann-json3-dev test -e /usr/include/nlohmann/json.hpp
need libharfbuzz-bin command -v hb-subset
need fonts-inter sh -c 'ls /usr/share/fonts/*/inter*/Inter*Regular.*'
need fonts-noto-cjk sh -c 'ls /usr/share/fonts/*/noto*/NotoSansCJK-Regular.ttc'
need emscripten test -n "$emscripten"
need nodejs command -v node
need npm command -v npm
# Ubuntu's package is a snap in disguise, of no use in a container; its hosted runners come with Chrome.
grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null || need chromium test -n "$chromium"

if [ -n "$missing" ]; then
  sudo=
  if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    command -v sudo >/dev/null || { echo "setup: as root, install:$missing" >&2; exit 1; }
  fi
  command -v apt-get >/dev/null || { echo "setup: no apt-get here; install the likes of:$missing" >&2; exit 1; }
  echo "setup: installing$missing"
  export DEBIAN_FRONTEND=noninteractive
  install="$sudo apt-get install -y -qq --no-install-recommends"
  # shellcheck disable=SC2086
  $install $missing >/dev/null 2>&1 || { $sudo apt-get update -qq && $install $missing >/dev/null; }
  . tools/env.sh
fi
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$major" -ge 18 ] || { echo "setup: Node 18 or newer is needed, found $(node --version)" >&2; exit 1; }

# Debian's archive has the sources of Dear ImGui and Catch2 in the versions wanted, in suites newer than the machine's.
# They are fetched through an apt state of our own; the machine's package lists are not touched. Elsewhere, or where
# this fails, CMake downloads the upstream releases. Prints the folder.
deb_source() {  # deb_source PACKAGE PREFERRED ACCEPTED SHA256: PREFERRED has that sum; apt vouches for the others
  package=$1 preferred=$2 accepted=$3 sum=$4
  versions=$(apt-cache $apt_options showsrc "$package" 2>/dev/null | sed -n 's/^Version: //p' | sort -Vr)
  version=$(echo "$versions" | grep "^$preferred-" | head -n 1)
  [ -n "$version" ] || version=$(echo "$versions" | grep "^$accepted" | head -n 1)
  [ -n "$version" ] || return 1
  # shellcheck disable=SC2086
  (cd "$state" && apt-get $apt_options -qq source --download-only "$package=$version" >/dev/null 2>&1) || return 1
  upstream=${version%-*}
  archive=$(ls "$state/${package}_$upstream".orig.tar.*z | head -n 1)
  case $version in
    "$preferred"-*) echo "$sum  $archive" | sha256sum -c --quiet - || return 1 ;;
  esac
  mkdir -p "$state/$package" "$cache/src"
  tar -xf "$archive" -C "$state/$package" --strip-components=1
  mv "$state/$package" "$cache/src/$package-${upstream%+ds}"
  echo "setup: $package ${upstream%+ds}"
}

deb_sources() {
  . /etc/os-release
  state=$(mktemp -d)
  mkdir -p "$state/sources" "$state/lists/partial" "$state/cache/archives/partial"
  apt_options="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$state/sources -o Dir::State::Lists=$state/lists"
  apt_options="$apt_options -o Dir::Cache=$state/cache -o APT::Sandbox::User=$(id -un)"
  # The machine's own first entry for its release, made one for sources of newer releases; in either format.
  cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
    awk -v release="$VERSION_CODENAME" 'BEGIN { RS = "" } $0 ~ "Suites:[^\n]* ?" release "( |\n|$)" { print; exit }' |
    sed -e 's/^Types:.*/Types: deb-src/' -e 's/^Suites:.*/Suites: trixie forky/' -e 's/^Components:.*/Components: main/' \
      >"$state/sources/newer.sources"
  if [ ! -s "$state/sources/newer.sources" ]; then
    rm "$state/sources/newer.sources"
    entry=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
      sed -n "s/^deb  *\(\(\[[^]]*\]  *\)\{0,1\}[^ ]*\)  *$VERSION_CODENAME .*/\1/p" | head -n 1)
    for suite in trixie forky; do echo "deb-src $entry $suite main"; done >"$state/sources/newer.list"
  fi
  # shellcheck disable=SC2086
  apt-get $apt_options -qq update >/dev/null 2>&1 || true
  ls "$cache"/src/imgui-*/imgui.h >/dev/null 2>&1 ||
    deb_source imgui 1.92.2b+ds '1\.92\.' e7bd201d56b5ee90d24d5dac85e5c12f98bdb95410252a62d27b7f89e4566d48 || true
  ls "$cache"/src/catch2-*/extras/catch_amalgamated.cpp >/dev/null 2>&1 ||
    deb_source catch2 3.7.1 '3\.' c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c || true
  rm -rf "$state"
}
if ! ls "$cache"/src/imgui-*/imgui.h "$cache"/src/catch2-*/extras/catch_amalgamated.cpp >/dev/null 2>&1; then
  if grep -q '^ID=debian' /etc/os-release; then deb_sources; fi
fi

# The browser tests' only dependency: drives the Chromium that is installed, brings none.
wanted=$(sed -n 's/.*"playwright-core": *"\([0-9.]*\)".*/\1/p' tests/browser/package.json)
modules=$cache/playwright-core-$wanted/node_modules
if [ ! -d "$modules/playwright-core" ]; then
  echo "setup: playwright-core $wanted"
  npm install --prefix "$cache/playwright-core-$wanted" --no-save --no-package-lock --no-audit --no-fund --silent \
    "playwright-core@$wanted"
fi
[ "$(readlink tests/browser/node_modules)" = "$modules" ] || ln -sfn "$modules" tests/browser/node_modules
