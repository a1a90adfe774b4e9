#pragma once

#include "engine/serving/weights.h"

namespace vram {

/// Cosines and sines of every position, which vllm and sglang load with the weights; none of other engines.
WeightParcel rotary_tables(const Plan& plan);

}  // namespace vram
