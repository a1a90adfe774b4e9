#pragma once

#include <vector>

#include "engine/advice/findings.h"

namespace vram {

/// What types of the KV cache forbid, and where they make attention the processor's work.
void add_cache_notices(const Plan& plan, std::vector<Finding>& out);

}  // namespace vram
