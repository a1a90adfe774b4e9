#pragma once

#include <vector>

#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// A check whose name says of which figure it is: at the ranks, the pool and the storage that it means.
void add_named_check(const ServingMap& m, const json& check, Figure figure, std::vector<Measurement>& out);

}  // namespace vram::accuracy
