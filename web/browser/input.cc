#include <emscripten.h>

#include "backends/imgui_impl_glfw.h"
#include "imgui.h"
#include "web/browser/browser.h"

extern "C" {
void vram_js_listen_keys();
void vram_js_listen_wheel();
void vram_js_listen_soft_keyboard();
void vram_js_listen_touch();
bool vram_js_is_mac();
}

namespace vram::platform {
namespace {

// ImGui scrolls five lines a notch; we are told pixels.
float notches(float pixels) { return -pixels / (5 * ImGui::GetStyle().FontSizeBase * ImGui::GetStyle().FontScaleDpi); }

ImGuiKey soft_key(int which) { return which == 0 ? ImGuiKey_Backspace : which == 1 ? ImGuiKey_Enter : ImGuiKey_Escape; }

}  // namespace

void listen_to_input() {
  vram_js_listen_keys();
  vram_js_listen_wheel();
  vram_js_listen_soft_keyboard();
  vram_js_listen_touch();
}

bool is_mac() { return vram_js_is_mac(); }

}  // namespace vram::platform

using namespace vram::platform;

extern "C" {

EMSCRIPTEN_KEEPALIVE bool vram_is_typing() { return window && ImGui::GetIO().WantTextInput; }

EMSCRIPTEN_KEEPALIVE bool vram_takes_text(float x, float y) { return events.takes_text(x, y); }

EMSCRIPTEN_KEEPALIVE void vram_scroll(float dx, float dy) {
  if (!window) return;
  ImGui::GetIO().AddMouseWheelEvent(notches(dx), notches(dy));
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_point(float x, float y) {
  if (!window) return;
  ImGui_ImplGlfw_CursorEnterCallback(window, 1);  // or the backend asks GLFW where its mouse is, every frame
  ImGui::GetIO().AddMouseSourceEvent(ImGuiMouseSource_TouchScreen);
  ImGui::GetIO().AddMousePosEvent(x, y);
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_tap(float x, float y) {
  if (!window) return;
  ImGuiIO& io = ImGui::GetIO();
  io.AddMouseSourceEvent(ImGuiMouseSource_TouchScreen);
  io.AddMousePosEvent(x, y);
  io.AddMouseButtonEvent(0, true);
  io.AddMouseButtonEvent(0, false);
  io.AddMousePosEvent(-FLT_MAX, -FLT_MAX);  // a finger does not hover
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_typed(const char* text) {
  if (!window) return;
  ImGui::GetIO().AddInputCharactersUTF8(text);
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_key(int which) {
  if (!window) return;
  ImGui::GetIO().AddKeyEvent(soft_key(which), true);
  ImGui::GetIO().AddKeyEvent(soft_key(which), false);
  request_frames(3);
}
}
