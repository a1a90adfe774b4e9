#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// Bytes that go through a GPU's memory, forward and backward.
struct MemoryBytes {
  double forward = 0, backward = 0;
};

/// Everything of one layer and one micro-batch that is no matrix product: norms, residual stream, rotary embeddings,
/// activations, casts, score matrices, the way of tokens to their experts, recurrences.
MemoryBytes layer_bytes(const Plan& plan, const LayerKind& kind);

/// Gradients of a layer's weights are added to those of earlier micro-batches.
double gradient_bytes(const Plan& plan, const LayerKind& kind);

/// Head and loss.
MemoryBytes loss_bytes(const Plan& plan);

}  // namespace vram
