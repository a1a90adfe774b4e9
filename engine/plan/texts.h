#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vram {

std::vector<std::string_view> split(std::string_view text, char separator);
/// Is it one of a list with commas?
bool lists(std::string_view list, std::string_view name);

// Keys whose text has a grammar. Each answers the canonical text, "" where the given one is unusable.
std::string read_pattern(std::string_view text);            // "5s1f"
std::string read_stages(std::string_view text);             // "20,20,20,20"
std::string read_recompute_modules(std::string_view text);  // "core_attn,mlp"
std::string read_version(std::string_view text);            // "0.9.1"
std::string read_gpus_among(std::string_view text);         // "a100-sxm4-80gb,h100-sxm5-80gb", "all"

inline constexpr std::string_view kAllGpus = "all";

/// The ids of such a list; of "all" those of every preset.
std::vector<std::string_view> gpus_of_list(std::string_view list);

/// The first of such a list that names no accelerator, and what it may have meant: "b200-sxm is none, b200-sxm-192gb is
/// one"; "" where all do.
std::string unknown_gpu_among(std::string_view text);

}  // namespace vram
