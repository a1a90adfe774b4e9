#include "engine/advice/switches.h"

#include "engine/advice/remedies.h"

namespace vram {
namespace {

std::optional<Switch> training_switch(const Plan& plan, const TrainingTotals& before, const Change& change) {
  Plan changed = plan;
  if (!apply(change, changed)) return std::nullopt;
  const TrainingTotals after = training_totals(changed);
  if (after.verdict == Verdict::invalid) return std::nullopt;
  Switch one;
  one.change = change;
  one.saves_bytes = static_cast<int64_t>(before.device_bytes) - static_cast<int64_t>(after.device_bytes);
  one.time_ratio = time_ratio(plan, changed);
  one.verdict = after.verdict;
  const bool idle = one.saves_bytes == 0 && one.time_ratio.value_or(1) == 1;
  return idle ? std::nullopt : std::optional(std::move(one));
}

std::optional<Switch> serving_switch(const Plan& plan, const ServingBill& before, const Change& change) {
  Plan changed = plan;
  if (!apply(change, changed)) return std::nullopt;
  const ServingBill after = serving_bill(changed);
  if (after.verdict == Verdict::invalid) return std::nullopt;
  Switch one;
  one.change = change;
  one.saves_bytes = static_cast<int64_t>(serving_need(plan, before) - serving_need(changed, after));
  if (before.decode_seconds_per_token && after.decode_seconds_per_token)
    one.time_ratio = *after.decode_seconds_per_token / *before.decode_seconds_per_token;
  one.requests = after.promised_concurrency;
  one.verdict = after.verdict;
  const bool idle = one.saves_bytes == 0 && one.time_ratio.value_or(1) == 1 &&
                    after.promised_concurrency == before.promised_concurrency;
  return idle ? std::nullopt : std::optional(std::move(one));
}

}  // namespace

std::vector<Switch> training_switches(const Plan& plan) {
  std::vector<Switch> switches;
  const TrainingTotals before = training_totals(plan);
  if (before.verdict == Verdict::invalid) return switches;
  std::string_view last;
  for (const Change& change : training_changes(plan)) {
    if (change.id == last) continue;  // of more and more GPUs the first
    last = change.id;
    auto one = training_switch(plan, before, change);
    if (one && one->saves_bytes >= 0) switches.push_back(std::move(*one));
  }
  for (const Change& undone : training_reversals(plan)) {
    if (auto one = training_switch(plan, before, undone)) switches.push_back(std::move(*one));
  }
  return switches;
}

std::vector<Switch> serving_switches(const Plan& plan) {
  std::vector<Switch> switches;
  const ServingBill before = serving_bill(plan);
  if (before.verdict == Verdict::invalid) return switches;
  std::string_view last;
  for (const Change& change : serving_changes(plan)) {
    if (change.id == last) continue;
    last = change.id;
    if (auto one = serving_switch(plan, before, change)) switches.push_back(std::move(*one));
  }
  return switches;
}

}  // namespace vram
