#pragma once

#include <vector>

#include "tests/accuracy/case_file.h"
#include "tests/accuracy/measurement.h"
#include "tests/accuracy/score.h"

namespace vram::accuracy {

/// The measured numbers of a file of any of the formats, each with the engine's answer.
/// The bounds that a file of our own form states, put beside the scores of their families.
void set_bounds(const json& file, std::vector<Score>& scores);

/// `models`: facts about served models beside the file, or null.
std::vector<Measurement> measurements_of(const json& file, const json& models);

}  // namespace vram::accuracy
