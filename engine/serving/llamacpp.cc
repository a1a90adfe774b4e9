#include "engine/serving/llamacpp.h"

#include <string_view>

#include "engine/text.h"

namespace vram {
namespace {

// src/llama-arch.cpp: the architectures that list LLM_TENSOR_ATTN_QKV, by the model_type that is converted to them.
constexpr std::string_view kFused[] = {"phi3", "phi3small", "gpt2", "gpt_bigcode", "gpt_neox", "bloom",
                                       "mpt",  "falcon",    "dbrx", "chatglm",     "qwen"};

/// Leading digits, taken off.
double take_number(std::string_view& text) {
  double number = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    number = number * 10 + (text.front() - '0');
  }
  return number;
}

/// A build and the month it came in, as months since the year 0.
struct Moment {
  double build, month;
};
constexpr Moment kScheduler{1843, 2024 * 12 + 1}, kInputsInGraph{2400, 2024 * 12 + 3},
    kCopiedWeights{2450, 2024 * 12 + 3}, kAbsorbed{5130, 2025 * 12 + 5}, kLatentsAlone{7830, 2026 * 12 + 2},
    kWindowCache{5436, 2025 * 12 + 6}, kFusedGate{5780, 2025 * 12 + 7}, kSetsRows{6073, 2025 * 12 + 8},
    kHeadFirst{7470, 2025 * 12 + 12}, kValuesFirst{7300, 2025 * 12 + 12}, kKeepsHidden{7600, 2026 * 12 + 1},
    kTwoEmbeddings{7770, 2026 * 12 + 1}, kReadsCopy{10000, 2026 * 12 + 8}, kHalfMasks{9430, 2026 * 12 + 6},
    kConvertsCaches{9501, 2026 * 12 + 6}, kTypesDrafts{10000, 2026 * 12 + 8}, kCudaGraphs{2820, 2024 * 12 + 6},
    kInt8Products{3140, 2024 * 12 + 7}, kReadsHalf{4100, 2024 * 12 + 12}, kFusesVectors{6850, 2025 * 12 + 11};

/// Is it that build or a later one? `otherwise` where no version is given.
bool is_since(std::string_view version, Moment moment, bool otherwise) {
  if (version.find('.') != version.npos) return otherwise;  // another program's release
  const bool build = version.starts_with("b");
  if (build) version.remove_prefix(1);
  const size_t all = version.size();
  const double number = take_number(version);
  const size_t digits = all - version.size();
  if (digits == 0) return otherwise;
  if (build || digits != 4 || !version.starts_with("-")) return number >= moment.build;
  version.remove_prefix(1);
  return number * 12 + take_number(version) >= moment.month;
}

}  // namespace

bool fuses_qkv(const Architecture& a) {
  for (std::string_view type : kFused) {
    if (a.model_type == type) return true;
  }
  return false;
}

bool fuses_gate_up(const Architecture& a) {
  return a.model_type == "phi3" || a.model_type == "glm4" || a.model_type == "chatglm";
}

bool norms_first(const Architecture& a) {
  return !a.model_type.starts_with("olmo2") && !a.model_type.starts_with("olmo3") &&
         !a.model_type.starts_with("exaone4");
}

bool keeps_windows(const Model& model) {
  bool full = false, sliding = false;
  for (const LayerKind& kind : model.kinds) {
    full = full || kind.mixer == Mixer::full;
    sliding = sliding || kind.mixer == Mixer::sliding;
  }
  return full && sliding;
}

LlamacppBuild llamacpp_build(std::string_view engine_version) {
  const std::string_view version = engine_version;
  LlamacppBuild build;
  build.one_buffer = !is_since(version, kScheduler, true);
  build.inputs_apart = !build.one_buffer && !is_since(version, kInputsInGraph, true);
  build.frees_windows = is_since(version, kWindowCache, true);
  build.absorbs_latents = is_since(version, kAbsorbed, true);
  build.caches_values = build.absorbs_latents && !is_since(version, kLatentsAlone, true);
  build.fuses_gate = is_since(version, kFusedGate, false);
  build.masks_in_half = is_since(version, kHalfMasks, false);
  build.converts_caches = is_since(version, kConvertsCaches, false);
  build.logits_of_slots = build.masks_in_half && !version.ends_with("cli");
  build.copies_weights = is_since(version, kCopiedWeights, true);
  build.sets_rows = is_since(version, kSetsRows, false);
  build.head_first = is_since(version, kHeadFirst, false);
  build.values_first = is_since(version, kValuesFirst, false);
  build.reads_copy = is_since(version, kReadsCopy, false);
  build.keeps_hidden = is_since(version, kKeepsHidden, false);
  build.types_drafts = is_since(version, kTypesDrafts, false);
  build.replays_graphs = is_since(version, kCudaGraphs, true);
  build.reads_half = is_since(version, kReadsHalf, true);
  build.int8_products = is_since(version, kInt8Products, true);
  build.fuses_vectors = is_since(version, kFusesVectors, false);
  build.embeds_twice = is_since(version, kTwoEmbeddings, false);
  return build;
}

}  // namespace vram
