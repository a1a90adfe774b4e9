#include "tests/accuracy/figures_training.h"

#include <algorithm>

#include "engine/training/storage.h"

namespace vram::accuracy {
namespace {

const StageBill& stage_of(const TrainingBill& bill, Reading reading) {
  const StageBill& first = bill.stages.front();
  const StageBill& last = bill.stages.back();
  if (reading == Reading::first) return first;
  if (reading == Reading::last) return last;
  if (reading == Reading::first_or_last) return first.device_bytes >= last.device_bytes ? first : last;
  return *std::max_element(bill.stages.begin(), bill.stages.end(),
                           [](const StageBill& a, const StageBill& b) { return a.device_bytes < b.device_bytes; });
}

/// The activations line where every saved tensor lives: the forward pass' end.
Amount activations(const TrainingBill& bill, const StageBill& stage) {
  if (stage.stage == bill.stage)
    for (const Phase& phase : bill.phases)
      if (std::string_view(phase.id) == "forward") return sum_of(phase.lines, {"activations"});
  return sum_of(stage.lines, {"activations"});
}

/// What DeepSpeed's estimators count (runtime/zero/stage_1_and_2.py, estimate_zero2_model_states_mem_needs; stage3.py,
/// estimate_zero3_model_states_mem_needs): weights, optimizer and, as large as its fp32 weights, fp32 gradients; 16-bit
/// gradients are whole under ZeRO 2, and ZeRO 3 has weights and gradients of the largest layer, which no plan names.
Amount estimated_states(const Plan& plan, const StageBill& stage, double largest_layer) {
  Sheet sheet;
  const Lines lines = stage_lines(sheet, plan, static_cast<size_t>(stage.stage));
  Amount out = sum_of(lines, {"weights", "optimizer"});
  out.value += sum_of(line_of(lines, "optimizer")->children, {"master"}).value;
  if (plan.zero < 3) out.value += sum_of(lines, {"gradients"}).value * (plan.zero == 2 ? plan.dense_shards() : 1);
  if (plan.zero >= 3) out.value += 2 * compute_bytes(plan) * largest_layer;
  return out;
}

}  // namespace

Amount training_amount(const Report& r, const Measurement& m) {
  const TrainingBill& bill = r.training;
  const StageBill& stage = stage_of(bill, m.reading);
  switch (m.figure) {
    case Figure::states:
      return sum_of(stage.lines, {"weights", "gradients", "optimizer"});
    case Figure::estimator:
      return estimated_states(r.plan, stage, m.largest_layer);
    case Figure::host:
      return {static_cast<double>(bill.host_bytes_per_node.value_or(0)), 0};
    case Figure::activations:
    case Figure::layer:
      return activations(bill, stage);
    case Figure::steady:
      return {static_cast<double>(stage.steady_bytes), static_cast<double>(stage.steady_band_bytes)};
    case Figure::allocated:
      return sum_of(stage.lines,
                    {"weights", "gradients", "optimizer", "adapters", "activations", "logits", "gathered", "buffers"});
    case Figure::reserved:
      return sum_of(stage.lines, {"weights", "gradients", "optimizer", "adapters", "activations", "logits", "gathered",
                                  "buffers", "fragmentation"});
    default:
      return {static_cast<double>(stage.device_bytes), static_cast<double>(stage.band_bytes)};
  }
}

Amount saved_amount(const Report& r, const Measurement& m) {
  const double tokens = r.plan.tokens_per_micro_batch();
  for (const Phase& phase : r.training.phases) {
    const bool loss = m.figure == Figure::loss_peak;
    if (std::string_view(phase.id) != (loss ? "loss" : "forward")) continue;
    const Line* line = line_of(phase.lines, loss ? "logits" : "activations");
    if (line && !m.part.empty()) line = line_of(line->children, m.part);
    if (line) return {static_cast<double>(line->bytes) / tokens, static_cast<double>(line->band_bytes) / tokens};
  }
  return {};
}

Amount verdict_amount(const Report& r, const Measurement& m) {
  const Verdict verdict = r.training.verdict;
  if (m.figure == Figure::ran) return {verdict == Verdict::exceeds ? 0.0 : 1.0, 0};
  return {verdict == Verdict::exceeds || verdict == Verdict::tight ? 1.0 : 0.0, 0};
}

Amount compute_amount(const Report& r, const Measurement& m) {
  const ComputeFigures& c = r.compute;
  const double mfu = c.mfu.value_or(0), share = mfu > 0 ? c.mfu_band.value_or(0) / mfu : 0;
  if (m.figure == Figure::gpu_hours) return {c.gpu_hours.value_or(0), share * c.gpu_hours.value_or(0)};
  if (m.figure == Figure::total_flops) return {c.model_flops.value_or(0), 0};
  if (m.figure == Figure::published_flops) {
    const double recomputed = m.part == "hardware" && mfu > 0 ? c.hfu.value_or(mfu) / mfu : 1;
    return {m.tokens_per_second * c.flops_per_token.value_or(0) * recomputed, 0};
  }
  const double speed = c.tokens_per_second.value_or(0) / r.plan.gpus;
  return {speed, share * speed};
}

}  // namespace vram::accuracy
