#include <algorithm>
#include <cmath>

#include "engine/in_order.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

/// Where the columns of a bill are; narrow ones put the formula under the name.
struct Columns {
  float x, width, name_right, formula, formula_right, amount_right, share_right;
  bool narrow;
};

Columns columns_of(float x, float width) {
  const bool narrow = width < px(480);
  const float right = x + width, amount = right - px(56);
  if (narrow) return {x, width, amount - px(64), x + px(28), right, amount, right, true};
  const float formula = x + std::clamp(std::round(width * 0.31f), px(168), px(240));
  return {x, width, formula - px(8), formula, amount - px(66), amount, right, false};
}

std::string percent(double bytes, double total) {
  if (total <= 0) return "";
  const double share = bytes / total * 100;
  if (share >= 99.95) return "100 %";
  return share > 0 && share < 0.1 ? "<0.1 %" : show_fixed(share, 1) + " %";
}

struct Writer {
  App& app;
  const Bill& bill;
  Columns at;
  Scale scale;
  double total;
  float y;
};

/// How a line comes about: its factors, or its parts, the largest first.
std::string summary(const Line& line, const Scale& scale) {
  if (line.children.empty()) return with_groups(formula(line));
  std::vector<const Line*> parts;
  for (const Line& child : line.children)
    if (child.bytes > 0) parts.push_back(&child);
  put_in_order(parts, [](const Line* a, const Line* b) { return a->bytes > b->bytes; });
  std::string text;
  for (const Line* part : parts) {
    if (!text.empty()) text += " + ";
    text += std::string(part->label) + ' ' + amount(static_cast<double>(part->bytes), scale);
  }
  return text;
}

void write_figures(const Writer& w, const Line& line, int depth, float middle) {
  const double bytes = static_cast<double>(line.bytes);
  const ImU32 color = depth == 0 ? theme().ink : theme().muted;
  text_right(depth == 0 ? kStrongFigures : kFigures, color, w.at.amount_right, middle, amount(bytes, w.scale));
  if (depth == 0) text_right(kFigures, theme().muted, w.at.share_right, middle, percent(bytes, w.total));
}

/// What an unfolded part says: formula, band, source.
void write_explanation(Writer& w, const Line& line, float indent) {
  const float x = w.at.x + indent, width = w.at.amount_right - px(64) - x;
  const std::string product = with_groups(formula(line));
  if (!product.empty())
    w.y += paragraph(kSmall, theme().ink, x, w.y, width,
                     product + " = " + show_grouped(static_cast<double>(line.bytes)) + " B");
  if (line.band_bytes > 0)
    w.y += paragraph(kSmall, theme().muted, x, w.y, width,
                     "± " + show_bytes(static_cast<double>(line.band_bytes), w.bill.units));
  if (line.note[0]) w.y += paragraph(kSmall, theme().muted, x, w.y, width, line.note);
  w.y += px(6);
}

struct Row {
  Box box;
  float middle, text_x;
  int depth;
  bool two_rows;  // the formula under the name
};

Row row_at(const Writer& w, int depth) {
  const bool two_rows = w.at.narrow && depth == 0;
  const float height = px(depth == 0 ? 28 : 22);
  const float indent = depth == 0 ? px(28) : px(24 + 16 * static_cast<float>(depth));
  return {{w.at.x, w.y, w.at.width, height + (two_rows ? px(16) : 0)},
          w.y + std::round(height / 2),
          w.at.x + indent,
          depth,
          two_rows};
}

void draw_row(const Writer& w, const Line& line, const Row& row, bool open, const Touch& touch) {
  const bool top = row.depth == 0;
  if (touch.hovered) fill(row.box, mix(theme().background, theme().muted, 0.08f), px(4));
  caret(top ? w.at.x + px(4) : row.text_x - px(9), row.middle, open, theme().muted);
  if (top) {
    const std::string_view id = w.bill.color_of.empty() ? line.id : w.bill.color_of;
    fill({w.at.x + px(12), row.middle - px(4), px(9), px(9)}, line_color(w.bill.lines, id), px(2));
  }
  const Type type = top ? kText : kSmall;
  text(type, top ? theme().ink : theme().muted, row.text_x, row.middle,
       fitted(type, line.label, w.at.name_right - row.text_x));
  write_figures(w, line, row.depth, row.middle);
  if (w.at.narrow && !row.two_rows) return;
  const std::string how = summary(line, w.scale);
  const std::string seen = fitted(kSmall, how, w.at.formula_right - w.at.formula);
  text(kSmall, theme().muted, w.at.formula, row.two_rows ? row.middle + px(18) : row.middle, seen);
  if (seen != how) tooltip(touch, line.label, how);
}

