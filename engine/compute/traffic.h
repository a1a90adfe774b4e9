#pragma once

#include <vector>

#include "engine/compute/compute.h"

namespace vram {

/// What one GPU of the fullest pipeline stage sends in one step, reason by reason, over which link. `exposed_seconds`
/// is what the arithmetic cannot hide; `compute_seconds` is the time of a step's arithmetic alone.
std::vector<Traffic> step_traffic(const Plan& plan, double compute_seconds, double attention_share);

double exposed_seconds(const std::vector<Traffic>& traffic);

}  // namespace vram
