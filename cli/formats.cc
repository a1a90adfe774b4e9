#include "cli/formats.h"

#include <algorithm>
#include <array>

#include "cli/say.h"
#include "engine/advice/launch.h"
#include "engine/report/compare.h"

namespace cli {

std::optional<Format> read_format(const Arguments& arguments, Format otherwise, std::string_view accepted) {
  if (!arguments.format) return otherwise;
  constexpr std::array kWords = {"text", "json", "markdown", "csv", "svg", "launch"};  // in the order of Format
  const auto word = std::find(kWords.begin(), kWords.end(), *arguments.format);
  if (word != kWords.end() && accepted.find(*word) != std::string_view::npos) {
    return static_cast<Format>(word - kWords.begin());
  }
  say("--format: '" + *arguments.format + "' is not one of " + std::string(accepted));
  return std::nullopt;
}

namespace {

std::string write_comparison(const vram::Report& report, Format format) {
  if (format == Format::markdown) return vram::comparison_markdown(report);
  return format == Format::csv ? vram::comparison_csv(report) : vram::comparison_text(report);
}

}  // namespace

std::string write_report(const vram::Report& report, Format format, bool timeline) {
  if (format == Format::launch) return report.answered ? vram::write_launch(report.plan) : "";
  if (timeline && format == Format::text) return write_report(report, format) + vram::timeline_text(report);
  if (report.other && format != Format::json) return write_comparison(report, format);
  switch (format) {
    case Format::json:
      return vram::report_json(report, timeline) + "\n";
    case Format::markdown:
      return vram::report_markdown(report);
    case Format::csv:
      return vram::report_csv(report);
    case Format::svg:
      return vram::report_svg(report);
    case Format::text:
    case Format::launch:
      break;
  }
  return vram::report_text(report);
}

}  // namespace cli
