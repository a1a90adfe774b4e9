#include "engine/compute/mfu.h"

#include <algorithm>

namespace vram {
namespace {

enum class Chip : uint8_t { volta, ampere, hopper, blackwell, tpu, instinct, other };

Chip chip_of(const Accelerator& accelerator) {
  const std::string& family = accelerator.family;
  if (family == "NVIDIA Volta" || family == "NVIDIA Turing") return Chip::volta;
  if (family == "NVIDIA Ampere") return Chip::ampere;
  if (family == "NVIDIA Hopper") return Chip::hopper;
  if (family == "NVIDIA Blackwell" || family == "NVIDIA Rubin") return Chip::blackwell;
  if (family == "Google TPU") return Chip::tpu;
  if (family == "AMD Instinct") return Chip::instinct;
  return Chip::other;
}

/// One row: up to 8 GPUs, no recomputation, short sequences, 1 B to 100 B active parameters.
struct Row {
  Chip chip;
  std::string_view format;  // "" = any
  bool experts;
  double mfu, band;
  const char* reason;
};

// Measured runs only, each named; where none is known the row says so and its band is wide.
constexpr Row kRows[] = {
    {Chip::volta, "", false, 0.31, 0.10, "V100 by Megatron-LM: 39 of 125 TFLOPS (arXiv 1909.08053)"},
    {Chip::ampere, "", false, 0.57, 0.08, "A100 FSDP 1-13B, 8 GPUs: 55-64% (llm-foundry benchmarks)"},
    {Chip::ampere, "", true, 0.35, 0.12, "A100 experts: no published run; the Hopper ratio of expert to dense models"},
    {Chip::hopper, "bf16", false, 0.44, 0.06, "H100 bf16: 36-46% FSDP (llm-foundry), 41-48% Megatron (its README)"},
    {Chip::hopper, "fp8", false, 0.38, 0.06, "H100 FP8 of 1979 TFLOPS, 8B-405B: 36-42% (Megatron-Bridge)"},
    {Chip::hopper, "bf16", true, 0.27, 0.10, "H100 experts bf16: 16-35% (Megatron-Bridge, DeepSeek-V3 report)"},
    {Chip::hopper, "fp8", true, 0.14, 0.06, "H100 experts FP8: 10-17% (Megatron-Bridge, DeepSeek-V3 report)"},
    {Chip::blackwell, "bf16", false, 0.44, 0.10, "Blackwell dense bf16: no published run; as H100's"},
    {Chip::blackwell, "fp8", false, 0.38, 0.08, "B200, GB200, GB300 FP8 dense: 32-50% (Megatron-Bridge)"},
    {Chip::blackwell, "fp4", false, 0.24, 0.05, "GB200, GB300 NVFP4 dense: 21-29% (Megatron-Bridge)"},
    {Chip::blackwell, "bf16", true, 0.22, 0.09, "B200, GB200, GB300 experts bf16: 16-38% (Megatron-Bridge)"},
    {Chip::blackwell, "fp8", true, 0.18, 0.07, "B200, GB200, GB300 experts MXFP8: 11-33% (Megatron-Bridge)"},
    {Chip::blackwell, "fp4", true, 0.06, 0.03, "Blackwell experts NVFP4: 4-6% (Megatron-Bridge, Nemotron 3 Super)"},
    {Chip::tpu, "", false, 0.48, 0.10, "TPU v5p, v6e dense: 39-65% (MaxText)"},
    {Chip::tpu, "", true, 0.42, 0.10, "TPU experts: 35-53% (MaxText)"},
    {Chip::instinct, "", true, 0.20, 0.12, "AMD Instinct: no run on record; a cautious guess"},
    {Chip::instinct, "", false, 0.35, 0.12, "AMD Instinct: no run on record; a cautious guess"},
    {Chip::other, "", true, 0.25, 0.15, "no run on record for this chip; a cautious guess"},
    {Chip::other, "", false, 0.40, 0.15, "no run on record for this chip; 40-60% is usual where a model fits the chip well"},
};

const Row& row_of(Chip chip, std::string_view format, bool experts) {
  for (const Row& row : kRows) {
    if (row.chip == chip && row.experts == experts && (row.format.empty() || row.format == format)) return row;
  }
  for (const Row& row : kRows) {  // a format without a run of its own (fp16, fp32, fp8 where it falls back): bf16's
    if (row.chip == chip && row.experts == experts && row.format == "bf16") return row;
  }
  return experts ? kRows[std::size(kRows) - 2] : kRows[std::size(kRows) - 1];
}

/// Matrix products of small models are too small for the chip. llm-foundry, A100: 125M 45%, 350M 51%, 1-13B 57-64%;
/// arXiv 2205.05198 Table 5: 175B 51.4%, 530B 56.0%, 1T 56.3%.
double size_factor(double active_parameters) {
  if (active_parameters < 250e6) return 0.80;
  if (active_parameters < 800e6) return 0.88;
  return active_parameters < 300e9 ? 1.0 : 1.08;
}

/// Utilisation of core attention over that of matrix products. Fitted on llm-foundry's 16K-64K rows: H100 falls from
/// 42% to 27% where attention is 83% of the FLOPs, A100 from 58% to 46%.
double attention_efficiency(Chip chip) { return chip == Chip::ampere ? 0.76 : 0.60; }

/// Points lost with every doubling of the GPUs past 8: llm-foundry A100 and H100, 8 to 512 GPUs: 0.7-0.9; Megatron-LM's
/// README, 175B on H100, 96 to 4608 GPUs: 0.9; Llama 3 (arXiv 2407.21783) holds 38-43% at 16,384.
constexpr double kLostPerDoubling = 0.006;

/// Time of a step with recomputation over one without. Full: 1.29-1.32 in arXiv 2205.05198 Table 4, but 1.0-1.08 in
/// llm-foundry, where it buys a larger micro-batch; selective: 1.04-1.07 (the same table).
double recompute_slowdown(Recompute recompute) {
  if (recompute == Recompute::full) return 1.18;
  return recompute == Recompute::selective ? 1.05 : 1;
}

/// Time of a step whose optimizer states lie in host memory: x1.9 at a quarter, x4.2 at all of them
/// (Megatron-Bridge), a straight line through both within a tenth.
double offload_slowdown(const Plan& plan) {
  const bool states = plan.offload == Offload::optimizer || plan.offload == Offload::all;
  return states ? 1 + 3.2 * plan.offload_fraction : 1;
}

bool has_experts(const Model& model) {
  return std::any_of(model.kinds.begin(), model.kinds.end(),
                     [](const LayerKind& kind) { return kind.ffn.kind == FfnKind::moe; });
}

}  // namespace

std::string_view compute_format(Precision precision) {
  switch (precision) {
    case Precision::bf16:
    case Precision::bf16_pure: return "bf16";
    case Precision::fp16:
    case Precision::fp16_pure: return "fp16";
    case Precision::fp32: return "fp32";
    case Precision::fp8:
    case Precision::mxfp8: return "fp8";
    case Precision::nvfp4: return "fp4";
  }
  return "bf16";
}

double peak_flops(const Plan& plan) {
  const double tflops = plan.has(Key::gpu_tflops) ? plan.gpu_tflops
                                                  : peak_tflops(*plan.accelerator, compute_format(plan.precision));
  return tflops * 1e12;
}

double doublings(double value) {
  double count = 0;
  for (; value >= 2; value /= 2) ++count;
  return value > 1 ? count + (value - 1) : count;
}

double bubble_overhead(const Plan& plan) {
  const double micro_batches = plan.micro_batches();
  if (plan.pp <= 1 || !(micro_batches > 0)) return 0;
  const double idle = (plan.pp - 1) / (micro_batches * std::max(1.0, plan.vpp));  // arXiv 2104.04473, section 2.2
  if (plan.schedule == Schedule::zerobubble) return idle / 3;  // ZB-H1, arXiv 2401.10241 section 2: a third of 1F1B's
  if (plan.schedule == Schedule::dualpipe) return idle / 2;    // arXiv 2412.19437 Table 2: (p/2 - 1) chunks
  return idle;
}

MfuEstimate estimate_mfu(const Plan& plan, double attention_share) {
  const Chip chip = chip_of(*plan.accelerator);
  const Model& model = *plan.subject;
  const Row& row = row_of(chip, compute_format(plan.precision), has_experts(model));
  const double active = model.active_parameters > 0 ? model.active_parameters * model.scale() : model.nominal_parameters;
  const double matrices = row.mfu * size_factor(active);
  const double scaled = std::max(matrices - kLostPerDoubling * doublings(plan.gpus / 8), matrices / 2);
  const double mixed = scaled / (1 - attention_share + attention_share / attention_efficiency(chip));
  const double slowdown = recompute_slowdown(plan.recompute) * offload_slowdown(plan) * (1 + bubble_overhead(plan));
  return {mixed / slowdown, row.band, row.reason};
}

}  // namespace vram
