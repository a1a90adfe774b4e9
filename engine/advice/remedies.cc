#include "engine/advice/remedies.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/advice/change.h"
#include "engine/in_order.h"
#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

bool fits(Verdict verdict) { return verdict == Verdict::fits; }

/// Without a shape a training plan is tight at best: then what leaves room counts.
bool fits(const Plan& plan, const TrainingTotals& bill) {
  return fits(bill.verdict) || (!plan.subject->has_shape && bill.verdict == Verdict::tight && bill.headroom_bytes >= 0);
}

/// A change tried on the real bill. Of training it is put in words, with the time that it costs, only where it is
/// shown.
struct Trial {
  Change change;
  bool suffices = false;
  TrainingTotals after;  // of training
  Finding finding;       // of serving
  double requests = 0;   // that a replica may promise
};

/// Of several sizes of one change the first that suffices is enough.
bool has_enough_of(const std::vector<Trial>& trials, const Change& change) {
  return std::any_of(trials.begin(), trials.end(), [&change](const Trial& trial) {
    return trial.suffices && std::string_view(trial.change.id) == change.id;
  });
}

constexpr const char* kTokens = "the same tokens take";

std::string spare_text(const Plan& plan, const TrainingTotals& bill) {
  const std::string amount = shown_bytes(plan, std::fabs(static_cast<double>(bill.headroom_bytes)));
  if (bill.headroom_bytes < 0) return ", still " + amount + " too much";
  return ", which leaves " + amount + " free" +
         (bill.verdict == Verdict::tight && plan.subject->has_shape ? ", less than the estimate's band" : "");
}

/// `what`: "the same tokens take", "a token takes".
std::string time_text(const char* what, double ratio) {
  const double percent = std::nearbyint((ratio - 1) * 100);
  if (percent == 0) return "";
  const std::string about = std::string("; ") + what + " about ";
  if (ratio >= 2) return about + show_fixed(ratio, 1) + " times as long";
  return about + show_fixed(std::fabs(percent), 0) + "%" + (ratio < 1 ? " less time" : " longer");
}

/// By the estimate, whatever `mfu` says.
std::optional<double> seconds_per_token(const Plan& plan) {
  if (knows_mfu(plan)) {
    Plan estimated = plan;
    for (const Key key : {Key::mfu, Key::measured_tokens_per_second}) clear_value(estimated, key);
    return seconds_per_token(estimated);
  }
  const ComputeFigures figures = compute_figures(plan);
  if (!figures.tokens_per_second) return std::nullopt;
  return 1 / *figures.tokens_per_second;
}

/// A plan that takes the change, with it.
Plan changed(Plan plan, const Change& change) {
  apply(change, plan);
  return plan;
}

/// What any change offered says of itself.
Finding offering(const Change& change) {
  Finding finding;
  finding.severity = Severity::info;
  finding.id = change.id;
  finding.change = fragment(change);
  finding.quality = change.quality;
  return finding;
}

/// What a change saves, as the beginning of a sentence.
Finding saving(const Plan& plan, const TrainingTotals& before, const Change& change, const TrainingTotals& after) {
  Finding finding = offering(change);
  finding.saves_bytes = before.device_bytes - after.device_bytes;
  finding.text = change.text + ": " + shown_bytes(plan, static_cast<double>(*finding.saves_bytes)) + " less a GPU" +
                 spare_text(plan, after);
  return finding;
}

/// The end of the sentence: the time that it costs.
Finding with_time(Finding finding, const Plan& changed, std::optional<double> seconds_before) {
  const std::optional<double> after = seconds_per_token(changed);
  if (seconds_before && after) finding.time_ratio = *after / *seconds_before;
  if (finding.time_ratio) finding.text += time_text(kTokens, *finding.time_ratio);
  finding.text += ".";
  return finding;
}

/// Empty where the change is refused, makes the plan impossible, or saves less than a hundredth.
std::optional<Trial> try_training(const Plan& plan, const TrainingTotals& before, const Change& change) {
  Plan changed = plan;
  if (!apply(change, changed)) return std::nullopt;
  const TrainingTotals after = training_totals(changed);
  if (after.verdict == Verdict::invalid || after.device_bytes >= before.device_bytes) return std::nullopt;
  if ((before.device_bytes - after.device_bytes) * 100 < before.device_bytes) return std::nullopt;
  return Trial{change, fits(plan, after), after, {}, 0};
}

/// Of several sizes of one change (same id) the first that suffices, else none but the first.
void keep_one_of_each(std::vector<Trial>& trials) {
  std::vector<Trial> kept;
  for (Trial& trial : trials) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Trial& other) {
      return std::string_view(other.change.id) == trial.change.id;
    });
    if (same == kept.end()) {
      kept.push_back(std::move(trial));
    } else if (!same->suffices && trial.suffices) {
      *same = std::move(trial);
    }
  }
  trials = std::move(kept);
}

/// What suffices alone comes first.
std::vector<Trial> best(std::vector<Trial> trials, size_t most) {
  std::vector<Trial> out;
  for (const bool suffices : {true, false}) {
    for (Trial& trial : trials) {
      if (trial.suffices == suffices && out.size() < most) out.push_back(std::move(trial));
    }
  }
  return out;
}

