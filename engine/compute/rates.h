#pragma once

#include <string_view>

#include "engine/plan/plan.h"

namespace vram {

/// The format a plan's matrix products run in: "bf16", "fp16", "fp32", "fp8", "fp4".
std::string_view compute_format(Precision precision);

/// Dense peak of one GPU at the compute precision, FLOP/s: the plan's gpu_tflops, else the data sheet's. 0 = unknown.
double peak_flops(const Plan& plan);

/// What one GPU reaches.
struct Rates {
  double matrix = 0;     // FLOP/s of large matrix products in the plan's precision
  double matrix16 = 0;   // ... in 16 bit (the head, LoRA's adapters): what is not quantised
  double experts = 0;    // ... of many experts' in one kernel
  double attention = 0;  // FLOP/s of FlashAttention
  double vector = 0;     // FLOP/s without tensor cores
  double memory = 0;     // B/s
};

Rates rates_of(const Plan& plan);

/// 8- or 4-bit matrix products: inputs, weights and gradients are cast first.
bool casts_products(const Plan& plan);

}  // namespace vram
