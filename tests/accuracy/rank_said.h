#pragma once

#include <optional>
#include <string>

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

/// Which of a pipeline's stages "weights_pp1" is of: where the case has a "pp0", too, the number is no size.
std::optional<int> stage_said(const json& c, const std::string& name);

/// What a rank has of the whole where ranks are uneven, as the case says it: 0.5 of "k_gib_rank0" beside "KV heads
/// 2/1/1", of states by the parts that "state" stands before. Nothing where they are even.
std::optional<double> share_of_rank(const json& c, const std::string& name, const char* of);

}  // namespace vram::accuracy
