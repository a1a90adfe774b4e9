#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// What vllm's profile run pushes through the model (`batch_tokens`, `max_seqs`), and its versions' ways with memory.
struct VllmRun {
  double tokens = 0;          // of one forward pass
  double sequences = 0;       // sampled at once
  double bytes_a_logit = 0;   // of the sampler
  bool counts_context = false;  // old versions charge the CUDA context to the budget
  bool counts_graphs = false;   // new ones the graphs
};

VllmRun vllm_run(const Plan& plan);

/// What the newest server chooses by itself on this card where it is not told (arg_utils.py, get_batch_defaults): a
/// plan's own defaults never change, so who reads a command line or a log sets these as keys.
struct VllmLimits {
  double batch_tokens = 0, max_seqs = 0;
};
VllmLimits vllm_limits(const Plan& plan);

}  // namespace vram
