#pragma once

#include <optional>
#include <string>

#include "cli/arguments.h"
#include "engine/report/report.h"

namespace cli {

enum class Format : uint8_t { text, json, markdown, csv };

/// --format, or `otherwise`. Empty for a word that is none; the reason is then on standard error.
std::optional<Format> read_format(const Arguments& arguments, Format otherwise);

/// Ends with a line break. A plan with `vs` is shown beside the other one (in JSON: the report, with `compare` in it).
std::string write_report(const vram::Report& report, Format format);

/// The status that --check asks for.
int check_status(const vram::Report& report, Check check);

}  // namespace cli
