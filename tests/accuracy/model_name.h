#pragma once

#include <string>

namespace vram::accuracy {

/// The preset of that name; else the only one whose name it begins ("Nemotron_3_Nano"); "" for none.
std::string preset_named(const std::string& name);

/// The preset whose name stands in a text: "meta-llama/Llama-3.1-8B-Instruct", "DeepSeek-R1-0528-Qwen3-8B" (the last
/// one counts, and the longest of those that begin there).
std::string preset_within(const std::string& text);

}  // namespace vram::accuracy
