#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

/// A figure whose name says that another engine, format, GPU or size ran than the case's own ("vllm_awq_3090_tok_s",
/// "bf16_tpot_ms"): the case of that one, and the figure under the rest of its name.
struct FigureVariant {
  std::string name;  // in the case
  json of_figure;
};
std::vector<FigureVariant> figure_variants(const json& c);

}  // namespace vram::accuracy
