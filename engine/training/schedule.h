#pragma once

#include <vector>

#include "engine/plan/plan.h"

namespace vram {

enum class PassKind : uint8_t {
  forward,
  backward,  // gradients of inputs and weights, or with a zero bubble of inputs alone
  weights    // gradients of the weights, put off until they fill a bubble
};

/// One pass of a micro-batch through one of a rank's chunks of layers. With DualPipe the chunk is the direction, and
/// micro-batches are counted in each.
struct Pass {
  PassKind kind = PassKind::forward;
  int micro_batch = 0, chunk = 0;
  bool frees = false;  // the chunk's activations of that micro-batch are gone afterwards
};

/// What rank `rank` runs in a step of so many micro-batches, in its order.
std::vector<Pass> rank_passes(const Plan& plan, int rank, int micro_batches);

/// Where a rank's chunk stands among the chunks that a micro-batch passes: 0 is the first.
int chunk_position(const Plan& plan, int rank, int chunk);
/// Chunks that a micro-batch passes.
int chunks_on_the_way(const Plan& plan);

}  // namespace vram
