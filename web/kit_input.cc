#include <algorithm>
#include <cmath>
#include <cstring>

#include "imgui_internal.h"
#include "web/kit.h"
#include "web/language.h"
#include "web/platform.h"

namespace vram::kit {
namespace {

std::vector<Mark> all_marks;

/// While a box is typed in, what stands in it is what was typed, whatever is made of it.
struct Typing {
  ImGuiID box = 0;
  std::string text;
};
Typing typing;

constexpr double kTooltipDelaySeconds = 0.4;

/// Has the mouse rested long enough on the last area? Wakes the page when it will have.
bool rested() {
  static ImGuiID on = 0;
  static double since = 0;
  const ImGuiID id = ImGui::GetItemID();
  const double now = platform::seconds();
  if (on != id) on = id, since = now;
  if (now - since >= kTooltipDelaySeconds) return true;
  platform::call_later(platform::kTimerWake, static_cast<int>((kTooltipDelaySeconds - (now - since)) * 1000) + 20);
  return false;
}

/// Chinese breaks after any character, but never before a stop.
bool breaks_after(std::string_view text, size_t at) {
  const unsigned char lead = static_cast<unsigned char>(text[at]);
  if (lead < 0xE3 || lead > 0xEF) return false;
  const std::string_view next = text.substr(std::min(text.size(), at + 3), 3);
  return next != "，" && next != "。" && next != "；" && next != "：" && next != "、" && next != "）";
}

/// The next piece of a run: up to and with its spaces (or the "&" of a share string), or the whole run where it is a
/// link.
std::string_view piece(std::string_view rest, bool whole) {
  if (whole) return rest;
  size_t end = 0;
  while (end < rest.size() && rest[end] != ' ') {
    if (breaks_after(rest, end)) return rest.substr(0, end + 3);
    if (rest[end++] == '&') return rest.substr(0, end);
  }
  while (end < rest.size() && rest[end] == ' ') end++;
  return rest.substr(0, end);
}

/// A stop at the end of a full line hangs over it: none begins a line.
bool is_stop(std::string_view word) {
  for (const std::string_view stop : {"，", "。", "；", "：", "、", "）", ",", ".", ";", ":", ")"})
    if (word == stop) return true;
  return false;
}

std::string_view without_spaces(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

bool draw_piece(const Run& run, float x, float middle, float line, std::string_view word) {
  if (run.link.empty()) {
    glyphs(run.type, run.color, x, middle, word);
    return false;
  }
  const Box box{x, middle - line / 2, glyphs_width(run.type, word), line};
  const Touch touch = area(run.link, box);
  glyphs(run.type, run.color, x, middle, word);
  if (touch.hovered) rule(x, middle + px(run.type.size * 0.5f), box.w, run.color);
  return touch.pressed;
}

/// A box as it looks where nothing can be typed yet: what typing needs is in the rest of the program.
bool text_at_rest(const std::string& name, const Box& box, const std::string& text, const char* hint) {
  const char* shown = text.empty() ? hint : text.c_str();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect({box.x, box.y}, {box.right(), box.bottom()}, true);
  list.AddText({box.x, box.y}, text.empty() ? theme().muted : theme().ink, shown);
  list.PopClipRect();
  ImGui::PopFont();
  mark(name, box, true);
  return false;
}

}  // namespace

const std::vector<Mark>& marks() { return all_marks; }
void forget_marks() { all_marks.clear(); }

void mark(const std::string& name, const Box& box, bool takes_text) {
  ImRect seen(box.x, box.y, box.right(), box.bottom());
  seen.ClipWith(ImGui::GetCurrentWindowRead()->ClipRect);
  if (seen.GetWidth() <= 0 || seen.GetHeight() <= 0) return;
  all_marks.push_back({name, {seen.Min.x, seen.Min.y, seen.GetWidth(), seen.GetHeight()}, takes_text});
}

float runs(float x, float y, float width, float line, const std::vector<Run>& list, int* pressed) {
  float at = x, middle = y + line / 2;
  if (pressed) *pressed = -1;
  for (size_t i = 0; i < list.size(); i++) {
    const Run& run = list[i];
    std::string_view rest = language::say(run.text);
    const bool whole = !run.link.empty() && glyphs_width(run.type, rest) <= width;
    while (!rest.empty()) {
      const std::string_view word = piece(rest, whole);
      const std::string_view bare = without_spaces(word);
      if (at > x && at + glyphs_width(run.type, bare) > x + width && !is_stop(bare)) at = x, middle += line;
      if (draw_piece(run, at, middle, line, word) && pressed) *pressed = static_cast<int>(i);
      at += glyphs_width(run.type, word);
      rest.remove_prefix(word.size());
    }
  }
  return middle + line / 2 - y;
}

Touch area(const std::string& name, const Box& box, bool hand) {
  ImGui::SetCursorScreenPos({box.x, box.y});
  Touch touch;
  touch.pressed =
      ImGui::InvisibleButton(name.c_str(), {std::max(1.0f, box.w), std::max(1.0f, box.h)}, ImGuiButtonFlags_EnableNav);
  touch.hovered = ImGui::IsItemHovered();
  touch.held = ImGui::IsItemActive();
  touch.focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
  if (touch.hovered && hand) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  mark(name, box);
  return touch;
}

Arrows take_arrows(bool down) {
  const ImGuiID id = ImGui::GetItemID();
  const auto pressed = [&](ImGuiKey key) {
    ImGui::SetKeyOwner(key, id);  // or it would lead elsewhere
    return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, id) ? 1 : 0;
  };
  Arrows arrows;
  arrows.right = pressed(ImGuiKey_RightArrow) - pressed(ImGuiKey_LeftArrow);
  if (down) arrows.down = pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow);
  return arrows;
}

