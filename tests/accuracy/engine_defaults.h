#pragma once

#include <string>

#include "engine/plan/plan.h"

namespace vram::accuracy {

// What an engine of some version chooses by itself where a log does not say what was asked for. A plan's own defaults
// never change, so these are set as its keys.

/// unsloth_zoo/vllm_utils.py, load_vllm (2025): sequences of a batch by the GiB that weights leave.
double unsloth_sequences(double left_gib);

/// sglang/srt/server_args.py: mem_fraction_static. `said`: the model's name and class, which tell of a vision tower;
/// `attention_ranks`: data-parallel ones within the tensor-parallel group (enable_dp_attention), 1 without.
double sglang_fraction(const Plan& plan, const std::string& said, double attention_ranks);

/// A model with a vision tower, by its name or class.
bool says_tower(const std::string& said);

/// tensorrt_llm/builder.py, BuildConfig.max_batch_size.
double trtllm_slots(const Plan& plan);

/// 0.6.5 -> 6005; nothing given is newer than all.
double version_number(const std::string& text);

/// TensorRT-LLM's release of a month, "2024-11"; empty where the text holds none (its GitHub releases).
std::string trtllm_release(const std::string& said);

/// llama.cpp switches flash attention on by itself, where it can (-fa auto; llama.cpp#15434, b6325 of 2025-08).
bool llamacpp_flash(const std::string& version);

}  // namespace vram::accuracy
