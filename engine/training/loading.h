#pragma once

#include <cstdint>
#include <optional>

#include "engine/plan/plan.h"

namespace vram {

/// Host memory of one node while the model is loaded, where a library reads it whole; empty where it maps files or
/// reads a rank's share into place.
std::optional<uint64_t> loading_host_bytes_per_node(const Plan& plan);

}  // namespace vram
