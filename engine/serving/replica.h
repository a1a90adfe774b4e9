#pragma once

#include <cmath>
#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// How the GPUs of one replica share the model. llama.cpp splits layers, not matrices: its GPUs are all stages.
struct Replica {
  double tp = 1, pp = 1, dp = 1, ep = 1;
};
Replica replica_of(const Plan& plan);

/// Layers [first, first + count) on one GPU group, and which ends of the model stand beside them.
struct ServingStage {
  size_t first = 0, count = 0;
  bool has_embedding = true, has_head = true;
  bool has_outside = true;     // towers
  size_t without_experts = 0;  // of its first layers: their routed experts lie in host memory
  size_t more_experts = 0;     // layers behind its own whose routed experts lie here
};

/// The stages of a replica. Surplus layers go where vllm puts them: one each to the stages before the last.
std::vector<ServingStage> serving_stages(const Plan& plan, const Replica& replica);

/// Of the layers [first, first + count) those whose routed experts `n_cpu_moe` leaves in host memory: the first ones.
size_t before_n_cpu_moe(const Plan& plan, size_t first, size_t count);

/// What llama.cpp keeps in host memory: the embedding table, the layers beyond `gpu_layers` and, with any, the head,
/// and of the layers behind them the routed experts that `n_cpu_moe` says. Nothing (no layers, no ends) with other
/// engines.
ServingStage host_stage(const Plan& plan);

/// The whole model on one GPU, all layers: what figures of the model, not of a GPU, are worked out on.
ServingStage whole_model(const Plan& plan);

/// Layers of the draft whose KV is cached: `draft_layers`, else the prediction modules where tokens are drafted.
double draft_layer_count(const Plan& plan);

/// Tokens of a whole request, mean prompt and output.
inline double request_tokens(const Plan& plan) { return plan.prompt + plan.output; }

/// Whether every slot has max_len tokens reserved for it.
inline bool reserves_longest(const Plan& plan) { return plan.engine == Engine::static_ && plan.max_len > 0; }

inline double ceil_div(double value, double step) { return std::ceil(value / step); }
inline double round_up(double value, double step) { return ceil_div(value, step) * step; }

}  // namespace vram
