#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// A flag that set a key.
struct LaunchSetting {
  std::string flag;  // as it was given: "--tensor-parallel-size 8"
  Key key;
  std::string value;  // canonical
};

/// A launch command or configuration as read.
struct LaunchReading {
  std::vector<std::string> programs;    // "vLLM", "Megatron-LM": whose flags were read; empty: none was recognised
  bool trains = false, serves = false;  // what those programs do
  Plan plan;                            // the one given, with what the flags say on top
  std::vector<LaunchSetting> settings;  // in the order of the launcher's table
  std::vector<std::string> unsaid;      // flags that no key can say, as they were given
  std::vector<Message> messages;        // unusable values, unknown models, what was assumed
};

/// The flags of vLLM, SGLang, TensorRT-LLM, llama.cpp, Ollama, Megatron-LM, DeepSpeed, accelerate, torchtitan and
/// transformers, whole scripts with their variables and here-documents, and their configuration files alone. Keys that
/// a launcher has a flag for take the launcher's own default where the flag is absent; all others stay as in `plan`,
/// but that `view` turns to the bill that the programs are about.
LaunchReading read_launch(std::string_view text, const Plan& plan);

/// The plan as a script for its framework and its engine, `view` first. What no flag can say stands there as comments.
std::string write_launch(const Plan& plan);

}  // namespace vram
