#include "engine/serving/cache_groups.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/serving/llamacpp.h"
#include "engine/serving/sglang.h"
#include "engine/serving/vllm_run.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

constexpr double kWideState = 4, kHalf = 2;  // bytes of an element of a state

bool same_cache(const CacheGroup& a, const CacheGroup& b) {
  return a.heads == b.heads && a.head_elements == b.head_elements && a.bits == b.bits && a.divisor == b.divisor &&
         a.window == b.window && a.state_bytes == b.state_bytes && a.latent == b.latent && a.indexer == b.indexer;
}

void merge(std::vector<CacheGroup>& groups, const CacheGroup& group) {
  if (group.layers <= 0) return;
  for (CacheGroup& known : groups) {
    if (same_cache(known, group)) {
      known.layers += group.layers;
      return;
    }
  }
  groups.push_back(group);
}

// vllm's first engine, of latents on CUDA (worker/cache_engine.py, align_to_256bytes): from 0.7.2 on (vllm#12676),
// taken back before 0.8 (vllm#14842).
constexpr double kAlignedSince = 7002, kAlignedUntil = 8e3, kAlignedBytes = 256;

/// FlashMLA's kernels, which vllm and sglang run sparse attention with on CUDA but for data centres' Blackwell.
bool runs_flash_mla(const Plan& plan) {
  const bool serves = plan.engine == Engine::vllm || plan.engine == Engine::sglang;
  if (!serves || !plan.accelerator || plan.accelerator->vendor == "AMD") return false;
  return !plan.accelerator->family.starts_with("NVIDIA Blackwell") || plan.accelerator->unified_memory;
}

/// In fp8 their latent has an fp32 scale a 128, and its rotary part stays in 16 bit: 656 B of DeepSeek-V3.2's (vllm
/// flashmla_sparse.py, fp8_ds_mla; sglang memory_pool.py, override_kv_cache_dim).
double sparse_fp8_elements(const Attention& a) { return a.kv_lora_rank * (1 + 4.0 / 128) + 2 * a.rope_head_dim; }

double latent_elements(const Plan& plan, const Attention& a, double bits) {
  const bool twice = plan.engine == Engine::llamacpp && llamacpp_build(plan.engine_version).caches_values;
  const double elements = a.kv_elements_per_token() + (twice ? a.kv_lora_rank : 0), release = release_number(plan);
  if (runs_flash_mla(plan) && a.index_head_dim > 0 && bits == 8) return sparse_fp8_elements(a);
  const bool aligned = plan.engine == Engine::vllm && plan.accelerator && plan.accelerator->vendor != "AMD" &&
                       release >= kAlignedSince && release < kAlignedUntil;
  return aligned ? round_up(elements * bits / 8, kAlignedBytes) * 8 / bits : elements;
}

/// sglang's pools have every layer of the model, those that read another's cache, too (srt/configs/model_config.py,
/// get_hybrid_layer_ids): 35 window and 7 full layers of Gemma 4 E4B, of which 18 reuse.
Attention cached(const Plan& plan, Attention a) {
  if (plan.engine == Engine::sglang) a.reuses_kv = false;
  if (plan.engine == Engine::llamacpp && !llamacpp_build(plan.engine_version).absorbs_latents && a.kv_lora_rank > 0) {
    a.kv_lora_rank = 0;
    a.kv_heads = a.heads;
    a.qk_head_dim = a.nope_head_dim + a.rope_head_dim;
  }
  return a;
}

/// Of an element of a token's keys and values, which may be of two types. A latent is of the keys' type.
double cached_bits(const Plan& plan, const Attention& a) {
  const double keys = kv_format(plan).bits, values = kv_values_format(plan).bits;
  if (a.kv_lora_rank > 0 || keys == values) return keys;
  return (a.qk_head_dim * keys + a.v_head_dim * values) / (a.qk_head_dim + a.v_head_dim);
}

CacheGroup attention_group(const Plan& plan, const Replica& replica, const Attention& a, bool windowed, double layers) {
  CacheGroup group;
  group.layers = layers;
  group.bits = cached_bits(plan, a);
  group.window = windowed ? a.window : 0;
  group.latent = a.kv_lora_rank > 0;
  if (group.latent) {  // one tensor, whole on every tensor-parallel rank
    group.heads = 1;
    group.head_elements = latent_elements(plan, a, group.bits);
  } else {
    group.heads = std::max(1.0, a.kv_heads);
    group.head_elements = a.kv_elements_per_token() / group.heads;
    group.divisor = std::min(replica.tp, group.heads);  // more ranks than KV heads: each keeps one
  }
  group.id = group.window > 0 ? "sliding" : "full";
  group.label = group.latent ? "Latent KV" : group.window > 0 ? "Sliding-window KV" : "KV";
  return group;
}

/// Keys of sparse attention's indexer: one head in fp8 with an fp32 scale per 128, on every rank
/// (DeepSeek-V3.2-Exp inference/model.py, Indexer.k_cache and k_scale_cache); llama.cpp's are a cache like the others
/// (llama_kv_cache_dsa).
CacheGroup indexer_group(const Plan& plan, const Attention& a, double layers) {
  CacheGroup group;
  group.id = "indexer";
  group.label = "Indexer keys";
  group.layers = layers;
  group.heads = 1;
  group.head_elements = a.index_head_dim;
  group.bits = plan.engine == Engine::llamacpp ? kv_format(plan).bits : 8.25;
  group.indexer = true;
  return group;
}

