// A bare page: proves the toolchain, to be replaced.
#include <GLFW/glfw3.h>
#include <emscripten.h>
#include <emscripten/html5.h>

#include "backends/imgui_impl_glfw.h"
#include "backends/imgui_impl_opengl3.h"
#include "engine/preset_table.h"
#include "imgui.h"
#include "web/fonts.h"

#include <GLES3/gl3.h>

namespace {

GLFWwindow* window = nullptr;

// 3.1.6's GLFW takes a window of the screen's size for a wish to go full screen.
EM_JS(bool, set_canvas_size, (int width, int height), {
  if (!Module['setCanvasSize']) return false;
  Module['setCanvasSize'](width, height);
  return true;
});

void add_font(ImFontAtlas& fonts, std::span<const unsigned char> bytes, float size) {
  if (bytes.empty()) return;
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  fonts.AddFontFromMemoryTTF(const_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), size, &config);
}

void frame() {
  double width = 0, height = 0;
  emscripten_get_element_css_size("#canvas", &width, &height);
  const double dpr = emscripten_get_device_pixel_ratio();
  const int w = static_cast<int>(width * dpr), h = static_cast<int>(height * dpr);
  static int last_w = 0, last_h = 0;
  if (w != last_w || h != last_h) {
    if (!set_canvas_size(w, h)) glfwSetWindowSize(window, w, h);
    last_w = w, last_h = h;
  }
  ImGui::GetStyle().FontScaleDpi = static_cast<float>(dpr);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("VRAM Ledger", nullptr, ImGuiWindowFlags_NoDecoration);
  ImGui::TextUnformatted("VRAM Ledger — × ÷ ± ≈ ≤ ≥ √ ² → ▸ ▾ € £ ¥ é ß");
  ImGui::PushFont(ImGui::GetIO().Fonts->Fonts.back(), 0);
  ImGui::Text("%zu models, %zu accelerators", vram::model_presets().size(), vram::hardware_presets().size());
  ImGui::PopFont();
  ImGui::End();
  ImGui::Render();
  glViewport(0, 0, w, h);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace

int main() {
  if (!glfwInit()) return 1;
  glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  window = glfwCreateWindow(640, 480, "VRAM Ledger", nullptr, nullptr);
  if (!window) return 1;
  glfwMakeContextCurrent(window);
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  add_font(*io.Fonts, vram::inter_regular(), 15);
  add_font(*io.Fonts, vram::inter_semibold(), 15);
  if (io.Fonts->Fonts.empty()) io.Fonts->AddFontDefault();
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ImGui_ImplOpenGL3_Init("#version 300 es");
  emscripten_set_main_loop(frame, 0, true);
}
