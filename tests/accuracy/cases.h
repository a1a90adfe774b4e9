#pragma once

#include <vector>

#include "tests/accuracy/case_file.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// The measured numbers of a file of any of the formats, each with the engine's answer.
/// `models`: facts about served models beside the file, or null.
std::vector<Measurement> measurements_of(const json& cases, const json& models);

}  // namespace vram::accuracy
