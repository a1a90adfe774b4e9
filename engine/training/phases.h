#pragma once

#include <vector>

#include "engine/training/pipeline.h"
#include "engine/training/training.h"

namespace vram {

/// The phases of one step on one stage, each at its fullest moment.
std::vector<Phase> stage_phases(const Plan& plan, const Stage& stage);

/// The phase with most allocated; the earlier one where two are alike.
const Phase& fullest(const std::vector<Phase>& phases);

/// Most bytes of activations, logits and gathered weights that any phase has.
uint64_t most_dynamic_bytes(const std::vector<Phase>& phases);

}  // namespace vram
