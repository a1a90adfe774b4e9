#pragma once

#include <vector>

#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// A trap of a log's own number, that what one would think first misses: an answer like any other.
bool says_truth(const json& check);

/// A published formula that is wrong: what it gives must not be what the engine gives.
void add_trap(const ServingMap& m, const json& check, std::vector<Measurement>& out);

}  // namespace vram::accuracy
