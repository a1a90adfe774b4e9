#pragma once

#include <string>

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

/// The speeds of a case beside each other, as `siblings` of it and of its variants.
json siblings_of(const json& c);

/// Whether a word of a figure's name that nothing is known of leaves the plan as it is: the case's own fields say it,
/// or settings beside go by it ("long_isl" of "long_out_tok_s"), or no other figure differs by such a word, or those
/// that do measured the same.
bool is_label(const json& c, const std::string& figure, const std::string& word);

}  // namespace vram::accuracy
