#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/advice/log/read_log.h"
#include "engine/plan/plan.h"

namespace vram {

/// What a log states of the plan: keys and their values, in the order of the field table.
std::vector<std::pair<Key, std::string>> stated_settings(const LogReading& log);

/// True where the plan has an engine for the tool: Ollama runs llama.cpp.
bool is_engine_of_plan(std::string_view tool);

/// The model preset that a repository's or a file's name means ("Qwen/Qwen3-8B"), "" where there is none, and likewise
/// the GPU ("NVIDIA H100 80GB HBM3") with that much memory.
std::string model_of_name(std::string_view name);
std::string gpu_of_name(std::string_view name, double memory_bytes);

}  // namespace vram
