#include "engine/serving/kv_cache.h"

#include <algorithm>
#include <cmath>

#include "engine/serving/cache_blocks.h"
#include "engine/serving/llamacpp_cells.h"
#include "engine/serving/sglang.h"
#include "engine/serving/vllm_run.h"

namespace vram {
namespace {

constexpr const char* kKvNote =
    "2 x layers x KV heads x head size x bytes (arXiv 2305.13245); latent: arXiv 2405.04434, table 1";

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

double group_bytes(const CacheGroup& group, double tokens) {
  return std::ceil(group.allocated_layers * group.bits_per_token() * tokens / 8);
}

Line longest_line(Sheet& sheet, const Plan& plan, const std::vector<CacheGroup>& groups, double requests) {
  return sheet.group("requests", "Slots of the longest request",
                     request_lines(sheet, plan, groups, requests, plan.max_len));
}

}  // namespace

namespace {

/// sglang sizes the pool of windows as a share of the other: a request takes of both what the scarcer one makes it.
double pooled_tokens(const Plan& plan, const CacheGroup& group, double tokens) {
  const double windowed = std::min(plan.subject->architecture.window, tokens) / kWindowPoolRatio;
  return (group.window > 0 ? kWindowPoolRatio : 1) * std::max(tokens, windowed);
}

}  // namespace

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
