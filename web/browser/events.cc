#include <emscripten.h>

#include <cstdlib>

#include "web/browser/browser.h"
#include "web/language.h"

#ifdef EM_JS_DEPS  // newer Emscripten drops what is not declared; old ones do not know the macro
EM_JS_DEPS(vram_platform, "$UTF8ToString,$stringToUTF8,$lengthBytesUTF8");
#endif

namespace vram::platform {

Events events;

std::string owned(char* text) {
  std::string copy = text ? text : "";
  std::free(text);
  return copy;
}

void listen(const Events& wanted) {
  events = wanted;
  listen_to_form();
  listen_to_wakers();
  listen_to_location();
  listen_to_input();
  listen_to_texts();
  fetch_site();
  keep_copy();
}

}  // namespace vram::platform

using vram::platform::events;

extern "C" {

EMSCRIPTEN_KEEPALIVE void vram_timer(int which) { events.timer(which); }
EMSCRIPTEN_KEEPALIVE void vram_location_changed() { events.location_changed(); }
EMSCRIPTEN_KEEPALIVE void vram_text_arrived(const char* text, double left_out) { events.text_arrived(text, left_out); }
EMSCRIPTEN_KEEPALIVE void vram_site_arrived(const char* json) { events.site_arrived(json); }
EMSCRIPTEN_KEEPALIVE void vram_rest() { events.rest_arrived(); }

EMSCRIPTEN_KEEPALIVE void vram_language_arrived(const char* bytes, int table, int font) {
  const unsigned char* rest = reinterpret_cast<const unsigned char*>(bytes) + table;
  events.language_arrived({bytes, static_cast<size_t>(table)}, {rest, static_cast<size_t>(font)});
}
EMSCRIPTEN_KEEPALIVE const char* vram_say(const char* english) { return vram::language::say(english).data(); }

EMSCRIPTEN_KEEPALIVE void vram_edited(const char* assignment) {
  const std::string_view text = assignment;
  const size_t equals = text.find('=');
  events.edited(text.substr(0, equals), text.substr(equals + 1));
}
}
