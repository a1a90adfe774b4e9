#include <algorithm>
#include <cmath>

#include "engine/report/compare.h"
#include "engine/report/figures.h"
#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

constexpr float kNarrow = 350, kStacked = 560;

/// Where a name and its three figures stand; narrow pages put the figures under the name.
struct Columns {
  float x, width, here, there, difference;  // right edges
  bool narrow;
};

Columns columns_of(float x, float width) {
  const bool narrow = width < px(kNarrow);
  const float each = narrow ? std::floor(width / 3) : std::clamp(std::floor(width * 0.235f), px(80), px(112));
  return {x, width, x + width - 2 * each, x + width - each, x + width, narrow};
}

float name_room(const Columns& at) { return at.narrow ? at.width : at.here - (at.there - at.here) + px(16) - at.x; }

float head_row(const Columns& at, float y, std::string_view title, std::string_view unit) {
  const float middle = y + px(12);
  text(kStrong, theme().ink, at.x, middle, title);
  float height = px(26);
  float columns = middle;
  const float end = at.x + text_width(kStrong, title) + px(6) + text_width(kSmall, unit);
  if (at.narrow || end > at.here - text_width(kTiny, "This plan") - px(8)) {
    columns += px(20);
    height += px(20);
  }
  text(kSmall, theme().muted, at.x + text_width(kStrong, title) + px(6), middle, unit);
  text_right(kTiny, theme().muted, at.here, columns, "This plan");
  text_right(kTiny, theme().muted, at.there, columns, "Pinned");
  text_right(kTiny, theme().muted, at.difference, columns, "Difference");
  rule(at.x, y + height - hairline(), at.width, theme().ink);
  return height;
}

struct Cells {
  std::string here, there, difference;
  ImU32 color;  // of the difference
};

/// A name that stands at `indent`, and its figures.
float figure_row(const Columns& at, float y, float indent, std::string_view name, const Cells& cells, bool strong) {
  const float middle = y + px(13), figures = at.narrow ? middle + px(18) : middle;
  const ImU32 ink = strong ? theme().ink : theme().muted;
  text(strong ? kText : kSmall, ink, at.x + indent, middle,
       fitted(strong ? kText : kSmall, name, name_room(at) - indent));
  text_right(kFigures, ink, at.here, figures, cells.here);
  text_right(kFigures, theme().muted, at.there, figures, cells.there);
  const bool differs = strong && cells.color != theme().muted;
  text_right(differs ? kStrongFigures : kFigures, cells.color, at.difference, figures, cells.difference);
  return px(at.narrow ? 44 : 26);
}

ImU32 color_of(double difference, bool less_is_better) {
  if (difference == 0) return theme().muted;
  return (difference < 0) == less_is_better ? theme().good : theme().bad;
}

std::string signed_amount(double bytes, const Scale& scale) {
  if (bytes == 0) return "0";
  return (bytes < 0 ? "−" : "+") + amount(std::fabs(bytes), scale);
}

/// Does a line of this bill have parts that differ?
bool has_parts(const std::vector<ComparedLine>& lines, size_t i) {
  for (size_t j = i + 1; j < lines.size() && lines[j].depth > lines[i].depth; ++j) {
    if (lines[j].difference() != 0) return true;
  }
  return false;
}

double largest_line(const std::vector<ComparedLine>& lines) {
  double most = 0;
  for (const ComparedLine& line : lines) {
    most = std::max({most, static_cast<double>(line.here.value_or(0)), static_cast<double>(line.there.value_or(0))});
  }
  return most;
}

std::string cell(const std::optional<uint64_t>& bytes, const Scale& scale) {
  return bytes ? amount(static_cast<double>(*bytes), scale) : "–";
}

struct BillRows {
  App& app;
  std::string name;  // of its areas
  const std::vector<ComparedLine>& lines;
  Lines colors;
  Columns at;
  Scale scale;
};

