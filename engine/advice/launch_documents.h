#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vram {

/// Values of a configuration file by their path: "zero_optimization.stage" = "2", "parallelism.tensor_parallel_degree"
/// = "8". Lists are their elements with commas, booleans "true" and "false".
using FlatDocument = std::vector<std::pair<std::string, std::string>>;

/// Empty where the text is not JSON.
FlatDocument read_json_document(std::string_view text);

/// TOML and YAML as launchers use them: sections, nested mappings, plain values; no anchors, no multi-line texts.
FlatDocument read_toml_document(std::string_view text);
FlatDocument read_yaml_document(std::string_view text);

/// By its look.
FlatDocument read_document(std::string_view text);

}  // namespace vram
