#include "cli/formats.h"

#include "cli/say.h"
#include "engine/report/compare.h"

namespace cli {

std::optional<Format> read_format(const Arguments& arguments, Format otherwise) {
  if (!arguments.format) return otherwise;
  const std::string& word = *arguments.format;
  if (word == "text") return Format::text;
  if (word == "json") return Format::json;
  if (word == "markdown") return Format::markdown;
  if (word == "csv") return Format::csv;
  say("--format: '" + word + "' is not one of text, json, markdown, csv");
  return std::nullopt;
}

namespace {

std::string write_comparison(const vram::Report& report, Format format) {
  if (format == Format::markdown) return vram::comparison_markdown(report);
  return format == Format::csv ? vram::comparison_csv(report) : vram::comparison_text(report);
}

}  // namespace

std::string write_report(const vram::Report& report, Format format) {
  if (report.other && format != Format::json) return write_comparison(report, format);
  switch (format) {
    case Format::json:
      return vram::report_json(report) + "\n";
    case Format::markdown:
      return vram::report_markdown(report);
    case Format::csv:
      return vram::report_csv(report);
    case Format::text:
      break;
  }
  return vram::report_text(report);
}

}  // namespace cli
