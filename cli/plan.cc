#include <cmath>

#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/plan_text.h"
#include "cli/say.h"
#include "engine/advice/plan_search.h"
#include "engine/report/answer.h"
#include "engine/report/report.h"
#include "engine/units.h"

namespace cli {
namespace {

constexpr double kTop = 10, kMostTop = 1e6;

/// Rows to print. Empty for a word that is no whole number; the reason is then on standard error.
std::optional<size_t> read_top(const Arguments& arguments) {
  const std::optional<double> top = arguments.top ? vram::read_number(*arguments.top) : kTop;
  if (top && *top >= 1 && *top <= kMostTop && *top == std::floor(*top)) return static_cast<size_t>(*top);
  say("--top: '" + *arguments.top + "' is not a whole number of at least 1");
  return std::nullopt;
}

std::string write_answer(const vram::Plan& plan, const vram::Answer& answer, size_t top, Format format) {
  switch (format) {
    case Format::json:
      return vram::answer_json(answer, top) + "\n";
    case Format::markdown:
      return vram::answer_markdown(plan, answer, top);
    case Format::csv:
      return vram::answer_csv(answer, top);
    default:
      break;
  }
  return vram::answer_text(plan, answer, top);
}

}  // namespace

int plan(const Arguments& arguments) {
  const std::optional<Format> format = read_format(arguments, Format::text);
  const std::optional<size_t> top = read_top(arguments);
  if (!format || !top) return kNoAnswer;
  if (*format == Format::svg) {
    say("plan: --format is text, json, markdown or csv");
    return kNoAnswer;
  }
  const std::optional<std::string> share = plan_text(arguments);
  if (!share) return kNoAnswer;
  const vram::PlanReading reading = vram::read_plan(*share);
  say(reading.messages);
  if (!reading.answerable) {
    if (*format == Format::json) print(vram::report_json(vram::report(reading)) + "\n");
    return kNoAnswer;
  }
  vram::Answer answer = vram::answer_question(reading.plan);
  say(answer.messages);
  answer.messages.insert(answer.messages.begin(), reading.messages.begin(), reading.messages.end());
  print(write_answer(reading.plan, answer, *top, *format));
  return kAnswered;
}

}  // namespace cli
