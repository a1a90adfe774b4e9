#include "web/browser/browser.h"

extern "C" {
void vram_js_listen_location();
char* vram_js_location();
bool vram_js_write_location(const char* share, bool push);
char* vram_js_link(const char* share);
void vram_js_open(const char* link);
}

namespace vram::platform {

void listen_to_location() { vram_js_listen_location(); }
std::string read_location() { return owned(vram_js_location()); }
bool write_location(const std::string& share, bool push) { return vram_js_write_location(share.c_str(), push); }
std::string link_to(const std::string& share) { return owned(vram_js_link(share.c_str())); }
void open_in_new_tab(const std::string& link) { vram_js_open(link.c_str()); }

}  // namespace vram::platform
