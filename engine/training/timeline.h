#pragma once

#include <optional>
#include <vector>

#include "engine/training/training.h"

namespace vram {

/// From `t` on, until the stage's next point, no more than `allocated_bytes` are allocated.
struct TimelinePoint {
  double t = 0;  // seconds since the step began; without a step time, its share of the step
  int stage = 0;
  const char* event =
      "";                // "forward", "loss", "backward", "weights", "reduce", "optimizer", "waiting", "repeats", "end"
  int micro_batch = -1;  // forward, loss, backward, weights: with DualPipe counted in each direction
  int layer = -1;        // the model's; -1 for several at once
  uint64_t allocated_bytes = 0;
  // What of it comes and goes; weights, optimizer states, adapters and buffers are the rest.
  uint64_t gradients_bytes = 0, activations_bytes = 0, logits_bytes = 0, gathered_bytes = 0;
};

/// Memory of every pipeline stage along one step, layer by layer, stage by stage, in the order of time. The most of a
/// stage is its `allocated_bytes` in the bill. Times follow the schedule with passes as long as their arithmetic;
/// gradient reduction and the optimizer are drawn as long as one layer's pass. Where micro-batches repeat, a few are
/// drawn, and "repeats" stands for the rest. Empty for an invalid plan. Milliseconds: made on demand. `only`: of one
/// stage.
std::vector<TimelinePoint> training_timeline(const Plan& plan, double step_seconds = 1, std::optional<int> only = {});

}  // namespace vram
