#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

/// What a field lists between semicolons: "RTX 4090 24GB x4; RTX 5090 32GB x2".
std::vector<std::string> alternatives(const std::string& field);

/// How many parts of a figure's name from `at` on name a card ("4x4090", "a100_sxm_80", "3090ti"), which becomes the
/// case's: in the words of its list, where it stands there.
size_t take_card(const std::vector<std::string>& parts, size_t at, json& c);

/// The same of a model: "llama31_8b", "qwen25coder_14b", "26b".
size_t take_model(const std::vector<std::string>& parts, size_t at, json& c);

}  // namespace vram::accuracy
