#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/measurement.h"
#include "tests/accuracy/score.h"

namespace vram::accuracy {

std::string text_table(const std::vector<Score>& scores);
std::string json_table(const std::vector<Score>& scores);
/// 0.044 -> "4.4".
std::string show_share(double share);
/// The cases in the form of tests/cases, without bounds.
std::string own_cases(const std::vector<Measurement>& measurements);
/// The page docs/ACCURACY.md.
std::string accuracy_page(const std::vector<Measurement>& measurements, const std::vector<Score>& scores);
std::string case_list(const std::vector<Measurement>& measurements);

}  // namespace vram::accuracy
