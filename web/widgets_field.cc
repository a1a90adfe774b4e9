#include <algorithm>
#include <cmath>

#include "engine/plan/texts.h"
#include "web/steps.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

constexpr float kRowHeight = 28, kRowPitch = 34;

float label_width(float width) { return std::min(px(136), std::round(width * 0.46f)); }

bool is_number(const Field& row) {
  return row.kind != FieldKind::choice && row.kind != FieldKind::flag && row.kind != FieldKind::text;
}

/// Words of a key that takes one of a few; empty for all others.
std::vector<std::string> few_words(const Field& row) {
  std::vector<std::string> words;
  if (row.kind == FieldKind::choice)
    for (const std::string_view word : row.words) words.emplace_back(word);
  else if (row.kind == FieldKind::count && row.most - row.least <= 3)
    for (double value = row.least; value <= row.most; value++) words.push_back(write_number(value));
  return words;
}

std::string nodes_of(const Plan& plan) {
  const double nodes = std::ceil(plan.gpus / plan.node);
  return show_grouped(nodes) + (nodes == 1 ? " node" : " nodes");
}

/// What stands in grey at the right of a box: where the value comes from, else its unit.
std::string derivation(const App& app, const Field& row) {
  const Plan& plan = app.plan();
  switch (row.key) {
    case Key::gpus:
      return nodes_of(plan);
    case Key::global_batch: {
      if (plan.micro_batches() < 1) break;
      return write_number(plan.micro_batches()) + " × " + write_number(plan.micro_batch) + " × " +
             write_number(plan.dp());
    }
    case Key::mfu:
      if (!is_given(app, row.key) && app.report.compute.mfu)
        return show_fixed(*app.report.compute.mfu * 100, 0) + "% estimated";
      break;
    default:
      break;
  }
  return std::string(row.unit);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The text of a box at rest: digits in groups, nothing where the key has no value.
std::string shown(const App& app, const Field& row) {
  const auto draft = app.drafts.find(row.key);
  if (draft != app.drafts.end()) return draft->second.text;
  const std::string text = value_text(app.plan(), row.key);
  // A data sheet's odd number of bytes, for people.
  if (row.kind == FieldKind::size && !is_given(app, row.key) && text.ends_with("B"))
    return show_fixed(read_size(text, kGiB).value_or(0) / kGiB, 2);
  if (!is_number(row) || !is_digits(text)) return text;
  if (text == "0" && !is_given(app, row.key)) return "";
  return text.size() > 4 && text.size() < 16 ? show_grouped(read_number(text).value_or(0)) : text;
}

const char* hint_of(const App& app, const Field& row) {
  switch (row.key) {
    case Key::mfu:
      return "";
    case Key::overhead:
    case Key::reserve:
      return "modelled";
    case Key::params:
      return app.plan().model == "custom" ? "none" : "exact";
    case Key::stages:
      return "even";
    case Key::gpu_tflops:
      return app.plan().gpu == "custom" ? "none" : "data sheet";
    case Key::engine_version:
      return "newest";
    default:
      return "none";
  }
}

bool at_fault(const App& app, const Field& row) {
  if (app.drafts.contains(row.key)) return true;
  const auto named = [&](const std::vector<Message>& faults) {
    return std::any_of(faults.begin(), faults.end(), [&](const Message& fault) { return fault.key == row.name; });
  };
  return row.group == Group::serving ? named(app.report.serving.faults) : named(app.report.training.faults);
}

std::string explanation(const Field& row) {
  std::string help(help_of(row));
  if (!row.built.empty()) help += " Kept, but " + std::string(row.built) + ".";
  return help + " (" + std::string(row.name) + ")";
}

/// A value to be dragged, rolled and counted up.
bool is_stepped(const Field& row) { return has_steps(row) && few_words(row).empty(); }

/// The label explains the key, at rest under the mouse or unfolded by a press, and dragged it changes a number; the dot
/// before it says that the value differs from the default, and brings that back.
void draw_label(App& app, const Field& row, const Box& box) {
  const std::string name(row.name);
  const float middle = box.y + box.h / 2, reach = px(14);
  float x = box.x;
  if (is_given(app, row.key)) {
    const Touch reset = area("reset." + name, {box.x - px(8), box.y, px(8) + reach, box.h});
    dot(box.x + px(3), middle, reset.hovered ? 3.5f : 2.5f, reset.hovered ? theme().ink : theme().accent);
    tooltip(reset, "Back to the default", "");
    if (reset.pressed) clear(app, row.key);
    x += px(11);
  }
  const Touch label = area("label." + name, {x + px(3), box.y, box.right() - x - px(3), box.h});
  bool dragged = false;
  const int steps = is_stepped(row) ? drag_steps(&dragged) : 0;
  if (label.hovered) tooltip(label, row.label, explanation(row));
  if (label.pressed && !dragged) toggle(app, "help." + name);
  if (steps != 0) edit(app, row.key, stepped(app.plan(), row, steps));
  text(kText, theme().muted, x, middle, fitted(kText, row.label, box.right() - x - px(6)));
}

void choice_menu(App& app, const Field& row, const Box& box, const std::vector<std::string>& words) {
  const std::string name = "field." + std::string(row.name), now = value_text(app.plan(), row.key);
  const Touch touch = area(name, box);
  frame(box, theme().box, touch.hovered ? mix(theme().rule, theme().muted, 0.5f) : theme().rule);
  text(kText, theme().ink, box.x + px(9), box.y + box.h / 2, now);
  caret(box.right() - px(13), box.y + box.h / 2, true, theme().muted);
  const std::string popup = name + ".menu";
  if (touch.pressed) ImGui::OpenPopup(popup.c_str());
  const float line = px(28), all = line * static_cast<float>(words.size()) + px(8);
  const float room = ImGui::GetIO().DisplaySize.y - px(16);
  const float height = std::min({all, px(340), room});
  const float y = std::min(box.bottom() + px(4), room + px(8) - height);
  if (!begin_popup(popup.c_str(), {box.x, y, box.w, height})) return;
  begin_scroll("list", {box.x, y, box.w, height}, 0);
  float at = ImGui::GetCursorScreenPos().y + px(4);
  for (const std::string& word : words) {
    const Box part{box.x + px(4), at, box.w - px(8), line};
    const Touch choice = area(name + "." + word, part);
    if (choice.hovered) fill(part, mix(theme().box, theme().muted, 0.15f), px(4));
    text(kText, word == now ? theme().accent : theme().ink, part.x + px(6), part.y + line / 2, word);
    if (choice.pressed) edit(app, row.key, word), ImGui::CloseCurrentPopup();
    at += line;
  }
  end_scroll(at + px(4));
  end_popup();
}

void number_box(App& app, const Field& row, const Box& box) {
  const std::string name = "field." + std::string(row.name);
  const bool fault = at_fault(app, row);
  const float inner = box.w - px(18);
  std::string content = shown(app, row);
  const std::string grey = derivation(app, row);
  const bool active = is_editing(name);
  frame(box, theme().box, fault ? theme().bad : active ? theme().accent : theme().rule);
  const float grey_width = text_width(kText, grey);
  const bool room = text_width(kFigures, content.empty() ? hint_of(app, row) : content) + grey_width + px(10) <= inner;
  if (room && !grey.empty()) text_right(kText, theme().muted, box.right() - px(9), box.y + box.h / 2, grey);
  const Box edit_box{box.x + px(9), box.y, room ? inner - grey_width - px(4) : inner, box.h};
  const bool typed = text_box(name, edit_box, content, kFigures, hint_of(app, row));
  const int steps = is_stepped(row) ? box_steps() : 0;
  if (typed) edit(app, row.key, content);
  if (steps == 0) return;
  const std::string next = stepped(app.plan(), row, steps);
  edit(app, row.key, next);
  retype(next);
}

/// Accelerators to choose from: pressed, the list with its search; each of them a chip below that takes it out.
void among_box(App& app, const Field& row, const Box& box) {
  const std::string name = "field." + std::string(row.name);
  const Touch touch = area(name, box);
  const size_t chosen = app.plan().gpus_among.empty() ? 0 : split(app.plan().gpus_among, ',').size();
  frame(box, theme().box, touch.hovered ? mix(theme().rule, theme().muted, 0.5f) : theme().rule);
  const bool all = app.plan().gpus_among == kAllGpus;
  const std::string words = chosen == 0 ? "its own"
                            : all       ? "Every kind"
                                        : counted(static_cast<double>(chosen), "kind", "kinds");
  text(kText, chosen == 0 ? theme().muted : theme().ink, box.x + px(9), box.y + box.h / 2, words);
  caret(box.right() - px(13), box.y + box.h / 2, true, theme().muted);
  if (touch.pressed) {
    app.search.clear();
    ImGui::OpenPopup("among");
  }
  const std::string hint = counted(static_cast<double>(hardware_presets().size()), "kind", "kinds");
  picker_popup(app, {"among", "", "", hint, hardware_presets(), toggle_gpu_among, true}, box, app.plan().gpus_among);
}

std::string name_of(const App& app, std::string_view id) {
  if (id == kAllGpus) return "Every kind";
  const auto found = std::find_if(app.gpus.begin(), app.gpus.end(), [&](const PresetRow& row) { return row.id == id; });
  return std::string(found == app.gpus.end() ? id : found->name);
}

float among_chips(App& app, float x, float y, float width) {
  if (app.plan().gpus_among.empty()) return 0;
  const float top = y, height = px(24);
  float at = x;
  const std::string list = app.plan().gpus_among;  // a chip that is pressed changes it
  for (const std::string_view id : split(list, ',')) {
    const std::string label = fitted(kSmall, name_of(app, id), width - px(32));
    const float w = text_width(kSmall, label) + px(32);
    if (at > x && at + w > x + width) at = x, y += height + px(4);
    const Box box{at, y, w, height};
    const Touch touch = area("among.off." + std::string(id), box);
    frame(box, theme().box, touch.hovered ? theme().accent : theme().rule);
    text(kSmall, theme().ink, box.x + px(9), box.y + height / 2, label);
    text(kSmall, touch.hovered ? theme().ink : theme().muted, box.right() - px(17), box.y + height / 2, "×");
    tooltip(touch, "Take it out", "");
    if (touch.pressed) toggle_gpu_among(app, id);
    at += w + px(4);
  }
  return y + height - top + px(8);
}

void value_box(App& app, const Field& row, const Box& box) {
  const std::string name = "field." + std::string(row.name);
  if (row.key == Key::gpus_among) return among_box(app, row, box);
  if (row.kind == FieldKind::flag) {
    const bool on = value_text(app.plan(), row.key) == "1";
    if (switcher(name, {box.x, box.y, px(28), box.h}, on)) edit(app, row.key, on ? "0" : "1");
    return;
  }
  const std::vector<std::string> words = few_words(row);
  if (words.empty()) return number_box(app, row, box);
  if (words.size() > 4 || !segments_fit(box.w, words)) return choice_menu(app, row, box, words);
  const std::string now = value_text(app.plan(), row.key);
  const auto at = std::find(words.begin(), words.end(), now);
  const int pressed = segments(name, box, words, at == words.end() ? -1 : static_cast<int>(at - words.begin()));
  if (pressed >= 0) edit(app, row.key, words[static_cast<size_t>(pressed)]);
}

}  // namespace

