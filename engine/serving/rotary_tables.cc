#include "engine/serving/rotary_tables.h"

#include <algorithm>
#include <string_view>

#include "engine/serving/vllm_run.h"

namespace vram {
namespace {

double rotary_elements(const Architecture& a) {
  if (a.position != "rope") return 0;
  if (a.rope_head_dim > 0) return a.rope_head_dim;
  return (a.head_dim > 0 ? a.head_dim : a.hidden / std::max(1.0, a.heads)) * a.rotary_fraction;
}

// vllm-ascend#5516, 0.14: cosines and sines are kept apart, too, each of the full width (ops/rotary_embedding.py,
// _record_cos_and_sin_cache_interleaved).
constexpr double kAscendTables = 3, kAscendTablesSince = 14e3;

/// vllm enlarges the table of rotary embeddings in sections, of time, height and width, for the positions of a video
/// (rotary_embedding/mrope.py, MRotaryEmbedding, from 0.7.2 on). Qwen3.5's text models have them, too.
constexpr double kSectionedTable = 4, kSectionedSince = 7002;

bool has_sections(const Architecture& a) {
  for (std::string_view family : {"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5", "glm4v"}) {
    if (a.model_type.starts_with(family)) return true;
  }
  return false;
}

}  // namespace

/// rotary_embedding.py, _compute_cos_sin_cache: in 16 bit 2 MiB of Llama-3, 32 of Llama-3.1; sglang keeps them in fp32
/// on CUDA, and has no second and no longer one of models that scale them layer by layer (gemma3_causal.py,
/// Gemma3RotaryEmbedding).
WeightParcel rotary_tables(const Plan& plan) {
  const Architecture& a = plan.subject->architecture;
  const bool sglang = plan.engine == Engine::sglang, wide = sglang && plan.accelerator->vendor != "AMD";
  if (!sglang && plan.engine != Engine::vllm) return {WeightSection::rotary, 0, 16, 1};
  const bool ascend = !sglang && plan.accelerator->vendor == "Huawei" && release_number(plan) >= kAscendTablesSince;
  const double scaled = sglang ? std::max(1.0, a.rotary_fraction) : 1;
  const bool sections = !sglang && has_sections(a) && release_number(plan) >= kSectionedSince;
  const double tables = sections ? kSectionedTable : ascend ? kAscendTables : 1;
  const double elements = a.max_positions * rotary_elements(a) / scaled * tables;
  return {WeightSection::rotary, elements, wide ? 32.0 : 16.0, 1};
}

}  // namespace vram