bool sets_same_key(const Change& a, const Change& b) {
  for (const auto& mine : a.settings) {
    for (const auto& other : b.settings) {
      if (mine.first == other.first) return true;
    }
  }
  return false;
}

/// A change that keeps what is trained, on the GPUs there are, at about the same speed.
bool modest(const Change& change) {
  return std::none_of(change.settings.begin(), change.settings.end(), [](const auto& setting) {
    return setting.first == Key::gpus || setting.first == Key::method || setting.first == Key::offload;
  });
}

/// Several changes made one after the other.
struct Several {
  std::vector<Change> changes;
  Plan plan;
  TrainingTotals bill;
};

/// False where the change does not go with the others, or saves nothing more.
bool take(Several& several, const Change& change) {
  for (const Change& taken : several.changes) {
    if (sets_same_key(taken, change)) return false;
  }
  Plan next = several.plan;
  if (!apply(change, next)) return false;
  const TrainingTotals bill = training_totals(next);
  if (bill.verdict == Verdict::invalid || bill.device_bytes >= several.bill.device_bytes) return false;
  several.changes.push_back(change);
  several.plan = std::move(next);
  several.bill = bill;
  return true;
}

/// Leaves out what the rest does without.
Several pruned(const Plan& plan, const TrainingTotals& bill, Several several) {
  for (size_t left_out = several.changes.size(); left_out-- > 0;) {
    Several fewer{{}, plan, bill};
    for (size_t i = 0; i < several.changes.size(); ++i) {
      if (i != left_out) take(fewer, several.changes[i]);
    }
    if (fits(plan, fewer.bill)) several = std::move(fewer);
  }
  return several;
}

/// What costs no quality first, and of that the largest saving.
bool rather(const Trial* a, const Trial* b) {
  const bool a_free = *a->change.quality == 0, b_free = *b->change.quality == 0;
  return a_free != b_free ? a_free : a->after.device_bytes < b->after.device_bytes;
}

/// Helpful changes together until the plan fits: on the GPUs there are, else on more.
std::optional<Finding> together(const Plan& plan, const TrainingTotals& bill, std::optional<double> seconds,
                                const std::vector<Trial>& trials) {
  std::vector<const Trial*> order;
  for (const Trial& trial : trials) order.push_back(&trial);
  put_in_order(order, rather);
  Several several{{}, plan, bill};
  for (const Trial* trial : order) {
    if (!fits(plan, several.bill) && modest(trial->change)) take(several, trial->change);
  }
  std::reverse(order.begin(), order.end());  // fewest GPUs first
  const Several on_these_gpus = several;
  for (const Trial* trial : order) {
    if (fits(plan, several.bill)) break;
    if (std::string_view(trial->change.id) != "more_gpus") continue;
    several = {{}, plan, bill};
    take(several, trial->change);
    for (const Change& change : on_these_gpus.changes) take(several, change);
  }
  if (!fits(plan, several.bill)) return std::nullopt;
  several = pruned(plan, bill, std::move(several));
  Change all{"together", "", {}};
  for (const Change& change : several.changes) {
    all.settings.insert(all.settings.end(), change.settings.begin(), change.settings.end());
    all.text += (all.text.empty() ? "" : "; ") + lower_case(change.text.substr(0, 1)) + change.text.substr(1);
  }
  all.text = "Several changes together (" + all.text + ")";
  return with_time(saving(plan, bill, all, several.bill), several.plan, seconds);
}

/// The smallest larger card on which the plan fits.
std::optional<Finding> larger_card(const Plan& plan) {
  for (const auto& [change, sheet] : larger_cards(plan)) {
    Plan changed = plan;
    changed.accelerator = sheet;
    if (!apply(change, changed)) continue;
    const TrainingTotals after = training_totals(changed);
    if (!fits(changed, after)) continue;
    const std::optional<double> ratio = time_ratio(plan, changed);
    Finding finding = notice(Severity::info, change.id,
                             change.text + spare_text(plan, after) + (ratio ? time_text(kTokens, *ratio) : "") + ".",
                             fragment(change));
    finding.time_ratio = ratio;
    return finding;
  }
  return std::nullopt;
}

/// How much longer a token takes than before, by the estimate.
std::optional<double> token_ratio(const ServingBill& before, const ServingBill& after) {
  if (!before.decode_seconds_per_token || !after.decode_seconds_per_token) return std::nullopt;
  return *after.decode_seconds_per_token / *before.decode_seconds_per_token;
}