/// vllm's convolution states reach over the tokens that are drafted, too
/// (model_executor/layers/mamba/mamba_utils.py, gated_delta_net_state_shape).
double conv_elements(const Plan& plan, const LayerKind& kind) {
  const double reach = plan.subject->architecture.linear.conv - 1;
  const bool drafts = plan.engine == Engine::vllm && plan.draft_tokens > 0 && reach > 0;
  return kind.conv_state_elements * (drafts ? 1 + plan.draft_tokens / reach : 1);
}

/// Recurrent states are in fp32, of vllm where the model says so, else in the model's type
/// (model_executor/layers/mamba/mamba_utils.py, MambaStateDtypeCalculator).
double state_width(const Plan& plan) {
  return plan.engine == Engine::vllm && plan.subject->architecture.linear.narrow_state ? kHalf : kWideState;
}

/// Convolution states are in the compute type; llama.cpp's are in fp32 like all of its states (llama-memory-recurrent).
double conv_width(const Plan& plan) { return plan.engine == Engine::llamacpp ? kWideState : kHalf; }

CacheGroup state_group(const Plan& plan, const Replica& replica, const LayerKind& kind, double layers) {
  CacheGroup group;
  group.id = "state";
  group.label = "Recurrent and convolution states";
  group.layers = layers;
  group.state_bytes =
      (kind.state_elements * state_width(plan) + conv_elements(plan, kind) * conv_width(plan)) / replica.tp;
  return group;
}

void add_kind(const Plan& plan, const Replica& replica, const LayerKind& kind, double layers, bool windows,
              std::vector<CacheGroup>& groups) {
  if (kind.state_elements + kind.conv_state_elements > 0) merge(groups, state_group(plan, replica, kind, layers));
  const Attention a = cached(plan, kind.attention);
  const bool attends = kind.mixer == Mixer::full || kind.mixer == Mixer::sliding;
  if (!attends || a.kv_elements_per_token() <= 0) return;
  merge(groups, attention_group(plan, replica, a, windows && kind.mixer == Mixer::sliding, layers));
  if (a.index_head_dim > 0) merge(groups, indexer_group(plan, a, layers));
}

/// ... and pads the last of a kind.
void pad_groups(const Plan& plan, std::vector<CacheGroup>& groups) {
  const double size = group_layers(plan, groups);
  for (CacheGroup& group : groups) {
    group.allocated_layers = size > 0 ? round_up(group.layers, size) : group.layers;
  }
}

/// llama.cpp's draft has a cache of types of its own (-ctkd, -ctvd), 16 bit where none is given.
double draft_bits(const Plan& plan, const CacheGroup& group) {
  const bool apart = plan.engine == Engine::llamacpp && llamacpp_build(plan.engine_version).types_drafts;
  return apart ? std::max(16.0, group.bits) : group.bits;
}

std::vector<CacheGroup> groups_of(const Plan& plan, const Replica& replica, const ServingStage& stage, bool windows) {
  const Model& model = *plan.subject;
  std::vector<CacheGroup> groups;
  if (!model.has_kv_shape) return groups;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    add_kind(plan, replica, model.kinds[k], model.layers_of_kind(k, stage.first, stage.count), windows, groups);
  }
  // A draft of decoder layers caches as the model's last layer does (EAGLE, arXiv 2401.15077, section 4).
  if (stage.has_head && !model.layers.empty()) {
    std::vector<CacheGroup> drafts;
    add_kind(plan, replica, model.layer(model.layers.size() - 1), draft_layer_count(plan), windows, drafts);
    for (CacheGroup& draft : drafts) {
      draft.bits = draft_bits(plan, draft);
      merge(groups, draft);
    }
  }
  pad_groups(plan, groups);
  return groups;
}

// VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE is off by itself in the sources of autumn 2025, on in those of
// 2026 (envs.py; config/vllm.py, __post_init__): between them 0.13 of December is taken.
constexpr double kFreesChunksSince = 13e3;

/// Llama 4's local layers keep every token: 240 GiB for 10,485,760 tokens of Scout on each of 8 GPUs (vllm#19407, 0.9).
bool keeps_chunks(const Plan& plan) {
  return plan.engine == Engine::vllm && release_number(plan) < kFreesChunksSince &&
         plan.subject->architecture.model_type.starts_with("llama4");
}

}  // namespace

bool frees_windows(const Plan& plan) {
  if (plan.engine == Engine::llamacpp) {
    return keeps_windows(*plan.subject) && llamacpp_build(plan.engine_version).frees_windows;
  }
  if (keeps_chunks(plan)) return false;
  if (plan.engine == Engine::trtllm) return false;  // max_attention_window: the longest request unless one is given
  return plan.engine != Engine::sglang || has_window_pool(plan.subject->architecture);
}

double group_layers(const Plan& plan, const std::vector<CacheGroup>& groups) {
  double least = 0, most = 0, kinds = 0;
  for (const CacheGroup& group : groups) {
    if (group.indexer) continue;  // indexer keys follow the groups of their layers
    least = kinds == 0 ? group.layers : std::min(least, group.layers);
    most = std::max(most, group.layers);
    kinds += 1;
  }
  if (plan.engine != Engine::vllm || kinds < 2) return 0;
  return most < 1.25 * least ? most : least;
}

std::vector<CacheGroup> cache_groups(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  return groups_of(plan, replica, stage, frees_windows(plan));
}

std::vector<CacheGroup> read_groups(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  return groups_of(plan, replica, stage, plan.engine == Engine::trtllm || frees_windows(plan));
}

uint64_t token_bytes(const std::vector<CacheGroup>& groups, bool beyond_windows) {
  double bits = 0;
  for (const CacheGroup& group : groups) {
    if (!beyond_windows || group.window <= 0) bits += group.layers * group.bits_per_token();
  }
  return static_cast<uint64_t>(std::ceil(bits / 8));
}

}  // namespace vram
