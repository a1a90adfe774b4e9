#pragma once

#include <vector>

#include "engine/compute/compute.h"
#include "engine/compute/work.h"

namespace vram {

/// Idle share of a pipeline: (p - 1) / (v m) of the busy time, by schedule.
double bubble_overhead(const Plan& plan);

/// The seconds of one step, and the messages in it.
StepSeconds step_seconds(Sheet& sheet, const Plan& plan, std::vector<Traffic>& traffic);

/// log2(value) with straight lines between powers of two; 0 for values up to 1.
double doublings(double value);

}  // namespace vram
