// Where the data of the rest begin and end (tools/link_page.mjs moves them to its file).
#include <emscripten.h>

extern "C" {

extern const char __start_rest[], __stop_rest[];  // the linker's

EMSCRIPTEN_KEEPALIVE const char* vram_rest_start() { return __start_rest; }
EMSCRIPTEN_KEEPALIVE const char* vram_rest_stop() { return __stop_rest; }
}
