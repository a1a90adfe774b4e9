#include <algorithm>
#include <cmath>

#include "engine/training/activations.h"
#include "engine/training/gathered.h"
#include "engine/training/logits.h"
#include "engine/training/lora.h"
#include "engine/training/napkin.h"
#include "engine/training/offload.h"
#include "engine/training/overheads.h"
#include "engine/training/parameters.h"
#include "engine/training/phases.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"
#include "engine/training/training.h"

namespace vram {
namespace {

/// What nvidia-smi shows of a GPU that caching has filled: the median of 19 runs that need less than there is, but
/// would cache more (85 to 99%).
constexpr double kFullShare = 0.95;

StageBill bill_stage(const Plan& plan, const Stage& stage, const StageLedger& ledger) {
  const size_t peak = ledger.peak();
  StageBill bill;
  bill.stage = stage.index;
  bill.first_layer = stage.ranges.empty() ? 0 : static_cast<double>(stage.ranges.front().first);
  bill.layers = stage.layers;
  bill.phase = ledger.id(peak);
  bill.lines = ledger.lines(peak);
  bill.allocated_bytes = ledger.allocated_bytes(peak);
  bill.steady_bytes = ledger.steady_bytes(plan);
  Line context = context_line(plan), communication = communication_line(plan, stage);
  const uint64_t needed = bill.allocated_bytes + context.bytes + communication.bytes;
  const double room = kFullShare * plan.gpu_mem * (1 - plan.margin) - static_cast<double>(needed);
  bill.lines.push_back(fragmentation_line(plan, ledger.holdings(), room));
  bill.reserved_bytes = bill.allocated_bytes + bill.lines.back().bytes;
  bill.lines.push_back(std::move(context));
  bill.lines.push_back(std::move(communication));
  bill.device_bytes = total_bytes(bill.lines);
  bill.band_bytes = total_band_bytes(bill.lines);
  return bill;
}

/// Bills every stage; the bill shown is that of the fullest.
void bill_stages(const Plan& plan, TrainingBill& bill) {
  const ModelTensors tensors(plan);
  std::optional<StageLedger> fullest;
  for (const Stage& stage : pipeline_stages(plan)) {
    StageLedger ledger(plan, stage, tensors);
    bill.stages.push_back(bill_stage(plan, stage, ledger));
    if (fullest && bill.stages.back().device_bytes <= bill.stages[static_cast<size_t>(bill.stage)].device_bytes)
      continue;
    bill.stage = stage.index;
    fullest = std::move(ledger);
  }
  const StageBill& stage = bill.stages[static_cast<size_t>(bill.stage)];
  bill.phase = stage.phase;
  bill.allocated_bytes = stage.allocated_bytes;
  bill.reserved_bytes = stage.reserved_bytes;
  bill.device_bytes = stage.device_bytes;
  bill.band_bytes = stage.band_bytes;
  bill.lines = stage.lines;
  bill.phases = fullest->phases();
}

Verdict memory_verdict(const Plan& plan, uint64_t need, uint64_t band, uint64_t capacity) {
  const uint64_t distance = need > capacity ? need - capacity : capacity - need;
  if (distance <= band) return Verdict::tight;
  if (need > capacity) return Verdict::exceeds;
  return plan.subject->has_shape ? Verdict::fits : Verdict::tight;
}

/// A figure above 2^53 is refused by name.
bool refuse_too_large(TrainingBill& bill) {
  for (const Line& line : bill.lines) {
    if (!line.too_large) continue;
    bill.faults.push_back(
        {"", "",
         std::string("training: '") + line.label + "' is above 2^53 bytes, the most that is billed exactly"});
  }
  if (bill.device_bytes > kLargestBillBytes && bill.faults.empty())
    bill.faults.push_back({"", "", "training: the total is above 2^53 bytes, the most that is billed exactly"});
  return !bill.faults.empty();
}

TrainingBill only_napkin(TrainingBill&& bill) {
  TrainingBill rest;
  rest.faults = std::move(bill.faults);
  rest.napkin = bill.napkin;
  rest.capacity_bytes = bill.capacity_bytes;
  return rest;
}

void judge(const Plan& plan, TrainingBill& bill) {
  bill.headroom_bytes = static_cast<int64_t>(bill.capacity_bytes) - static_cast<int64_t>(bill.device_bytes);
  bill.verdict = memory_verdict(plan, bill.device_bytes, bill.band_bytes, bill.capacity_bytes);
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
  if (trains_all(plan)) return model.nominal_parameters - model.correction_bias_parameters;
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
  bill.capacity_bytes = static_cast<uint64_t>(std::floor(plan.gpu_mem * (1 - plan.margin)));
  bill.napkin = training_napkin(plan);
  bill.faults = training_faults(plan);
  if (!bill.faults.empty()) return bill;
  bill_stages(plan, bill);
  if (refuse_too_large(bill)) return only_napkin(std::move(bill));
  judge(plan, bill);
  bill.host_bytes_per_node = host_bytes_per_node(plan);
  if (bill.host_bytes_per_node && plan.host_mem > 0)
    bill.host_verdict =
        static_cast<double>(*bill.host_bytes_per_node) <= plan.host_mem ? Verdict::fits : Verdict::exceeds;
  return bill;
}

TrainingTotals training_totals(const Plan& plan) { return training_bill(plan); }

}  // namespace vram
