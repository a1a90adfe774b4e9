#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// What vllm's profile run pushes through the model (`batch_tokens`, `max_seqs`), and its versions' ways with memory.
struct VllmRun {
  double tokens = 0;                 // of one forward pass
  double sequences = 0;              // sampled at once
  double bytes_a_logit = 0;          // of the sampler
  bool samples = true;               // where it profiles
  bool keeps_gate_up = false;        // while the down projection runs
  bool copies_input = false;         // of that projection, in AWQ's and GPTQ's kernel
  bool counts_context = false;       // old versions charge the CUDA context to the budget
  bool counts_graphs = false;        // later ones the graphs
  bool counts_communication = true;  // until it is set up before the memory that is free is measured
  bool caches_encoder = false;       // the second engine: a batch of what a vision tower puts out
  bool caches_states = false;        // prefixes of hybrids are cached unless it is told not to
  bool second_runner = false;        // newer than the second model runner (v1/worker/gpu/model_runner.py)
};

/// The release whose sampler no longer sorts (v1/sample/ops/topk_topp_sampler.py, apply_top_k_top_p; vllm#33538).
inline constexpr double kVllmTritonSampler = 17e3;

VllmRun vllm_run(const Plan& plan);

/// 0.6.5 -> 6005; a version that is not given is newer than all.
double release_number(const Plan& plan);

/// What a server of the plan's release chooses by itself on this card where it is not told (arg_utils.py,
/// get_batch_defaults): a plan's own defaults never change, so who reads a command line or a log sets these as keys.
struct VllmLimits {
  double batch_tokens = 0, max_seqs = 0;
};
VllmLimits vllm_limits(const Plan& plan);
/// vllm/config/cache.py: gpu_memory_utilization.
double vllm_utilization(const Plan& plan);

}  // namespace vram
