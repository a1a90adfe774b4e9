#pragma once

#include <algorithm>
#include <vector>

namespace vram {

/// Puts a short list in order; equals stay as they stand. (std::stable_sort takes ten times the code.)
template <class T, class Before>
void put_in_order(std::vector<T>& list, Before before) {
  for (auto next = list.begin(); next != list.end(); ++next)
    std::rotate(std::upper_bound(list.begin(), next, *next, before), next, next + 1);
}

}  // namespace vram
