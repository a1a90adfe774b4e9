#include "engine/plan/texts.h"

#include <algorithm>
#include <cmath>

#include "engine/model/layer_shape.h"
#include "engine/plan/near.h"
#include "engine/plan/percent.h"
#include "engine/preset_table.h"
#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kMostLayers = 10000;

// Megatron-LM megatron/core/transformer/transformer_config.py, recompute_modules.
constexpr std::string_view kModules[] = {"core_attn", "moe_act", "layernorm",     "mla_up_proj",
                                         "mlp",       "moe",     "shared_experts"};

std::vector<std::string_view> gpu_ids() {
  std::vector<std::string_view> ids;
  for (const PresetRow& row : hardware_presets()) ids.push_back(row.id);
  return ids;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

bool lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

std::string read_pattern(std::string_view text) { return expand_pattern(text).empty() ? "" : std::string(text); }

std::string read_stages(std::string_view text) {
  std::string canonical;
  for (const std::string_view part : split(text, ',')) {
    const auto layers = read_number(part);
    if (!layers || *layers != std::floor(*layers) || *layers < 0 || *layers > kMostLayers) return "";
    if (!canonical.empty()) canonical += ',';
    canonical += write_number(*layers);
  }
  return canonical;
}

std::string read_recompute_modules(std::string_view text) {
  for (const std::string_view part : split(text, ',')) {
    if (std::find(std::begin(kModules), std::end(kModules), part) == std::end(kModules)) return "";
  }
  return std::string(text);
}

std::string read_version(std::string_view text) {
  const auto belongs = [](char c) { return is_alphanumeric(c) || c == '.' || c == '-' || c == '+'; };
  std::string_view number = text;  // 0.9.1, v0.9.1, b9849, 2026-03
  if (!number.empty() && (number[0] == 'v' || number[0] == 'b')) number.remove_prefix(1);
  const bool begins = !number.empty() && is_digit(number[0]);
  const bool usable = begins && text.size() <= 40 && std::all_of(text.begin(), text.end(), belongs);
  return usable ? std::string(text) : "";
}

std::string read_gpus_among(std::string_view text) {
  if (lists(text, kAllGpus)) return std::string(kAllGpus);
  return unknown_gpu_among(text).empty() ? std::string(text) : "";
}

std::vector<std::string_view> gpus_of_list(std::string_view list) {
  return list == kAllGpus ? gpu_ids() : split(list, ',');
}

std::string unknown_gpu_among(std::string_view text) {
  const std::vector<std::string_view> ids = gpu_ids();
  for (const std::string_view part : split(text, ',')) {
    if (std::find(ids.begin(), ids.end(), part) != ids.end()) continue;
    const std::vector<std::string_view> near = near_matches(part, ids);
    return printable(part, 80) + " is none" + (near.empty() ? "" : ", " + std::string(near.front()) + " is one");
  }
  return "";
}

}  // namespace vram
