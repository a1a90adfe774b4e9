#pragma once

#include <vector>

#include "tests/accuracy/case_file.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// The measured numbers of a file of any of the formats, each with the engine's answer.
std::vector<Measurement> measurements_of(const json& cases);

}  // namespace vram::accuracy
