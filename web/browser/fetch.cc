#include "web/browser/browser.h"

extern "C" {
bool vram_js_is_whole();
bool vram_js_has_rest();
bool vram_js_is_broken();
void vram_js_fetch_language(const char* name);
void vram_js_fetch_site();
void vram_js_keep_copy();
}

namespace vram::platform {

bool is_whole() { return vram_js_is_whole(); }
bool has_rest() { return vram_js_has_rest(); }
bool is_broken() { return vram_js_is_broken(); }
void fetch_language(const std::string& name) { vram_js_fetch_language(name.c_str()); }
void fetch_site() { vram_js_fetch_site(); }
void keep_copy() { vram_js_keep_copy(); }

}  // namespace vram::platform
