#include "web/kit.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "imgui_internal.h"
#include "web/fonts.h"
#include "web/language.h"

namespace vram::kit {
namespace {

// Inter sets its ascender to descender over 3408 units of 2816 an em; ImGui's size of a font is the former, CSS's the
// latter. Digits of equal width: 1824 and 1888 units (the advances of its tabular digits).
constexpr float kImGuiSizePerCss = 3408.0f / 2816.0f;
constexpr float kTabular = 1824.0f / 3408.0f, kTabularSemibold = 1888.0f / 3408.0f;
constexpr float kCapHeight = 2048.0f / 3408.0f;
constexpr float kScriptSizePerCss = 1448.0f / 1000.0f;  // Noto Sans CJK's ascender to descender over its em
constexpr float kSourceSize = 16;

constexpr ImU32 rgb(unsigned hex) { return IM_COL32(hex >> 16, (hex >> 8) & 255, hex & 255, 255); }

constexpr Theme kLight{.background = rgb(0xfbfbf9),
                       .panel = rgb(0xf3f3f0),
                       .rule = rgb(0xe2e2dd),
                       .ink = rgb(0x1c1e21),
                       .muted = rgb(0x6b6f76),
                       .accent = rgb(0x2457c5),
                       .on_accent = rgb(0xffffff),
                       .good = rgb(0x137a4b),
                       .bad = rgb(0xb3261e),
                       .warn = rgb(0x8a5a00),
                       .box = rgb(0xffffff),
                       .box_locked = rgb(0xf3f3f0),
                       .dark = false};
constexpr Theme kDark{.background = rgb(0x14161a),
                      .panel = rgb(0x1b1e23),
                      .rule = rgb(0x2b2f36),
                      .ink = rgb(0xe8e9eb),
                      .muted = rgb(0x9aa0a8),
                      .accent = rgb(0x7aa2ff),
                      .on_accent = rgb(0x14161a),
                      .good = rgb(0x4cc38a),
                      .bad = rgb(0xff8a80),
                      .warn = rgb(0xe8b04a),
                      .box = rgb(0x22262c),
                      .box_locked = rgb(0x1b1e23),
                      .dark = true};

Theme current = kLight;
float density = 1;
ImFont* faces[4] = {};
std::span<const unsigned char> script;

/// What the last face lacks comes from this one.
void merge(std::span<const unsigned char> bytes, float size) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.MergeMode = true;
  ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()),
                                             size, &config);
}

ImFont* add_face(std::span<const unsigned char> bytes, float digits) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  void* data = const_cast<unsigned char*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  if (digits > 0) {
    static const ImWchar all_but_digits[] = {0x0001, 0x002F, 0x003A, 0xFFFF, 0};
    ImFontConfig fixed = config;
    fixed.GlyphExcludeRanges = all_but_digits;
    fixed.GlyphMinAdvanceX = fixed.GlyphMaxAdvanceX = digits * kSourceSize;
    atlas.AddFontFromMemoryTTF(data, size, kSourceSize, &fixed);
    config.MergeMode = true;
  }
  ImFont* face = atlas.AddFontFromMemoryTTF(data, size, kSourceSize, &config);
  if (bytes.data() != inter_regular().data()) merge(inter_regular(), kSourceSize);
  if (!script.empty()) merge(script, kSourceSize * kScriptSizePerCss / kImGuiSizePerCss);
  return face;
}

ImDrawList& list() { return *ImGui::GetWindowDrawList(); }

struct Set {
  ImFont* font;
  float size;
};
Set set_of(Type type) {
  return {faces[static_cast<int>(type.face)], std::round(type.size * kImGuiSizePerCss * density)};
}

float top_of(const Set& set, float middle) {
  return std::round(middle + set.size * kCapHeight / 2 - set.font->GetFontBaked(set.size)->Ascent);
}

}  // namespace

const Theme& theme() { return current; }
float px(float css) { return std::round(css * density); }
float hairline() { return std::max(1.0f, std::floor(density)); }

void load_fonts() {
  faces[0] = add_face(inter_regular(), 0);
  faces[1] = add_face(inter_semibold(), 0);
  faces[2] = add_face(inter_regular(), kTabular);
  faces[3] = add_face(inter_semibold(), kTabularSemibold);
}

// ImGui merges into the last font only: with another script all faces are made anew.
void add_script(std::span<const unsigned char> font) {
  script = font;
  ImGui::GetIO().Fonts->Clear();
  load_fonts();
}

void apply_style() {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.FontSizeBase = kText.size * kImGuiSizePerCss;
  style.FontScaleDpi = density;
  style.WindowPadding = style.FramePadding = style.ItemSpacing = style.ItemInnerSpacing = {0, 0};
  style.WindowBorderSize = style.ChildBorderSize = style.FrameBorderSize = 0;
  style.WindowMinSize = {1, 1};
  style.PopupBorderSize = hairline();
  style.PopupRounding = style.WindowRounding = px(6);
  style.ScrollbarSize = px(10);
  style.ScrollbarRounding = px(5);
  const auto set = [&](ImGuiCol which, ImU32 color) { style.Colors[which] = ImGui::ColorConvertU32ToFloat4(color); };
  set(ImGuiCol_Text, current.ink);
  set(ImGuiCol_TextDisabled, current.muted);
  set(ImGuiCol_WindowBg, current.background);
  set(ImGuiCol_ChildBg, 0);
  set(ImGuiCol_PopupBg, current.dark ? current.box : current.background);
  set(ImGuiCol_Border, current.rule);
  set(ImGuiCol_FrameBg, 0);
  set(ImGuiCol_ScrollbarBg, 0);
  set(ImGuiCol_ScrollbarGrab, mix(current.panel, current.muted, 0.3f));
  set(ImGuiCol_ScrollbarGrabHovered, mix(current.panel, current.muted, 0.5f));
  set(ImGuiCol_ScrollbarGrabActive, mix(current.panel, current.muted, 0.7f));
  set(ImGuiCol_TextSelectedBg, mix(current.box, current.accent, 0.3f));
  set(ImGuiCol_InputTextCursor, current.ink);
  set(ImGuiCol_NavCursor, current.accent);
  set(ImGuiCol_ModalWindowDimBg, 0);
}

