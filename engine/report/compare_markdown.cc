#include "engine/report/compare.h"
#include "engine/report/figures.h"
#include "engine/report/markdown.h"

namespace vram {
namespace {

std::string subject(const char* name, const Report& report) {
  std::string out = std::string("\n**") + name + ".** " + markdown_text(report_title(report)) + "\n\n`" +
                    markdown_target(report.share) + "`\n\n";
  for (const std::string& sentence : headline_sentences(report)) out += "- " + markdown_text(sentence) + "\n";
  return out;
}

std::string key_table(const Comparison& comparison) {
  if (comparison.keys.empty()) return "\nThe plans do not differ in any key.\n";
  std::string out = "\n## Keys\n\n" + markdown_row({"Key", "This plan", "The other"}) + markdown_rule("lrr");
  for (const ComparedKey& key : comparison.keys) {
    out += markdown_row({std::string(field(key.key).label), key.here, key.there});
  }
  return out;
}

std::string figure_table(const Report& report, const Comparison& comparison) {
  if (comparison.figures.empty()) return "";
  std::string out =
      "\n## Figures\n\n" + markdown_row({"Figure", "This plan", "The other", "Difference"}) + markdown_rule("lrrr");
  for (const ComparedFigure& figure : comparison.figures) {
    const auto cell = [&](const std::optional<double>& value) {
      return value ? figure_text(report, figure.kind, *value) : std::string();
    };
    const std::optional<double> gap = figure.difference();
    out += markdown_row(
        {figure.label, cell(figure.here), cell(figure.there), gap ? difference_text(report, figure.kind, *gap) : ""});
  }
  return out;
}

std::string line_table(const Report& report, const std::vector<ComparedLine>& lines, const std::string& title) {
  if (lines.empty()) return "";
  std::string out = "\n## " + title + "\n\n";
  out += markdown_row({"Line", std::string("This plan, ") + amount_unit(report), "The other", "Difference"}) +
         markdown_rule("lrrr");
  const auto cell = [&](const std::optional<uint64_t>& bytes) {
    return bytes ? amount(report, static_cast<double>(*bytes)) : std::string();
  };
  for (const ComparedLine& line : lines) {
    std::string depth;
    for (int i = 0; i < line.depth; ++i) depth += "– ";
    const double gap = static_cast<double>(line.difference());
    const std::string sign = gap > 0 ? "+" : gap < 0 ? "−" : "";
    out += markdown_row(
        {depth + line.label, cell(line.here), cell(line.there), sign + amount(report, gap < 0 ? -gap : gap)});
  }
  return out;
}

}  // namespace

std::string comparison_markdown(const Report& report) {
  const Comparison comparison = compare(report, *report.other);
  std::string sentences;
  for (const std::string& sentence : comparison_sentences(report)) sentences += "\n" + markdown_text(sentence) + "\n";
  return "# Two plans compared\n" + sentences + subject("This plan", report) + subject("The other", *report.other) +
         key_table(comparison) + figure_table(report, comparison) +
         line_table(report, comparison.training, "Training, the fullest GPU") +
         line_table(report, comparison.serving, "Serving, a GPU");
}

}  // namespace vram
