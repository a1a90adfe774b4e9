#include <array>

#include "engine/report/figures.h"
#include "engine/report/utf8.h"
#include "engine/report/wrap.h"
#include "engine/units.h"

// Three columns of a terminal: what it is, how it comes about, how much.
namespace vram {
namespace {

constexpr size_t kLabel = 26, kAmount = 12, kGap = 2;
constexpr size_t kMiddle = kTextColumns - kLabel - kAmount - 2 * kGap;

struct Text {
  std::string out;

  void row(std::string text) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out.append(text).append("\n");
  }
  void blank() { out += "\n"; }
  void heading(const std::string& left, const std::string& right = "") {
    blank();
    row(pad_right(left, kTextColumns - display_width(right)) + right);
  }
  /// `first` before the first row, spaces of the same width before the others.
  void paragraph(const std::string& first, std::string_view text) {
    for (const std::string& each : hanging(first, text, kTextColumns)) row(each);
  }
};

struct Columns {
  std::string first, rest;  // branches of the tree before the label: on its first row, and on those below
  std::string label;
  std::vector<std::string> middle;
  std::string amount;
};

void add_columns(Text& text, const Columns& columns) {
  const std::vector<std::string> labels = wrap(columns.label, kLabel - display_width(columns.first));
  const size_t rows = std::max(labels.size(), columns.middle.size());
  for (size_t i = 0; i < rows; ++i) {
    const std::string label = (i == 0 ? columns.first : columns.rest) + (i < labels.size() ? labels[i] : "");
    const std::string middle = i < columns.middle.size() ? columns.middle[i] : "";
    const std::string left = pad_right(label, kLabel + kGap) + pad_right(middle, kMiddle + kGap);
    text.row(i == 0 ? left + pad_left(columns.amount, kAmount) : left);
  }
}

void add_line(Text& text, const Report& report, const Line& line, const std::string& first, const std::string& rest);

/// Lines of nothing are left out; the JSON report has them.
std::vector<const Line*> shown_lines(Lines lines) {
  std::vector<const Line*> result;
  for (const Line& line : lines) {
    if (line.bytes > 0) result.push_back(&line);
  }
  return result;
}

void add_children(Text& text, const Report& report, const Line& line, const std::string& rest) {
  const std::vector<const Line*> children = shown_lines(line.children);
  for (size_t i = 0; i < children.size(); ++i) {
    const bool last = i + 1 == children.size();
    add_line(text, report, *children[i], rest + (last ? "└ " : "├ "), rest + (last ? "  " : "│ "));
  }
}

void add_line(Text& text, const Report& report, const Line& line, const std::string& first, const std::string& rest) {
  const std::vector<std::string> middle =
      line.factors.empty() ? std::vector<std::string>{} : wrap_formula(formula(line), kMiddle);
  const bool has_children = !shown_lines(line.children).empty();
  add_columns(text, {first, has_children ? rest + "│ " : rest, line.label, middle,
                     amount(report, static_cast<double>(line.bytes))});
  add_children(text, report, line, rest);
}

void add_bill(Text& text, const Report& report, Lines lines) {
  for (const Line* line : shown_lines(lines)) add_line(text, report, *line, "", "");
}

void add_total(Text& text, const Report& report, const std::string& label, uint64_t bytes, uint64_t band) {
  text.row(std::string(kTextColumns - kAmount, ' ') + std::string(kAmount, '-'));
  const std::string spread = "± " + amount(report, static_cast<double>(band));
  const std::string left = pad_right(label, kTextColumns - kAmount - kGap - display_width(spread)) + spread;
  text.row(left + std::string(kGap, ' ') + pad_left(amount(report, static_cast<double>(bytes)), kAmount));
}

/// As wide as the widest value, within bounds.
size_t value_width(const std::vector<Figure>& figures) {
  constexpr size_t kLeast = 10, kMost = 18;
  size_t width = kLeast;
  for (const Figure& figure : figures) {
    const size_t own = display_width(figure.value);
    if (own <= kMost) width = std::max(width, own);
  }
  return width;
}

/// A value too wide for its column takes the remark's, and the remark the rows below.
void add_figure(Text& text, const Figure& figure, size_t value_columns) {
  const size_t value_at = kLabel + kGap, remark_at = value_at + value_columns + kGap;
  const bool wide = display_width(figure.value) > value_columns;
  const std::vector<std::string> values = wrap(figure.value, wide ? kTextColumns - value_at : value_columns);
  std::vector<std::string> remarks;
  if (!figure.remark.empty()) remarks = wrap(figure.remark, kTextColumns - (wide ? value_at : remark_at));
  const size_t first_remark = wide ? values.size() : 0;
  for (size_t i = 0; i < std::max(values.size(), first_remark + remarks.size()); ++i) {
    std::string row = pad_right(i == 0 ? figure.label : "", value_at) + (i < values.size() ? values[i] : "");
    if (i >= first_remark && i - first_remark < remarks.size()) {
      row = pad_right(row, wide ? value_at : remark_at) + remarks[i - first_remark];
    }
    text.row(row);
  }
}

void add_figures(Text& text, const std::vector<Figure>& figures) {
  const size_t width = value_width(figures);
  for (const Figure& figure : figures) add_figure(text, figure, width);
}

void add_napkin(Text& text, const std::vector<Figure>& figures) {
  if (figures.empty()) return;
  text.row("");
  text.row("On a napkin");
  std::vector<Figure> indented = figures;
  for (Figure& figure : indented) figure.label = "  " + figure.label;
  add_figures(text, indented);
}

void add_head(Text& text, const Report& report) {
  text.paragraph("", report_title(report));
  for (const std::string& part : wrap_share(report.share, kTextColumns)) text.row(part);
  text.blank();
  constexpr std::array kNames = {"Training  ", "Compute   ", "Serving   "};
  const std::vector<std::string> sentences = headline_sentences(report);
  for (size_t i = 0; i < sentences.size(); ++i) text.paragraph(kNames[i], sentences[i]);
}

void add_training(Text& text, const Report& report) {
  const TrainingBill& bill = report.training;
  if (bill.verdict == Verdict::invalid) {
    text.heading("TRAINING");
  } else {
    const std::string stage = report.plan.pp > 1 ? ", stage " + std::to_string(bill.stage) : "";
    text.heading("TRAINING: the fullest GPU" + stage + ", " + phase_place(bill.phase), amount_unit(report));
    add_bill(text, report, bill.lines);
    add_total(text, report, "Device", bill.device_bytes, bill.band_bytes);
    text.blank();
    add_figures(text, training_figures(report));
  }
  add_napkin(text, training_napkin_figures(report));
}

void add_traffic(Text& text, const Report& report) {
  if (report.compute.traffic.empty()) return;
  text.heading("Sent by a GPU in a step", amount_unit(report));
  for (const Traffic& item : report.compute.traffic) {
    add_line(text, report, item.line, "", "");
    const std::string time = std::string("over ") + item.link + ", " + show_duration(item.seconds) + ", exposed " +
                             show_duration(item.exposed_seconds);
    text.row(std::string(kLabel + kGap, ' ') + time);
  }
}

void add_compute(Text& text, const Report& report) {
  const std::vector<Figure> figures = compute_figure_list(report);
  if (figures.empty()) return;
  text.heading("COMPUTE");
  add_figures(text, figures);
  add_traffic(text, report);
}

void add_serving(Text& text, const Report& report) {
  const ServingBill& bill = report.serving;
  if (bill.verdict == Verdict::invalid) {
    text.heading("SERVING");
  } else {
    text.heading("SERVING: one GPU of a replica of " + show_grouped(report.plan.serve_gpus), amount_unit(report));
    add_bill(text, report, bill.lines);
    add_total(text, report, "Device", bill.device_bytes, bill.band_bytes);
    text.blank();
  }
  add_figures(text, serving_figures(report));
  if (!bill.request_lines.empty()) {
    text.heading("KV cache of a request", amount_unit(report));
    add_bill(text, report, bill.request_lines);
  }
  add_napkin(text, serving_napkin_figures(report));
}

void add_findings(Text& text, const Report& report) {
  constexpr std::array kMarks = {"! ", "! ", "- "};
  if (!report.findings.empty()) text.heading("FINDINGS");
  for (const Finding& finding : report.findings) {
    text.paragraph(kMarks[static_cast<size_t>(finding.severity)], finding.text);
    if (!finding.change.empty()) {
      for (const std::string& part : wrap_share(finding.change, kTextColumns - 4)) text.row("    " + part);
    }
  }
  const std::vector<Message> messages = own_messages(report);
  if (!messages.empty()) text.heading("MESSAGES");
  for (const Message& message : messages) text.paragraph("- ", message.text);
}

}  // namespace

std::string report_text(const Report& report) {
  Text text;
  if (report.answered) {
    add_head(text, report);
    if (report.plan.view == View::serve) add_serving(text, report);
    add_training(text, report);
    add_compute(text, report);
    if (report.plan.view != View::serve) add_serving(text, report);
    add_findings(text, report);
    return text.out;
  }
  for (const Message& message : report.messages) text.paragraph("- ", message.text);
  return text.out;
}

}  // namespace vram