void begin_frame(float new_density, bool dark) {
  const bool same = ImGui::GetStyle().FontScaleDpi == new_density && current.dark == dark && density == new_density;
  density = new_density;
  current = dark ? kDark : kLight;
  static bool styled = false;
  if (!same || !styled) apply_style();
  styled = true;
  forget_marks();
  language::forget();
}

bool in_sight(float top, float bottom) {
  const ImDrawCmdHeader& now = list()._CmdHeader;
  return bottom > now.ClipRect.y && top < now.ClipRect.w;
}

void fill(const Box& box, ImU32 color, float radius) {
  if (!in_sight(box.y, box.bottom())) return;
  list().AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, color, radius);
}

void frame(const Box& box, ImU32 inside, ImU32 border, float radius_css) {
  if (!in_sight(box.y, box.bottom())) return;
  const float line = hairline(), half = line / 2;
  if (inside) fill(box, inside, px(radius_css));
  list().AddRect({box.x + half, box.y + half}, {box.right() - half, box.bottom() - half}, border, px(radius_css), 0,
                 line);
}

void rule(float x, float y, float width, ImU32 color, float thickness_css) {
  fill({x, std::round(y), width, thickness_css <= 1 ? hairline() : px(thickness_css)}, color);
}

void dot(float x, float y, float radius_css, ImU32 color) {
  list().AddCircleFilled({x, y}, radius_css * density, color);
}

void caret(float x, float y, bool open, ImU32 color) {
  const float r = 3 * density;
  if (open)
    list().AddTriangleFilled({x - r, y - r * 0.6f}, {x + r, y - r * 0.6f}, {x, y + r * 0.8f}, color);
  else
    list().AddTriangleFilled({x - r * 0.6f, y - r}, {x + r * 0.8f, y}, {x - r * 0.6f, y + r}, color);
}

ImU32 mix(ImU32 a, ImU32 b, float share) {
  const ImVec4 from = ImGui::ColorConvertU32ToFloat4(a), to = ImGui::ColorConvertU32ToFloat4(b);
  return ImGui::ColorConvertFloat4ToU32(ImLerp(from, to, share));
}

float glyphs_width(Type type, std::string_view text) {
  const Set set = set_of(type);
  return set.font->CalcTextSizeA(set.size, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

float line_height(Type type) { return std::round(type.size * 1.5f * density); }

float text_width(Type type, std::string_view text) { return glyphs_width(type, language::say(text)); }

void glyphs(Type type, ImU32 color, float x, float middle, std::string_view text) {
  const Set set = set_of(type);
  if (!in_sight(middle - set.size, middle + set.size)) return;
  list().AddText(set.font, set.size, {std::round(x), top_of(set, middle)}, color, text.data(),
                 text.data() + text.size());
}

void text(Type type, ImU32 color, float x, float middle, std::string_view text) {
  glyphs(type, color, x, middle, language::say(text));
}

void text_right(Type type, ImU32 color, float right, float middle, std::string_view words) {
  text(type, color, right - text_width(type, words), middle, words);
}

void text_centred(Type type, ImU32 color, float centre, float middle, std::string_view words) {
  text(type, color, centre - text_width(type, words) / 2, middle, words);
}

std::string fitted(Type type, std::string_view english, float width) {
  const std::string_view text = language::say(english);
  if (glyphs_width(type, text) <= width) return std::string(text);
  const Set set = set_of(type);
  const float room = std::max(0.0f, width - glyphs_width(type, "…"));
  const char* cut = nullptr;
  set.font->CalcTextSizeA(set.size, room, 0, text.data(), text.data() + text.size(), &cut);
  auto end = static_cast<size_t>(cut - text.data());
  while (end > 0 && text[end - 1] == ' ') end--;
  return std::string(text.substr(0, end)) + "…";
}

float paragraph(Type type, ImU32 color, float x, float y, float width, std::string_view text) {
  return runs(x, y, width, line_height(type), {{type, color, std::string(text), ""}}, nullptr);
}

void heading(float x, float middle, std::string_view text) {
  for (const char c : language::say(text)) {
    if (c & 0x80) return glyphs(kSmall, current.muted, x, middle, language::say(text));  // no capitals to space
  }
  for (const char c : language::say(text)) {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    glyphs(kHeading, current.muted, x, middle, {&upper, 1});
    x += glyphs_width(kHeading, {&upper, 1}) + 0.5f * density;
  }
}

ImFont* font_of(Type type) { return set_of(type).font; }
float imgui_size_of(Type type) { return set_of(type).size / density; }

}  // namespace vram::kit
