#pragma once

#include <vector>

#include "engine/serving/cache_groups.h"
#include "engine/sheet.h"

namespace vram {

/// Tokens of a request of `tokens` that a group keeps, in whole blocks.
double tokens_kept(const Plan& plan, const CacheGroup& group, double tokens, double block);

/// Bytes of one request: what grows with its tokens, and states.
struct RequestBytes {
  double tokens = 0, states = 0;
  double all() const { return tokens + states; }
};

/// Of a request of `tokens` of which the first `shared` lie in the pool once for all.
RequestBytes request_bytes(const Plan& plan, const std::vector<CacheGroup>& groups, double tokens, double shared = 0);

/// The same for `requests` of them, as lines.
LineList request_lines(Sheet& sheet, const Plan& plan, const std::vector<CacheGroup>& groups, double requests,
                       double tokens, double shared = 0);

/// What n requests of the plan's population take on one GPU: fixed + n * each.
struct CacheDemand {
  double fixed = 0;            // the shared prefix; llama.cpp's micro-batch beyond a window
  RequestBytes each;           // mean over both populations
  RequestBytes brief, longer;  // of either alone; of one population both are `each`
};
CacheDemand cache_demand(const Plan& plan, const std::vector<CacheGroup>& groups);

/// The lines of `requests` requests of the population: what the demand's bytes come from.
Line demand_line(Sheet& sheet, const Plan& plan, const std::vector<CacheGroup>& groups, double requests);

}  // namespace vram
