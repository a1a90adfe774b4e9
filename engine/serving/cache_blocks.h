#pragma once

#include <vector>

#include "engine/serving/cache_groups.h"

namespace vram {

/// Tokens of a KV block: the plan's, raised by vllm until a page of attention holds a page of state.
double block_tokens(const Plan& plan, const std::vector<CacheGroup>& groups);

/// What vllm printed as its tokens before 0.21: those that one of its equal groups of layers has blocks for. 0: all
/// layers are alike.
double tokens_of_one_group(const Plan& plan, const std::vector<CacheGroup>& groups, double bytes);

/// Bytes of a state of one layer, which vllm pads to a page of attention.
double state_page(const Plan& plan, const std::vector<CacheGroup>& groups, const CacheGroup& group);
/// States of one request: of drafted tokens, of a shared prefix.
double states_a_request(const Plan& plan);

}  // namespace vram
