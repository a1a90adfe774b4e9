# cmake -DSHELL=shell.html -DSITE=build/web -P place_shell.cmake
# Writes SITE/index.html: shell.html with @VRAM_BUILD@ replaced by a hash of the program. The page asks for
# vram-ledger.js?v=HASH and vram-ledger.wasm?v=HASH, so that no cache pairs an old file with a new one.

file(SHA256 ${SITE}/vram-ledger.js js)
file(SHA256 ${SITE}/vram-ledger.wasm wasm)
file(SHA256 ${SITE}/vram-ledger-rest.wasm rest)
string(SHA256 VRAM_BUILD "${js}${wasm}${rest}")
string(SUBSTRING ${VRAM_BUILD} 0 12 VRAM_BUILD)
configure_file(${SHELL} ${SITE}/index.html @ONLY)
file(TOUCH ${SITE}/index.html)