float line_row(BillRows& rows, size_t i, float y) {
  const ComparedLine& line = rows.lines[i];
  const std::string name = rows.name + "." + line.path;
  const double gap = static_cast<double>(line.difference());
  const bool top = line.depth == 0, parts = has_parts(rows.lines, i);
  const float indent = px(28 + 14 * static_cast<float>(line.depth));
  const Box box{rows.at.x, y, rows.at.width, px(rows.at.narrow ? 44 : 26)};
  if (parts) {
    const Touch touch = area(name, box);
    if (touch.hovered) fill(box, mix(theme().background, theme().muted, 0.08f), px(4));
    if (touch.pressed) toggle(rows.app, name);
    caret(rows.at.x + indent - px(24), y + px(13), rows.app.open.contains(name), theme().muted);
  }
  if (top) fill({rows.at.x + px(14), y + px(9), px(9), px(9)}, line_color(rows.colors, line.path), px(2));
  const std::string difference = signed_amount(gap, rows.scale);
  const bool tiny = difference.find('<') != std::string::npos;
  return figure_row(rows.at, y, indent, line.label,
                    {cell(line.here, rows.scale), cell(line.there, rows.scale), difference,
                     tiny ? theme().muted : color_of(gap, true)},
                    top);
}

/// Lines of a bill; parts that differ unfold.
float bill_rows(BillRows rows, float y) {
  const float top = y;
  for (size_t i = 0; i < rows.lines.size(); ++i) {
    const ComparedLine& line = rows.lines[i];
    if (line.depth > 0 && line.difference() == 0) continue;
    y += line_row(rows, i, y);
    if (line.depth == 0 && (i + 1 == rows.lines.size() || rows.lines[i + 1].depth == 0 ||
                            !rows.app.open.contains(rows.name + "." + line.path)))
      rule(rows.at.x, y - hairline(), rows.at.width, theme().rule);
    if (rows.app.open.contains(rows.name + "." + line.path)) continue;
    while (i + 1 < rows.lines.size() && rows.lines[i + 1].depth > line.depth) ++i;
  }
  return y - top;
}

float total_row(const App& app, const BillRows& rows, std::string_view id, float y) {
  const Comparison comparison = compare(app.report, *app.report.other);
  for (const ComparedFigure& figure : comparison.figures) {
    if (figure.id != id || !figure.difference()) continue;
    rule(rows.at.x, y - hairline(), rows.at.width, theme().ink, 2);
    const double gap = *figure.difference();
    return figure_row(rows.at, y + px(2), 0, "On the device",
                      {amount(*figure.here, rows.scale), amount(*figure.there, rows.scale),
                       signed_amount(gap, rows.scale), color_of(gap, true)},
                      true) +
           px(2);
  }
  return 0;
}

float bill_table(App& app, bool serving, const std::vector<ComparedLine>& lines, float x, float y, float width) {
  if (lines.empty()) return 0;
  const float top = y;
  const Scale scale = scale_of(largest_line(lines), units_of(app.plan()));
  Lines colors = serving ? app.report.serving.lines : app.report.training.lines;
  BillRows rows{app, serving ? "compare.serving" : "compare.training", lines, colors, columns_of(x, width), scale};
  y += head_row(rows.at, y, serving ? "Serving, a GPU" : "Training, a GPU", scale.name);
  y += bill_rows(rows, y);
  y += total_row(app, rows, serving ? "serving.device_bytes" : "training.device_bytes", y);
  return y - top;
}

/// Bytes of the device stand under the bill.
bool is_shown(const ComparedFigure& figure, bool serving) {
  const std::string_view id = figure.id;
  return id.starts_with("serving.") == serving && !id.ends_with(".device_bytes");
}

float figure_table(const App& app, bool serving, const Comparison& comparison, float x, float y, float width) {
  const float top = y;
  const Columns at = columns_of(x, width);
  for (const ComparedFigure& figure : comparison.figures) {
    if (!is_shown(figure, serving)) continue;
    if (y == top) y += head_row(at, y, serving ? "Capacity and speed" : "Memory, time and money", "");
    const auto shown = [&](const std::optional<double>& value) {
      return value ? figure_text(app.report, figure.kind, *value) : std::string("–");
    };
    const std::optional<double> gap = figure.difference();
    y += figure_row(at, y, 0, figure.label,
                    {shown(figure.here), shown(figure.there), gap ? difference_text(app.report, figure.kind, *gap) : "",
                     color_of(gap.value_or(0), less_is_better(figure))},
                    true);
    rule(x, y - hairline(), width, theme().rule);
  }
  return y - top;
}

