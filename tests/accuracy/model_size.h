#pragma once

#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// Of a model that is no preset but whose size is stated: the preset of its family and size ("qwen:1.8b"), else the
/// next larger or smaller one whose matrices are scaled to it. Its cache is not known so, only what reads weights.
void set_model_of_size(ServingMap& m);

}  // namespace vram::accuracy
