#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/model/model.h"

namespace vram {

/// What a layer's linears read: several of them share one.
enum class LinearInput : uint8_t { attention, projection, mlp, down, expert, expert_down };
inline constexpr size_t kLinearInputs = 6;

LinearInput input_of(const Matrix& matrix);

/// Elements of a token that the matrix reads, of all experts that the token passes.
double input_width(const Matrix& matrix, const LayerKind& kind);

}  // namespace vram