/// The keys that differ; the pinned value is a link that takes it.
float key_table(App& app, const Comparison& comparison, float x, float y, float width) {
  const float top = y;
  text(kStrong, theme().ink, x, y + px(12), comparison.keys.empty() ? "No key differs" : "What differs");
  const float there = x + width, here = x + width - std::floor(width * 0.34f);
  if (!comparison.keys.empty()) {
    text_right(kTiny, theme().muted, here, y + px(12), "This plan");
    text_right(kTiny, theme().muted, there, y + px(12), "Pinned");
  }
  y += px(26);
  rule(x, y - hairline(), width, theme().ink);
  for (const ComparedKey& key : comparison.keys) {
    const Field& row = field(key.key);
    const float middle = y + px(13), room = std::floor(width * 0.34f) - px(8);
    const std::string value = fitted(kText, key.there.empty() ? "none" : key.there, room);
    const float w = text_width(kText, value);
    text(kText, theme().muted, x, middle, fitted(kText, row.label, width * 0.32f - px(8)));
    text_right(kText, theme().ink, here, middle, fitted(kText, key.here.empty() ? "none" : key.here, room));
    const Touch touch = area("compare.key." + std::string(row.name), {there - w, y, w, px(26)});
    text(kText, theme().accent, there - w, middle, value);
    tooltip(touch, row.label, "Press to take the pinned plan's value.");
    y += px(26);
    rule(x, y - hairline(), width, theme().rule);
    if (!touch.pressed) continue;
    take_pinned(app, key.key);
    break;
  }
  return y - top;
}

/// Each plan's bar; GPUs of different size each have their own mark.
float bars(const App& app, bool serving, float x, float y, float width) {
  const auto bar_of = [&](const char* label, const Report& report) {
    return serving ? Bar{label, report.serving.lines, static_cast<double>(report.serving.device_bytes),
                         static_cast<double>(report.serving.band_bytes)}
                   : Bar{label, report.training.lines, static_cast<double>(report.training.device_bytes),
                         static_cast<double>(report.training.band_bytes)};
  };
  const auto capacity = [&](const Report& report) {
    return static_cast<double>(serving ? report.serving.capacity_bytes : report.training.capacity_bytes);
  };
  const Bar here = bar_of("This plan", app.report), there = bar_of("Pinned", *app.report.other);
  const Units units = units_of(app.plan());
  if (here.lines.empty() || there.lines.empty()) return 0;
  const double mine = capacity(app.report), other = capacity(*app.report.other);
  if (mine == other) return stacked_bars({here, there}, mine, units, x, y, width) + px(12);
  Bar own = here, others = there;
  own.capacity = mine;
  others.capacity = other;
  return stacked_bars({own, others}, 0, units, x, y, width) + px(12);
}

/// "Llama 3.1 70B on 8 × H100 SXM5 80GB": of a replica, or of the training job.
std::string title_of(const Report& report, bool serving) {
  const Plan& plan = report.plan;
  if (!serving) return report_title(report);
  const std::string gpus = plan.serve_gpus == 1 ? "" : show_grouped(plan.serve_gpus) + " × ";
  return plan.subject->name + " on " + gpus + plan.accelerator->name;
}

/// What each plan is, and its verdict.
float subject(const char* name, const Report& report, bool serving, float x, float y, float width) {
  const float top = y;
  heading(x, y + px(8), name);
  y += px(20);
  y += paragraph(kStrong, theme().ink, x, y, width, title_of(report, serving)) + px(2);
  const std::vector<std::string> sentences = headline_sentences(report);
  y += paragraph(kSmall, theme().muted, x, y, width, sentences[serving ? 2 : 0]);
  if (!serving) y += paragraph(kSmall, theme().muted, x, y, width, sentences[1]);
  return y - top;
}

