#include "engine/compute/compute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "engine/compute/achieved.h"
#include "engine/compute/flops.h"
#include "engine/compute/rates.h"
#include "engine/compute/step_time.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kSecondsPerDay = 86400, kSecondsPerHour = 3600;

/// A figure that exists: finite and positive.
std::optional<double> figure(double value) {
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

double tokens_of_the_run(const Plan& plan) { return plan.has(Key::tokens) ? plan.tokens : plan.dataset * plan.epochs; }

/// FLOPs of a token by the plan's convention.
struct Counts {
  TokenFlops model;
  double hardware = 0;  // model + recomputation
  double attention_share = 0;
};

Counts count_flops(const Plan& plan) {
  Counts counts;
  counts.model = training_flops(plan, plan.flops);
  counts.hardware = counts.model.total() + recompute_flops(plan, counts.model);
  // 6n counts no attention
  const TokenFlops shown = counts.model.attention > 0 ? counts.model : training_flops(plan, FlopsConvention::megatron);
  if (shown.total() > 0) counts.attention_share = shown.attention / shown.total();
  return counts;
}

/// By the plan's convention. 0: no speed was measured, or before the plan was changed.
double measured_mfu(const Plan& plan) {
  if (!plan.has(Key::measured_tokens_per_second) || plan.has(Key::measured_with)) return 0;
  const double peak = peak_flops(plan);
  return peak > 0 ? plan.measured_tokens_per_second * training_flops(plan, plan.flops).total() / peak : 0;
}

/// Of a measured speed only one that the GPU can reach.
std::optional<double> known_mfu(const Plan& plan) {
  if (plan.has(Key::mfu)) return plan.mfu;
  const double measured = measured_mfu(plan);
  return measured > 0 && measured <= 1 ? std::optional(measured) : std::nullopt;
}

struct Part {
  const char* name;
  double seconds;
};

std::array<Part, 6> parts_of(const StepSeconds& step) {
  return {{{"arithmetic", step.matrices + step.attention},
           {"memory traffic", step.memory + step.optimizer},
           {"messages in the node", step.link},
           {"messages over the network", step.network},
           {"the pipeline's bubble", step.bubble},
           {"launching kernels", step.host}}};
}

/// "arithmetic 78%, memory traffic 12%, ...": what a hundredth of the step or more goes to.
std::string reason_of(const StepSeconds& step) {
  std::string text = "a step is";
  bool first = true;
  for (const Part& part : parts_of(step)) {
    const double percent = 100 * part.seconds / step.total();
    if (percent < 0.5) continue;
    text += std::string(first ? " " : ", ") + show_fixed(percent, 0) + "% " + part.name;
    first = false;
  }
  return text;
}

const char* bound_of(const StepSeconds& step) {
  const Part bounds[] = {{"compute", step.matrices + step.attention + step.host},
                         {"memory", step.memory + step.optimizer},
                         {"link", step.link},
                         {"network", step.network},
                         {"bubble", step.bubble}};
  const Part* most = std::max_element(std::begin(bounds), std::end(bounds),
                                      [](const Part& a, const Part& b) { return a.seconds < b.seconds; });
  return most->seconds > 0 ? most->name : "";
}

bool has_experts(const Model& model) {
  return std::any_of(model.kinds.begin(), model.kinds.end(),
                     [](const LayerKind& kind) { return kind.ffn.kind == FfnKind::moe; });
}

/// Half-width of the estimate's band as a share of it.
double band_share(const Plan& plan) {
  return has_experts(*plan.subject) || !plan.subject->has_shape ? kExpertBand : kDenseBand;
}

void set_mfu(const Plan& plan, const Counts& counts, ComputeFigures& out) {
  if (const std::optional<double> known = known_mfu(plan)) {
    out.mfu = known;
    out.mfu_source = "given";
  } else if (const double speed = plan.gpus * peak_flops(plan); speed > 0 && out.step.total() > 0) {
    const double useful = counts.model.total() * plan.global_batch * plan.seq / speed;
    out.mfu = figure(std::min(1.0, useful / out.step.total()));
    if (out.mfu) out.mfu_band = figure(band_share(plan) * *out.mfu);
    out.mfu_source = "estimated";
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
  if (!out.step_seconds) return;
  out.tokens_per_second = figure(plan.global_batch * plan.seq / *out.step_seconds);
  if (!out.tokens_per_second) return;
  const double hours = 1e9 / (*out.tokens_per_second * plan.goodput) / kSecondsPerHour;
  out.usd_per_billion_tokens = figure(hours * plan.gpus * plan.price);
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
  if (!plan.has(Key::mfu) && measured_mfu(plan) > 1) {
    out.messages.push_back({"measured_tokens_per_second", "",
                            "measured_tokens_per_second: " + show_grouped(plan.measured_tokens_per_second) +
                                " tokens a second are more than a GPU's peak; give those of one GPU"});
  }
  if (plan.subject->has_shape) return;
  if (plan.flops != FlopsConvention::six_n) {
    out.messages.push_back(
        {"flops", "",
         "flops: the model has no complete shape, so that FLOPs are counted as 6n and attention is left out"});
  }
}

}  // namespace

std::string mfu_reason(const ComputeFigures& figures) {
  const bool estimated = figures.mfu && std::string_view(figures.mfu_source) == "estimated";
  return estimated ? reason_of(figures.step) : "";
}

bool knows_mfu(const Plan& plan) { return known_mfu(plan).has_value(); }

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
  const auto sheet = std::make_shared<Sheet>();
  out.step = step_seconds(*sheet, plan, out.traffic);
  out.sheet = sheet;
  out.bound = bound_of(out.step);
  set_mfu(plan, counts, out);
  set_steps(plan, out);
  set_run(plan, counts, out);
  return out;
}

}  // namespace vram
