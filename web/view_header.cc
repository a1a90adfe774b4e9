#include <algorithm>
#include <iterator>

#include "engine/report/made.h"
#include "web/language.h"
#include "web/platform.h"
#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

struct Tab {
  const char* label;
  const char* word;
  View view;
};
constexpr Tab kTabs[] = {{"Train", "train", View::train},
                         {"Serve", "serve", View::serve},
                         {"Plan", "plan", View::plan},
                         {"Compare", "compare", View::compare},
                         {"Diagnose", "diagnose", View::diagnose}};
constexpr const char* kExamples = "Examples";

/// All tabs, with that much room around each label.
float tabs_width(float padding) {
  float width = 0;
  for (const Tab& tab : kTabs) width += text_width(kStrong, tab.label) + padding + px(4);
  return width;
}

float tabs(App& app, float x, float y, float padding) {
  const bool serving = shows_serving(app);
  for (const Tab& tab : kTabs) {
    const Box box{x, y, text_width(kStrong, tab.label) + padding, px(30)};
    const Touch touch = area(std::string("tab.") + tab.word, box);
    const bool on = app.plan().view == tab.view;
    if (on) fill(box, mix(theme().background, theme().muted, 0.12f), px(5));
    text_centred(on ? kStrong : kText, on || touch.hovered ? theme().ink : theme().muted, box.x + box.w / 2,
                 box.y + box.h / 2, tab.label);
    x = box.right() + px(4);
    if (!touch.pressed) continue;
    if (tab.view == View::compare) compare_side(app, serving);
    edit(app, Key::view, tab.word);
  }
  return x;
}

float examples_width() { return text_width(kText, kExamples) + px(24); }

/// The worked examples, to start from.
void examples(App& app, float x, float y) {
  const Box box{x, y, examples_width(), px(30)};
  const Touch touch = area("examples", box);
  text_centred(kText, touch.hovered ? theme().ink : theme().muted, box.x + box.w / 2, box.y + box.h / 2, kExamples);
  if (touch.pressed) {
    app.search.clear();
    ImGui::OpenPopup("example");
  }
  picker_popup(app, {"example", "", "", "", plan_presets(), pick_example}, box, "");
}

void half_moon(float x, float y, ImU32 color) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float r = px(6);
  list.AddCircle({x, y}, r, color, 0, std::max(1.0f, px(1.25f)));
  list.PathArcTo({x, y}, r, 1.5708f, 4.7124f);
  list.PathFillConvex(color);
}

/// Answers the left edge.
float language_toggle(App& app, float right, float middle) {
  const bool english = language::is_english();
  const Box box{right - px(40), middle - px(15), px(40), px(30)};
  const Touch touch = area("lang", box);
  text_centred(kText, touch.hovered ? theme().ink : theme().muted, box.x + box.w / 2, middle, english ? "EN" : "中文");
  tooltip(touch, english ? "English" : "Chinese", english ? "Press for Chinese." : "Press for English.");
  if (!touch.pressed) return box.x;
  app.english = !english;
  if (english)
    edit(app, Key::lang, "zh");
  else
    clear(app, Key::lang);
  return box.x;
}

/// Language, units and theme at the right; answers the left edge.
float toggles(App& app, float right, float middle, bool with_language) {
  const Box moon{right - px(32), middle - px(15), px(32), px(30)};
  const Touch light = area("theme", moon);
  half_moon(moon.x + moon.w / 2, middle, light.hovered ? theme().ink : theme().muted);
  tooltip(light, theme().dark ? "Light" : "Dark", "Colours of the page; the link remembers them.");
  if (light.pressed) {
    const bool to_dark = !theme().dark;
    if (to_dark == platform::system_prefers_dark())
      clear(app, Key::theme);
    else
      edit(app, Key::theme, to_dark ? "dark" : "light");
  }
  const bool gib = app.plan().units == UnitsChoice::gib;
  const Box units{moon.x - px(40), moon.y, px(40), moon.h};
  const Touch unit = area("units", units);
  text_centred(kText, unit.hovered ? theme().ink : theme().muted, units.x + units.w / 2, middle, gib ? "GiB" : "GB");
  tooltip(unit, gib ? "GiB: 1,073,741,824 bytes" : "GB: 1,000,000,000 bytes", "Press for the other one.");
  if (unit.pressed) edit(app, Key::units, gib ? "gb" : "gib");
  return with_language ? language_toggle(app, units.x, middle) : units.x;
}

