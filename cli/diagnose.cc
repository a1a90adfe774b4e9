#include "cli/commands.h"
#include "cli/files.h"
#include "cli/formats.h"
#include "cli/plan_text.h"
#include "cli/say.h"
#include "engine/report/diagnosis.h"
#include "engine/report/report.h"

namespace cli {

int diagnose(const Arguments& arguments) {
  const std::optional<Format> format = read_format(arguments, Format::text, "text, json, markdown");
  if (!format) return kNoAnswer;
  const std::optional<std::string> share = plan_text(arguments);
  if (!share) return kNoAnswer;
  std::string log;
  if (arguments.log) {
    const std::optional<std::string> content = read_file(*arguments.log);
    if (!content) {
      say("cannot read " + *arguments.log);
      return kNoAnswer;
    }
    log = *content;
  }
  const vram::PlanReading reading = vram::read_plan(*share);
  say(reading.messages);
  if (!reading.answerable) {
    if (*format == Format::json) print(vram::report_json(vram::report(reading)) + "\n");
    return kNoAnswer;
  }
  const vram::Diagnosis diagnosis = vram::diagnose(reading.plan, log);
  if (*format == Format::json) {
    print(vram::diagnosis_json(diagnosis) + "\n");
  } else {
    print(*format == Format::markdown ? vram::diagnosis_markdown(diagnosis) : vram::diagnosis_text(diagnosis));
  }
  return kAnswered;
}

}  // namespace cli
