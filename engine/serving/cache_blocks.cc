#include "engine/serving/cache_blocks.h"

#include <algorithm>
#include <cmath>

#include "engine/serving/vllm_run.h"

namespace vram {
namespace {

// vllm model_executor/models/config.py, HybridAttentionMambaModelConfig: what a block of latent attention's kernels
// holds.
constexpr double kLatentAlignment = 64;

bool hybrid_states(const Plan& plan, const std::vector<CacheGroup>& groups) {
  bool state = false, attention = false;
  for (const CacheGroup& group : groups) (group.state_bytes > 0 ? state : attention) = true;
  return plan.engine == Engine::vllm && state && attention;
}

double attention_bits(const std::vector<CacheGroup>& groups) {
  double bits = 0;
  for (const CacheGroup& group : groups) bits = std::max(bits, group.bits_per_token());
  return bits;
}

}  // namespace

double block_tokens(const Plan& plan, const std::vector<CacheGroup>& groups) {
  const double block = std::max(1.0, plan.block), bits = attention_bits(groups);
  if (!hybrid_states(plan, groups) || bits <= 0) return block;
  double page = 0, step = block;
  for (const CacheGroup& group : groups) {
    page = std::max(page, group.state_bytes);
    if (group.latent) step = std::max(step, kLatentAlignment);
  }
  return std::max(block, round_up(page * 8 / bits, step));
}

double tokens_of_one_group(const Plan& plan, const std::vector<CacheGroup>& groups, double bytes) {
  const double size = group_layers(plan, groups), block = block_tokens(plan, groups);
  const double block_bytes = size * block * attention_bits(groups) / 8;
  double count = 0;
  for (const CacheGroup& group : groups) count += size > 0 && !group.indexer ? group.allocated_layers / size : 0;
  return block_bytes > 0 ? std::floor(std::floor(bytes / block_bytes) / count) * block : 0;
}

double state_page(const Plan& plan, const std::vector<CacheGroup>& groups, const CacheGroup& group) {
  if (!hybrid_states(plan, groups)) return group.state_bytes;
  return block_tokens(plan, groups) * attention_bits(groups) / 8;
}

/// vllm keeps a state for each token that may be refused, and where prefixes are cached one more
/// (v1/kv_cache_interface.py, MambaSpec.max_memory_usage_bytes; mamba_cache_mode "align"); llama.cpp those of the
/// tokens that it drafts, to go back to (598.50 MiB of Qwen3.5-27B's shape with three: "3 rs_seq", where one is
/// 149.62).
double states_a_request(const Plan& plan) {
  if (plan.engine == Engine::llamacpp) return 1 + plan.draft_tokens;
  if (plan.engine != Engine::vllm) return 1;
  return 1 + plan.draft_tokens + (plan.prefix > 0 || vllm_run(plan).caches_states ? 1 : 0);
}

}  // namespace vram
