#include "engine/serving/allocations.h"

#include <algorithm>

#include "engine/serving/replica.h"
#include "engine/units.h"

namespace vram {
namespace {

// Tensors of 10 MiB and more are taken in whole 2 MiB; those of 1 MiB and more share segments of 20.
constexpr double kShared = kMiB, kSharedBelow = 10 * kMiB, kLargeStep = 2 * kMiB, kSegment = 20 * kMiB;

}  // namespace

double allocator_rounding(double bytes) { return bytes < kSharedBelow ? 0 : round_up(bytes, kLargeStep) - bytes; }

void Allocations::add(double bytes) {
  if (bytes >= kSharedBelow)
    count(allocator_rounding(bytes));
  else if (bytes >= kShared && shares_)
    share(bytes);
}

void Allocations::count(double rest) {
  if (reserved_ || rest <= kShared) beyond_ += rest;
}

void Allocations::share(double bytes) {
  auto best = left_.end();
  for (auto it = left_.begin(); it != left_.end(); ++it) {
    if (*it >= bytes && (best == left_.end() || *it < *best)) best = it;
  }
  if (best == left_.end()) {
    if (reserved_) beyond_ += kSegment;
    best = std::min_element(left_.begin(), left_.end());  // the fullest is looked at no more
    *best = kSegment;
  }
  *best -= bytes;
  if (reserved_) beyond_ -= bytes;
  if (reserved_ || *best > kShared) return;
  beyond_ += *best;
  *best = 0;
}

}  // namespace vram
