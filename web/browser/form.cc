#include <emscripten.h>

#include "web/browser/browser.h"

extern "C" {
void vram_js_listen_form();
void vram_js_listen_sheet();
void vram_js_renew_form();
void vram_js_open_sheet(const char* part);
}

namespace vram::platform {

void listen_to_form() {
  vram_js_listen_form();
  vram_js_listen_sheet();
}
void renew_form() { vram_js_renew_form(); }
void open_form(const std::string& part) { vram_js_open_sheet(part.c_str()); }

}  // namespace vram::platform

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* vram_form() {
  static std::string rows;
  rows = vram::platform::events.form();
  return rows.c_str();
}
}