float subjects(const App& app, bool serving, float x, float y, float width) {
  const bool stacked = width < px(kStacked);
  const float gap = px(24), each = stacked ? width : std::floor((width - gap) / 2);
  const float first = subject("This plan", app.report, serving, x, y, each);
  if (stacked) return first + px(12) + subject("Pinned", *app.report.other, serving, x, y + first + px(12), each);
  return std::max(first, subject("Pinned", *app.report.other, serving, x + each + gap, y, each));
}

float buttons(App& app, float x, float y) {
  const auto place = [&](const char* name, const char* label, bool primary) {
    const Box box{x, y, text_width(kText, label) + px(24), px(28)};
    x = box.right() + px(8);
    return button(name, box, label, primary);
  };
  const bool pinned = app.report.other != nullptr;
  if (place("compare.pin", pinned ? "Pin this plan instead" : "Pin this plan", !pinned)) {
    pin(app);
  } else if (pinned && place("compare.swap", "Swap", false)) {
    swap_plans(app);
  } else if (pinned && place("compare.unpin", "Unpin", false)) {
    unpin(app);
  }
  return px(28);
}

/// Which half is shown, and the buttons; one under the other where there is no room beside.
float controls(App& app, bool serving, float x, float y, float width) {
  const Box sides{x, y, px(168), px(28)};
  const int side = segments("compare.side", sides, {"Training", "Serving"}, serving ? 1 : 0);
  if (side >= 0) compare_side(app, side == 1);
  if (width >= px(520)) return buttons(app, sides.right() + px(16), y);
  return px(36) + buttons(app, x, y + px(36));
}

/// "7.86 GiB less" in colour, and the rest of the sentence.
Headline compare_headline(const App& app, bool serving) {
  const ComparisonSentence sentence = comparison_sentence(app.report, serving);
  Headline headline{sentence.word, sentence.rest, "", theme().ink};
  if (sentence.direction != 0) headline.color = sentence.direction < 0 ? theme().good : theme().bad;
  return headline;
}

float empty_view(App& app, float x, float y, float width) {
  const float top = y;
  y += headline_view({"Nothing is pinned. ", "Pin this plan, and go on changing it.", "", theme().ink}, x, y, width) +
       px(4);
  y += paragraph(kText, theme().muted, x, y, width,
                 "The plan as it is now then stays beside the one you change: line by line, in memory, time and money. "
                 "The link carries both.") +
       px(12);
  return y + buttons(app, x, y) - top;
}

}  // namespace

float compare_view(App& app, float x, float y, float width) {
  if (!app.report.other) return empty_view(app, x, y, width);
  const float top = y;
  const Report report = app.report;  // pressing replaces it
  const Comparison comparison = compare(report, *report.other);
  const bool serving = shows_serving(app);
  y += headline_view(compare_headline(app, serving), x, y, width) + px(4);
  if (!app.plan().embed) y += controls(app, serving, x, y, width) + px(16);
  if (app.report.other != report.other) return y - top;
  y += subjects(app, serving, x, y, width) + px(12);
  y += bars(app, serving, x, y, width) + px(8);
  const float gap = px(32);
  if (width < px(760)) {
    y += key_table(app, comparison, x, y, width) + px(20);
    y += bill_table(app, serving, serving ? comparison.serving : comparison.training, x, y, width) + px(20);
    y += figure_table(app, serving, comparison, x, y, width) + px(20);
    return y - top;
  }
  const float left = std::round((width - gap) * 0.55f), right = width - gap - left;
  float bottom = y + bill_table(app, serving, serving ? comparison.serving : comparison.training, x, y, left);
  float side = y + key_table(app, comparison, x + left + gap, y, right) + px(20);
  side += figure_table(app, serving, comparison, x + left + gap, side, right);
  return std::max(bottom, side) + px(20) - top;
}

}  // namespace vram
