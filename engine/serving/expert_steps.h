#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// Multiples that an engine's MXFP4 kernels pad an expert to: the hidden size, a rank's share of the width, and what
/// each matrix sums over. Those here are Marlin's in vllm.
struct ExpertSteps {
  double hidden = 256, width = 128, summed = 1;
};
ExpertSteps expert_steps(const Plan& plan);

}  // namespace vram
