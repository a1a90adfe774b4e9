#pragma once

#include <cmath>

namespace vram {

/// The largest whole number of (least, most] that `fits`, or `least` where the first does not: what fits at one number
/// fits at those between `least` and it.
template <class Fits>
double largest_that(double least, double most, Fits fits) {
  if (least >= most || !fits(least + 1)) return least;
  double low = least + 1, high = most;
  while (low < high) {
    const double middle = std::ceil((low + high) / 2);
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace vram
