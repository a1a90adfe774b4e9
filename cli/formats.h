#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "engine/report/report.h"

namespace cli {

enum class Format : uint8_t { text, json, markdown, csv, svg, launch };

/// --format, or `otherwise`; one of `accepted`, by default those that lists have too. Empty for any other word; the
/// reason is then on standard error.
inline constexpr std::string_view kListFormats = "text, json, markdown, csv";
inline constexpr std::string_view kReportFormats = "text, json, markdown, csv, svg, launch";
std::optional<Format> read_format(const Arguments& arguments, Format otherwise,
                                  std::string_view accepted = kListFormats);

/// Ends with a line break. A plan with `vs` is shown beside the other one (in JSON: the report, with `compare` in it).
/// `timeline`: with the memory along a training step, in JSON and text.
std::string write_report(const vram::Report& report, Format format, bool timeline = false);

/// The status that --check asks for.
int check_status(const vram::Report& report, Check check);

}  // namespace cli
