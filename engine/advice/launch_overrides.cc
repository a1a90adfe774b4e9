#include "engine/advice/launch_overrides.h"

#include <algorithm>
#include <string>

#include "engine/advice/launch_pattern.h"
#include "engine/plan/texts.h"

// llama.cpp common/arg.cpp, parse_tensor_buffer_overrides; src/llama-model-loader.cpp, create_tensor: regex_search.
namespace vram {
namespace {

constexpr size_t kMostLayers = 10'000;

struct Override {
  NamePattern pattern;
  bool to_host;
};

std::vector<Override> read_overrides(const std::vector<std::string_view>& values) {
  std::vector<Override> out;
  for (std::string_view value : values) {
    for (std::string_view pair : split(value, ',')) {
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view device = pair.substr(equals + 1);
      out.push_back({NamePattern(pair.substr(0, equals)), device == "CPU" || device.ends_with("_Host")});
    }
  }
  return out;
}

const Override* override_of(std::vector<Override>& overrides, const std::string& name) {
  for (Override& one : overrides) {
    if (one.pattern.is_in(name)) return &one;
  }
  return nullptr;
}

bool is_on_host(std::vector<Override>& overrides, const std::string& name) {
  const Override* found = override_of(overrides, name);
  return found != nullptr && found->to_host;
}

}  // namespace

ExpertOverrides expert_overrides(const std::vector<std::string_view>& values, size_t layers) {
  std::vector<Override> overrides = read_overrides(values);
  ExpertOverrides out;
  double tensors = 0;
  bool ended = false;
  for (size_t i = 0; i < std::min(layers, kMostLayers); ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    int of_layer = 0;
    for (const char* part : {"gate", "up", "down"})
      of_layer += is_on_host(overrides, layer + "ffn_" + part + "_exps.weight") ? 1 : 0;
    for (const char* other : {"attn_q.weight", "ffn_gate_inp.weight", "ffn_gate_shexp.weight", "ffn_norm.weight"})
      out.has_others = out.has_others || override_of(overrides, layer + other) != nullptr;
    tensors += of_layer;
    if (of_layer > 0 && (ended || of_layer < 3)) out.are_first = false;
    ended = ended || of_layer < 3;
  }
  out.layers = tensors / 3;
  for (const Override& one : overrides) out.is_read = out.is_read && one.pattern.is_read();
  return out;
}

}  // namespace vram