void write_line(Writer& w, const Line& line, const std::string& path, int depth) {
  const std::string name = w.bill.name + "." + path;
  const bool open = w.app.open.contains(name);
  const Row row = row_at(w, depth);
  const Touch touch = area(name, row.box);
  draw_row(w, line, row, open, touch);
  w.y += row.box.h;
  if (touch.pressed) toggle(w.app, name);
  if (open && line.children.empty()) write_explanation(w, line, row.text_x - w.at.x);
  if (open)
    for (const Line& child : line.children)
      if (child.bytes > 0) write_line(w, child, path + "/" + child.id, depth + 1);
  if (open && !line.children.empty() && line.note[0]) {
    const float x = row.text_x + (depth == 0 ? px(12) : 0);
    w.y += paragraph(kSmall, theme().muted, x, w.y, w.at.amount_right - px(64) - x, line.note) + px(6);
  }
  if (depth == 0) rule(w.at.x, w.y, w.at.width, theme().rule);
}

/// Lines of nothing, in one sentence.
void write_zeros(Writer& w) {
  std::string names;
  for (const Line& line : w.bill.lines)
    if (line.bytes == 0) names += (names.empty() ? "" : ", ") + std::string(line.label);
  if (names.empty()) return;
  const float middle = w.y + px(13);
  text(kSmall, theme().muted, w.at.x + px(28), middle,
       fitted(kSmall, "Nothing for: " + names, w.at.amount_right - px(60) - w.at.x - px(28)));
  text_right(kFigures, theme().muted, w.at.amount_right, middle, "0");
  w.y += px(26);
}

void write_total(Writer& w) {
  rule(w.at.x, w.y - hairline(), w.at.width, theme().ink, 2);
  const float middle = w.y + px(16);
  text(kStrong, theme().ink, w.at.x, middle, w.bill.total_label);
  text_right(kStrongFigures, theme().ink, w.at.amount_right, middle, amount(w.total, w.scale));
  text_right(kStrong, theme().muted, w.at.share_right, middle, w.scale.name);
  const float room = w.at.formula_right - w.at.formula;
  if (!w.at.narrow) text(kSmall, theme().muted, w.at.formula, middle, fitted(kSmall, w.bill.total_note, room));
  w.y += px(30);
  if (w.at.narrow && !w.bill.total_note.empty())
    w.y += paragraph(kSmall, theme().muted, w.at.x, w.y - px(4), w.at.width, w.bill.total_note);
}

void write_check(Writer& w, const Bill::Check& check) {
  const float middle = w.y + px(11);
  text(kSmall, theme().muted, w.at.x + px(12), middle, fitted(kSmall, check.label, w.at.name_right - w.at.x - px(12)));
  text_right(kSmallFigures, theme().muted, w.at.amount_right, middle, amount(check.bytes, w.scale));
  text_right(kSmall, theme().muted, w.at.share_right, middle, w.scale.name);
  if (!w.at.narrow)
    text(kSmall, theme().muted, w.at.formula, middle, fitted(kSmall, check.note, w.at.formula_right - w.at.formula));
  w.y += px(22);
}

}  // namespace

Scale scale_of(double largest, Units units) {
  const bool binary = units == Units::gib;
  const double giga = binary ? kGiB : kGB, mega = binary ? kMiB : 1e6;
  const double in_giga = largest / giga;
  if (in_giga < 0.1 && largest > 0) return {mega, binary ? "MiB" : "MB", 2};
  return {giga, binary ? "GiB" : "GB", in_giga < 1000 ? 2 : 1};
}

std::string amount(double bytes, const Scale& scale) {
  const double value = bytes / scale.unit;
  if (bytes > 0 && scale.decimals == 2 && value < 0.005) return "<0.01";
  if (bytes > 0 && scale.decimals == 1 && value < 0.05) return "<0.1";
  const std::string text = show_fixed(value, scale.decimals);
  if (value < 1000) return text;
  const size_t point = std::min(text.find('.'), text.size());
  return show_grouped(std::floor(value)) + text.substr(point);
}

ImU32 line_color(Lines bill, std::string_view id) {
  const uint32_t rgb = line_rgb(bill, id);
  return IM_COL32(rgb >> 16, rgb >> 8 & 0xFF, rgb & 0xFF, 255);
}

std::string with_groups(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') end++;
    const bool decimals = at > 0 && text[at - 1] == '.';
    if (end - at > 4 && end - at < 16 && !decimals)
      result += show_grouped(read_number(text.substr(at, end - at)).value_or(0));
    else
      result += text.substr(at, std::max(end, at + 1) - at);
    at = std::max(end, at + 1);
  }
  return result;
}

float bill(App& app, const Bill& bill, float x, float y, float width) {
  double total = 0;
  for (const Line& line : bill.lines) total += static_cast<double>(line.bytes);
  Writer w{app, bill, columns_of(x, width), scale_of(total, bill.units), total, y};
  for (const Line& line : bill.lines)
    if (line.bytes > 0) write_line(w, line, line.id, 0);
  write_zeros(w);
  write_total(w);
  for (const Bill::Check& check : bill.checks) write_check(w, check);
  return w.y - y;
}

}  // namespace vram
