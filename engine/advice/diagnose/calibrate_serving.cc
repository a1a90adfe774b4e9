#include <cmath>

#include "engine/advice/diagnose/calibrate.h"
#include "engine/advice/remedies.h"
#include "engine/units.h"

namespace vram {
namespace {

using Value = std::optional<double>;

constexpr Key kMeasured[] = {Key::measured_kv_pool, Key::measured_kv_tokens, Key::measured_ttft, Key::measured_tpot};

/// The bill of a plan on which nothing was measured.
ServingBill modelled(Plan plan) {
  for (const Key key : kMeasured) {
    if (plan.has(key)) clear_value(plan, key);
  }
  if (plan.has(Key::measured_with)) clear_value(plan, Key::measured_with);
  return serving_bill(plan);
}

Value whole(const std::optional<uint64_t>& bytes) { return bytes ? Value(static_cast<double>(*bytes)) : std::nullopt; }

/// "KV tokens 120,000 where the model says 131,000".
void add(std::string& text, const std::string& words) { text += (text.empty() ? "" : "; ") + words; }

struct Shifts {
  const Plan& plan;
  const ServingBill &now, &then;  // as modelled
  std::string text;
  bool any = false;

  /// Sizes shift by the difference.
  void pool() {
    const Value is = whole(now.kv_budget_bytes_per_gpu), was = whole(then.kv_budget_bytes_per_gpu);
    if (!plan.has(Key::measured_kv_pool) || !is || !was) return;
    const double shift = plan.measured_kv_pool - *was, shifted = std::max(0.0, *is + shift);
    any = any || shift != 0;
    add(text, "the KV cache of a GPU by " + shift_text(plan, shift) + ", to " + shown_bytes(plan, shifted));
  }

  /// Counts and times by their ratio.
  void scaled(Key key, double measured, const char* what, const Value& is, const Value& was, const char* unit) {
    if (!plan.has(key) || !is || !was || !(*was > 0)) return;
    const double shifted = *is * (measured / *was);
    any = any || measured != *was;
    add(text, std::string(what) + " by a factor of " + show_fixed(measured / *was, 2) + ", to " +
                  (unit[0] == 's' ? show_duration(shifted) : show_grouped(std::floor(shifted)) + " " + unit));
  }
};

}  // namespace

std::optional<Finding> serving_calibration(const Plan& plan, const ServingBill& bill) {
  bool measured = false;
  for (const Key key : kMeasured) measured = measured || plan.has(key);
  if (!measured || bill.verdict == Verdict::invalid) return std::nullopt;
  const ServingBill now = modelled(plan), then = modelled(plan_when_measured(plan));
  if (now.verdict == Verdict::invalid || then.verdict == Verdict::invalid) return std::nullopt;
  Shifts shifts{plan, now, then, "", false};
  shifts.pool();
  shifts.scaled(Key::measured_kv_tokens, plan.measured_kv_tokens, "the tokens it holds", whole(now.kv_tokens),
                whole(then.kv_tokens), "tokens");
  shifts.scaled(Key::measured_ttft, plan.measured_ttft, "the time to the first token", now.ttft_seconds,
                then.ttft_seconds, "s");
  shifts.scaled(Key::measured_tpot, plan.measured_tpot, "the time a token", now.decode_seconds_per_token,
                then.decode_seconds_per_token, "s");
  if (!shifts.any) return std::nullopt;
  Finding finding;
  finding.id = "calibrated";
  finding.text = shifts_of(plan) + shifts.text + ".";
  if (plan.has(Key::measured_kv_pool) && bill.promised_concurrency) {
    const double holds = std::floor(*bill.promised_concurrency);
    finding.text += " A replica then holds " + counted(holds, "request", "requests") + ".";
    if (holds < plan.concurrency) finding.severity = Severity::warning;
  }
  return finding;
}

}  // namespace vram
