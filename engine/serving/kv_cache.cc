#include "engine/serving/kv_cache.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/serving/llamacpp.h"
#include "engine/serving/sglang.h"
#include "engine/serving/vllm_run.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

constexpr const char* kKvNote =
    "2 x layers x KV heads x head size x bytes (arXiv 2305.13245); latent: arXiv 2405.04434, table 1";
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

/// Does the engine free what has left a layer's window?
bool frees_windows(const Plan& plan) {
  if (plan.engine == Engine::llamacpp) {
    return keeps_windows(*plan.subject) && llamacpp_build(plan.engine_version).frees_windows;
  }
  if (plan.engine == Engine::trtllm) return false;  // max_attention_window: the longest request unless one is given
  return plan.engine != Engine::sglang || has_window_pool(plan.subject->architecture);
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

/// vllm cuts the layers of a hybrid model into groups of equal size (v1/core/kv_cache_utils.py,
/// _get_kv_cache_groups_uniform_page_size). 0: all layers are alike.
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

/// ... and pads the last of a kind.
void pad_groups(const Plan& plan, std::vector<CacheGroup>& groups) {
  const double size = group_layers(plan, groups);
  for (CacheGroup& group : groups) {
    group.allocated_layers = size > 0 ? round_up(group.layers, size) : group.layers;
  }
}

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

/// Bytes of state of one layer; vllm pads them to a page of attention.
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

Factors token_factors(const CacheGroup& group, double requests, double tokens) {
  Factors factors;
  if (requests != 1) factors.push_back(times("n", requests, "requests"));
  factors.push_back(times("L", group.allocated_layers, "layers"));
  if (group.heads == 1 && group.latent) {
    factors.push_back(times("c", group.head_elements, "latent and rotary elements"));
  } else if (std::fmod(group.head_elements, 2) == 0 && !group.indexer) {
    factors.push_back(times("", 2, "K and V"));
    factors.push_back(times("kv", group.heads, "KV heads"));
    factors.push_back(times("d", group.head_elements / 2, "elements a head"));
  } else {
    factors.push_back(times("kv", group.heads, "heads"));
    factors.push_back(times("d", group.head_elements, "elements a head"));
  }
  factors.push_back(times("t", tokens, "tokens"));
  add_width(factors, group.bits);
  if (group.divisor > 1) factors.push_back(over("tp", group.divisor, "tensor parallel"));
  return factors;
}

/// Tokens of a shared prefix that need no second copy.
double tokens_shared(const CacheGroup& group, double tokens, double shared) {
  return group.window > 0 && group.window < tokens ? 0 : shared;  // a window slides past the prefix
}

/// Prefix tokens found in the cache: whole blocks of them.
double prefix_tokens(const Plan& plan, double block) {
  const double hit = std::min(plan.prefix, plan.prompt) * plan.prefix_hit;
  return block > 1 ? std::floor(hit / block) * block : hit;
}

/// llama.cpp's cells come in steps of 256; in builds before 2025-11 of 32 without flash attention (llama-context.cpp).
double cell_step(const Plan& plan) { return plan.flash ? 256 : 32; }

/// Cells of windows and one micro-batch, at most the whole context (src/llama-kv-cache-iswa.cpp, size_swa).
double window_cells(const Plan& plan, double window, double slots, double tokens) {
  return round_up(std::min(slots * round_up(tokens, cell_step(plan)), slots * window + plan.ubatch), cell_step(plan));
}

/// One cache for all slots has one micro-batch beyond all windows; apart, each slot has its own.
bool shares_micro_batch(const Plan& plan) {
  return plan.engine == Engine::llamacpp && plan.unified && plan.concurrency > 1;
}

double window_surplus_tokens(const Plan& plan, const CacheGroup& group) {
  const double tokens = request_tokens(plan), slots = plan.concurrency;
  if (!shares_micro_batch(plan) || group.window <= 0 || group.window >= tokens) return 0;
  return std::max(0.0, window_cells(plan, group.window, slots, tokens) - slots * group.window);
}

double group_bytes(const CacheGroup& group, double tokens) {
  return std::ceil(group.allocated_layers * group.bits_per_token() * tokens / 8);
}

Line longest_line(Sheet& sheet, const Plan& plan, const std::vector<CacheGroup>& groups, double requests) {
  return sheet.group("requests", "Slots of the longest request",
                     request_lines(sheet, plan, groups, requests, plan.max_len));
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

}  // namespace

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

namespace {

// vllm model_executor/models/config.py, HybridAttentionMambaModelConfig: what a block of latent attention's kernels
// holds.
constexpr double kLatentAlignment = 64;

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

namespace {

/// sglang sizes the pool of windows as a share of the other: a request takes of both what the scarcer one makes it.
double pooled_tokens(const Plan& plan, const CacheGroup& group, double tokens) {
  const double windowed = std::min(plan.subject->architecture.window, tokens) / kWindowPoolRatio;
  return (group.window > 0 ? kWindowPoolRatio : 1) * std::max(tokens, windowed);
}

}  // namespace

namespace {

double cells_kept(const Plan& plan, const CacheGroup& group, double tokens, double block) {
  const double step = std::max(block, cell_step(plan)), slots = shares_micro_batch(plan) ? plan.concurrency : 1;
  if (group.window <= 0) return round_up(slots * tokens, step) / slots;
  return shares_micro_batch(plan) ? std::min(group.window, tokens) : window_cells(plan, group.window, 1, tokens);
}

}  // namespace

double llamacpp_cells(const Plan& plan) {
  const double tokens = std::max(1.0, (plan.unified ? plan.concurrency : 1) * request_tokens(plan));
  return round_up(tokens, std::max(plan.block, cell_step(plan)));
}

double llamacpp_window_cells(const Plan& plan) {
  const double window = plan.subject->architecture.window;
  if (window <= 0 || !keeps_windows(*plan.subject)) return 0;
  const double slots = shares_micro_batch(plan) ? plan.concurrency : 1, tokens = request_tokens(plan);
  if (!frees_windows(plan)) return round_up(slots * tokens, cell_step(plan));  // a mask of their own over all cells
  return window_cells(plan, window, slots, tokens);
}

double tokens_kept(const Plan& plan, const CacheGroup& group, double tokens, double block) {
  if (plan.engine == Engine::llamacpp) return cells_kept(plan, group, tokens, block);
  const bool two_pools = plan.engine == Engine::sglang && has_window_pool(plan.subject->architecture);
  if (two_pools && group.state_bytes <= 0) return round_up(pooled_tokens(plan, group, tokens), block);
  if (group.window <= 0) return round_up(tokens, block);
  if (plan.engine != Engine::vllm) return round_up(std::min(group.window, tokens), block);
  // v1/kv_cache_interface.py, SlidingWindowSpec.max_memory_usage_bytes
  const double slid = group.window - 1 + vllm_run(plan).tokens;
  const bool longest = plan.max_len > 0 && tokens >= plan.max_len;  // of that vllm counts the block of both ends
  if (slid >= tokens && !longest) return round_up(tokens, block);   // nothing has left the window yet
  const double blocks = ceil_div(std::min(slid, tokens), block) + 1;
  return longest ? blocks * block : std::min(round_up(tokens, block), blocks * block);
}

double tokens_of_one_group(const Plan& plan, const std::vector<CacheGroup>& groups, double bytes) {
  const double size = group_layers(plan, groups), block = block_tokens(plan, groups);
  const double block_bytes = size * block * attention_bits(groups) / 8;
  double count = 0;
  for (const CacheGroup& group : groups) count += size > 0 && !group.indexer ? group.allocated_layers / size : 0;
  return block_bytes > 0 ? std::floor(std::floor(bytes / block_bytes) / count) * block : 0;
}

RequestBytes request_bytes(const Plan& plan, const std::vector<CacheGroup>& groups, double tokens, double shared) {
  const double block = block_tokens(plan, groups);
  RequestBytes bytes;
  for (const CacheGroup& group : groups) {
    if (group.state_bytes > 0) {
      bytes.states += std::ceil(group.allocated_layers * states_a_request(plan) * state_page(plan, groups, group));
      continue;
    }
    const double own = tokens_kept(plan, group, tokens, block) - tokens_shared(group, tokens, shared);
    bytes.tokens += group_bytes(group, std::max(0.0, own));
  }
  return bytes;
}

LineList request_lines(Sheet& sheet, const Plan& plan, const std::vector<CacheGroup>& groups, double requests,
                       double tokens, double shared) {
  const double block = block_tokens(plan, groups);
  LineList lines(sheet);
  for (const CacheGroup& group : groups) {
    if (group.state_bytes > 0) {
      Factors factors = {times("n", requests, "requests"), times("L", group.allocated_layers, "layers"),
                         times("B", state_page(plan, groups, group), "B of state")};
      if (const double states = states_a_request(plan); states > 1)
        factors.push_back(times("s", states, "states a request: of drafted tokens, of a shared prefix"));
      lines.push_back(sheet.leaf(
          group.id, group.label, std::move(factors),
          "recurrent and convolution state, in fp32 or 16 bit as the engine keeps them; constant in the length"));
      continue;
    }
    const double own = tokens_kept(plan, group, tokens, block) - tokens_shared(group, tokens, shared);
    lines.push_back(sheet.leaf(group.id, group.label, token_factors(group, requests, std::max(0.0, own)), kKvNote));
  }
  return gather_twins(sheet, lines);
}

CacheDemand cache_demand(const Plan& plan, const std::vector<CacheGroup>& groups) {
  if (reserves_longest(plan)) {
    const RequestBytes longest = request_bytes(plan, groups, plan.max_len);
    return {0, longest, longest, longest};
  }
  const double block = block_tokens(plan, groups), shared = prefix_tokens(plan, block);
  CacheDemand demand;
  demand.brief = demand.longer = demand.each = request_bytes(plan, groups, request_tokens(plan), shared);
  if (plan.long_share > 0) {
    demand.longer = request_bytes(plan, groups, plan.long_prompt + plan.long_output, shared);
    demand.each.tokens = demand.brief.tokens * (1 - plan.long_share) + demand.longer.tokens * plan.long_share;
  }
  for (const CacheGroup& group : groups) {
    const double once = shared > 0 ? tokens_shared(group, request_tokens(plan), round_up(plan.prefix, block)) : 0;
    demand.fixed += group_bytes(group, once + window_surplus_tokens(plan, group));
  }
  return demand;
}

Line demand_line(Sheet& sheet, const Plan& plan, const std::vector<CacheGroup>& groups, double requests) {
  if (reserves_longest(plan)) return longest_line(sheet, plan, groups, requests);
  const double block = block_tokens(plan, groups), shared = prefix_tokens(plan, block);
  LineList children(sheet);
  const double shorter = requests * (1 - plan.long_share), longer = requests * plan.long_share;
  if (shorter > 0) {
    children.push_back(
        sheet.group("requests", "Requests", request_lines(sheet, plan, groups, shorter, request_tokens(plan), shared)));
  }
  if (longer > 0) {
    const double tokens = plan.long_prompt + plan.long_output;
    children.push_back(
        sheet.group("long", "Long requests", request_lines(sheet, plan, groups, longer, tokens, shared)));
  }
  LineList prefix(sheet, 0), surplus(sheet, 0);
  for (const CacheGroup& cached : groups) {
    const double once = shared > 0 ? tokens_shared(cached, request_tokens(plan), round_up(plan.prefix, block)) : 0;
    if (once > 0) prefix.push_back(sheet.leaf(cached.id, cached.label, token_factors(cached, 1, once), kKvNote));
    const double more = window_surplus_tokens(plan, cached);
    if (more > 0) {
      surplus.push_back(
          sheet.leaf(cached.id, cached.label, token_factors(cached, 1, more), "llama.cpp src/llama-kv-cache-iswa.cpp"));
    }
  }
  if (!prefix.empty()) children.push_back(sheet.group("prefix", "Shared prefix, once", gather_twins(sheet, prefix)));
  if (!surplus.empty())
    children.push_back(sheet.group("surplus", "Micro-batch beyond the window", gather_twins(sheet, surplus)));
  if (children.size() == 1) return children[0];
  return sheet.group("requests", "Requests", children);
}

}  // namespace vram
