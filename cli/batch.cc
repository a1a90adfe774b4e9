#include <algorithm>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/formats.h"
#include "cli/plan_text.h"
#include "cli/say.h"
#include "engine/plan/texts.h"
#include "engine/report/report.h"
#include "engine/text.h"

namespace cli {
namespace {

/// Between reports: text and Markdown stand apart, CSV begins again, JSON is one object a line.
void print_report(const vram::Report& report, Format format, bool first) {
  if (!first && format != Format::json) print("\n");
  print(write_report(report, format));
}

}  // namespace

int batch(const Arguments& arguments) {
  const std::optional<Format> format = read_format(arguments, Format::json);
  if (!format) return kNoAnswer;
  if (arguments.positional.size() != 1) {
    say("batch takes one FILE of share strings, - for standard input");
    return kNoAnswer;
  }
  const std::optional<std::string> text = read_file(arguments.positional.front());
  if (!text) {
    say("cannot read " + arguments.positional.front());
    return kNoAnswer;
  }
  int status = kAnswered;
  size_t number = 0;
  bool first = true;
  for (const std::string_view line : vram::split(*text, '\n')) {
    ++number;
    const std::string_view share = vram::trimmed(line);
    if (share.empty()) continue;
    const vram::Report report = vram::report(with_keys(share, arguments.keys));
    say(report.messages, "line " + std::to_string(number) + ": ");
    print_report(report, *format, first);
    first = false;
    status = std::max(status, check_status(report, arguments.check));
  }
  return status;
}

}  // namespace cli
