#pragma once

#include <optional>
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

/// A check of other weights than the case's own, which has a check, too: "weights_1.5b", "weights_w8a16".
std::optional<FigureVariant> check_variant(const json& c, const json& check);

}  // namespace vram::accuracy
