#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/measurement.h"
#include "tests/accuracy/score.h"

namespace vram::accuracy {

std::string text_table(const std::vector<Score>& scores);
std::string json_table(const std::vector<Score>& scores);
std::string case_list(const std::vector<Measurement>& measurements);

}  // namespace vram::accuracy