void tooltip(const Touch& touch, std::string_view title, std::string_view body) {
  if (!touch.hovered || touch.held || !rested()) return;
  const float width = std::min(px(320), ImGui::GetIO().DisplaySize.x - px(32));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(12), px(8)));
  ImGui::BeginTooltip();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float wanted = std::max(text_width(kStrong, title), text_width(kSmall, body));
  wanted = std::min(wanted, width);
  float height = title.empty() ? 0 : paragraph(kStrong, theme().ink, at.x, at.y, width, title);
  if (!body.empty())
    height += paragraph(kSmall, title.empty() ? theme().ink : theme().muted, at.x, at.y + height, width, body);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({wanted, height});
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

bool button(const std::string& name, const Box& box, std::string_view label, bool primary) {
  const Touch touch = area(name, box);
  const Theme& t = theme();
  const ImU32 rest = primary ? t.accent : t.box;
  const ImU32 inside = touch.hovered ? mix(rest, t.ink, primary ? 0.12f : 0.05f) : rest;
  frame(box, inside, primary ? inside : t.rule);
  text_centred(kText, primary ? t.on_accent : t.ink, box.x + box.w / 2, box.y + box.h / 2, label);
  return touch.pressed;
}

bool segments_fit(float width, const std::vector<std::string>& words) {
  float all = 0;
  for (const std::string& word : words) all += text_width(kText, word) + px(14);
  return all <= width;
}

int segments(const std::string& name, const Box& box, const std::vector<std::string>& words, int chosen) {
  const Theme& t = theme();
  frame(box, t.box, t.rule);
  float natural = 0;
  for (const std::string& word : words) natural += text_width(kText, word);
  const float extra = (box.w - natural) / static_cast<float>(words.size());
  int pressed = -1;
  float x = box.x;
  for (size_t i = 0; i < words.size(); i++) {
    const float end = i + 1 == words.size() ? box.right() : std::round(x + text_width(kText, words[i]) + extra);
    const Box part{x, box.y, end - x, box.h};
    const Touch touch = area(name + "." + words[i], part);
    const bool on = static_cast<int>(i) == chosen;
    if (on) fill(part, t.accent, px(5));
    text_centred(kText,
                 on              ? t.on_accent
                 : touch.hovered ? t.ink
                                 : t.muted,
                 part.x + part.w / 2, part.y + part.h / 2, words[i]);
    if (touch.pressed) pressed = static_cast<int>(i);
    x = end;
  }
  return pressed;
}

