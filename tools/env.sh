# Sourced by the other scripts: where things are on this machine.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/vram-ledger

# Emscripten's folder: an activated emsdk's, else the package's; empty where there is none (cf. emscripten.cmake).
emscripten=${EMSDK:+$EMSDK/upstream/emscripten}
emscripten=${emscripten:-${EMSCRIPTEN_ROOT:-/usr/share/emscripten}}
[ -e "$emscripten/emcc.py" ] || emscripten=

# A browser of Chromium's kind; empty where there is none.
for browser in "${CHROMIUM:-}" chromium google-chrome google-chrome-stable chromium-browser; do
  chromium=$(command -v "$browser" || true)
  [ -z "$chromium" ] || break
done
export CHROMIUM="$chromium"
