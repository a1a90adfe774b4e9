#include "engine/serving/experts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace vram {
namespace {

constexpr double kManyExperts = 4096;  // of a rank: the fullest one is as full as any

/// By repeated squaring, which gives the same bits everywhere.
double power(double base, double exponent) {
  double result = 1;
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if (left & 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

double touched_experts(double experts, double experts_per_token, double batch) {
  if (experts <= 0) return 1;
  return 1 - power(std::max(0.0, 1 - experts_per_token / experts), std::min(std::max(batch, 1.0), 1e9));
}

// The largest of as many binomial numbers as there are ranks: the sum over j of 1 - P(one rank touches at most
// j)^ranks.
double fullest_rank(double experts, double ranks, double touched) {
  const double own = std::floor(experts / std::max(1.0, ranks));
  if (ranks <= 1 || own < 1 || own > kManyExperts || touched <= 0 || touched >= 1) return touched;
  double chance = power(1 - touched, own), at_most = 0, most = 0;
  for (double j = 0; j < own; ++j) {
    at_most = std::min(1.0, at_most + chance);
    most += 1 - power(at_most, std::min(ranks, 1e9));
    chance *= (own - j) / (j + 1) * touched / (1 - touched);
  }
  return std::min(1.0, most / own);
}

}  // namespace vram
