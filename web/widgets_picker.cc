#include <algorithm>

#include "engine/plan/texts.h"
#include "engine/text.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

/// Every word of the search stands somewhere in the row.
bool matches(const PresetRow& row, std::string_view search) {
  const std::string in = lower_case(std::string(row.id) + ' ' + std::string(row.name) + ' ' + std::string(row.family) +
                                    ' ' + std::string(row.detail));
  const std::string words = lower_case(search);
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (end > at && in.find(words.substr(at, end - at)) == std::string::npos) return false;
    at = end + 1;
  }
  return true;
}

std::string detail_of(const PresetRow& row) {
  const auto count = read_number(row.detail);
  return count ? show_count(*count) : std::string(row.detail);
}

bool preset_row(const std::string& name, std::string_view title, std::string_view detail, const Box& box, bool chosen) {
  const Touch touch = area(name, box);
  if (touch.hovered) fill(box, mix(theme().box, theme().muted, 0.15f), px(4));
  const float middle = box.y + box.h / 2, right = box.right() - px(8);
  text(kText, chosen ? theme().accent : theme().ink, box.x + px(8), middle,
       fitted(kText, title, box.w - px(28) - text_width(kSmall, detail)));
  text_right(kSmall, theme().muted, right, middle, detail);
  return touch.pressed;
}

/// The rows by family, in the order of their names. Answers the id that was pressed.
std::string preset_list(const App& app, const Picker& picker, const Box& box, std::string_view current, bool searched,
                        bool take_first) {
  std::vector<const PresetRow*> found;
  for (const PresetRow& row : picker.rows)
    if (matches(row, app.search)) found.push_back(&row);
  std::stable_sort(found.begin(), found.end(), [](const PresetRow* a, const PresetRow* b) {
    return lower_case(a->family) < lower_case(b->family);
  });
  std::string picked;
  begin_scroll("list", box, 0);
  if (searched) ImGui::SetScrollY(0);
  const float left = box.x, width = box.w - px(8);
  float y = ImGui::GetCursorScreenPos().y;
  std::string_view family = "\n";
  for (const PresetRow* row : found) {
    if (row->family != family && !row->family.empty()) {
      heading(left + px(8), y + px(16), row->family);
      y += px(28);
    }
    family = row->family;
    const std::string name = std::string(picker.name) + "." + std::string(row->id);
    if (row->id == current && ImGui::IsWindowAppearing()) ImGui::SetScrollFromPosY(y - ImGui::GetWindowPos().y, 0.4f);
    const bool chosen = picker.several ? lists(current, row->id) : row->id == current;
    if (preset_row(name, row->name, detail_of(*row), {left, y, width, px(28)}, chosen)) picked = row->id;
    y += px(28);
  }
  if (found.empty()) {
    text(kText, theme().muted, left + px(8), y + px(16), "Nothing of that name.");
    y += px(32);
  }
  end_scroll(y);
  if (take_first && !found.empty()) picked = found.front()->id;
  return picked;
}

}  // namespace

void picker_popup(App& app, const Picker& picker, const Box& card, std::string_view current) {
  const float screen_w = ImGui::GetIO().DisplaySize.x, screen_h = ImGui::GetIO().DisplaySize.y;
  const float width = std::min(std::max(card.w, px(400)), screen_w - px(16));
  const float x = std::min(card.x, screen_w - width - px(8));
  const float height = std::min(px(520), screen_h - px(16));
  const float y = std::max(px(8), std::min(card.bottom() + px(4), screen_h - height - px(8)));
  if (!begin_popup(std::string(picker.name).c_str(), {x, y, width, height})) return;
  const Box search{x + px(8), y + px(8), width - px(16), px(32)};
  frame(search, theme().box, theme().accent);
  const bool enter = is_editing("search") && ImGui::IsKeyPressed(ImGuiKey_Enter, false);
  const bool searched = text_box("search", {search.x + px(9), search.y, search.w - px(18), search.h}, app.search, kText,
                                 "Search", ImGui::IsWindowAppearing());
  const float foot = px(picker.hint.empty() ? 8 : 36);
  const Box list{x + px(8), search.bottom() + px(8), width - px(12), height - px(48) - foot};
  std::string picked = preset_list(app, picker, list, current, searched, enter);
  if (!picker.hint.empty()) {
    rule(x, list.bottom(), width, theme().rule);
    const std::string other(picker.several ? kAllGpus : "custom");
    const Box row{x + px(8), list.bottom() + px(4), width - px(16), px(28)};
    const char* const title = picker.several ? "Every kind" : "Custom";
    if (preset_row(std::string(picker.name) + "." + other, title, picker.hint, row, current == other)) picked = other;
  }
  if (!picked.empty()) {
    picker.pick(app, picked);
    if (!picker.several) ImGui::CloseCurrentPopup();
  }
  end_popup();
}

Touch card(std::string_view name, const std::string& title, const std::string& facts, const Box& box) {
  const Touch touch = area(std::string(name), box);
  frame(box, theme().box, touch.hovered ? mix(theme().rule, theme().muted, 0.5f) : theme().rule);
  caret(box.right() - px(14), box.y + px(18), true, theme().muted);
  text(kStrong, theme().ink, box.x + px(11), box.y + px(18), fitted(kStrong, title, box.w - px(40)));
  text(kSmall, theme().muted, box.x + px(11), box.y + px(36), fitted(kSmall, facts, box.w - px(22)));
  return touch;
}

float picker_card(App& app, const Picker& picker, float x, float y, float width) {
  const Box box{x, y, width, px(kCard)};
  if (card(picker.name, picker.title, picker.facts, box).pressed) {
    app.search.clear();
    ImGui::OpenPopup(std::string(picker.name).c_str());
  }
  picker_popup(app, picker, box, picker.name == "model" ? app.plan().model : app.plan().gpu);
  return box.h;
}

}  // namespace vram
