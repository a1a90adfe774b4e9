#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/log/read_log.h"
#include "engine/plan/plan.h"

namespace vram {

/// A key of the plan as a log has it.
struct StatedSetting {
  Key key;
  std::string value;
  bool printed = true;  // else what the program does where it is told nothing
};

/// What a log states of the plan, in the order of the field table. `plan`: the one at hand, whose GPU decides what a
/// server does without a flag.
std::vector<StatedSetting> stated_settings(const LogReading& log, const Plan& plan);

/// True where the plan has an engine for the tool: Ollama runs llama.cpp.
bool is_engine_of_plan(std::string_view tool);

/// The preset of a GPU's name ("NVIDIA H100 80GB HBM3") with that much memory, "" where there is none.
std::string gpu_of_name(std::string_view name, double memory_bytes);

}  // namespace vram
