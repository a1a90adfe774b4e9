#!/bin/sh
# tools/emsdk.sh FOLDER: installs the Emscripten that builds the published page; then `. FOLDER/emsdk_env.sh`.
# Not needed where the system's own package (3.1.6 or newer) is installed.
set -eu
version=6.0.5
folder=$1
[ -d "$folder" ] || git clone -q --depth 1 --branch "$version" https://github.com/emscripten-core/emsdk.git "$folder"
"$folder/emsdk" install "$version"
"$folder/emsdk" activate "$version"
