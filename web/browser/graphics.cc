#include <GLES3/gl3.h>
#include <GLFW/glfw3.h>
#include <emscripten.h>
#include <emscripten/html5.h>

#include <algorithm>
#include <cmath>

#include "backends/imgui_impl_glfw.h"
#include "backends/imgui_impl_opengl3.h"
#include "imgui.h"
#include "imgui_internal.h"
#include "web/browser/browser.h"

extern "C" {
void vram_js_schedule();
void vram_js_schedule_work();
void vram_js_listen_wakers();
bool vram_js_has_webgl2();
void vram_js_listen_context();
void vram_js_say_drawn();
void vram_js_say_no_webgl();
bool vram_js_set_canvas_size(int width, int height);
void vram_js_cursor(const char* name);
void vram_js_later(int which, int milliseconds);
bool vram_js_is_mac();
}

namespace vram::platform {

GLFWwindow* window = nullptr;

namespace {

constexpr char kShaderVersion[] = "#version 300 es";

int frames_wanted = 0, drawn = 0;
bool context_lost = false, said_drawn = false, resized = true;
Viewport size;

/// Asked only when it may have changed: to answer, the browser lays the whole document out.
void fit_canvas() {
  if (!resized) return;
  resized = false;
  double width = 0, height = 0;
  emscripten_get_element_css_size("#canvas", &width, &height);
  const double density = emscripten_get_device_pixel_ratio();
  const auto pixels = [&](double css) { return std::max(1.0f, static_cast<float>(std::round(css * density))); };
  const Viewport now{pixels(width), pixels(height), static_cast<float>(density)};
  if (now.width == size.width && now.height == size.height && now.density == size.density) return;
  size = now;
  const int w = static_cast<int>(now.width), h = static_cast<int>(now.height);
  if (!vram_js_set_canvas_size(w, h)) glfwSetWindowSize(window, w, h);
  frames_wanted = std::max(frames_wanted, 3);
}

void show_cursor() {
  static int shown = -1;
  const int wanted = ImGui::GetMouseCursor();
  if (wanted == shown) return;
  shown = wanted;
  vram_js_cursor(wanted == ImGuiMouseCursor_Hand        ? "pointer"
                 : wanted == ImGuiMouseCursor_TextInput ? "text"
                 : wanted == ImGuiMouseCursor_ResizeEW  ? "ew-resize"
                                                        : "default");
}

void open_window() {
  if (!vram_js_has_webgl2() || !glfwInit()) return;
  glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  window = glfwCreateWindow(640, 480, "VRAM Ledger", nullptr, nullptr);
}

}  // namespace

void listen_to_wakers() { vram_js_listen_wakers(); }

bool start_graphics() {
  open_window();
  if (!window) {
    vram_js_say_no_webgl();
    return false;
  }
  glfwMakeContextCurrent(window);
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigInputTextCursorBlink = false;  // a blinking caret would keep the page awake
  io.ConfigMacOSXBehaviors = vram_js_is_mac();
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ImGui_ImplOpenGL3_Init(kShaderVersion);
  join_clipboard();
  vram_js_listen_context();
  return true;
}

bool begin_frame(Viewport* viewport) {
  if (context_lost) return false;
  fit_canvas();
  *viewport = size;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = std::clamp(io.DeltaTime, 0.001f, 0.5f);  // after a sleep; two clicks apart stay two clicks
  return true;
}

void end_frame(unsigned background) {
  ImGui::Render();
  glViewport(0, 0, static_cast<int>(size.width), static_cast<int>(size.height));
  const ImVec4 color = ImGui::ColorConvertU32ToFloat4(background);
  glClearColor(color.x, color.y, color.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  show_cursor();
  drawn++;
  if (!said_drawn) vram_js_say_drawn();
  said_drawn = true;
}

void request_frames(int count) {
  frames_wanted = std::max(frames_wanted, count);
  if (window && !context_lost) vram_js_schedule();
}

void request_work() { vram_js_schedule_work(); }

int frames_drawn() { return drawn; }
void call_later(Timer which, int milliseconds) { vram_js_later(which, milliseconds); }
double seconds() { return emscripten_get_now() / 1000; }

}  // namespace vram::platform

extern "C" {

EMSCRIPTEN_KEEPALIVE void vram_frame() {
  using namespace vram::platform;
  if (frames_wanted <= 0 || context_lost) return;
  frames_wanted--;
  events.frame();
  // ImGui feeds queued input to its frames bit by bit: as long as some waits, frames must come.
  if (ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) frames_wanted = std::max(frames_wanted, 3);
  if (frames_wanted > 0) vram_js_schedule();
}

EMSCRIPTEN_KEEPALIVE void vram_work() {
  if (!vram::platform::context_lost) vram::platform::events.work();
}

/// What Dear ImGui's backend asks in place of glGetIntegerv: each frame it wants to know the state that it finds, to
/// bring it back, and a browser answers some of that only when its graphics have caught up, which takes longer than all
/// the rest of a frame. Nobody else draws here: any state will do.
void vram_gl_state(GLenum name, GLint* value) {
  using vram::platform::size;
  switch (name) {
    case GL_ACTIVE_TEXTURE:
      *value = GL_TEXTURE0;
      return;
    case GL_BLEND_EQUATION_RGB:
    case GL_BLEND_EQUATION_ALPHA:
      *value = GL_FUNC_ADD;
      return;
    case GL_VIEWPORT:
    case GL_SCISSOR_BOX:
      value[0] = value[1] = 0;
      value[2] = static_cast<GLint>(size.width);
      value[3] = static_cast<GLint>(size.height);
      return;
    case GL_MAJOR_VERSION:
    case GL_MINOR_VERSION:
    case GL_MAX_TEXTURE_SIZE:
    case GL_NUM_EXTENSIONS:
      return glGetIntegerv(name, value);
    default:
      *value = 0;  // nothing is bound
  }
}

EMSCRIPTEN_KEEPALIVE void vram_wake() { vram::platform::request_frames(3); }
EMSCRIPTEN_KEEPALIVE void vram_resized() {
  vram::platform::resized = true;
  vram_wake();
}

EMSCRIPTEN_KEEPALIVE void vram_context(int restored) {
  using namespace vram::platform;
  context_lost = restored == 0;
  if (!restored) return;
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplOpenGL3_Init(kShaderVersion);
  said_drawn = false;
  request_frames(3);
}
}
