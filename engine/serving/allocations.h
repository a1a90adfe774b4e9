#pragma once

#include <array>

namespace vram {

// PyTorch's allocator (c10/cuda/CUDACachingAllocator.cpp): what it takes beyond the bytes of the tensors.

inline constexpr const char* kAllocatorRule =
    "tensors of 10 MiB and more take whole 2 MiB, smaller ones share segments of 20 (PyTorch, "
    "CUDACachingAllocator.cpp)";

/// Beyond one tensor of so many bytes.
double allocator_rounding(double bytes);

/// Beyond several, in the order in which they come: each goes where it leaves the least.
class Allocations {
 public:
  /// `reserved`: all that is gone; else what is told as allocated, which are rests too small to be split off.
  Allocations(bool reserved, bool shares) : reserved_(reserved), shares_(shares) {}

  void add(double bytes);
  double beyond() const { return beyond_; }

 private:
  void count(double rest);
  void share(double bytes);

  const bool reserved_, shares_;
  std::array<double, 12> left_ = {};  // of segments
  double beyond_ = 0;
};

}  // namespace vram
