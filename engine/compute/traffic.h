#pragma once

#include <vector>

#include "engine/compute/compute.h"
#include "engine/compute/work.h"
#include "engine/sheet.h"

namespace vram {

/// What one GPU of an average pipeline stage sends in one step, reason by reason, over which link. `exposed_seconds`
/// is what the arithmetic of `work` cannot hide.
std::vector<Traffic> step_traffic(Sheet& sheet, const Plan& plan, const MicroBatchWork& work);

double exposed_seconds(const std::vector<Traffic>& traffic);

}  // namespace vram
