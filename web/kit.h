#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imgui.h"

// The look: tokens, type, one spacing scale, and the few primitives that all widgets are drawn with.
// Lengths are physical pixels; px() makes them from CSS pixels. Colours are ImGui's packed ones.
namespace vram::kit {

struct Theme {
  ImU32 background, panel, rule, ink, muted, accent, on_accent, good, bad, warn, box, box_locked;
  bool dark;
};
const Theme& theme();

enum class Face : uint8_t { regular, semibold, tabular, tabular_semibold };
struct Type {
  Face face;
  float size;  // CSS pixels
};
inline constexpr Type kText{Face::regular, 13}, kStrong{Face::semibold, 13}, kSmall{Face::regular, 12},
    kHeading{Face::semibold, 11}, kTitle{Face::semibold, 15}, kVerdict{Face::semibold, 22}, kFigures{Face::tabular, 13},
    kStrongFigures{Face::tabular_semibold, 13}, kSmallFigures{Face::tabular, 12}, kTiny{Face::regular, 11.5f},
    kTinyFigures{Face::tabular, 11};

void load_fonts();
/// Characters of another script, for every face; the bytes stay the caller's and must live on.
void add_script(std::span<const unsigned char> font);
/// Before ImGui::NewFrame.
void begin_frame(float density, bool dark);

/// CSS pixels to whole physical ones.
float px(float css);
float hairline();

struct Box {
  float x = 0, y = 0, w = 0, h = 0;
  float right() const { return x + w; }
  float bottom() const { return y + h; }
  bool holds(float at_x, float at_y) const { return at_x >= x && at_x < right() && at_y >= y && at_y < bottom(); }
};

// --- drawing ---
/// Is any of what lies between these heights in sight? What is not need not be drawn.
bool in_sight(float top, float bottom);
void fill(const Box& box, ImU32 color, float radius = 0);
void frame(const Box& box, ImU32 inside, ImU32 border, float radius_css = 5);
void rule(float x, float y, float width, ImU32 color, float thickness_css = 1);
void dot(float x, float y, float radius_css, ImU32 color);
void caret(float x, float y, bool open, ImU32 color);  // the little triangle before a line that unfolds
ImU32 mix(ImU32 a, ImU32 b, float share_of_b);

// --- text, in the page's language: y is the middle of the line ---
float text_width(Type type, std::string_view text);
float line_height(Type type);
void text(Type type, ImU32 color, float x, float middle, std::string_view text);
void text_right(Type type, ImU32 color, float right, float middle, std::string_view text);
void text_centred(Type type, ImU32 color, float centre, float middle, std::string_view text);
/// As it stands, never translated.
float glyphs_width(Type type, std::string_view text);
void glyphs(Type type, ImU32 color, float x, float middle, std::string_view text);
/// Cut with an ellipsis where it is wider.
std::string fitted(Type type, std::string_view text, float width);
/// Wrapped; y is the top. Returns its height.
float paragraph(Type type, ImU32 color, float x, float y, float width, std::string_view text);
/// Small capitals, spaced.
void heading(float x, float middle, std::string_view text);

/// A run of text in one colour; a linked one can be pressed.
struct Run {
  Type type;
  ImU32 color;
  std::string text;
  std::string link;  // name of the area; "" = plain
};
/// Runs set one after another, wrapped at spaces; a link never breaks. Returns the height; `pressed`: index of the
/// run that was pressed, or -1.
float runs(float x, float y, float width, float line, const std::vector<Run>& list, int* pressed);

// For ImGui's own text input.
ImFont* font_of(Type type);
float imgui_size_of(Type type);

// --- interaction ---
struct Touch {
  bool pressed = false, hovered = false, held = false;
  bool focused = false;  // by the keyboard
};
/// A part of the page that reacts, by mouse, finger and keyboard. `name` is unique in its window; tests find it by
/// name.
Touch area(const std::string& name, const Box& box, bool hand = true);

/// Of the last area, where it has the keyboard's focus: the arrow keys are its own, and so far they moved this frame.
/// Without `down` those up and down lead to other areas.
struct Arrows {
  int right = 0, down = 0;
};
Arrows take_arrows(bool down);
/// Explains the last area when the mouse rests on it.
void tooltip(const Touch& touch, std::string_view title, std::string_view body);

bool button(const std::string& name, const Box& box, std::string_view label, bool primary);
/// Equal parts of a box, one chosen. Returns the one pressed, or -1.
int segments(const std::string& name, const Box& box, const std::vector<std::string>& words, int chosen);
bool segments_fit(float width, const std::vector<std::string>& words);
bool switcher(const std::string& name, const Box& box, bool on);
/// A borderless text box; true while it is edited. `text` is what stands in it.
bool text_box(const std::string& name, const Box& box, std::string& text, Type type, const char* hint = "",
              bool focus = false);

/// Of the text box just drawn, while it is typed in: steps up by the arrow keys, and by the wheel over it.
int box_steps();
/// What stands in the box that is typed in from now on.
void retype(const std::string& text);
/// Of the area just drawn, while the mouse drags it: steps to the right. `dragged`: its press is none.
int drag_steps(bool* dragged);

/// Is the text box of that name being typed in?
bool is_editing(const std::string& name);

/// A part of the window that scrolls.
void begin_scroll(const char* name, const Box& box, ImU32 background);
void end_scroll(float content_bottom);
bool begin_popup(const char* name, const Box& box);
void end_popup();

// --- what stands where, for tests and for fingers ---
struct Mark {
  std::string name;
  Box box;
  bool takes_text = false;
};
const std::vector<Mark>& marks();
void mark(const std::string& name, const Box& box, bool takes_text = false);
void forget_marks();

}  // namespace vram::kit