/// What it saves, what is then possible, what it costs. What is asked may need many times a GPU's memory: a saving
/// alone would say nothing.
Finding serving_saving(const Plan& plan, const ServingBill& before, const Change& change, const Plan& changed,
                       const ServingBill& after) {
  Finding finding = offering(change);
  finding.time_ratio = token_ratio(before, after);
  finding.text = change.text + ": ";
  const double need = serving_need(changed, after), saved = serving_need(plan, before) - need;
  if (saved >= 1 && saved <= static_cast<double>(kLargestBillBytes)) {
    finding.saves_bytes = static_cast<uint64_t>(saved);
    const std::string then = shown_bytes(plan, need), now = shown_bytes(plan, need + saved);
    if (then != now) finding.text += "needs " + then + " a GPU instead of " + now + ", ";
  }
  const double holds = std::floor(after.promised_concurrency.value_or(0));
  finding.text += "a replica then holds " + counted(holds, "request", "requests") +
                  (finding.time_ratio ? time_text("a token takes", *finding.time_ratio) : "") + ".";
  return finding;
}

std::optional<Trial> try_serving(const Plan& plan, const ServingBill& before, const Change& change) {
  Plan changed = plan;
  if (!apply(change, changed) || !serving_faults(changed).empty()) return std::nullopt;
  const ServingBill after = serving_bill(changed);
  if (after.verdict == Verdict::invalid) return std::nullopt;
  Finding finding = serving_saving(plan, before, change, changed, after);
  const double requests = after.promised_concurrency.value_or(0);
  return Trial{change, fits(after.verdict), {}, std::move(finding), requests};
}

}  // namespace

std::optional<double> time_ratio(const Plan& plan, const Plan& changed) {
  const std::optional<double> now = seconds_per_token(plan), then = seconds_per_token(changed);
  if (!now || !then) return std::nullopt;
  return *then / *now;
}

std::string shown_bytes(const Plan& plan, double bytes) {
  return show_bytes(bytes, plan.units == UnitsChoice::gb ? Units::gb : Units::gib);
}

std::vector<Finding> training_remedies(const Plan& plan, const TrainingTotals& bill, size_t most) {
  std::vector<Trial> trials;
  for (const Change& change : training_changes(plan)) {
    if (has_enough_of(trials, change)) continue;
    if (std::optional<Trial> trial = try_training(plan, bill, change)) trials.push_back(std::move(*trial));
  }
  const bool one_suffices = std::any_of(trials.begin(), trials.end(), [](const Trial& t) { return t.suffices; });
  const std::optional<double> seconds = seconds_per_token(plan);
  std::optional<Finding> several;
  if (!one_suffices) several = together(plan, bill, seconds, trials);
  std::vector<Finding> out;
  if (several) out.push_back(std::move(*several));
  keep_one_of_each(trials);
  std::optional<Finding> card = larger_card(plan);
  for (const Trial& trial : best(std::move(trials), most - out.size() - (card ? 1 : 0)))
    out.push_back(with_time(saving(plan, bill, trial.change, trial.after), changed(plan, trial.change), seconds));
  if (card) out.push_back(std::move(*card));
  return out;
}

std::vector<Finding> serving_remedies(const Plan& plan, const ServingBill& bill, size_t most) {
  std::vector<Trial> trials;
  for (const Change& change : serving_changes(plan)) {
    if (has_enough_of(trials, change)) continue;
    std::optional<Trial> trial = try_serving(plan, bill, change);
    if (trial && trial->requests > bill.promised_concurrency.value_or(0)) trials.push_back(std::move(*trial));
  }
  keep_one_of_each(trials);
  put_in_order(trials, [](const Trial& a, const Trial& b) {
    if (a.suffices || b.suffices) return a.suffices > b.suffices;
    return a.requests > b.requests;
  });
  std::vector<Finding> out;
  for (Trial& trial : best(std::move(trials), most)) out.push_back(std::move(trial.finding));
  return out;
}

std::vector<Finding> serving_cures(const Plan& plan, const ServingBill& bill) {
  std::vector<Trial> trials;
  const double least = serving_need(plan, bill) / 100;
  for (const Change& change : serving_changes(plan)) {
    std::optional<Trial> trial = try_serving(plan, bill, change);
    if (!trial) continue;
    const bool saves = static_cast<double>(trial->finding.saves_bytes.value_or(0)) >= least;
    if (saves || trial->requests > bill.promised_concurrency.value_or(0)) trials.push_back(std::move(*trial));
  }
  keep_one_of_each(trials);
  std::vector<Finding> out;
  for (Trial& trial : trials) out.push_back(std::move(trial.finding));
  put_in_order(
      out, [](const Finding& a, const Finding& b) { return a.saves_bytes.value_or(0) > b.saves_bytes.value_or(0); });
  return out;
}

double serving_need(const Plan& plan, const ServingBill& bill) {
  double bytes = 0;
  for (const Line& line : bill.lines) {
    if (std::string_view(line.id) != "kv_cache") bytes += static_cast<double>(line.bytes);
  }
  if (!bill.kv_bytes_per_request || !bill.kv_bytes_per_token || !bill.kv_bytes_per_token_per_gpu) return bytes;
  if (*bill.kv_bytes_per_token == 0) return bytes;
  const double share =
      static_cast<double>(*bill.kv_bytes_per_token_per_gpu) / static_cast<double>(*bill.kv_bytes_per_token);
  return bytes + static_cast<double>(*bill.kv_bytes_per_request) * share * plan.concurrency;
}

}  // namespace vram