float field_row(App& app, Key key, float x, float y, float width) {
  const Field& row = field(key);
  const float label = label_width(width), top = y;
  draw_label(app, row, {x, y, label, px(kRowHeight)});
  value_box(app, row, {x + label, y, width - label, px(kRowHeight)});
  const bool help = app.open.contains("help." + std::string(row.name));
  const auto draft = app.drafts.find(key);
  const float chips = key == Key::gpus_among ? among_chips(app, x, y + px(kRowPitch), width) : 0;
  if (draft == app.drafts.end() && !help) return px(kRowPitch) + chips;
  y += px(kRowHeight + 2) + chips;
  if (draft != app.drafts.end()) {
    std::string complaint = draft->second.complaint;
    const std::string key_first = std::string(row.name) + ": ";
    if (complaint.starts_with(key_first)) complaint = complaint.substr(key_first.size());
    y += paragraph(kSmall, theme().bad, x + label, y, width - label, complaint);
  }
  if (help) y += paragraph(kSmall, theme().muted, x, y, width, explanation(row));
  return y - top + px(6);
}

float derived_row(std::string_view label, std::string_view value, std::string_view grey, float x, float y,
                  float width) {
  const float column = label_width(width);
  const Box box{x + column, y, width - column, px(kRowHeight)};
  const float middle = y + box.h / 2;
  text(kText, theme().muted, x, middle, label);
  frame(box, theme().box_locked, theme().rule);
  text(kFigures, theme().muted, box.x + px(9), middle, value);
  text_right(kText, theme().muted, box.right() - px(9), middle, grey);
  return px(kRowPitch);
}

}  // namespace vram
