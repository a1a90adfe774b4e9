#pragma once

#include <vector>

#include "tests/accuracy/case_file.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// Bytes that autograd saves of one layer, in every measured shape (the format of activations.json).
std::vector<Measurement> activation_measurements(const json& c);

}  // namespace vram::accuracy
