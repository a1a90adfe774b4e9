#include "imgui.h"
#include "web/browser/browser.h"

extern "C" {
void vram_js_listen_text();
void vram_js_copy(const char* text);
char* vram_js_copied();
void vram_js_paste();
void vram_js_download(const char* name, const char* type, const char* text);
}

namespace vram::platform {

void listen_to_texts() { vram_js_listen_text(); }

void join_clipboard() {
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) { vram_js_copy(text); };
  platform.Platform_GetClipboardTextFn = [](ImGuiContext*) {
    static std::string copied;
    copied = owned(vram_js_copied());
    return copied.c_str();
  };
}

void copy(const std::string& text) { vram_js_copy(text.c_str()); }
void paste() { vram_js_paste(); }
void download(const char* name, const char* type, const std::string& text) {
  vram_js_download(name, type, text.c_str());
}

}  // namespace vram::platform
