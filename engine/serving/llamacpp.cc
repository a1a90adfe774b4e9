#include "engine/serving/llamacpp.h"

#include <string_view>

namespace vram {
namespace {

// src/llama-arch.cpp: the architectures that list LLM_TENSOR_ATTN_QKV, by the model_type that is converted to them.
constexpr std::string_view kFused[] = {"phi3", "phi3small", "gpt2", "gpt_bigcode", "gpt_neox", "bloom",
                                       "mpt",  "falcon",    "dbrx", "chatglm",     "qwen"};

}  // namespace

bool fuses_qkv(const Architecture& a) {
  for (std::string_view type : kFused) {
    if (a.model_type == type) return true;
  }
  return false;
}

bool precedes_scheduler(std::string_view engine_version) {
  constexpr double kFirstBuild = 1843, kFirstYear = 2024;
  const bool build = engine_version.starts_with("b");
  if (build) engine_version.remove_prefix(1);
  double number = 0;
  size_t digits = 0;
  for (; digits < engine_version.size() && engine_version[digits] >= '0' && engine_version[digits] <= '9'; ++digits) {
    number = number * 10 + (engine_version[digits] - '0');
  }
  const bool date = !build && digits == 4 && engine_version.substr(digits).starts_with("-");
  return digits > 0 && number < (date ? kFirstYear : kFirstBuild);
}

bool keeps_windows(const Model& model) {
  bool full = false, sliding = false;
  for (const LayerKind& kind : model.kinds) {
    full = full || kind.mixer == Mixer::full;
    sliding = sliding || kind.mixer == Mixer::sliding;
  }
  return full && sliding;
}

}  // namespace vram
