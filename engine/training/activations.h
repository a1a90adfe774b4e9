#pragma once

#include "engine/line.h"
#include "engine/training/layer_tensors.h"
#include "engine/training/pipeline.h"

namespace vram {

/// What of the activations lives at a moment of the step.
enum class Moment : uint8_t {
  forward,   // everything saved of every micro-batch in flight
  backward,  // that, and the working set of the layer that is being differentiated
  last       // end of backward: one layer's only
};

Line activations_line(const Plan& plan, const Stage& stage, const ModelTensors& tensors, Moment moment);

/// Tokens of one micro-batch on one rank: micro_batch × seq ÷ cp.
void push_tokens(const Plan& plan, Factors& factors);

/// Bytes of the stage's checkpoints or saved activations that lie in host memory.
double offloaded_activation_bytes(const Plan& plan, const Stage& stage, const ModelTensors& tensors);

}  // namespace vram
