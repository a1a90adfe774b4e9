#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/advice/log/read_log.h"
#include "engine/plan/plan.h"

namespace vram {

/// A figure that a program printed step after step.
struct Series {
  std::vector<double> allocated_bytes;  // what is allocated between steps
  std::vector<double> peak_bytes;       // the highest so far, or of the step
};

/// What is known of one GPU from a log and from the plan's measured_* keys. Empty: not stated.
struct Measured {
  using Bytes = std::optional<double>;
  // training, and whatever runs on PyTorch
  Bytes allocated, reserved, device, capacity, free, tried, unallocated, process, other, outside, private_pools,
      allowed, mps_other, exceeded, program, largest_free;
  // serving
  Bytes weights, activations, non_torch, graphs, kv_pool, kv_needed, budget, compute, lacking, required;
  std::optional<double> kv_tokens, max_model_len, longest_model_len, cut_model_len, utilization, layers_on_gpu, layers,
      kv_usage, preemptions;
  // speed
  std::optional<double> tokens_per_second, ttft, tpot;

  bool failed = false;         // an allocation was refused
  bool process_known = false;  // what the process holds is stated, not only what the GPU holds
  std::string resource,
      stage;  // "host", "shm", "on-chip", "metal", "buffers", "one-buffer"; "start", "weights", "kv", "compute",
              // "graphs"
  std::string broken;           // "cuBLAS", "NCCL": what failed and does not say for want of what
  bool fixed_segments = false;  // PyTorch's segments cannot grow where it ran
  const char* tool = "";
  int device_index = -1;
  Series series;
  std::vector<double> processes;  // what each process on the GPU holds, where the message lists them
};

Measured measured_of(const LogReading& log, const Plan& plan);

/// True where the tool serves models.
bool is_serving_tool(std::string_view tool);

/// The measured_* keys that say the same, as a share-string fragment: what a link keeps of a log.
std::string measured_fragment(const Measured& measured, bool serving);

}  // namespace vram
