#!/bin/sh
# Sets up, builds the page and serves it on http://localhost:8080 (another port: PORT=9000 tools/serve.sh).
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh
VRAM_TARGET=site sh tools/build.sh web
exec node tools/serve.mjs build/web "${PORT:-8080}"
