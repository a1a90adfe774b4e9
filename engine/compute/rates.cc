#include "engine/compute/rates.h"

#include <algorithm>

#include "engine/compute/achieved.h"
#include "engine/compute/cube_root.h"

namespace vram {
namespace {

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

const ChipRates& rates_of_chip(Chip chip) {
  for (const ChipRates& rates : kChipRates) {
    if (rates.chip == chip) return rates;
  }
  return kChipRates[std::size(kChipRates) - 1];
}

double share_of(const ChipRates& chip, std::string_view format) {
  if (format == "fp8") return chip.matrix8;
  return format == "fp4" ? chip.matrix4 : chip.matrix16;
}

/// The chip may run the format in a wider one.
std::string_view run_in(const Accelerator& chip, std::string_view format) {
  if (format == "fp4" && chip.fp4_tflops == 0) format = "fp8";
  return format == "fp8" && chip.fp8_tflops == 0 ? "bf16" : format;
}

/// Of a card that may draw less than its data sheet says. Power grows with the clock times the square of a voltage that
/// follows it.
double clock_share(const Plan& plan) {
  const double sheet = plan.accelerator->watts;
  return sheet > 0 && plan.watts > 0 && plan.watts < sheet ? cube_root(plan.watts / sheet) : 1;
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

bool casts_products(const Plan& plan) {
  const std::string_view format = run_in(*plan.accelerator, compute_format(plan.precision));
  return format == "fp8" || format == "fp4";
}

Rates rates_of(const Plan& plan) {
  const Accelerator& sheet = *plan.accelerator;
  const ChipRates& chip = rates_of_chip(chip_of(sheet));
  const std::string_view format = compute_format(plan.precision);
  const double peak = peak_flops(plan);
  const double sheet_peak = peak_tflops(sheet, format) * 1e12;
  // Where the plan gives the peak at its precision, the chip's other peaks are that much higher or lower.
  const double given = sheet_peak > 0 ? peak / sheet_peak : 1;
  const double peak16 = sheet_peak > 0 ? given * peak_tflops(sheet, "fp16") * 1e12 : peak;
  const double clock = clock_share(plan);
  const bool fused = plan.kernels == Kernels::fused;
  Rates rates;
  rates.matrix = clock * peak * share_of(chip, run_in(sheet, format));
  rates.matrix16 = format == "fp32" ? rates.matrix : clock * peak16 * chip.matrix16;
  rates.experts = rates.matrix * kGroupedShare;
  rates.attention = clock * (format == "fp32" ? peak : peak16) * (fused ? chip.fused_attention : chip.attention);
  rates.vector = sheet.fp32_tflops > 0 ? given * sheet.fp32_tflops * 1e12 : peak / 16;
  rates.memory = plan.gpu_bw * 1e9 * kMemoryShare;
  return rates;
}

}  // namespace vram
