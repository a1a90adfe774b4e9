#include "engine/compute/compute.h"

#include <algorithm>
#include <cmath>

#include "engine/compute/flops.h"
#include "engine/compute/mfu.h"
#include "engine/compute/traffic.h"

namespace vram {
namespace {

constexpr double kSecondsPerDay = 86400, kSecondsPerHour = 3600;

/// A figure that exists: finite and positive.
std::optional<double> figure(double value) {
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

double tokens_of_the_run(const Plan& plan) { return plan.has(Key::tokens) ? plan.tokens : plan.dataset * plan.epochs; }

/// What counting depends on: the convention of `flops`, and the one the MFU table is kept in.
struct Counts {
  TokenFlops model;          // by the plan's convention
  TokenFlops full;           // by `megatron`
  double hardware = 0;       // model + recomputation, by the plan's convention
  double full_hardware = 0;  // the same by `megatron`
  double attention_share = 0, full_attention_share = 0;
};

Counts count_flops(const Plan& plan) {
  Counts counts;
  counts.model = training_flops(plan, plan.flops);
  counts.full = training_flops(plan, FlopsConvention::megatron);
  counts.hardware = counts.model.total() + recompute_flops(plan, counts.model);
  counts.full_hardware = counts.full.total() + recompute_flops(plan, counts.full);
  const TokenFlops& shown = counts.model.attention > 0 ? counts.model : counts.full;  // 6n counts no attention
  if (counts.full.total() > 0) counts.full_attention_share = counts.full.attention / counts.full.total();
  if (shown.total() > 0) counts.attention_share = shown.attention / shown.total();
  return counts;
}

/// Seconds of a step whose arithmetic ran at the peak of every GPU.
double ideal_seconds(const Plan& plan, double flops_per_token) {
  const double speed = plan.gpus * peak_flops(plan);
  return speed > 0 ? flops_per_token * plan.global_batch * plan.seq / speed : 0;
}

void set_mfu(const Plan& plan, const Counts& counts, ComputeFigures& out) {
  if (plan.has(Key::mfu)) {
    out.mfu = plan.mfu;
    out.mfu_source = "given";
  } else if (peak_flops(plan) > 0) {
    // No step is faster than its arithmetic at the peak plus the messages that cannot be hidden.
    const MfuEstimate estimate = estimate_mfu(plan, counts.full_attention_share);
    const double busy = ideal_seconds(plan, counts.full_hardware);
    const double useful = ideal_seconds(plan, counts.full.total());
    const double wires = busy + exposed_seconds(out.traffic);
    const double limit = wires > 0 ? useful / wires : 1;
    const bool bound_by_wires = limit < estimate.mfu;
    // The table counts by `megatron`; by another convention the same seconds are another share of the peak.
    const double convention = counts.full.total() > 0 ? counts.model.total() / counts.full.total() : 1;
    const double mfu = std::min(1.0, std::min(estimate.mfu, limit) * convention);
    out.mfu = figure(mfu);
    out.mfu_band = figure(estimate.band / estimate.mfu * mfu);
    out.mfu_source = "estimated";
    out.mfu_reason = bound_by_wires ? "limited by messages that arithmetic cannot hide" : estimate.reason;
  }
  if (out.mfu && counts.model.total() > 0) out.hfu = figure(*out.mfu * counts.hardware / counts.model.total());
}

void set_steps(const Plan& plan, ComputeFigures& out) {
  out.step_flops = figure(*out.flops_per_token * plan.global_batch * plan.seq);
  const double micro_batches = plan.micro_batches();
  if (micro_batches == std::floor(micro_batches)) out.micro_batches = figure(micro_batches);
  const double speed = plan.gpus * peak_flops(plan) * out.mfu.value_or(0);
  if (!out.step_flops || !(speed > 0)) return;
  out.step_seconds = figure(*out.step_flops / speed);
  if (out.step_seconds) out.tokens_per_second = figure(plan.global_batch * plan.seq / *out.step_seconds);
}

void set_run(const Plan& plan, const Counts& counts, ComputeFigures& out) {
  const double tokens = tokens_of_the_run(plan);
  out.model_flops = figure(*out.flops_per_token * tokens);
  out.hardware_flops = figure(counts.hardware * tokens);
  const double speed = plan.gpus * peak_flops(plan) * out.mfu.value_or(0) * plan.goodput;
  if (!out.model_flops || !(speed > 0)) return;
  const double seconds = *out.model_flops / speed;
  const double gpu_hours = seconds * plan.gpus / kSecondsPerHour;
  const double watts = plan.watts + plan.node_watts / std::max(1.0, plan.node);
  out.days = figure(seconds / kSecondsPerDay);
  out.gpu_hours = figure(gpu_hours);
  out.usd = figure(gpu_hours * plan.price);
  if (plan.watts > 0) out.kwh = figure(gpu_hours * watts / 1000 * plan.pue);
}

void set_messages(const Plan& plan, ComputeFigures& out) {
  if (plan.subject->has_shape) return;
  if (plan.flops != FlopsConvention::six_n) {
    out.messages.push_back(
        {"flops", "",
         "flops: the model has no complete shape, so that FLOPs are counted as 6n and attention is left out"});
  }
}

}  // namespace

ComputeFigures compute_figures(const Plan& plan) {
  ComputeFigures out;
  const Counts counts = count_flops(plan);
  out.flops_per_token = figure(counts.model.total());
  const double tokens = tokens_of_the_run(plan);
  const double six_n = training_flops(plan, FlopsConvention::six_n).total();
  out.napkin_flops = figure(six_n * (tokens > 0 ? tokens : 1));
  set_messages(plan, out);
  if (!out.flops_per_token) return out;
  out.attention_share = figure(counts.attention_share);
  const double busy = ideal_seconds(plan, counts.full_hardware);
  out.traffic = step_traffic(plan, busy, counts.full_attention_share);
  if (busy > 0) out.bound = exposed_seconds(out.traffic) > busy ? "communication" : "compute";
  set_mfu(plan, counts, out);
  set_steps(plan, out);
  set_run(plan, counts, out);
  return out;
}

}  // namespace vram
