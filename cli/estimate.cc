#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/plan_text.h"
#include "cli/say.h"
#include "engine/report/report.h"

namespace cli {
int check_status(const vram::Report& report, Check check) {
  const bool compared = report.plan.vs.empty() || report.other != nullptr;
  if (!report.answered || !compared) return kNoAnswer;
  if (check == Check::none) return kAnswered;
  const bool serve = report.plan.view == vram::View::serve;
  const vram::Verdict verdict = serve ? report.serving.verdict : report.training.verdict;
  if (serve && !report.serving.promised_concurrency) return kCheckFailed;  // weights that nobody knows: no promise
  if (verdict == vram::Verdict::fits) return kAnswered;
  return verdict == vram::Verdict::tight && check != Check::tight ? kAnswered : kCheckFailed;
}

int estimate(const Arguments& arguments) {
  const std::optional<Format> format = read_format(arguments, Format::text, kReportFormats);
  if (!format) return kNoAnswer;
  if (arguments.timeline && *format != Format::text && *format != Format::json) {
    say("--timeline goes with --format text or json");
    return kNoAnswer;
  }
  const std::optional<std::string> share = plan_text(arguments);
  if (!share) return kNoAnswer;
  const vram::Report report = vram::report(*share);
  say(report.messages);
  if (!report.answered && *format != Format::json) return kNoAnswer;
  print(write_report(report, *format, arguments.timeline));
  return check_status(report, arguments.check);
}

int link(const Arguments& arguments) {
  const std::optional<std::string> share = plan_text(arguments);
  if (!share) return kNoAnswer;
  const vram::PlanReading reading = vram::read_plan(*share);
  say(reading.messages);
  if (!reading.answerable) return kNoAnswer;
  print(vram::write_plan(reading.plan, true) + "\n");
  return kAnswered;
}

}  // namespace cli
