#include "engine/compute/mfu.h"

#include <algorithm>

namespace vram {
namespace {

enum class Chip : uint8_t { volta, ampere, hopper, blackwell, blackwell_ultra, tpu, instinct, other };

Chip chip_of(const Accelerator& accelerator) {
  const std::string& family = accelerator.family;
  if (family == "NVIDIA Volta" || family == "NVIDIA Turing") return Chip::volta;
  if (family == "NVIDIA Ampere") return Chip::ampere;
  if (family == "NVIDIA Hopper") return Chip::hopper;
  if (family == "NVIDIA Blackwell" || family == "NVIDIA Rubin") return Chip::blackwell;
  if (family == "NVIDIA Blackwell Ultra") return Chip::blackwell_ultra;
  if (family == "Google TPU") return Chip::tpu;
  if (family == "AMD Instinct") return Chip::instinct;
  return Chip::other;
}

/// One row: 8 GPUs, a dense model of 4 to 20 B (experts: any), 8,192 tokens a micro-batch, no recomputation, short
/// sequences. `spread` is the band as a share of the value.
struct Row {
  Chip chip;
  std::string_view format;  // "" = any
  bool experts;
  double mfu, spread;
  const char* reason;
};

// Fitted on measured runs, each named; where none is known the row says so and its band is wide. A100 and H100 bf16:
// least squares on 160 rows of llm-foundry's benchmarks, together with the factors below; 9% is the residual's rms.
constexpr Row kRows[] = {
    {Chip::volta, "", false, 0.34, 0.3, "V100: 31% at 8.3 B with TP 8 (Megatron-LM, arXiv 1909.08053)"},
    {Chip::ampere, "", false, 0.625, 0.15, "A100 bf16, 125M to 70B: fitted on llm-foundry's benchmarks"},
    {Chip::ampere, "", true, 0.38, 0.4, "A100 with experts: no run on record; H100's ratio to dense models"},
    {Chip::hopper, "bf16", false, 0.47, 0.15, "H100 bf16, 1B to 70B: fitted on llm-foundry's benchmarks"},
    {Chip::hopper, "fp8", false, 0.44, 0.15, "H100 FP8, 8B to 405B: fitted on Megatron-Bridge's summary"},
    {Chip::hopper, "bf16", true, 0.27, 0.4, "H100 bf16 with experts: 16-35% (Megatron-Bridge, DeepSeek-V3)"},
    {Chip::hopper, "fp8", true, 0.14, 0.4, "H100 FP8 with experts: 10-17% (Megatron-Bridge, DeepSeek-V3)"},
    {Chip::blackwell, "bf16", false, 0.47, 0.25, "Blackwell bf16: no dense run on record; as H100's"},
    {Chip::blackwell, "fp8", false, 0.41, 0.25, "B200, GB200 FP8, 8B to 405B: fitted on Megatron-Bridge's summary"},
    {Chip::blackwell, "fp4", false, 0.25, 0.25, "GB200 NVFP4, 70B and 405B: fitted on Megatron-Bridge's summary"},
    {Chip::blackwell, "bf16", true, 0.23, 0.4, "B200, GB200 bf16 with experts: 10-31% (Megatron-Bridge)"},
    {Chip::blackwell, "fp8", true, 0.21, 0.4, "B200, GB200 MXFP8 with experts: 11-26% (Megatron-Bridge)"},
    {Chip::blackwell, "fp4", true, 0.06, 0.4, "Blackwell NVFP4 with experts: 4-6% (Megatron-Bridge)"},
    {Chip::blackwell_ultra, "bf16", false, 0.50, 0.3,
     "Blackwell Ultra bf16: no dense run on record; a little above H100's"},
    {Chip::blackwell_ultra, "fp8", false, 0.52, 0.2, "GB300 FP8, 70B and 405B: fitted on Megatron-Bridge's summary"},
    {Chip::blackwell_ultra, "fp4", false, 0.25, 0.25, "GB300 NVFP4, 70B and 405B: fitted on Megatron-Bridge's summary"},
    {Chip::blackwell_ultra, "bf16", true, 0.24, 0.4, "B300, GB300 bf16 with experts: 10-38% (Megatron-Bridge)"},
    {Chip::blackwell_ultra, "fp8", true, 0.26, 0.4, "B300, GB300 MXFP8 with experts: 9-33% (Megatron-Bridge)"},
    {Chip::blackwell_ultra, "fp4", true, 0.06, 0.4, "Blackwell NVFP4 with experts: 4-6% (Megatron-Bridge)"},
    {Chip::tpu, "", false, 0.48, 0.25, "TPU v5p, v6e dense: 39-65% (MaxText)"},
    {Chip::tpu, "", true, 0.42, 0.25, "TPU with experts: 35-53% (MaxText)"},
    {Chip::instinct, "", true, 0.20, 0.5, "AMD Instinct: no run on record; a cautious guess"},
    {Chip::instinct, "", false, 0.35, 0.4, "AMD Instinct: no run on record; a cautious guess"},
    {Chip::other, "", true, 0.25, 0.5, "no run on record for this chip; a cautious guess"},
    {Chip::other, "", false, 0.40, 0.4,
     "no run on record for this chip; 40-60% is usual where a model fits the chip well"},
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

/// Matrix products of small models are too small for the chip (the llm-foundry fit); above 300 B: GPT 530B and 1T in
/// arXiv 2205.05198 Table 5, Llama 3.1 405B in arXiv 2407.21783 Table 4.
double size_factor(double active_parameters) {
  struct Step {
    double below, factor;
  };
  constexpr Step kSteps[] = {{0.2e9, 0.67}, {0.5e9, 0.77}, {1e9, 0.82}, {4e9, 0.92}, {20e9, 1.0}, {300e9, 1.10}};
  for (const Step& step : kSteps) {
    if (active_parameters < step.below) return step.factor;
  }
  return 1.2;
}

/// 7% a doubling of the tokens a GPU works on at once, from 2,048 to 65,536 (the llm-foundry fit).
double batch_factor(double tokens) {
  constexpr double kPerDoubling = 0.07, kFewest = 2048, kMost = 65536, kFewestBelow = 2;  // doublings below 8,192
  const double clamped = std::clamp(tokens, kFewest, kMost);
  return 1 + kPerDoubling * (doublings(clamped / kFewest) - kFewestBelow);
}

/// Utilisation of core attention over that of matrix products. From llm-foundry's 64K rows: H100 falls
/// from 42% to 27% where attention is 83% of the FLOPs, A100 from 58% to 46%.
double attention_efficiency(Chip chip) { return chip == Chip::ampere ? 0.76 : 0.60; }

/// Share lost with every doubling of the GPUs past 8: the llm-foundry fit, 8 to 512 GPUs; Megatron-LM's README has 1.9%
/// for 175B on H100 from 96 to 4,608.
constexpr double kLostPerDoubling = 0.015;

/// Time of a step with recomputation over one without. Full: 1.29 to 1.32, selective: 1.04 to 1.07 (arXiv 2205.05198
/// Table 4). torchtitan's selective mode repeats half of the forward products, a sixth of all.
double recompute_slowdown(const Plan& plan) {
  if (plan.recompute == Recompute::full) return 1.29;
  if (plan.recompute == Recompute::none) return 1;
  return plan.framework == Framework::fsdp2 ? 1.15 : 1.05;
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
    case Precision::bf16_pure:
      return "bf16";
    case Precision::fp16:
    case Precision::fp16_pure:
      return "fp16";
    case Precision::fp32:
      return "fp32";
    case Precision::fp8:
    case Precision::mxfp8:
      return "fp8";
    case Precision::nvfp4:
      return "fp4";
  }
  return "bf16";
}

double peak_flops(const Plan& plan) {
  const double tflops =
      plan.has(Key::gpu_tflops) ? plan.gpu_tflops : peak_tflops(*plan.accelerator, compute_format(plan.precision));
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
  const double active =
      model.active_parameters > 0 ? model.active_parameters * model.scale() : model.nominal_parameters;
  const double dense_size = has_experts(model) ? 1 : size_factor(active);
  const double matrices = row.mfu * dense_size * batch_factor(plan.tokens_per_micro_batch());
  const double mixed = matrices / (1 - attention_share + attention_share / attention_efficiency(chip));
  const double scale = 1 + kLostPerDoubling * doublings(plan.gpus / 8);
  const double mfu = mixed / (scale * recompute_slowdown(plan) * offload_slowdown(plan) * (1 + bubble_overhead(plan)));
  return {mfu, row.spread * mfu, row.reason};
}

}  // namespace vram
