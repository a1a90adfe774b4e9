#pragma once

#include <string_view>
#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// One replica: how its GPUs share the model, and how weights and KV cache are stored.
struct Deployment {
  double tp = 1, pp = 1, dp = 1, ep = 1;
  std::string_view weights, kv;
};

// What is legal is what `serving_faults` lets pass. What is sensible besides:
// - A replica has a divisor of the joined GPUs, or 2, 4 or 8 times as many; where `fixed`, those of the plan.
// - Tensor parallelism stays within the joined GPUs; the rest are pipeline stages. llama.cpp has stages alone.
// - Attention data parallelism and expert parallelism for mixtures of experts alone: experts over all GPUs of a stage,
//   or over none.
// - Weights and KV cache as the plan has them, or narrower: fp8 where the chip has it (else int8), 4 bits; GGUF's
//   formats for llama.cpp.
std::vector<Deployment> deployments(const Plan& plan, bool fixed);

/// The plan deployed like that; everything else stays.
void deploy(const Deployment& deployment, Plan& plan);

}  // namespace vram
