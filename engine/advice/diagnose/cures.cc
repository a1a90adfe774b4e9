#include <algorithm>
#include <set>

#include "engine/advice/diagnose/calibrate.h"
#include "engine/advice/diagnose/case.h"
#include "engine/advice/remedies.h"

namespace vram {
namespace {

constexpr size_t kMost = 5, kAll = 64;

/// Changes that act on what the symptom is of; the rest save memory, too, but not there.
bool suits(Symptom symptom, std::string_view id) {
  static constexpr std::string_view kStates[] = {"zero_1",
                                                 "zero_2",
                                                 "zero_3",
                                                 "fsdp",
                                                 "lora",
                                                 "qlora",
                                                 "optimizer_8bit",
                                                 "offload_optimizer",
                                                 "tensor_parallel",
                                                 "pipeline_parallel",
                                                 "more_gpus",
                                                 "together"};
  static constexpr std::string_view kWork[] = {"attention_flash",     "fused_optimizer",   "sequence_parallel",
                                               "recompute_selective", "recompute_full",    "micro_batch_half",
                                               "micro_batch_one",     "loss_chunked",      "loss_fused",
                                               "tensor_parallel",     "pipeline_parallel", "together"};
  static constexpr std::string_view kLong[] = {"attention_flash",     "loss_chunked",      "loss_fused",
                                               "recompute_selective", "recompute_full",    "micro_batch_half",
                                               "micro_batch_one",     "sequence_parallel", "tensor_parallel"};
  const auto in = [&](auto& list) { return std::find(std::begin(list), std::end(list), id) != std::end(list); };
  switch (symptom) {
    case Symptom::at_start:
      return in(kStates);
    case Symptom::long_sample:
      return in(kLong);
    case Symptom::fragmentation:
      return id == "expandable_segments";
    case Symptom::after_steps:
      return in(kWork);
    default:
      return false;
  }
}

bool apply_fragment(const std::string& change, Plan& plan) {
  const PlanReading changed = read_plan(write_plan(plan, true) + "&" + change);
  if (!changed.answerable) return false;
  plan = changed.plan;
  return true;
}

void add_calibration(const Case& c, Finding& cure) {
  Plan changed = c.plan;
  if (!c.peak || !apply_fragment(cure.change, changed)) return;
  const TrainingBill after = training_bill(changed);
  const std::optional<Calibrated> now = calibrated(c.training, after, *c.peak);
  if (!now) return;
  const bool fits = now->device <= static_cast<double>(after.capacity_bytes);
  cure.text += std::string(" Shifted by what was measured: ") + (c.measured.failed ? "at least " : "") +
               c.shown(now->device) + " of " + c.shown(static_cast<double>(after.capacity_bytes)) +
               (fits ? "." : ", still too much.");
}

void add_training_cures(Case& c) {
  std::vector<Finding> cures;
  for (Finding& cure : training_remedies(c.plan, c.training, kAll)) {
    if (suits(c.symptom, cure.id)) cures.push_back(std::move(cure));
  }
  std::stable_sort(cures.begin(), cures.end(), [](const Finding& a, const Finding& b) {
    return a.saves_bytes.value_or(0) > b.saves_bytes.value_or(0);
  });
  if (cures.size() > kMost) cures.resize(kMost);
  for (Finding& cure : cures) {
    add_calibration(c, cure);
    c.findings.push_back(std::move(cure));
  }
}

}  // namespace

void add_cures(Case& c) {
  if (c.symptom == Symptom::none || c.symptom == Symptom::leak) return;
  if (!c.serving) return add_training_cures(c);
  for (Finding& cure : serving_remedies(c.plan, c.serving_bill, kMost)) c.findings.push_back(std::move(cure));
}

}  // namespace vram
