#include "engine/report/compare.h"
#include "engine/report/figures.h"
#include "engine/report/utf8.h"
#include "engine/report/wrap.h"

namespace vram {
namespace {

constexpr size_t kLabel = 32, kNumber = 14, kGap = 2;

/// A label and three numbers; a label or a value that is too wide pushes the rest along.
std::string row(const std::string& label, const std::string& here, const std::string& there,
                const std::string& difference) {
  std::string text = pad_right(label, kLabel);
  for (const std::string* cell : {&here, &there, &difference})
    text += std::string(kGap, ' ') + pad_left(*cell, kNumber);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text + "\n";
}

std::string heading(const std::string& text) { return "\n" + row(text, "this plan", "the other", "difference"); }

std::string subject(const char* name, const Report& report) {
  std::string out = paragraph(name, report_title(report));
  for (const std::string& part : wrap_share(report.share, kTextColumns - 11)) out += std::string(11, ' ') + part + "\n";
  for (const std::string& sentence : headline_sentences(report)) out += paragraph(std::string(11, ' '), sentence);
  return out;
}

std::string key_rows(const Comparison& comparison) {
  if (comparison.keys.empty()) return "\nThe plans do not differ in any key.\n";
  std::string out = "\n" + row("KEYS", "this plan", "the other", "");
  for (const ComparedKey& key : comparison.keys) out += row(std::string(field(key.key).name), key.here, key.there, "");
  return out;
}

std::string line_rows(const Report& report, const std::vector<ComparedLine>& lines, const std::string& title) {
  if (lines.empty()) return "";
  std::string out = heading(title + ", " + amount_unit(report));
  const auto cell = [&](const std::optional<uint64_t>& bytes) {
    return bytes ? amount(report, static_cast<double>(*bytes)) : std::string("-");
  };
  for (const ComparedLine& line : lines) {
    if (line.depth > 0 && line.difference() == 0) continue;
    const double gap = static_cast<double>(line.difference());
    const std::string sign = gap > 0 ? "+" : gap < 0 ? "−" : "";
    out += row(std::string(2 * static_cast<size_t>(line.depth), ' ') + line.label, cell(line.here), cell(line.there),
               sign + amount(report, gap < 0 ? -gap : gap));
  }
  return out;
}

std::string figure_rows(const Report& report, const Comparison& comparison) {
  if (comparison.figures.empty()) return "";
  std::string out = heading("FIGURES");
  for (const ComparedFigure& figure : comparison.figures) {
    const auto cell = [&](const std::optional<double>& value) {
      return value ? figure_text(report, figure.kind, *value) : std::string("-");
    };
    const std::optional<double> gap = figure.difference();
    out +=
        row(figure.label, cell(figure.here), cell(figure.there), gap ? difference_text(report, figure.kind, *gap) : "");
  }
  return out;
}

}  // namespace

std::string comparison_text(const Report& report) {
  const Comparison comparison = compare(report, *report.other);
  std::string sentences;
  for (const std::string& sentence : comparison_sentences(report)) sentences += paragraph("", sentence);
  return sentences + "\n" + subject("This plan  ", report) + "\n" + subject("The other  ", *report.other) +
         key_rows(comparison) + figure_rows(report, comparison) +
         line_rows(report, comparison.training, "TRAINING, a GPU") +
         line_rows(report, comparison.serving, "SERVING, a GPU");
}

}  // namespace vram
