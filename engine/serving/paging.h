// What paging is worth: places in the KV cache that requests hold and do not fill.
#pragma once

#include <optional>

#include "engine/plan/plan.h"

namespace vram {

/// Shares of the tokens' places that requests of the plan's mean lengths hold, once they are whole. Empty where the
/// plan has no lengths, or the engine is told its cells (llama.cpp's -c).
struct UnusedPlaces {
  std::optional<double> held;      // as the engine of the plan holds them
  std::optional<double> reserved;  // had each request max_len reserved for it
};

/// `block`: tokens of a KV block.
UnusedPlaces unused_places(const Plan& plan, double block);

}  // namespace vram
