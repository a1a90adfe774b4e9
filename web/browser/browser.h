#pragma once

#include <string>

#include "web/platform.h"

struct GLFWwindow;

// Shared by the files of this folder, which are web/platform.h: NAME.cc is the program's side of what NAME.js does in
// the browser. vram_js_NAME are JavaScript's functions, vram_NAME those that it calls.
namespace vram::platform {

/// Whom to tell; set by `listen`.
extern Events events;
/// Null until `start_graphics`, and where there is no WebGL 2.
extern GLFWwindow* window;

/// A text that JavaScript made (page.toC).
std::string owned(char* text);

void listen_to_input();
void listen_to_texts();
void listen_to_location();
void listen_to_form();
void listen_to_wakers();
void fetch_site();
void keep_copy();
/// Dear ImGui's own copying and pasting goes through the browser's clipboard.
void join_clipboard();

}  // namespace vram::platform
