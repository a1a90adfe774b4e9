#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/training/loading.h"
#include "engine/training/lora.h"
#include "engine/training/napkin.h"
#include "engine/training/offload.h"
#include "engine/training/pipeline_ledger.h"
#include "engine/training/storage.h"
#include "engine/training/training.h"

namespace vram {
namespace {

Verdict memory_verdict(const Plan& plan, uint64_t need, uint64_t band, uint64_t capacity) {
  const uint64_t distance = need > capacity ? need - capacity : capacity - need;
  if (distance <= band) return Verdict::tight;
  if (need > capacity) return Verdict::exceeds;
  return plan.subject->has_shape ? Verdict::fits : Verdict::tight;
}

uint64_t capacity(const Plan& plan) { return static_cast<uint64_t>(std::floor(plan.gpu_mem * (1 - plan.margin))); }

bool too_large(const StagePeak& peak) {
  return peak.device_bytes > kLargestBillBytes ||
         std::any_of(peak.lines.begin(), peak.lines.end(), [](const Amount& line) { return line.too_large; });
}

TrainingTotals totals_of(const Plan& plan, const Stage& stage, const StagePeak& peak) {
  TrainingTotals totals;
  totals.phase = peak.phase_id;
  totals.stage = stage.index;
  totals.allocated_bytes = peak.allocated_bytes;
  totals.reserved_bytes = peak.reserved_bytes;
  totals.device_bytes = peak.device_bytes;
  totals.band_bytes = peak.band_bytes;
  totals.capacity_bytes = capacity(plan);
  totals.headroom_bytes = static_cast<int64_t>(totals.capacity_bytes) - static_cast<int64_t>(totals.device_bytes);
  totals.verdict = memory_verdict(plan, totals.device_bytes, totals.band_bytes, totals.capacity_bytes);
  totals.host_bytes_per_node = host_bytes_per_node(plan);
  if (totals.host_bytes_per_node && plan.host_mem > 0)
    totals.host_verdict =
        static_cast<double>(*totals.host_bytes_per_node) <= plan.host_mem ? Verdict::fits : Verdict::exceeds;
  return totals;
}

StageBill bill_stage(PipelineLedger& ledger, const Stage& stage, const StagePeak& peak) {
  StageBill bill;
  bill.stage = stage.index;
  bill.first_layer = stage.ranges.empty() ? 0 : static_cast<double>(stage.ranges.front().first);
  bill.layers = stage.layers;
  bill.allocated_bytes = peak.allocated_bytes;
  bill.reserved_bytes = peak.reserved_bytes;
  bill.device_bytes = peak.device_bytes;
  bill.band_bytes = peak.band_bytes;
  const Amount steady = ledger.steady(stage);
  bill.steady_bytes = steady.bytes;
  bill.steady_band_bytes = steady.band_bytes;
  bill.phase = peak.phase_id;
  bill.lines = ledger.bare_lines(stage, peak);
  return bill;
}

/// A figure above 2^53 is refused by name.
std::vector<Message> too_large_faults(Lines lines) {
  std::vector<Message> faults;
  for (const Line& line : lines) {
    if (!line.too_large) continue;
    faults.push_back(
        {"", "", std::string("training: '") + line.label + "' is above 2^53 bytes, the most that is billed exactly"});
  }
  if (faults.empty())
    faults.push_back({"", "", "training: the total is above 2^53 bytes, the most that is billed exactly"});
  return faults;
}

/// Bills every stage; the bill shown is that of the fullest, the earlier one where two are alike.
void bill_stages(const Plan& plan, TrainingBill& bill) {
  const auto sheet = std::make_shared<Sheet>();
  PipelineLedger ledger(plan, *sheet);
  const Stage* fullest = nullptr;
  StagePeak most;
  bill.stages.reserve(ledger.stages().size());
  for (const Stage& stage : ledger.stages()) {
    const StagePeak peak = ledger.peak(stage);
    bill.stages.push_back(bill_stage(ledger, stage, peak));
    if (fullest != nullptr && peak.device_bytes <= most.device_bytes) continue;
    fullest = &stage;
    most = peak;
  }
  std::vector<Phase> phases = ledger.phases(*fullest);
  const Lines lines = ledger.lines(*fullest, most, phases);
  if (too_large(most)) {
    bill.stages.clear();
    bill.faults = too_large_faults(lines);
    return;
  }
  static_cast<TrainingTotals&>(bill) = totals_of(plan, *fullest, most);
  bill.host_load_bytes_per_node = loading_host_bytes_per_node(plan);
  bill.sheet = sheet;
  bill.lines = lines;
  bill.phases = std::move(phases);
}

}  // namespace

const char* verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits:
      return "fits";
    case Verdict::tight:
      return "tight";
    case Verdict::exceeds:
      return "exceeds";
    case Verdict::invalid:
      break;
  }
  return "invalid";
}

double trained_parameters(const Plan& plan) {
  const Model& model = *plan.subject;
  if (trains_all(plan)) return model.nominal_parameters - model.scale() * model.correction_bias_parameters;
  Plan whole = plan;
  whole.tp = whole.pp = whole.ep = whole.etp = whole.vpp = 1;
  whole.schedule = Schedule::one_f_one_b;
  whole.stages.clear();
  double sum = 0;
  for (const Stage& stage : pipeline_stages(whole))
    sum += adapter_parameters(whole, stage) + trained_embedding_parameters(whole, stage);
  return sum;
}

TrainingBill training_bill(const Plan& plan) {
  TrainingBill bill;
  bill.capacity_bytes = capacity(plan);
  bill.napkin = training_napkin(plan);
  bill.faults = training_faults(plan);
  if (bill.faults.empty()) bill_stages(plan, bill);
  return bill;
}

Lines stage_lines(Sheet& sheet, const Plan& plan, size_t stage) {
  PipelineLedger ledger(plan, sheet);
  const Stage& one = ledger.stages()[stage];
  return ledger.lines(one, ledger.peak(one), ledger.phases(one));
}

std::span<const Phase> step_phases(std::span<const Phase> phases) {
  const bool loads = !phases.empty() && std::string_view(phases.front().id) == "load";
  return phases.subspan(loads ? 1 : 0);
}

TrainingTotals training_totals(const Plan& plan) {
  TrainingTotals impossible;
  impossible.capacity_bytes = capacity(plan);
  if (!training_faults(plan).empty()) return impossible;
  Sheet sheet(Detail::totals);
  PipelineLedger ledger(plan, sheet);
  const Stage* fullest = nullptr;
  StagePeak most;
  const std::span<const Stage> stages = ledger.stages();
  for (size_t i = 0; i < stages.size(); ++i) {
    const Stage& stage = stages[i];
    if (outdone(plan, stages.first(i), stage)) continue;
    const StagePeak peak = ledger.peak(stage);
    if (fullest != nullptr && peak.device_bytes <= most.device_bytes) continue;
    fullest = &stage;
    most = peak;
  }
  return too_large(most) ? impossible : totals_of(plan, *fullest, most);
}

}  // namespace vram
