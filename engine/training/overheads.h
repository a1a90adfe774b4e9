#pragma once

#include "engine/line.h"
#include "engine/plan/plan.h"

namespace vram {

/// What the caching allocator reserves beyond what is allocated: a share of `dynamic_bytes`, the activations, logits
/// and gathered weights of the phase that has most of them.
Line fragmentation_line(const Plan& plan, uint64_t dynamic_bytes);

/// What a process takes of the device besides PyTorch's allocator; `overhead` replaces it and communication.
Line context_line(const Plan& plan);

/// Communicators: one for each kind of parallel group that the rank is in.
Line communication_line(const Plan& plan);

}  // namespace vram
