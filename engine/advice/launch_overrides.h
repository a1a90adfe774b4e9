#pragma once

#include <string_view>
#include <vector>

namespace vram {

/// What llama.cpp's --override-tensor leaves in host memory.
struct ExpertOverrides {
  double layers = 0;        // whose routed experts do, a layer of which one of three tensors does a third
  bool are_first = true;    // they are the first ones, and whole
  bool has_others = false;  // tensors that are no routed experts are sent somewhere, too
  bool is_read = true;      // every pattern is one that is read here
};

/// Of a model of so many layers: values of the flag, each "regular expression=device,…", the first that matches counts.
ExpertOverrides expert_overrides(const std::vector<std::string_view>& values, size_t layers);

}  // namespace vram
