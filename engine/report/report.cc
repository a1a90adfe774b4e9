#include "engine/report/report.h"

#include "engine/report/limits.h"
#include "engine/report/made.h"

namespace vram {
namespace {

void append(const std::vector<Message>& more, std::vector<Message>& messages) {
  messages.insert(messages.end(), more.begin(), more.end());
}

/// What is wrong with the plan compared with is said of `vs`. It is itself compared with none.
void add_other(Report& result, const Report* before) {
  if (before && before->plan.vs == result.plan.vs) {
    for (const Message& message : before->messages) {
      if (message.key == "vs") result.messages.push_back(message);
    }
    result.other = before->other;
    return;
  }
  PlanReading reading = read_plan(result.plan.vs);
  clear_value(reading.plan, Key::vs);
  for (const Message& message : reading.messages) {
    result.messages.push_back({"vs", message.given, "vs: " + message.text});
  }
  reading.messages.clear();
  Report other = report(reading);
  if (other.answered) result.other = std::make_shared<const Report>(std::move(other));
}

/// A draft where there is a report `before`.
Report report_of(const PlanReading& reading, const Report* before) {
  Report result;
  result.is_draft = before != nullptr;
  result.plan = reading.plan;
  result.messages = reading.messages;
  result.answered = reading.answerable && reading.plan.subject != nullptr && reading.plan.accelerator != nullptr;
  if (!result.answered) return result;
  const Plan& plan = result.plan;
  result.share = write_plan(plan, false);
  result.training = training_bill(plan);
  result.compute = compute_figures(plan);
  result.serving = serving_bill(plan);
  refuse_too_large(result.training);
  refuse_too_large(result.serving);
  name_the_key(plan, result.training);
  name_the_key(plan, result.serving);
  leave_out_too_large(result.compute);
  if (result.training.verdict == Verdict::invalid) leave_out_steps(result.compute);
  result.findings = findings(plan, result.training, result.compute, result.serving, !result.is_draft);
  append(result.training.faults, result.messages);
  append(result.compute.messages, result.messages);
  append(result.serving.faults, result.messages);
  if (!plan.made.empty()) note_changed_figures(result);
  if (!plan.vs.empty()) add_other(result, before);
  return result;
}

}  // namespace

Report report(std::string_view share) { return report(read_plan(share)); }

Report report(const PlanReading& reading) { return report_of(reading, nullptr); }

Report draft_report(const PlanReading& reading, const Report& before) { return report_of(reading, &before); }

void finish(Report& draft) {
  if (draft.answered) draft.findings = findings(draft.plan, draft.training, draft.compute, draft.serving);
  draft.is_draft = false;
}

}  // namespace vram