/// A button that copies and says so for a moment; its width stays. Answers its left edge.
float copy_button(App& app, const char* name, const char* label, bool primary, float right, float bar,
                  std::string (*text)(const App&)) {
  const float width = std::max(text_width(kText, label), text_width(kText, "Copied")) + px(28);
  const Box box{right - width, (bar - px(32)) / 2, width, px(32)};
  if (button(name, box, app.copied == name ? "Copied" : label, primary)) {
    platform::copy(text(app));
    app.copied = name;
    platform::call_later(platform::kTimerCopied, 1800);
  }
  return box.x;
}

/// Everything else that can be taken away. Answers its left edge.
float share_button(App& app, float right, float bar) {
  const float width = text_width(kText, "Share") + px(28);
  const Box box{right - width, (bar - px(32)) / 2, width, px(32)};
  if (button("share", box, "Share", false)) ImGui::OpenPopup("share");
  if (ImGui::IsPopupOpen("share")) share_popup(app, box);
  return box.x;
}

void open_full_page(const App& app) {
  Plan full = app.plan();
  clear_value(full, Key::embed);
  platform::open_in_new_tab(platform::link_to(write_plan(full, true)));
}

float embedded_header(App& app, const Box& window) {
  const float height = px(38), middle = height / 2, left = window.x + px(18), right = window.right() - px(18);
  text(kStrong, theme().ink, left, middle, "VRAM Ledger");
  const std::string label = window.w < px(420) ? "Open ↗" : "Open and change ↗";
  const Box link{right - text_width(kText, label), middle - px(12), text_width(kText, label), px(24)};
  const float subject = left + text_width(kStrong, "VRAM Ledger") + px(12);
  text(kSmall, theme().muted, subject, middle, fitted(kSmall, subject_of(app), link.x - px(16) - subject));
  const Touch touch = area("open", link);
  text(kText, theme().accent, link.x, middle, label);
  if (touch.hovered) rule(link.x, middle + px(7), link.w, theme().accent);
  if (touch.pressed) open_full_page(app);
  rule(window.x, height - hairline(), window.w, theme().rule);
  return height;
}

}  // namespace

std::string link_of(const App& app) { return platform::link_to(share_to_give(app.report)); }

float header_view(App& app, const Box& window) {
  if (app.plan().embed) return embedded_header(app, window);
  const bool narrow = window.w < px(700);
  const float bar = px(48), margin = px(narrow ? 16 : 20), left = window.x + margin, right = window.right() - margin;
  const float title = text_width(kTitle, "VRAM Ledger") + px(20), wide = px(24);
  const float one_row = 2 * margin + title + tabs_width(wide) + examples_width() + px(330);
  const bool two_rows = window.w < one_row;
  text(kTitle, theme().ink, left, bar / 2, "VRAM Ledger");
  float buttons = copy_button(app, "copy", "Copy link", true, right, bar, link_of);
  if (window.w >= px(340)) buttons = share_button(app, buttons - px(8), bar);
  const float row = two_rows ? px(44) + px(17) : bar / 2;
  const bool roomy = window.w >= px(420);  // a phone's tabs need the row
  if (!roomy && buttons - px(48) >= left + title - px(20)) language_toggle(app, buttons - px(4), bar / 2);
  const float edge = toggles(app, two_rows ? right + px(8) : buttons - px(8), row, roomy);
  const float spare = (edge - left - tabs_width(0)) / static_cast<float>(std::size(kTabs));
  const float padding = two_rows ? std::clamp(spare, px(6), px(20)) : wide;
  const float end = tabs(app, two_rows ? left - padding / 2 : left + title, row - px(15), padding);
  if (end + examples_width() <= edge + px(4)) examples(app, end, row - px(15));
  const float height = two_rows ? px(84) : bar;
  rule(window.x, height - hairline(), window.w, theme().rule);
  return height;
}

}  // namespace vram
