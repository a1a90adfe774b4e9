#pragma once

#include <cstdint>

namespace vram {

struct Matrix;

/// Parts of the model whose weights the bill shows on a line of their own.
enum class WeightSection : uint8_t {
  block,
  attention,
  mlp,
  experts,
  host_experts,
  mixer,
  vectors,
  embedding,
  layer_embedding,
  head,
  outside,
  draft,
  absorbed,
  group_indices,
  rotary,
  rounding,
  count_
};

WeightSection section_of(const Matrix& matrix);

}  // namespace vram
