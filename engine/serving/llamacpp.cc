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

bool keeps_windows(const Model& model) {
  bool full = false, sliding = false;
  for (const LayerKind& kind : model.kinds) {
    full = full || kind.mixer == Mixer::full;
    sliding = sliding || kind.mixer == Mixer::sliding;
  }
  return full && sliding;
}

}  // namespace vram
