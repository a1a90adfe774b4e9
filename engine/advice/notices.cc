#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/advice/cache_notices.h"
#include "engine/advice/change.h"
#include "engine/advice/remedies.h"
#include "engine/compute/rates.h"
#include "engine/compute/step_time.h"
#include "engine/formats.h"
#include "engine/serving/gguf.h"
#include "engine/units.h"

namespace vram {
namespace {

using Findings = std::vector<Finding>;

void add(Findings& out, Severity severity, const char* id, std::string text, std::string change = "") {
  out.push_back(notice(severity, id, std::move(text), std::move(change)));
}

void about_the_model(const Plan& plan, Findings& out) {
  const double positions = plan.max_positions;
  if (positions > 0 && plan.seq > positions) {
    add(out, Severity::warning, "seq_beyond_positions",
        "Sequences of " + show_grouped(plan.seq) + " tokens are longer than the " + show_grouped(positions) +
            " the model was made for.");
  }
  const double request = plan.prompt + plan.output;
  if (positions > 0 && request > positions) {
    add(out, Severity::warning, "request_beyond_positions",
        "Requests of " + show_grouped(request) + " tokens are longer than the " + show_grouped(positions) +
            " the model was made for.");
  }
  if (!plan.subject->has_shape) {
    add(out, Severity::info, "no_shape",
        "The model has no complete shape: activations and what else depends on one are not in the training bill.");
  }
}

void about_precision(const Plan& plan, Findings& out) {
  const Accelerator& chip = *plan.accelerator;
  const std::string_view format = compute_format(plan.precision);
  const bool known = chip.fp16_tflops > 0 || chip.bf16_tflops > 0;
  if (known && format == "bf16" && chip.bf16_tflops == 0) {
    add(out, Severity::warning, "no_bf16", chip.name + " has no bf16 arithmetic: train in fp16, with loss scaling.",
        plan.precision == Precision::bf16 ? "precision=fp16" : "precision=fp16-pure");
  }
  if (known && format == "fp8" && chip.fp8_tflops == 0) {
    add(out, Severity::warning, "no_fp8", chip.name + " has no fp8 arithmetic: the plan's speed is that of 16 bits.");
  }
  if (known && format == "fp4" && chip.fp4_tflops == 0) {
    add(out, Severity::warning, "no_fp4",
        chip.name + " has no 4-bit arithmetic: the plan's speed is that of a wider format.");
  }
}

void about_attention(const Plan& plan, Findings& out) {
  constexpr double kLongSequence = 4096;  // where 5 a s / h passes the 34 of everything else in most models
  if (plan.attention == AttentionKernel::eager && plan.seq >= kLongSequence && plan.subject->has_shape) {
    add(out, Severity::warning, "eager_attention",
        "Eager attention keeps score matrices that grow with the square of the sequence; FlashAttention keeps none.",
        "attention=flash");
  }
}

void about_links(const Plan& plan, const ComputeFigures& compute, Findings& out) {
  const bool estimated = !knows_mfu(plan);  // a measured MFU has the messages in it
  const std::string_view bound = compute.bound;
  const bool slow = estimated && (bound == "link" || bound == "network") && !compute.traffic.empty();
  if (slow) {
    const auto worst =
        std::max_element(compute.traffic.begin(), compute.traffic.end(),
                         [](const auto& a, const auto& b) { return a.exposed_seconds < b.exposed_seconds; });
    add(out, Severity::warning, "communication_bound",
        std::string("Messages take longer than arithmetic: ") + worst->line.label + " sends " +
            shown_bytes(plan, static_cast<double>(worst->line.bytes)) + " a step and GPU over the " + worst->link +
            ", " + show_duration(worst->seconds) + ".");
  }
}

void about_the_pipeline(const Plan& plan, Findings& out) {
  constexpr double kNotable = 0.2, kEnoughMicroBatches = 8;  // a stage
  const double bubble = bubble_overhead(plan);
  if (bubble <= kNotable) return;
  const double batch = plan.micro_batch * plan.dp() * plan.pp * kEnoughMicroBatches;
  add(out, Severity::warning, "pipeline_bubble",
      "The pipeline of " + show_grouped(plan.pp) + " stages is idle " + show_fixed(100 * bubble / (1 + bubble), 0) +
          "% of the time, with " + counted(plan.micro_batches(), "micro-batch", "micro-batches") +
          " a step: raise the global batch.",
      "global_batch=" + write_number(batch));
}

/// Parallelism that a plan that fits could do without, where that is no slower.
void add_unneeded(const Plan& plan, const Change& change, const std::string& who, Findings& out) {
  Plan without = plan;
  if (!apply(change, without)) return;
  const TrainingTotals bill = training_totals(without);
  if (bill.verdict != Verdict::fits) return;
  const std::optional<double> ratio = time_ratio(plan, without);
  if (ratio && *ratio > 1) return;
  add(out, Severity::info, change.id,
      who + " not needed: without, the plan fits with " + shown_bytes(plan, static_cast<double>(bill.headroom_bytes)) +
          " free and is no slower.",
      fragment(change));
}

void about_unneeded_parallelism(const Plan& plan, const TrainingBill& training, Findings& out) {
  if (training.verdict != Verdict::fits) return;
  const double joined = std::max(plan.node, plan.accelerator->link_gpus);
  if (plan.pp > 1)
    add_unneeded(plan, {"pipeline_not_needed", "", fewer_ranks(plan, Key::pp, 1)}, "Pipeline stages are", out);
  if (plan.tp > joined)
    add_unneeded(plan, {"tp_beyond_node_not_needed", "", fewer_ranks(plan, Key::tp, plan.node)},
                 "Tensor parallelism beyond a node is", out);
}

void about_measured_speed(const Plan& plan, const ComputeFigures& compute, Findings& out) {
  const bool measured = plan.has(Key::measured_tokens_per_second) && !plan.has(Key::mfu) && knows_mfu(plan);
  if (!measured || !compute.step_seconds || !(compute.step.total() > 0)) return;
  const double longer = 100 * (compute.step.total() / *compute.step_seconds - 1);
  add(out, Severity::info, "mfu_measured",
      show_grouped(plan.measured_tokens_per_second) + " tokens a second and GPU, as measured, are " +
          show_fixed(100 * *compute.mfu, 1) + "% MFU by flops=" + value_text(plan, Key::flops) +
          ". A step was estimated to take " + show_fixed(std::fabs(longer), 0) +
          (longer < 0 ? "% less time." : "% longer."));
}

void about_figures(const Plan& plan, const ComputeFigures& compute, Findings& out) {
  if (peak_flops(plan) <= 0) {
    add(out, Severity::info, "peak_unknown", "The GPU's peak is unknown, so that there are no times: give gpu_tflops.");
  }
  if (compute.gpu_hours && plan.price <= 0) {
    add(out, Severity::info, "price_unknown", "The GPU's price is unknown, so that there are no costs: give price.");
  }
  const bool estimated = std::string_view(compute.mfu_source) == "estimated" && compute.mfu && compute.mfu_band;
  if (estimated) {
    add(out, Severity::info, "mfu_estimated",
        "Times rest on an estimated MFU of " + show_fixed(*compute.mfu * 100, 0) + "% ± " +
            show_fixed(*compute.mfu_band * 100, 0) + " points: " + mfu_reason(compute) +
            ". Give mfu if you have measured it.");
  }
  about_measured_speed(plan, compute, out);
  constexpr double kNotable = 0.10;
  if (plan.subject->has_shape && compute.attention_share.value_or(0) > kNotable) {
    add(out, Severity::info, "six_n_is_a_floor",
        "The napkin's 6 N D leaves attention out, which is " + show_fixed(*compute.attention_share * 100, 0) +
            "% of the work at this length: a floor.",
        plan.flops == FlopsConvention::six_n ? "flops=megatron" : "");
  }
}

void about_the_host(const Plan& plan, const TrainingBill& training, Findings& out) {
  if (!training.host_verdict || *training.host_verdict != Verdict::exceeds || !training.host_bytes_per_node) return;
  add(out, Severity::error, "host_exceeds",
      "A node's host memory would have to hold " +
          shown_bytes(plan, static_cast<double>(*training.host_bytes_per_node)) + ", and has " +
          shown_bytes(plan, plan.host_mem) + ".");
}

/// A job that ends before its first step.
void about_loading(const Plan& plan, const TrainingBill& training, Findings& out) {
  if (!training.host_load_bytes_per_node || plan.host_mem <= 0) return;
  const double needed = static_cast<double>(*training.host_load_bytes_per_node);
  if (needed <= plan.host_mem) return;
  add(out, Severity::warning, "loading_exceeds",
      "Loading the model would take " + shown_bytes(plan, needed) + " of a node's host memory, which has " +
          shown_bytes(plan, plan.host_mem) + ": every process reads all of it before the first step.");
}

/// A format of the weights that the chip can store, not compute.
void about_served_weights(const Plan& plan, Findings& out) {
  const Accelerator& chip = *plan.accelerator;
  const Format* format = find_format(plan.weights);
  if (format == nullptr || chip.bf16_tflops + chip.fp16_tflops <= 0) return;
  const bool computed = (format->compute != "fp8" || chip.fp8_tflops > 0) &&
                        (format->compute != "fp4" || chip.fp4_tflops > 0) &&
                        (format->compute != "int8" || chip.int8_tops > 0);
  if (computed) return;
  add(out, Severity::warning, "weights_not_computed",
      chip.name + " cannot compute in " + std::string(format->compute) + ": weights in " + std::string(format->name) +
          " take less memory and are multiplied in a wider format.");
}

/// llama.cpp reads GGUF files, and no checkpoint's own blocks (nvfp4 is a type of both).
void about_the_file(const Plan& plan, Findings& out) {
  const Format* format = find_format(plan.weights);
  if (plan.engine != Engine::llamacpp || format == nullptr || format->bits >= 16) return;
  if (is_gguf(*format, true) || format->id == "nvfp4") return;
  const char* like = format->bits > 6 ? "q8_0" : "q4_k_m";
  add(out, Severity::warning, "weights_no_gguf",
      "llama.cpp has no type " + std::string(format->name) +
          " in its GGUF files: weights are converted, to Q8_0 or Q4_K_M for about as many bytes.",
      "weights=" + std::string(like));
}

void about_targets(const Plan& plan, const ServingBill& serving, Findings& out) {
  const double in_time = std::min(serving.max_concurrency_at_tpot.value_or(plan.concurrency),
                                  serving.max_concurrency_at_ttft.value_or(plan.concurrency));
  if (serving.verdict == Verdict::exceeds || in_time >= plan.concurrency) return;
  add(out, Severity::warning, "targets_missed",
      "Memory holds the " + show_grouped(plan.concurrency) + " requests asked for, and about " + show_grouped(in_time) +
          " of them are in time: spread them over more replicas.");
}

void about_serving(const ServingBill& serving, Findings& out) {
  if (serving.verdict != Verdict::fits) return;
  add(out, Severity::info, "memory_is_not_enough",
      "Memory is necessary, not sufficient: bandwidth and compute bound each request's speed. Load-test before "
      "promising.");
}

}  // namespace

Finding notice(Severity severity, const char* id, std::string text, std::string change) {
  Finding finding;
  finding.severity = severity;
  finding.id = id;
  finding.text = std::move(text);
  finding.change = std::move(change);
  return finding;
}

std::vector<Finding> notices(const Plan& plan, const TrainingBill& training, const ComputeFigures& compute,
                             const ServingBill& serving) {
  Findings out;
  about_the_model(plan, out);
  about_precision(plan, out);
  about_attention(plan, out);
  about_links(plan, compute, out);
  about_the_pipeline(plan, out);
  about_unneeded_parallelism(plan, training, out);
  about_the_host(plan, training, out);
  about_loading(plan, training, out);
  about_the_cluster(plan, training, compute, out);
  about_figures(plan, compute, out);
  about_served_weights(plan, out);
  about_the_file(plan, out);
  if (plan.engine == Engine::llamacpp || plan.has(Key::kv_values)) add_cache_notices(plan, out);
  about_targets(plan, serving, out);
  about_serving(serving, out);
  return out;
}

}  // namespace vram
