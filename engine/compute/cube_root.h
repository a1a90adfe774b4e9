#pragma once

namespace vram {

/// Newton's method: the same bits everywhere, as a C library's cbrt is not.
inline double cube_root(double value) {
  if (!(value > 0)) return 0;
  double root = value > 1 ? value : 1;  // from above, so that it falls until it stands still
  for (double next = 0;; root = next) {
    next = (2 * root + value / (root * root)) / 3;
    if (!(next < root)) return root;
  }
}

}  // namespace vram
