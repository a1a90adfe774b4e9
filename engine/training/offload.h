#pragma once

#include <cstdint>
#include <optional>

#include "engine/plan/plan.h"

namespace vram {

/// Host memory of one node that offloading takes; empty where nothing is offloaded.
std::optional<uint64_t> host_bytes_per_node(const Plan& plan);

}  // namespace vram
