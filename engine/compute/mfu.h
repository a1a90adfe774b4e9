#pragma once

#include <string_view>

#include "engine/plan/plan.h"

namespace vram {

/// The format a plan's matrix products run in: "bf16", "fp16", "fp32", "fp8", "fp4".
std::string_view compute_format(Precision precision);

/// Dense peak of one GPU at the compute precision, FLOP/s: the plan's gpu_tflops, else the data sheet's. 0 = unknown.
double peak_flops(const Plan& plan);

/// Model FLOPs utilisation that a well-tuned run of this kind reaches, as a share of the dense peak at the compute
/// precision, counting full attention (convention `megatron`).
struct MfuEstimate {
  double mfu = 0;
  double band = 0;          // half-width: what published runs of this kind spread over
  const char* reason = "";  // which runs
};

/// `attention_share`: core attention's part of the model FLOPs by convention `megatron`.
MfuEstimate estimate_mfu(const Plan& plan, double attention_share);

/// Idle share of a pipeline: (p - 1) / (v m) of the busy time, by schedule.
double bubble_overhead(const Plan& plan);

/// log2(value) with straight lines between powers of two; 0 for values up to 1.
double doublings(double value);

}  // namespace vram
