#pragma once

#include <vector>

#include "engine/serving/kv_cache.h"
#include "engine/serving/runtime.h"
#include "engine/serving/weights.h"

namespace vram {

/// One GPU of one stage: what it holds and what is left for KV.
struct StageCapacity {
  Line weights;
  RuntimeLines runtime;
  Line reserve;
  std::vector<CacheGroup> groups;
  CacheDemand demand;       // of one data-parallel rank's requests
  double budget_bytes = 0;  // for KV; 0 where nothing is left
};

/// The four steps on each stage (memory, weights, what the engine keeps, the rest), and of all stages the one that
/// holds the fewest requests (without a cache: the fullest). A measured pool stands for the modelled one; where the
/// plan was changed since, its difference is added.
StageCapacity tightest_stage(Sheet& sheet, const Plan& plan, const Replica& replica);

/// What sglang sets apart of its pool for the states of a hybrid; 0 of other engines and models.
double state_pool_bytes(const Plan& plan, const StageCapacity& stage);

/// Whole engines allocate their budget at start.
bool preallocates(const Plan& plan);

/// Requests of `each` bytes that the budget holds beside what is shared, on all data-parallel ranks; with decimals.
double requests_held(const Plan& plan, const StageCapacity& stage, const Replica& replica, const RequestBytes& each);

/// Requests of a rank at the plan's concurrency: the fullest rank's.
double requests_per_rank(const Plan& plan, const Replica& replica);

/// Longest request of which `concurrency` fit, tokens, at most `max_len` where that is known.
double longest_context(const Plan& plan, const Replica& replica, const StageCapacity& stage);

/// Tokens that the budget holds, all data-parallel ranks.
double tokens_held(const Plan& plan, const Replica& replica, const StageCapacity& stage);

}  // namespace vram
