#pragma once

#include <vector>

#include "engine/advice/answer.h"

namespace vram {

/// The largest micro-batch, the longest sequence and the fewest GPUs of the layout that the plan has.
std::vector<Limit> training_limits(const Plan& plan);

/// The requests at this length and the length at these requests.
std::vector<Limit> serving_limits(const Plan& plan);

}  // namespace vram
