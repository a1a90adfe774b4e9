#include "engine/serving/paging.h"

#include "engine/serving/replica.h"

namespace vram {
namespace {

double mean_tokens(const Plan& plan) {
  return request_tokens(plan) * (1 - plan.long_share) + (plan.long_prompt + plan.long_output) * plan.long_share;
}

}  // namespace

// PagedAttention (arXiv 2309.06180), sections 3.1 and 4.3: a server that reserves the longest request wastes what lies
// beyond each one's end; in blocks only the last one has room left, and lengths that differ by more than a block end
// anywhere within it.
UnusedPlaces unused_places(const Plan& plan, double block) {
  const double tokens = mean_tokens(plan);
  UnusedPlaces unused;
  if (tokens <= 0 || plan.engine == Engine::llamacpp) return unused;
  if (plan.max_len >= tokens) unused.reserved = 1 - tokens / plan.max_len;
  const double empty = (block - 1) / 2;
  unused.held = reserves_longest(plan) ? unused.reserved : empty / (tokens + empty);
  return unused;
}

}  // namespace vram
