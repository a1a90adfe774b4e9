#include "web/browser/browser.h"

extern "C" {
void vram_js_document(const char* markdown);
void vram_js_announce(const char* text);
void vram_js_title(const char* text);
void vram_js_theme(bool dark);
bool vram_js_prefers_dark();
char* vram_js_browser_language();
void vram_js_document_language(const char* name);
}

namespace vram::platform {

void write_document(const std::string& markdown) { vram_js_document(markdown.c_str()); }
void announce(const std::string& sentence) { vram_js_announce(sentence.c_str()); }
void set_title(const std::string& title) { vram_js_title(title.c_str()); }

void set_document_theme(bool dark) { vram_js_theme(dark); }
bool system_prefers_dark() { return vram_js_prefers_dark(); }

const std::string& browser_language() {
  static const std::string language = owned(vram_js_browser_language());
  return language;
}
void set_document_language(const char* name) { vram_js_document_language(name); }

}  // namespace vram::platform