bool switcher(const std::string& name, const Box& box, bool on) {
  const Theme& t = theme();
  const Touch touch = area(name, box);
  const float h = px(16), w = px(28), y = box.y + std::round((box.h - h) / 2);
  const ImU32 track = on ? t.accent : mix(t.rule, t.muted, 0.35f);
  fill({box.x, y, w, h}, touch.hovered ? mix(track, t.ink, 0.12f) : track, h / 2);
  dot(on ? box.x + w - h / 2 : box.x + h / 2, y + h / 2, 6, on ? t.on_accent : t.box);
  return touch.pressed;
}

bool text_box(const std::string& name, const Box& box, std::string& text, Type type, const char* english, bool focus) {
  const char* const hint = language::say(english).data();
  const ImGuiID id = ImGui::GetID(("##" + name).c_str());
  const std::string& shown = ImGui::GetActiveID() == id && typing.box == id ? typing.text : text;
  ImGui::PushFont(font_of(type), imgui_size_of(type));
  const float padding = std::round((box.h - ImGui::GetFontSize()) / 2);
  if (!platform::has_rest()) return text_at_rest(name, {box.x, box.y + padding, box.w, box.h - padding}, text, hint);
  char buffer[4096];
  const size_t length = std::min(shown.size(), sizeof buffer - 1);
  std::memcpy(buffer, shown.data(), length);
  buffer[length] = 0;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(0, padding));
  ImGui::SetCursorScreenPos({box.x, box.y});
  ImGui::SetNextItemWidth(std::max(1.0f, box.w));
  if (focus) ImGui::SetKeyboardFocusHere();
  const bool edited =
      ImGui::InputTextWithHint(("##" + name).c_str(), hint, buffer, sizeof buffer, ImGuiInputTextFlags_AutoSelectAll);
  if (ImGui::IsItemActive()) typing = {id, buffer};
  ImGui::PopStyleVar();
  ImGui::PopFont();
  mark(name, box, true);
  if (edited) text = buffer;
  return edited;
}

int box_steps() {
  static float wheel = 0;  // of a touchpad, bit by bit
  if (!ImGui::IsItemActive()) return 0;
  ImGui::GetCurrentContext()->ActiveIdUsingNavDirMask |= 1 << ImGuiDir_Up | 1 << ImGuiDir_Down;
  int steps = (ImGui::IsKeyPressed(ImGuiKey_UpArrow) ? 1 : 0) - (ImGui::IsKeyPressed(ImGuiKey_DownArrow) ? 1 : 0);
  if (!ImGui::IsItemHovered()) return steps;
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);  // or it would scroll
  wheel += ImGui::GetIO().MouseWheel;
  const float whole = std::trunc(wheel);
  wheel -= whole;
  return steps + static_cast<int>(whole);
}

void retype(const std::string& text) {
  typing.text = text;
  if (ImGuiInputTextState* state = ImGui::GetInputTextState(typing.box)) state->ReloadUserBufAndSelectAll();
}

int drag_steps(bool* dragged) {
  static int taken = 0;
  const float threshold = px(4);
  *dragged = ImGui::GetIO().MouseDragMaxDistanceSqr[0] > threshold * threshold;
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (!ImGui::IsItemActive()) return 0;
  if (ImGui::IsItemActivated()) taken = 0;
  const int all = static_cast<int>(ImGui::GetMouseDragDelta(0, threshold).x / px(12));
  const int steps = all - taken;
  taken = all;
  return steps;
}

bool is_editing(const std::string& name) { return ImGui::GetActiveID() == ImGui::GetID(("##" + name).c_str()); }

void begin_scroll(const char* name, const Box& box, ImU32 background) {
  ImGui::SetCursorScreenPos({box.x, box.y});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, background);
  ImGui::BeginChild(name, {box.w, box.h}, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleColor();
}

void end_scroll(float content_bottom) {
  ImGui::SetCursorScreenPos({ImGui::GetWindowPos().x, content_bottom - 1});
  ImGui::Dummy({1, 1});
  ImGui::EndChild();
}

bool begin_popup(const char* name, const Box& box) {
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.w, box.h});
  return ImGui::BeginPopup(name, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoDecoration);
}

void end_popup() { ImGui::EndPopup(); }

}  // namespace vram::kit
